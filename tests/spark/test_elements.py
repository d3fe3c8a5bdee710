"""Objects in the tasks of a job, by Spark itself."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from neomodel.sharing import shared
from spark.snapshots import Snapshot
from tests.spark.things import Other, Special, Thing, things

COUNT = 20_000


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> nm.Model:
    """Things of which each has a friend, the next one but 700, in two parts."""
    repo = nm.connect(f"lmdb:{tmp_path_factory.mktemp('elements')}/db")
    repo.register(things)
    model = repo.create("m")
    found = [(Special if number % 10 == 0 else Thing)(name=f"t{number}", number=number) for number in range(COUNT)]
    for number, thing in enumerate(found):
        thing.friend = found[(number + 700) % COUNT]
    model.roots.extend([*found, Other(label="o")])
    return model


@pytest.fixture
def small(tmp_path: Path) -> Iterator[nm.Model]:
    with nm.connect(f"lmdb:{tmp_path}/db") as repo:
        repo.register(things)
        model = repo.create("m")
        model.roots.extend([Thing(name=f"t{number}", number=number) for number in range(3)])
        yield model


def row(obj: Any) -> tuple[Any, ...]:
    return nm.oid(obj), obj.eClass.name, obj.name, obj.number, obj.friend.name


def test_the_tasks_together_have_the_objects_of_the_model(session: SparkSession, model: nm.Model) -> None:
    found = spark.elements(session, model, Thing)

    assert found.rdd.getNumPartitions() == len(model.table.regions()) == 2
    assert sorted(found.map(row).collect()) == sorted(row(obj) for obj in model.all(Thing))


@pytest.mark.parametrize("cls", [Special, Special.eClass, "Special", "things.Special", "http://things#Special"])
def test_the_class_is_told_by_itself_or_its_name(session: SparkSession, model: nm.Model, cls: Any) -> None:
    found = spark.elements(session, model, cls)

    assert found.map(nm.oid).collect() == [nm.oid(obj) for obj in model.all(Special)]


def test_what_was_read_is_told_after_an_action(session: SparkSession, model: nm.Model) -> None:
    found = spark.elements(session, model, Thing)
    rows = sum(1 for _ in model.table.scan())
    before = found.reads

    found.rdd.count()
    counted = found.reads
    names = found.map(lambda obj: obj.friend.name).collect()

    cut = model.table.regions()[1].start.decode()
    met = {(str(nm.oid(obj)) < cut, nm.oid(obj.friend)) for obj in model.all(Thing)}
    outside = [oid for low, oid in met if low != (str(oid) < cut)]
    assert len(names) == COUNT
    assert (before.local, before.remote, before.share) == (0, 0, 0.0)
    assert (counted.local, counted.remote, counted.share) == (rows, 0, 0.0)
    assert (found.reads.local, found.reads.remote) == (2 * rows, len(outside))
    assert found.reads.share == len(outside) / (2 * rows + len(outside)) > 0


def test_whole_parts_can_be_worked_on(session: SparkSession, model: nm.Model) -> None:
    def largest(objects: Iterable[Any]) -> Iterator[Any]:
        yield max(obj.number for obj in objects)

    assert max(spark.elements(session, model, "Thing").map_partitions(largest).collect()) == COUNT - 1


def test_objects_can_be_taken_to_the_driver(session: SparkSession, model: nm.Model) -> None:
    found = spark.elements(session, model, Special).rdd.collect()

    assert [row(obj) for obj in found] == [row(obj) for obj in model.all(Special)]
    assert found[0].eResource.as_of is not None
    with pytest.raises(nm.ReadOnly):
        found[0].name = "other"


def test_what_is_changed_after_the_call_is_not_seen(session: SparkSession, small: nm.Model) -> None:
    found = spark.elements(session, small, Thing)
    small.roots[0].name = "changed"
    nm.delete(small.roots[1])
    small.roots.append(Thing(name="new"))

    assert sorted(found.map(lambda obj: obj.name).collect()) == ["t0", "t1", "t2"]
    now = spark.elements(session, small, Thing)
    assert sorted(now.map(lambda obj: obj.name).collect()) == ["changed", "new", "t2"]


def test_earlier_states_come_by_a_time_a_model_or_a_snapshot(session: SparkSession, small: nm.Model) -> None:
    url, then = small.repository.store.url, small.repository.stable("m")
    small.roots.append(Thing(name="new"))

    ways = [
        spark.elements(session, small, Thing, as_of=then),
        spark.elements(session, small.repository.open("m", as_of=then), Thing),
        spark.elements(session, Snapshot.taken(url, "m", then), Thing),
    ]

    assert [way.rdd.count() for way in ways] == [3, 3, 3]
    assert [way.snapshot.at for way in ways] == [then, then, then]
    with pytest.raises(nm.InvalidValue, match="of a time already"):
        spark.elements(session, small.repository.open("m", as_of=then), Thing, as_of=then)


def test_what_makes_no_sense_is_refused_in_one_sentence(session: SparkSession, small: nm.Model) -> None:
    with pytest.raises(nm.FeatureNotFound, match="did you mean 'Thing'"):
        spark.elements(session, small, "Thin")
    with pytest.raises(nm.InvalidValue, match="a class of a metamodel is 5"):
        spark.elements(session, small, 5)
    with pytest.raises(nm.InvalidValue, match="a model, or a snapshot of one"):
        spark.elements(session, "m", Thing)  # type: ignore[arg-type]
    with pytest.raises(nm.InvalidValue, match="rows to keep in a task is -1"):
        spark.elements(session, small, Thing, rows=-1)
    with nm.connect("memory:") as repo:
        repo.register(things)
        with pytest.raises(nm.InvalidValue, match="one that other processes reach"):
            spark.elements(session, repo.create("m"), Thing)


def test_what_fails_in_a_task_is_told_in_the_driver(session: SparkSession, small: nm.Model) -> None:
    found = spark.elements(session, small, Thing)
    small.repository.drop("m")
    shared(small.repository.store.url)

    with pytest.raises(PySparkException, match="ModelNotFound") as raised:
        found.rdd.count()
    assert re.search(r"there is no model 'm'", str(raised.value))
