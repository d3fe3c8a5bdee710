"""A class as a DataFrame, beside the smallest data source over happybase that reads the same cells.

`python -m benchmarks.spark_read` prints the tables; `--growth` the cost of a row in models of every size as well.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import happybase
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

import neomodel as nm
import spark
from benchmarks.measure import Case, Result, measure, table
from benchmarks.objects import hbase
from neomodel.stores.hbase_url import parse

HBASE_ROWS, LMDB_ROWS = 100_000, 500_000
SIZES = (10_000, 100_000, 500_000, 1_000_000, 2_000_000)
ROUNDS = 3
COLUMNS = ("name", "number", "share", "code")

readings = nm.package("readings", "http://readings")


@readings.define
class Reading:
    name: str | None = None
    number: int = nm.attribute(type="EInt")
    share: float = nm.attribute(type="EDouble")
    code: str | None = None


@contextmanager
def session(cores: int = 2) -> Iterator[SparkSession]:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    settings = {"spark.ui.enabled": "false", "spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    spark.register(found)
    found.dataSource.register(Raw)
    try:
        yield found
    finally:
        found.stop()


def fill(repo: nm.Repository, name: str, rows: int) -> None:
    """A model of so many objects with four attributes each."""
    repo.register(readings)
    model = repo.create(name)
    for start in range(0, rows, 10_000):
        numbers = range(start, min(start + 10_000, rows))
        model.roots.extend(
            [Reading(name=f"r{n}", number=1 + n % 1000, share=n / 8 + 1, code=f"c{n % 7}") for n in numbers]
        )


class Raw(DataSource):
    """What one would write in a quarter of an hour."""

    @classmethod
    def name(cls) -> str:
        return "raw"

    def schema(self) -> str:
        return "name string, number int, share double, code string"

    def reader(self, schema: Any) -> "RawReader":  # noqa: ARG002  it has one
        return RawReader(self.options)


class RawReader(DataSourceReader):
    def __init__(self, options: Any) -> None:
        self.host, self.port, self.table = options["host"], int(options["port"]), options["table"]

    def partitions(self) -> list[InputPartition]:
        regions = happybase.Connection(self.host, self.port).table(self.table).regions()
        return [InputPartition((region["start_key"], region["end_key"])) for region in regions]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        start, stop = partition.value
        columns = [b"p:name", b"p:number", b"p:share", b"p:code"]
        found = happybase.Connection(self.host, self.port).table(self.table)
        for _, row in found.scan(start or None, stop or None, columns=columns, batch_size=1000):
            name, number, share, code = (row[column] for column in columns)
            yield name.decode(), int(number), float(share), code.decode()


def answer(frame: DataFrame) -> tuple[Any, ...]:
    """Something that needs all four columns of all rows."""
    (row,) = frame.selectExpr(
        "count(name)", "sum(number)", "sum(share)", "count(distinct code)", "max(length(name))"
    ).collect()
    return tuple(row)


def ours(found: SparkSession, url: str, name: str) -> DataFrame:
    options = {"store": url, "model": name, "type": "Reading", "columns": ",".join(COLUMNS)}
    now = {"as_of": nm.connect(url).store.table(name).now(), "unstable": True}  # HBase takes minutes to be stable
    return found.read.format("neomodel").options(**options, **now).load()


def report() -> list[str]:
    with tempfile.TemporaryDirectory() as folder, hbase() as (_, repo), nm.connect(f"lmdb:{folder}/db") as local:
        address = parse(repo.store.url).gateways[0]
        fill(repo, "readings", HBASE_ROWS)
        fill(local, "readings", LMDB_ROWS)
        cores = []
        with session(2) as found:
            options = {"host": address.host, "port": address.port1, "table": repo.store.table("readings").name}
            raw = found.read.format("raw").options(**options).load()
            mine, embedded = (ours(found, one.store.url, "readings") for one in (repo, local))
            case = Case("HBase", "rows", HBASE_ROWS, lambda: answer(raw), lambda: answer(mine), 0.8)
            results = [measure(case, rounds=ROUNDS)]
            rate = HBASE_ROWS / results[0].peer
            quick = _seconds(embedded)
            peer = Case("LMDB (the peer stays on HBase)", "rows", LMDB_ROWS, lambda: 0, lambda: 0, 4.0)
            results.append(Result(peer, LMDB_ROWS / rate, quick))
            cores += [("HBase", 2, HBASE_ROWS / results[0].subject), ("LMDB", 2, LMDB_ROWS / quick)]
        with session(1) as found:
            cores.append(("HBase", 1, HBASE_ROWS / _seconds(ours(found, repo.store.url, "readings"))))
            cores.append(("LMDB", 1, LMDB_ROWS / _seconds(ours(found, local.store.url, "readings"))))
    return [table("Spark: a class as a DataFrame, two cores", "raw happybase source", results), _cores(cores)]


def _seconds(frame: DataFrame) -> float:
    answer(frame)
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        answer(frame)
        times.append(time.perf_counter() - start)
    return median(times)


def _cores(found: list[tuple[str, int, float]]) -> str:
    rates = {(store, cores): rate for store, cores, rate in found}
    lines = [
        f"| {store} | {rates[store, 1]:,.0f} | {rates[store, 2]:,.0f} | {rates[store, 2] / rates[store, 1]:.2f} |"
        for store in ("HBase", "LMDB")
    ]
    return "\n".join(
        ["### Spark: one core and two", "", "| store | 1 core, rows/s | 2 cores | gain |", "|---|--:|--:|--:|", *lines]
    )


def growth() -> str:
    lines = []
    with tempfile.TemporaryDirectory() as folder, session(2) as found:
        for size in SIZES:
            with nm.connect(f"lmdb:{folder}/{size}") as repo:
                fill(repo, "readings", size)
                seconds = _seconds(ours(found, repo.store.url, "readings"))
            lines.append(f"| {size:,} | {seconds:.2f} | {1e6 * seconds / size:.2f} |")
    head = ["### Spark: a row in models of every size, LMDB", "", "| rows | seconds | µs each |", "|--:|--:|--:|"]
    return "\n".join([*head, *lines])


if __name__ == "__main__":
    print("\n\n".join([*report(), *([growth()] if "--growth" in sys.argv else [])]))
