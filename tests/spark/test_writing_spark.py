"""Bulk writes by Spark itself."""

from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import neomodel as nm
from tests.spark.frames import by_id, expected
from tests.spark.things import Thing
from tests.spark.writing import everything, sound, unchanged


def save(frame: DataFrame, home: nm.Model, mode: str = "append", **options: str) -> None:
    given = {"store": home.repository.store.url, "model": home.name, "type": "Thing", **options}
    frame.write.format("neomodel").mode(mode).options(**given).save()


def load(session: SparkSession, model: nm.Model, **options: str) -> DataFrame:
    given = {"store": model.repository.store.url, "model": model.name, "type": "Thing", **options}
    return session.read.format("neomodel").options(**given).load()


def numbers(session: SparkSession, count: int, partitions: int = 4) -> DataFrame:
    return session.range(0, count, numPartitions=partitions)


def test_rows_become_objects_and_come_back_as_rows(session: SparkSession, model: nm.Model) -> None:
    frame = numbers(session, 3000).select(
        f.format_string("t%05d", "id").alias("_id"),
        f.concat(f.lit("n"), "id").alias("name"),
        f.col("id").cast("int").alias("number"),
        f.when(f.col("id") % 3 > 0, f.format_string("t%05d", f.col("id") - f.col("id") % 3)).alias("_container"),
        f.when(f.col("id") % 3 > 0, f.lit("parts")).alias("_feature"),
    )

    save(frame, model)

    assert sound(model)
    assert len(model.roots) == 1000
    assert [child.name for child in model["t00003"].parts] == ["n4", "n5"]
    assert by_id([row.asDict() for row in load(session, model).collect()]) == expected(model, Thing.eClass)
    assert sum(thing.number for thing in model.all(Thing)) == sum(range(3000))


def test_what_was_read_can_be_changed_and_written_back(session: SparkSession, model: nm.Model) -> None:
    model.roots.extend(Thing(name=f"t{number}", number=number, tags=["a"]) for number in range(500))

    save(load(session, model).withColumn("number", f.col("number") * 2).drop("name"), model)

    assert sound(model)
    assert sorted((thing.name, thing.number) for thing in model.all(Thing)) == sorted(
        (f"t{number}", 2 * number) for number in range(500)
    )


def test_a_task_that_fails_half_way_leaves_the_model_as_it_was(session: SparkSession, model: nm.Model) -> None:
    @f.udf("string", useArrow=False)
    def brittle(number: int) -> str:
        if number == 2777:
            raise ValueError("that one")
        return f"n{number}"

    model.roots.extend(Thing(name=f"t{number}", number=number) for number in range(100))
    ids = [str(nm.oid(thing)) for thing in model.all(Thing)]
    old = session.createDataFrame([(oid, at) for at, oid in enumerate(ids)], "_id string, id long")
    frame = old.unionByName(numbers(session, 3000), allowMissingColumns=True)

    with unchanged(model), pytest.raises(PySparkException, match="that one"):
        save(frame.select("_id", brittle("id").alias("name")), model)


@pytest.mark.parametrize(
    ("columns", "options", "told"),
    [
        ({"nmae": "string"}, {}, r"things.Thing has no 'nmae'; did you mean 'name'\?"),
        ({"name": "string"}, {"model": "nomodel"}, "there is no model 'nomodel'"),
        ({"name": "string"}, {"mode": "overwrite"}, "is 'overwrite', expected append"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence_before_anything_is_written(
    session: SparkSession, model: nm.Model, columns: dict[str, str], options: dict[str, Any], told: str
) -> None:
    schema = ", ".join(f"{name} {kind}" for name, kind in columns.items())

    with unchanged(model), pytest.raises(PySparkException, match=told) as refused:
        save(session.createDataFrame([], schema), model, **options)

    assert "Traceback" not in str(refused.value)


def test_a_value_that_cannot_be_stored_is_told_with_its_object(session: SparkSession, model: nm.Model) -> None:
    frame = session.createDataFrame([("a", 1), ("b", 2**40)], "_id string, number long")

    with unchanged(model), pytest.raises(PySparkException, match=r"Thing.number of object m/b.* is 1099511627776"):
        save(frame, model)

    assert everything(model) == []
