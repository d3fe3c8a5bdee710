"""A class of a model as a DataFrame, by Spark itself."""

import datetime
import uuid
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import neomodel as nm
from neomodel.cluster import Cluster
from tests.spark.frames import by_id, expected
from tests.spark.things import Colour, Thing, things


def loaded(session: SparkSession, model: nm.Model, **options: Any) -> DataFrame:
    return session.read.format("neomodel").options(store=model.repository.store.url, model=model.name, **options).load()


def filled(model: nm.Model, count: int = 3) -> list[Any]:
    found = [Thing(name=f"t{number}", number=number) for number in range(count)]
    model.roots.extend(found)
    return found


def test_each_feature_is_a_typed_column(session: SparkSession, model: nm.Model) -> None:
    assert dict(loaded(session, model, type="Thing").dtypes) == {
        "_id": "string",
        "_container": "string",
        "_feature": "string",
        "_class": "string",
        "name": "string",
        "number": "int",
        "large": "bigint",
        "price": "decimal(38,18)",
        "huge": "decimal(38,0)",
        "ratio": "double",
        "narrow": "float",
        "on": "boolean",
        "when": "timestamp",
        "raw": "binary",
        "colour": "string",
        "tags": "array<string>",
        "numbers": "array<int>",
        "friend": "string",
        "friends": "array<string>",
        "parts": "array<string>",
        "whole": "string",
    }


def test_spark_sees_what_the_objects_hold(session: SparkSession, model: nm.Model) -> None:
    holding_something(model)

    rows = loaded(session, model, type="Thing").collect()

    assert by_id([row.asDict() for row in rows]) == expected(model, Thing.eClass)


def test_it_does_on_hbase(session: SparkSession, hbase3: Cluster) -> None:
    with nm.connect(f"{hbase3.url}&regions=2") as repo:
        repo.register(things)
        model = repo.create(f"things-{uuid.uuid4().hex}")
        holding_something(model)
        now = {"as_of": model.table.now(), "unstable": True}

        rows = loaded(session, model, type="Thing", **now).collect()
        named = (
            loaded(session, model, type="Thing", columns="name,_feature", **now).where("_feature = 'parts'").collect()
        )

        assert by_id([row.asDict() for row in rows]) == expected(model, Thing.eClass)
        assert [row.name for row in named] == ["part ✓"]
        repo.drop(model.name)


def holding_something(model: nm.Model) -> None:
    when = datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    part = Thing(name="part ✓", colour=None, on=True, huge=10**37, narrow=0.1)
    one = Thing(name="", number=-5, price=Decimal("1.50"), when=when, raw=b"\0\xff", colour=Colour.GREEN, ratio=1e300)
    one.parts.append(part)
    one.tags.extend(["a", "b,c", ""])
    one.numbers.extend(range(300))
    model.roots.append(one)
    two = Thing(name=None, friend=one)
    model.roots.append(two)
    two.friends.extend([part, one])


def test_subclasses_are_included_and_others_not(session: SparkSession, model: nm.Model) -> None:
    filled(model, 2)
    model.roots.extend([things.Special(name="s"), things.Other(label="o")])

    rows = loaded(session, model, type="Thing", columns="_class, name").collect()

    assert sorted(map(tuple, rows)) == [("Special", "s"), ("Thing", "t0"), ("Thing", "t1")]


def test_without_a_type_all_objects_come(session: SparkSession, model: nm.Model) -> None:
    filled(model, 2)
    model.roots.append(things.Other(label="o"))

    rows = loaded(session, model).collect()

    assert sorted(row["_class"] for row in rows) == ["Other", "Thing", "Thing"]
    assert rows[0].asDict().keys() == {"_id", "_container", "_feature", "_class"}


def test_two_actions_see_one_model(session: SparkSession, model: nm.Model) -> None:
    found = filled(model)
    frame = loaded(session, model, type="Thing", columns="name")
    before = frame.count()
    found[0].name = "changed"
    filled(model)

    assert (before, frame.count()) == (3, 3)
    assert {row.name for row in frame.collect()} == {"t0", "t1", "t2"}


def test_an_earlier_time_can_be_asked_for(session: SparkSession, model: nm.Model) -> None:
    found = filled(model)
    then = model.repository.stable("m")
    nm.delete(found[0])

    assert loaded(session, model, type="Thing", as_of=then).count() == 3
    assert loaded(session, model, type="Thing").count() == 2


def test_the_union_of_many_partitions_is_the_model(session: SparkSession, model: nm.Model) -> None:
    filled(model, 20_000)

    frame = loaded(session, model, type="Thing", columns="_id, number")

    assert frame.rdd.getNumPartitions() == len(model.table.regions()) == 2
    assert sorted(row.number for row in frame.collect()) == list(range(20_000))


def test_containers_with_features_of_one_name_are_told_apart(session: SparkSession, model: nm.Model) -> None:
    box, crate = things.Box(name="box"), things.Crate(name="crate")
    model.roots.extend([box, crate])
    box.items.append(things.Item(name="in the box"))
    crate.items.append(things.Item(name="in the crate"))

    rows = loaded(session, model, type="Item").collect()

    assert {row.name: (row.box, row.crate) for row in rows} == {
        "in the box": (nm.oid(box), None),
        "in the crate": (None, nm.oid(crate)),
    }
