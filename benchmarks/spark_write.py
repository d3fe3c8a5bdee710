"""Bulk writes by Spark beside raw batch writes: ``python -m benchmarks.spark_write [lmdb|hbase]``.

Two peers. The one that the figure wanted is about does the same job in the same way: a minimal writer of one's own,
that Spark runs in two tasks on the same DataFrame (``foreachPartition``), and that writes a row with the same cells for
each object in large batches, each on disk; for a root one more, by which the model knows it. It looks nothing up, lists
no children in other containers, can't be undone and shows half of a job. The other has all rows at hand, in order,
and writes them in one process, without any Spark.

What was written is counted after each round, which is not timed.
"""

import gc
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from functools import partial
from statistics import median
from typing import Any

import attrs
import happybase
import lmdb
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

import neomodel as nm
from benchmarks.measure import WARMING, Case, Comparison, Measured, Result, show, sized
from benchmarks.objects import BATCH, on_hbase
from benchmarks.places import session as spark_session
from metamodels import java
from neomodel import ids, layout
from neomodel.stores import VERSION, Row
from neomodel.stores.hbase_url import parse

OBJECTS, HBASE_OBJECTS = sized((200_000, 40_000), (20_000, 4_000))
INSIDE = 100  # objects in a container
ROUNDS = sized(3, 1)
STORES = ("lmdb", "hbase")
CELLS = 40_000  # that raw py-lmdb writes in a transaction, as neomodel does
_SPARE = 1 << 34

Rows = list[tuple[bytes, Row]]
Write = Callable[[Any], None]
"""Writes the pairs of key and row that it is given."""


@attrs.frozen
class Place:
    """Where a raw writer writes: to a new table, or a part of its own, for each round."""

    write: Callable[[str, Any], None]
    """Writes pairs of key and row there; runs in tasks too."""
    made: Callable[[], str]
    count: Callable[[str], int]


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


