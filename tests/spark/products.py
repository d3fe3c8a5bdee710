"""Processes for tests of pipelines: small ones with every kind of input, and what they should give, in plain Python."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

import neomodel as nm
from metamodels import anna, elsa

SALES = {f"s{number:03}": {"shop": f"shop{number % 7}", "amount": number * 3 % 101} for number in range(60)}
SHOPS = {f"shop{number}": {"city": ["Jena", "Halle", "Gera"][number % 3]} for number in range(7)}


def mirrored(url: str, sales: dict[str, Any] = SALES, shops: dict[str, Any] = SHOPS) -> elsa.ElsaStore:
    """Two systems in a store."""
    store = elsa.open(nm.connect(url))
    store.system("sales").ingest(rows(sales))
    store.system("shops").ingest(rows(shops))
    return store


def rows(records: dict[str, Any], event: int = 10) -> list[tuple[str, int, str, Any]]:
    return [(key, event, "delete" if value is None else "insert", value) for key, value in records.items()]


def turnover(*, factor: int = 1, checks: Iterable[anna.quality.Rule] = ()) -> anna.Process:
    """Sales with their cities, then sums by city."""
    made = anna.Process("turnover")
    made.system("sales", schema="shop string, amount long")
    made.system("shops", schema="city string")

    @made.step(key="sale", schema="sale string, shop string, city string, amount long", checks=tuple(checks))
    def placed(sales: DataFrame, shops: DataFrame) -> DataFrame:
        cities = shops.withColumnRenamed("key", "shop")
        found = sales.withColumnRenamed("key", "sale").join(cities, "shop", "left")
        return found.withColumn("amount", f.col("amount") * factor)

    @made.step(key="city", schema="city string, sales long, amount long")
    def by_city(placed: DataFrame) -> DataFrame:
        there = placed.where("city is not null")
        return there.groupBy("city").agg(f.count("*").alias("sales"), f.sum("amount").alias("amount"))

    return made


def expected(sales: dict[str, Any], shops: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What both steps give."""
    placed = [
        {"sale": key, "shop": s["shop"], "city": shops.get(s["shop"], {}).get("city"), "amount": s["amount"]}
        for key, s in sorted(sales.items())
    ]
    cities = sorted({row["city"] for row in placed if row["city"] is not None})
    sums = []
    for city in cities:
        amounts = [row["amount"] for row in placed if row["city"] == city]
        sums.append({"city": city, "sales": len(amounts), "amount": sum(amounts)})
    return placed, sums


def files(run: anna.Run) -> dict[str, bytes]:
    """All files of a run, by step and name."""
    folder = Path(run.folder or "") / f"{run.number:06}"
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
