"""The changes of a model: each exactly once, in order, as it left its object. Read in this process, without a Spark."""

import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neomodel as nm
from neomodel import trees
from neomodel.metamodel import ECORE, Attribute, Class, Package, TypeName
from neomodel.sharing import shared
from neomodel.stores.wrappers import Counting
from spark import sorting
from spark.changes import ChangeReader
from spark.sorting import in_order
from tests.objects.sensors import Sensor, sensors
from tests.spark.following import Busybody, Follower, check_lengthened, expected, lengthened, told
from tests.spark.things import Thing, things


def url(model: nm.Model) -> str:
    return model.repository.store.url


def following(model: nm.Model, **options: Any) -> Follower:
    return Follower(url(model), **{"type": "Thing", **options})


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("span", [None, 0.02])
def test_every_change_comes_once_and_in_order_however_often_it_is_restarted(
    model: nm.Model, seed: int, span: float | None
) -> None:
    busy, draw = Busybody(model, seed), random.Random(seed)
    follower = following(model, **({} if span is None else {"span": span}))
    found = []
    for _ in range(8):
        busy.work(draw.randrange(12))
        for _ in range(draw.randrange(3)):
            found += [row for part in follower.step() or [] for row in part]
        if draw.random() < 0.5:
            follower = pickle.loads(pickle.dumps(follower))
    found += follower.rows()

    assert told(found) == expected(model, busy.oids, Thing.eClass)
    assert follower.rows() == []


def test_since_a_time_come_those_after_it(model: nm.Model) -> None:
    busy = Busybody(model, 7)
    busy.work(20)
    then = model.repository.stable("m")
    earlier = set(busy.oids)
    busy.work(20)

    found = told(following(model, since=then).rows())

    assert found == [one for one in expected(model, busy.oids, Thing.eClass) if one[0] > then]
    assert {one[1] for one in found} & earlier
    assert {one[2] for one in found} == {"created", "changed", "deleted"}


def test_since_stable_come_those_from_now_on(model: nm.Model) -> None:
    Busybody(model, 8).work(5)
    follower = following(model, since="stable")
    assert follower.rows() == []
    busy = Busybody(model, 9)
    busy.work(10)

    assert told(follower.rows()) == expected(model, busy.oids, Thing.eClass)


def test_what_happens_to_an_object_is_told(model: nm.Model) -> None:
    one, other = Thing(name="one"), Thing(name="other")
    model.roots.extend([one, other])
    follower = following(model, columns="_id, _container, _feature, name, number")
    follower.rows()
    first, second = str(nm.oid(one)), str(nm.oid(other))

    one.number = 3
    other.parts.append(one)
    nm.delete(one)
    rows = [{name: row[name] for name in row if name != "_time"} for row in follower.rows() if row["_id"] == first]

    base = {"_id": first, "name": "one", "number": 3}
    assert rows == [
        {**base, "_change": "changed", "_container": None, "_feature": None},
        {**base, "_change": "changed", "_container": second, "_feature": "parts"},
        {"_id": first, "_change": "deleted", "_container": None, "_feature": None, "name": None, "number": None},
    ]


def test_of_an_edit_comes_one_change(model: nm.Model) -> None:
    one = Thing(name="a")
    model.roots.append(one)
    follower = following(model)
    follower.rows()
    with nm.edit(one):
        one.name, one.number, one.ratio = "b", 4, 0.5

    assert [(row["name"], row["number"], row["ratio"]) for row in follower.rows()] == [("b", 4, 0.5)]


def test_without_a_type_all_objects_come_with_what_all_have(model: nm.Model) -> None:
    model.roots.extend([Thing(), things.Other(), things.Box()])

    rows = Follower(url(model)).rows()

    assert sorted(row["_class"] for row in rows) == ["Box", "Other", "Thing"]
    assert list(rows[0]) == ["_time", "_change", "_id", "_container", "_feature", "_class"]


