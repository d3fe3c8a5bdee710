"""Backup and restore by Spark beside raw scans and raw batch writes: ``python -m benchmarks.backup [lmdb|hbase]``.

The peer of a backup is a scan of the same cells by the raw driver, in one process, that keeps nothing of them; the peer
of a restore writes the same rows, which it has at hand, in order and in large batches, each on disk. Spark runs
already, with two tasks at a time. What was copied is counted, and what was restored compared, which is not timed.
On LMDB there are so many rows that what a job of Spark costs, however small it is, some tenths of a second, is a small
part of the time.

**Memory** is what a process needs for a backup and a restore beside what it had, for a store and for one four times as
large.
"""

import gc
import hashlib
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

import happybase
import lmdb
import pyarrow.compute as pc
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from benchmarks.measure import QUICK, WARMING, Case, Comparison, Figure, Figures, Measured, Result, show, sized
from benchmarks.objects import BATCH, on_hbase
from benchmarks.places import session as spark_session
from neomodel import ids, layout
from neomodel.stores import VERSION, Mutation, Row, Store
from neomodel.stores.hbase_url import parse

ROWS, HBASE_ROWS = sized((1_000_000, 40_000), (30_000, 6_000))
ROUNDS = sized(3, 1)
STORES = ("lmdb", "hbase")
CELLS = 40_000  # that raw py-lmdb writes in a transaction, as neomodel does
SMALL, LARGE = 100_000, 400_000  # rows, for memory
_SPARE = 1 << 34

Seconds = tuple[float, int]
"""How long it took, and how many cells there were."""


def _rows(count: int) -> Iterator[tuple[bytes, Row]]:
    for number in range(count):
        shard = number * 65536 // count
        yield (
            b"%04x%012d" % (shard, number),
            {
                layout.CONTAINER: b"%04x%012d" % (shard, number - number % 100),
                layout.FEATURE: b"ownedElements",
                b"p:name": b"element %d" % number,
                layout.ECLASS: b"ClassDeclaration",
                layout.NSURI: b"http://java",
                VERSION: b"1-%012x" % number,
            },
        )


def _fill(repository: nm.Repository, count: int) -> None:
    repository.create("m").table.put_many(Mutation(key, row) for key, row in _rows(count))


def _timed(job: Callable[[], int]) -> Seconds:
    gc.collect()
    start = time.perf_counter()
    found = job()
    return time.perf_counter() - start, found


def _backup(session: SparkSession, repository: nm.Repository, folder: Path) -> Seconds:
    shutil.rmtree(folder, ignore_errors=True)
    return _timed(lambda: spark.backup(session, repository, folder, "m", wait=True).cells)


def _restore(session: SparkSession, repository: nm.Repository, folder: Path, source: list[str]) -> Seconds:
    found = _timed(lambda: spark.restore(session, repository, folder).cells)
    if _digest(repository.store) != source:
        raise AssertionError("what was restored is not what was backed up")
    repository.drop("m")
    return found


def _digest(store: Store) -> list[str]:
    """Of all cells, with their times: of the lengths and the bytes of each column, wherever blocks end."""
    digests = [hashlib.sha256() for _ in range(7)]
    for block in store.table("m").history_blocks():
        key, column, moment, value = block.columns
        lengths = [pc.fill_null(pc.binary_length(part), -1) for part in (key, column, value)]
        joined = [b"".join(part.drop_null().to_pylist()) for part in (key, column, value)]
        for digest, numbers in zip(digests[:4], [*lengths, moment], strict=True):
            digest.update(numbers.to_numpy().tobytes())
        for digest, data in zip(digests[4:], joined, strict=True):
            digest.update(data)
    return [digest.hexdigest() for digest in digests]


def _measured(sides: dict[str, tuple[Callable[[], Seconds], Callable[[], Seconds]]], cells: int) -> list[Result]:
    """Of each job the peer and neomodel in turns, after one round that warms up."""
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in sides}
    for number, (name, both) in itertools.product(range(WARMING + ROUNDS), sides.items()):
        for side, run in zip(times[name], both, strict=True):
            seconds, count = run()
            if count != cells:
                raise AssertionError(f"{name}: {count} cells, not {cells}")
            if number >= WARMING:
                side.append(seconds)
    cases = {name: Case(name, "cells", cells, *both, 0.5) for name, both in sides.items()}
    return [Result(cases[name], median(peer), median(ours)) for name, (peer, ours) in times.items()]


# the raw drivers


def _scan_lmdb(folder: str) -> int:
    with lmdb.open(folder, map_size=_SPARE) as raw, raw.begin() as txn:
        return sum(len(value) > 0 for _, value in txn.cursor())


