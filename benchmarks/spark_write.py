"""Bulk writes by Spark beside raw batch writes of the same cells: ``python -m benchmarks.spark_write [lmdb|hbase]``.

The raw side has its rows at hand and writes them, in one process; Spark computes them in two tasks, gives them to
Python, and commits. Both have a row for each object and a cell for everything that neomodel keeps of it.
"""

import itertools
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator

import lmdb
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

import neomodel as nm
from benchmarks.measure import Case, Result, measure, table
from benchmarks.objects import BATCH, hbase
from benchmarks.spark_read import session as spark_session
from metamodels import java
from neomodel import ids, layout
from neomodel.stores import Row

OBJECTS, HBASE_OBJECTS = 500_000, 100_000
INSIDE = 100  # objects in a container
ROUNDS = 3
STORES = ("lmdb", "hbase")

Rows = list[tuple[bytes, Row]]


def _frame(session: SparkSession, count: int, *, tree: bool) -> DataFrame:
    """Classes that are roots and get their ids; or packages with classes in them, with ids of their own."""
    number = f.col("id")
    name = f.format_string("element %d", number).alias("name")
    if not tree:
        return session.range(0, count, numPartitions=2).select(name)
    top = number - number % INSIDE
    inside = number % INSIDE > 0

    def key(one: Column) -> Column:
        return f.format_string("%04x%012d", top % 65536, one)

    return session.range(0, count, numPartitions=2).select(
        key(number).alias("_id"),
        f.when(inside, key(top)).alias("_container"),
        f.when(inside, f.lit("ownedElements")).alias("_feature"),
        f.when(inside, f.lit("ClassDeclaration")).otherwise(f.lit("Package")).alias("_class"),
        name,
    )


def _writing(session: SparkSession, repo: nm.Repository, models: Iterator[str], count: int, *, tree: bool) -> int:
    options = {"store": repo.store.url, "model": next(models), "type": "NamedElement" if tree else "ClassDeclaration"}
    _frame(session, count, tree=tree).write.format("neomodel").mode("append").options(**options).save()
    return count


def _rows(session: SparkSession, repo: nm.Repository, count: int, *, tree: bool) -> Rows:
    """What the job writes: the rows that the raw side is to write as well."""
    name = f"sample{int(tree)}"
    model = repo.create(name)
    _writing(session, repo, iter([name]), count, tree=tree)
    found = list(model.table.scan())
    if len(found) != count + 1:
        raise AssertionError(f"{len(found)} rows were written, not {count}, and that of the roots")
    return found


def _cases(
    session: SparkSession, repo: nm.Repository, count: int, raw: Callable[[Rows], Callable[[], int]]
) -> Iterator[Case]:
    for tree, name in ((False, "new roots, ids are made"), (True, "a new tree, ids are given")):
        rows = _rows(session, repo, count, tree=tree)
        models = [f"made{int(tree)}{number}" for number in range(ROUNDS + 1)]
        for model in models:
            repo.create(model)
        to_fill = iter(models)

        def subject(to_fill: Iterator[str] = to_fill, tree: bool = tree) -> int:
            return _writing(session, repo, to_fill, count, tree=tree)

        yield Case(name, "objects", count, raw(rows), subject, 0.6)


def _raw_lmdb(folder: str) -> Callable[[Rows], Callable[[], int]]:
    """All cells in transactions of 40,000, each on disk, in the order of their keys."""
    raw = lmdb.open(f"{folder}/raw", map_size=1 << 34, max_spare_txns=1)
    numbers = itertools.count()

    def prepared(rows: Rows) -> Callable[[], int]:
        cells = [(key + b"\0" + column + bytes(8), value) for key, row in rows for column, value in row.items()]

        def write() -> int:
            head = b"%08d" % next(numbers)
            for first in range(0, len(cells), 40_000):
                with raw.begin(write=True) as txn:
                    for key, value in cells[first : first + 40_000]:
                        txn.put(head + key, value)
            return len(rows) - 1

        return write

    return prepared


def _on_lmdb(session: SparkSession) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder, nm.connect(f"lmdb:{folder}/ours") as repo:
        repo.register(java.java)
        return [measure(case, rounds=ROUNDS) for case in _cases(session, repo, OBJECTS, _raw_lmdb(folder))]


def _on_hbase(session: SparkSession) -> list[Result]:
    with hbase() as (raw, repo):
        numbers = itertools.count()

        def prepared(rows: Rows) -> Callable[[], int]:
            tables = [f"raw{next(numbers)}" for _ in range(ROUNDS + 1)]
            for name in tables:
                repo.store.table(name).create(layout.FAMILIES, splits=ids.splits(repo.store.breadth))
            to_write = iter(tables)

            def write() -> int:
                raw.close()  # the gateway may have hung up meanwhile
                raw.open()
                with raw.table(next(to_write)).batch(batch_size=BATCH * len(rows[0][1])) as batch:
                    for key, cells in rows:
                        batch.put(key, cells)
                return len(rows) - 1

            return write

        return [measure(case, rounds=ROUNDS) for case in _cases(session, repo, HBASE_OBJECTS, prepared)]


def report(stores: Collection[str] = STORES) -> list[str]:
    found = []
    with spark_session() as session:
        if "lmdb" in stores:
            found.append(table(f"Bulk write by Spark on LMDB, {OBJECTS:,}", "raw py-lmdb", _on_lmdb(session)))
        if "hbase" in stores:
            title = f"Bulk write by Spark on HBase, one server, {HBASE_OBJECTS:,}"
            found.append(table(title, "raw happybase", _on_hbase(session)))
    return found


if __name__ == "__main__":
    print("\n\n".join(report(sys.argv[1:] or STORES)))