def test_an_import_comes_before_its_model_is_there(model: nm.Model, tmp_path: Path) -> None:
    Busybody(model, 3).work(30)
    model.export_xmi(tmp_path / "m.xmi")
    model.repository.import_xmi(tmp_path / "m.xmi", model="again")

    for span in (1e-4, 10):
        rows = Follower(url(model), model="again", type="Thing", span=span).rows()
        assert {row["_change"] for row in rows if row["_change"] != "changed"} == {"created"}
        assert {row["_id"] for row in rows} == {nm.oid(obj) for obj in model.repository.open("again").all(Thing)}


# long collections


@pytest.fixture
def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "LIMITS", trees.Limits(2, 4, 3))


def test_changes_of_long_collections_are_changes_of_their_object(model: nm.Model, short_lists: None) -> None:
    one = Thing(name="one")
    model.roots.append(one)
    one.numbers.extend(range(20))
    follower = following(model)
    follower.rows()
    done = lengthened(one, 30)

    check_lengthened(told(follower.rows()), done)


def test_an_object_that_comes_with_long_collections_is_created_once(model: nm.Model, short_lists: None) -> None:
    one = Thing(name="one")
    one.numbers.extend(range(6000))  # which is more than is written at once
    model.roots.append(one)

    (row,) = following(model).rows()

    assert (row["_change"], row["numbers"]) == ("created", list(range(6000)))


def test_entries_of_timelines_are_changes_of_their_object(tmp_path: Path) -> None:
    repo = nm.connect(f"lmdb:{tmp_path}/db")
    repo.register(sensors)
    model = repo.create("m")
    one = Sensor(name="s")
    model.roots.append(one)
    follower = Follower(url(model), type="Sensor")
    assert [row["_change"] for row in follower.rows()] == ["created"]
    one.level.record(1, event=10)
    one.level.record(2, event=20)

    assert [row["_change"] for row in follower.rows()] == ["changed"] * 2


# what is stable


def test_what_is_in_an_open_batch_does_not_come_before_it_is_closed(model: nm.Model) -> None:
    follower = following(model)
    with nm.batch(model.repository):
        model.roots.append(Thing(name="a"))
        assert follower.rows() == []
    assert [row["name"] for row in follower.rows()] == ["a"]


def test_what_is_written_while_it_is_looked_for_is_not_overlooked(
    model: nm.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = following(model, columns="name")
    follower.rows()
    stable = ChangeReader._stable
    model.roots.append(Thing(name="first"))

    def late(reader: ChangeReader) -> int:
        found = stable(reader)
        model.roots.append(Thing(name="late"))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(ChangeReader, "_stable", late)
        (rows,) = follower.step() or []

    assert [row["name"] for row in [*rows, *follower.rows()]] == ["first", "late"]


def test_nothing_is_done_while_nothing_changes(model: nm.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    Busybody(model, 1).work(30)
    follower = following(model)
    follower.rows()
    counting = Counting(shared(url(model)).store)
    monkeypatch.setattr(shared(url(model)), "store", counting)
    for _ in range(5):
        assert follower.step() is None

    assert "history" not in counting.calls


def test_what_is_changed_costs_no_call_for_each_object(model: nm.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Thing(name=f"n{number}") for number in range(3000)]
    model.roots.extend(found)
    follower = following(model)
    assert len(follower.rows()) == 3000
    for one in found[:2500]:
        one.number = 1
    counting = Counting(shared(url(model)).store)
    monkeypatch.setattr(shared(url(model)), "store", counting)

    assert len(follower.rows()) == 2500
    assert counting.calls["history"] == 2  # to see that there is something, and to read it
    assert counting.calls["get_many"] == 2
    assert sum(counting.calls.values()) < 40


# partitions, memory


def test_without_order_there_is_a_partition_for_each_region_in_order_of_its_own(model: nm.Model) -> None:
    found = [Thing(name=f"n{number}") for number in range(20_000)]
    model.roots.extend(found)
    for one in found[::400]:
        one.number = 1
    wanted = sorted((row["_time"], row["_id"]) for row in following(model, columns="_id").rows())

    (parts,) = [following(model, columns="_id", ordered=False).step()]

    assert parts is not None
    assert len(parts) == len(model.table.regions()) == 2
    times = [[(row["_time"], row["_id"]) for row in part] for part in parts]
    assert all(part == sorted(part) and part for part in times)
    assert sorted(time for part in times for time in part) == wanted


def test_what_does_not_fit_into_memory_is_sorted_on_disk(model: nm.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = Busybody(model, 11)
    busy.work(60)
    monkeypatch.setattr(sorting, "ROOM", 2000)  # a few records

    assert told(following(model).rows()) == expected(model, busy.oids, Thing.eClass)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(), st.integers()), unique=True), st.integers(1, 30))