def _own_writer(write: Callable[[str, Any], None], where: str, some: Iterator[Any]) -> None:
    """What one would write in a quarter of an hour: the task of a partition."""
    common = {layout.NSURI: b"http://java", VERSION: b"1-0123456789ab"}
    context = TaskContext.get()
    assert context is not None
    part = f"{where}.{context.partitionId()}"
    made = ids.numbered(part)

    def rows() -> Iterator[tuple[bytes, Row]]:
        for number, one in enumerate(some):
            given = one.asDict()
            key = (given.get("_id") or made(ids.spread(part, number // ids.FANOUT), number)).encode()
            container = given.get("_container") or ids.ROOT
            yield (
                key,
                {
                    **common,
                    layout.ECLASS: given.get("_class", "ClassDeclaration").encode(),
                    layout.CONTAINER: container.encode(),
                    layout.FEATURE: (given.get("_feature") or layout.ROOT_CONTENTS).encode(),
                    b"p:name": given["name"].encode(),
                },
            )
            if container == ids.ROOT:
                yield ids.ROOT.encode(), {b"p:contents." + key: b"%016d" % number}

    write(where, rows())


def _writing(session: SparkSession, repo: nm.Repository, model: str, count: int, *, tree: bool) -> None:
    options = {"store": repo.store.url, "model": model, "type": "NamedElement" if tree else "ClassDeclaration"}
    _frame(session, count, tree=tree).write.format("neomodel").mode("append").options(**options).save()


def _objects(repo: nm.Repository, model: str) -> int:
    """How many there are; one more row has the roots."""
    return sum(map(len, repo.store.table(model).blocks([layout.ECLASS]))) - 1


def _measured(
    session: SparkSession, repo: nm.Repository, place: Place, count: int
) -> tuple[list[Result], list[Result]]:
    """Beside the writer of one's own, and beside rows at hand."""
    numbers = itertools.count()
    found: tuple[list[Result], list[Result]] = ([], [])
    for tree, name in ((False, "new roots, ids are made"), (True, "a new tree, ids are given")):
        frame = _frame(session, count, tree=tree)
        at_hand: Rows = []

        def ours(tree: bool = tree) -> tuple[float, int]:
            model = f"made{next(numbers)}"
            repo.create(model)
            seconds = _timed(lambda: _writing(session, repo, model, count, tree=tree))
            return seconds, _objects(repo, model)

        def own(frame: DataFrame = frame) -> tuple[float, int]:
            where = place.made()
            return _timed(lambda: frame.foreachPartition(partial(_own_writer, place.write, where))), place.count(where)

        def plain(rows: Rows = at_hand) -> tuple[float, int]:
            where = place.made()
            return _timed(lambda: place.write(where, iter(rows))), place.count(where) - 1

        sides = (own, plain, ours)
        ours()
        if WARMING:
            own()
        at_hand.extend(repo.store.table(f"made{next(numbers) - 1}").scan())
        times: list[list[float]] = [[], [], []]
        for _, side in itertools.product(range(ROUNDS), range(3)):
            seconds, written = sides[side]()
            if written != count:
                raise AssertionError(f"{name}: {written} objects were written, not {count}")
            times[side].append(seconds)
        medians = [median(some) for some in times]
        for results, peer, wanted in zip(found, medians, (0.6, 0.0), strict=False):
            results.append(Result(Case(name, "objects", count, plain, ours, wanted), peer, medians[2]))
    return found


def _timed(job: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


# the raw drivers; what runs in tasks is a function with arguments that pickle


def _put_lmdb(folder: str, where: str, rows: Any) -> None:
    """In transactions of so many cells, each on disk; keys are made as neomodel's are."""
    head = where.encode()
    with lmdb.open(folder, map_size=_SPARE, max_spare_txns=1) as raw:
        cells = ((head + key + b"\0" + column + bytes(9), value) for key, row in rows for column, value in row.items())
        while some := list(itertools.islice(cells, CELLS)):
            with raw.begin(write=True) as txn:
                txn.cursor().putmulti(sorted(some))


def _count_lmdb(folder: str, where: str) -> int:
    head = where.encode()
    with lmdb.open(folder, map_size=_SPARE) as raw, raw.begin() as txn:
        cursor = txn.cursor()
        cursor.set_range(head)
        keys = itertools.takewhile(lambda key: key.startswith(head), cursor.iternext(values=False))
        return sum(layout.ECLASS in key for key in keys)


def _put_hbase(host: str, port: int, where: str, rows: Any) -> None:
    with closing(happybase.Connection(host, port)) as raw, raw.table(where).batch(batch_size=BATCH * 6) as batch:
        for key, row in rows:
            batch.put(key, row)


def _on_lmdb(session: SparkSession) -> tuple[list[Result], list[Result]]:
    with tempfile.TemporaryDirectory() as folder, nm.connect(f"lmdb:{folder}/ours") as repo:
        repo.register(java.java)
        raw, numbers = f"{folder}/raw", itertools.count()
        place = Place(partial(_put_lmdb, raw), lambda: f"{next(numbers):08}", partial(_count_lmdb, raw))
        return _measured(session, repo, place, OBJECTS)


def _on_hbase(session: SparkSession) -> tuple[list[Result], list[Result]]:
    with on_hbase() as (_, repo):
        address = parse(repo.store.url).gateways[0]
        numbers = itertools.count()

        def made() -> str:
            name = f"raw{next(numbers)}"
            repo.store.table(name).create(layout.FAMILIES, splits=ids.splits(repo.store.breadth))
            return name

        def count(name: str) -> int:
            return sum(map(len, repo.store.table(name).blocks([layout.ECLASS])))

        place = Place(partial(_put_hbase, address.host, address.port1), made, count)
        return _measured(session, repo, place, HBASE_OBJECTS)


def report(stores: Collection[str] = STORES) -> list[Measured]:
    jobs = {
        "lmdb": (_on_lmdb, f"on LMDB, {OBJECTS:,}", "py-lmdb"),
        "hbase": (_on_hbase, f"on HBase, one server, {HBASE_OBJECTS:,}", "happybase"),
    }
    found: list[Measured] = []
    with spark_session() as session:
        for measured, title, driver in (jobs[name] for name in stores):
            in_tasks, at_hand = measured(session)
            peer = f"a writer of one's own on Spark, {driver}"
            found.append(Comparison(f"Bulk write by Spark {title}", peer, in_tasks))
            found.append(Comparison(f"The same beside rows at hand {title}", f"raw {driver}, no Spark", at_hand))
    return found


if __name__ == "__main__":
    show(report(sys.argv[1:] or STORES))
