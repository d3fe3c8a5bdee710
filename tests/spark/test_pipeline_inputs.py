"""What a step is given: systems and models, each as of the token of the run."""

from pathlib import Path
from typing import cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import neomodel as nm
import spark
from metamodels import anna, elsa
from spark.session import know
from tests.spark.products import files, rows
from tests.spark.things import Special, Thing, things


def _stock() -> anna.Process:
    """Objects of a model, with records of a system."""
    made = anna.Process("stock")
    made.system("prices", schema="price long")
    made.model("m", type="Thing", columns=["_id", "name", "number"], name="parts")

    @made.step(key="name", schema="name string, number int, price long")
    def priced(parts: DataFrame, prices: DataFrame) -> DataFrame:
        return parts.join(prices.withColumnRenamed("key", "name"), "name", "left").select("name", "number", "price")

    @made.step(key="all", schema="all string, value long")
    def worth(priced: DataFrame) -> DataFrame:
        return priced.agg(f.lit("all").alias("all"), f.sum(f.col("number") * f.col("price")).alias("value"))

    return made


def test_models_are_inputs_as_of_the_token_and_are_taken_in_anew_by_their_name(
    session: SparkSession, tmp_path: Path
) -> None:
    with nm.connect(f"lmdb:{tmp_path}/db") as repo:
        repo.register(things)
        model = repo.create("m")
        first = Thing(name="a", number=2)
        model.roots.extend([first, Special(name="b", number=3)])  # objects of subclasses are objects of the class
        store = elsa.open(repo)
        store.system("prices").ingest(rows({"a": {"price": 10}, "b": {"price": 100}}))
        process = spark.Pipeline(_stock(), repo, tmp_path / "products", session=session)

        run = process.run()
        first.number = 5
        store.system("prices").ingest(rows({"b": {"price": 1000}}))

        again = process.recompute(run)
        assert again.same, str(again)
        assert files(again.run) == files(run)
        assert process.cell(again.run, "worth", "all", "value") == 320

        renewed = process.recompute(run, ingest={"m": store.stable()}).run
        assert process.cell(renewed, "worth", "all", "value") == 350  # the new number, and the old price
        latest = process.run()
        assert process.cell(latest, "worth", "all", "value") == 3050

        (row,) = process.diff(run, renewed).step("priced").rows
        assert (row.row, row.cells) == ("a", {"number": (2, 5)})
        assert row.causes


def test_formats_are_registered_once_for_a_session_and_again_if_another_takes_the_name() -> None:
    registered = []

    class Registry:
        def register(self, source: type) -> None:
            registered.append(source)

    class Session:
        dataSource = Registry()  # noqa: N815  Spark's name

    class Other(spark.ModelSource):
        pass

    for one in [Session(), Session()]:
        know(cast(SparkSession, one), spark.ModelSource, spark.ElsaSource)
        know(cast(SparkSession, one), spark.ModelSource)
        know(cast(SparkSession, one), Other)
        know(cast(SparkSession, one), Other)

    assert registered == [spark.ModelSource, spark.ElsaSource, Other] * 2