def test_records_come_out_in_order(records: list[tuple[int, int]], room: int) -> None:
    assert list(in_order(((one, 1) for one in records), room=room)) == sorted(records)


# metamodels that change, containers of one name


def test_classes_that_come_later_are_seen(tmp_path: Path) -> None:
    def package(*more: str) -> Any:
        first = Class("A", features=[Attribute("n", TypeName(ECORE, "EInt"))])
        others = [Class(name, supers=[TypeName("http://late", "A")]) for name in more]
        return Package("late", "http://late", classifiers=[first, *others])

    with nm.connect(f"lmdb:{tmp_path}/db") as repo:
        first = repo.register(package())
        model = repo.create("m")
        model.roots.append(first.A(n=1))
        follower = Follower(url(model), type="A")
        assert [row["_class"] for row in follower.rows()] == ["A"]
        second = repo.register(package("B"))
        model.roots.append(second.B(n=2))

        assert [(row["_class"], row["n"]) for row in follower.rows()] == [("B", 2)]


def test_containers_with_features_of_one_name_are_told_apart_when_they_are_gone(model: nm.Model) -> None:
    box, crate = things.Box(name="box"), things.Crate(name="crate")
    item = things.Item(name="i")
    model.roots.extend([box, crate])
    follower = following(model, type="Item")
    follower.rows()
    box.items.append(item)
    crate.items.append(item)
    third = things.Box()
    model.roots.append(third)
    third.items.append(item)
    model.roots.append(item)
    nm.delete(third)
    nm.delete(crate)

    rows = follower.rows()

    assert [(row["box"], row["crate"]) for row in rows] == [
        (nm.oid(box), None),
        (None, rows[1]["_container"]),
        (rows[2]["_container"], None),
        (None, None),
    ]


# what makes no sense


def test_what_makes_no_sense_is_refused_in_one_sentence(model: nm.Model) -> None:
    model.roots.append(Thing())
    with pytest.raises(nm.InvalidValue, match="such as 2024"):
        following(model, since="yesterday")
    with pytest.raises(nm.InvalidValue, match="a time that is past"):
        following(model, since="2999-01-01T00:00:00+00:00")
    with pytest.raises(nm.FeatureNotFound, match="has no 'Thng'; did you mean"):
        following(model, type="Thng")
    with pytest.raises(nm.InvalidValue, match="option span"):
        following(model, span="-1")
    with pytest.raises(nm.ModelNotFound):
        Follower(url(model), model="n")
    with pytest.raises(nm.InvalidValue, match="as_of"):
        following(model, as_of="stable")


def test_what_was_purged_is_refused_and_what_came_later_is_not(model: nm.Model) -> None:
    one = Thing(name="a")
    model.roots.append(one)
    early = following(model)
    early.rows()
    late = pickle.dumps(early)
    one.name = "b"
    horizon = model.repository.stable("m")
    early.rows()
    one.name = "c"
    nm.purge(model, before=horizon)

    with pytest.raises(nm.Purged):
        following(model).rows()
    with pytest.raises(nm.Purged):
        pickle.loads(late).rows()
    assert [row["name"] for row in following(model, since=horizon).rows()] == ["c"]