def _put_lmdb(folder: str, rows: list[tuple[bytes, Row]]) -> int:
    count = 0
    with lmdb.open(folder, map_size=_SPARE, max_spare_txns=1) as raw:
        cells = ((key + b"\0" + column + bytes(9), value) for key, row in rows for column, value in row.items())
        while some := list(itertools.islice(cells, CELLS)):
            with raw.begin(write=True) as txn:
                txn.cursor().putmulti(some)
            count += len(some)
    return count


def _on_lmdb(session: SparkSession) -> list[Result]:
    with tempfile.TemporaryDirectory() as name, nm.connect(f"lmdb:{name}/ours") as repo:
        folder, numbers = Path(name), itertools.count()
        _fill(repo, ROWS)
        at_hand = list(_rows(ROWS))
        _put_lmdb(f"{name}/raw", at_hand)  # the same cells; a process opens a file once
        source = _digest(repo.store)

        def restored() -> Seconds:
            with nm.connect(f"lmdb:{name}/again{next(numbers)}") as other:
                return _restore(session, other, folder / "b", source)

        return _measured(
            {
                "backup": (
                    lambda: _timed(lambda: _scan_lmdb(f"{name}/raw")),
                    lambda: _backup(session, repo, folder / "b"),
                ),
                "restore": (lambda: _timed(lambda: _put_lmdb(f"{name}/raw{next(numbers)}", at_hand)), restored),
            },
            6 * ROWS,
        )


def _on_hbase(session: SparkSession) -> list[Result]:
    with on_hbase() as (_, repo), tempfile.TemporaryDirectory() as name:
        repo.store.settling = 0  # nobody else writes
        address, numbers = parse(repo.store.url).gateways[0], itertools.count()
        _fill(repo, HBASE_ROWS)
        url = f"{repo.store.url}&prefix=again_"
        at_hand, source = list(_rows(HBASE_ROWS)), _digest(repo.store)
        tables = [f"raw{number}" for number in range(WARMING + ROUNDS)]
        for one in tables:
            repo.store.table(one).create(layout.FAMILIES, splits=ids.splits(repo.store.breadth))

        def scanned() -> int:
            with closing(happybase.Connection(address.host, address.port1)) as raw:
                return sum(len(row) for _, row in raw.table("m").scan(batch_size=BATCH))

        def put() -> int:
            where = tables[next(numbers)]
            connection = happybase.Connection(address.host, address.port1)
            with closing(connection), connection.table(where).batch(batch_size=BATCH * 6) as batch:
                for key, row in at_hand:
                    batch.put(key, row)
            return sum(len(row) for _, row in at_hand)

        def restored() -> Seconds:
            with nm.connect(url) as other:
                return _restore(session, other, Path(name) / "b", source)

        return _measured(
            {
                "backup": (lambda: _timed(scanned), lambda: _backup(session, repo, Path(name) / "b")),
                "restore": (lambda: _timed(put), restored),
            },
            6 * HBASE_ROWS,
        )


# memory

_NEEDED = """
import sys, threading
from pathlib import Path
import neomodel as nm
from neomodel.backups import making, restoring
from tests.memory import own_memory
from benchmarks.backup import _fill

folder, count = sys.argv[1], int(sys.argv[2])
with nm.connect(f"lmdb:{folder}/ours") as repo, nm.connect(f"lmdb:{folder}/other") as other:
    _fill(repo, count)
    before, peak, ended = own_memory(), 0, threading.Event()
    def watch():
        global peak
        while not ended.wait(0.01):
            peak = max(peak, own_memory())
    watching = threading.Thread(target=watch)
    watching.start()
    nm.backup(repo, f"{folder}/b", "m")
    nm.restore(other, f"{folder}/b")
    ended.set()
    watching.join()
    print(peak - before)
"""


def needed(count: int) -> int:
    """Bytes that a process needs beside what it had, for a backup and a restore of so many rows."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _NEEDED, folder, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)


def _memory() -> Figures:
    figures = [Figure(f"{rows:,} rows", f"{needed(rows) / 2**20:.0f} MB") for rows in (SMALL, LARGE)]
    return Figures("Memory of a backup and a restore, LMDB, one process", figures)


def report(stores: Collection[str] = STORES) -> list[Measured]:
    jobs: dict[str, tuple[Any, str, str]] = {
        "lmdb": (_on_lmdb, f"on LMDB, {ROWS:,} rows", "raw py-lmdb"),
        "hbase": (_on_hbase, f"on HBase, one server, {HBASE_ROWS:,} rows", "raw happybase"),
    }
    found: list[Measured] = []
    with spark_session() as session:
        for measured, title, driver in (jobs[name] for name in stores):
            found.append(Comparison(f"Backup and restore by Spark {title}", driver, measured(session)))
    return [*found, _memory()] if "lmdb" in stores and not QUICK else found


if __name__ == "__main__":
    show(report(sys.argv[1:] or STORES))
