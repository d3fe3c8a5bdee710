"""A class as a DataFrame, beside the smallest data source over happybase that reads the same cells.

`python -m benchmarks.spark_read` prints the tables; `--growth` the cost of a row in models of every size as well.
"""

import gc
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from statistics import median
from typing import Any

import attrs
import happybase
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

import neomodel as nm
from benchmarks.measure import (
    QUICK,
    WARMING,
    Case,
    Comparison,
    Figure,
    Figures,
    Growth,
    Measured,
    Result,
    show,
    sized,
)
from benchmarks.places import hbase, lmdb, session
from neomodel.stores.hbase_url import parse

HBASE_ROWS, LMDB_ROWS = sized((100_000, 500_000), (5_000, 20_000))
ROWS = {"HBase": HBASE_ROWS, "LMDB": LMDB_ROWS}
SIZES = sized((10_000, 100_000, 500_000, 1_000_000, 2_000_000), (5_000, 20_000))
ROUNDS = sized(3, 1)
COLUMNS = ("name", "number", "share", "code")

readings = nm.package("readings", "http://readings")


@readings.define
class Reading:
    name: str | None = None
    number: int = nm.attribute(type="EInt")
    share: float = nm.attribute(type="EDouble")
    code: str | None = None


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


def ours(found: SparkSession, url: str, name: str) -> DataFrame:
    options = {"store": url, "model": name, "type": "Reading", "columns": ",".join(COLUMNS)}
    now = {"as_of": nm.connect(url).store.table(name).now(), "unstable": True}  # HBase takes minutes to be stable
    return found.read.format("neomodel").options(**options, **now).load()


def report() -> list[Measured]:
    with hbase() as url, nm.connect(url) as repo, lmdb() as local:
        address = parse(url).gateways[0]
        fill(repo, "readings", HBASE_ROWS)
        fill(local, "readings", LMDB_ROWS)
        urls = {"HBase": repo.store.url, "LMDB": local.store.url}
        with session(2) as found:
            found.dataSource.register(Raw)
            options = {"host": address.host, "port": address.port1, "table": repo.store.table("readings").name}
            peer = Job(found.read.format("raw").options(**options).load(), HBASE_ROWS)
            jobs = {store: Job(ours(found, urls[store], "readings"), ROWS[store]) for store in urls}
            raw, *mine = _in_turns([peer, *jobs.values()])
        cores = [] if QUICK else [_cores(urls, mine)]
    results = [
        Result(Case("HBase", "rows", HBASE_ROWS, peer.run, jobs["HBase"].run, 0.8), raw, mine[0]),
        Result(
            Case("LMDB (the peer stays on HBase)", "rows", LMDB_ROWS, peer.run, jobs["LMDB"].run, 4.0),
            raw * LMDB_ROWS / HBASE_ROWS,
            mine[1],
        ),
    ]
    return [Comparison("Spark: a class as a DataFrame, two cores", "raw happybase source", results), *cores]


@attrs.frozen
class Job:
    """Something that needs all four columns of all rows of a DataFrame, of so many."""

    frame: DataFrame
    rows: int

    def run(self) -> None:
        (found,) = self.frame.selectExpr(
            "count(name)", "sum(number)", "sum(share)", "count(distinct code)", "max(length(name))"
        ).collect()
        if tuple(found) != expected(self.rows):
            raise AssertionError(f"found {tuple(found)}, expected {expected(self.rows)}")


@cache
def expected(rows: int) -> tuple[Any, ...]:
    """What is right to find in a model of so many rows."""
    numbers = range(rows)
    return rows, sum(1 + n % 1000 for n in numbers), sum(n / 8 + 1 for n in numbers), 7, len(f"r{rows - 1}")


def _in_turns(jobs: list[Job]) -> list[float]:
    """Median seconds of each, after a run that warms up."""
    times: list[list[float]] = [[] for _ in jobs]
    for number in range(WARMING + ROUNDS):
        for job, seconds in zip(jobs, times, strict=True):
            gc.collect()
            start = time.perf_counter()
            job.run()
            if number >= WARMING:
                seconds.append(time.perf_counter() - start)
    return [median(seconds) for seconds in times]


def _cores(urls: dict[str, str], on_two: list[float]) -> Figures:
    """What each store takes on one core, beside the seconds it took on two."""
    with session(1) as found:
        on_one = _in_turns([Job(ours(found, url, "readings"), ROWS[store]) for store, url in urls.items()])
    figures = []
    for store, one, two in zip(urls, on_one, on_two, strict=True):
        rates = f"{ROWS[store] / one:,.0f} on one core, {ROWS[store] / two:,.0f} on two"
        figures.append(Figure(f"{store}, rows/s", f"{rates}: {one / two:.2f}"))
    return Figures("Spark: one core and two", figures)


def growth() -> Growth:
    """What a row costs to write and to read, of models of every size."""
    written, read = [], []
    with tempfile.TemporaryDirectory() as folder, session(2) as found:
        for size in SIZES:
            with nm.connect(f"lmdb:{folder}/{size}") as repo:
                repo.register(readings)
                repo.create("readings")
                start = time.perf_counter()
                _write(found, repo.store.url, size)
                written.append(1e6 * (time.perf_counter() - start) / size)
                (seconds,) = _in_turns([Job(ours(found, repo.store.url, "readings"), size)])
                read.append(1e6 * seconds / size)
    title = "Spark: a row in models of every size, LMDB, two cores"
    return Growth(title, "rows", SIZES, {"written, µs each": written, "read, µs each": read})


def _write(found: SparkSession, url: str, rows: int) -> None:
    frame = found.range(0, rows, numPartitions=max(2, rows // 100_000)).selectExpr(
        "concat('r', id) as name",
        "cast(1 + id % 1000 as int) as number",
        "id / 8 + 1 as share",
        "concat('c', id % 7) as code",
    )
    options = {"store": url, "model": "readings", "type": "Reading"}
    frame.write.format("neomodel").mode("append").options(**options).save()


if __name__ == "__main__":
    show([*report(), *([growth()] if "--growth" in sys.argv else [])])
