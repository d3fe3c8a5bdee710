"""The LMDB store beside raw py-lmdb: the same cells, the same keys, the same durability."""

import itertools
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import lmdb

from benchmarks.measure import Case, Comparison, Measured, Result, measure, sized
from neomodel.stores import VERSION, Mutation, Table, open_store, successor

ROWS = sized(20_000, 5_000)
GETS = sized(5_000, 2_000)
SWAPS = sized(300, 100)
CELLS = {
    b"c:container": b"0000000000000001",
    b"c:feature": b"bodyDeclarations",
    b"p:name": b"a name of usual length",
    b"t:eclass": b"MethodDeclaration",
    VERSION: b"1-0123456789ab",
}


def _key(number: int) -> bytes:
    return b"%016x" % number


@contextmanager
def _stores() -> Iterator[tuple[lmdb.Environment, Table]]:
    with tempfile.TemporaryDirectory() as folder, open_store(f"lmdb:{folder}/ours") as store:
        ours = store.table("model")
        ours.create("cpt")
        ours.put_many(Mutation(_key(number), CELLS) for number in range(ROWS))
        raw = lmdb.open(f"{folder}/raw", map_size=1 << 34, max_spare_txns=1)
        with raw.begin(write=True) as txn:
            for key, value in _raw_items(0):
                txn.put(key, value)
        yield raw, ours
        raw.close()


def _raw_items(batch: int) -> list[tuple[bytes, bytes]]:
    """The rows as a careful author would key them by hand: row, column, time."""
    stamp = bytes(7) + bytes([batch % 256])
    return [
        (b"\1\0\0\1" + _key(number) + b"\0" + column + b"\0" + stamp, value)
        for number in range(ROWS)
        for column, value in CELLS.items()
    ]


def run() -> list[Result]:
    with _stores() as (raw, ours):
        cases = [_get, _scan, _put_many, _load, _swap]
        return [measure(case(raw, ours)) for case in cases]


def _get(raw: lmdb.Environment, ours: Table) -> Case:
    keys = [_key(number) for number in random.Random(1).choices(range(ROWS), k=GETS)]

    def peer() -> int:
        size = 0
        for key in keys:
            with raw.begin() as txn:
                cursor = txn.cursor()
                cursor.set_range(b"\1\0\0\1" + key + b"\0")
                found = list(itertools.islice(cursor, 5))
                size += len(found)
        return size

    def subject() -> int:
        return sum(len(ours.get(key) or ()) for key in keys)

    return Case("get of a 5-cell row", "rows", GETS, peer, subject, 0.3)


def _scan(raw: lmdb.Environment, ours: Table) -> Case:
    """The answer is the number of cells."""

    def peer() -> int:
        cells = 0
        with raw.begin() as txn:
            cursor = txn.cursor()
            cursor.set_range(b"\1")
            for _key, _value in cursor:
                cells += 1
        return cells

    def subject() -> int:
        cells = 0
        for _, row in ours.scan():
            cells += len(row)
        return cells

    return Case("scan", "cells", ROWS * len(CELLS), peer, subject, 0.4)


def _put_many(raw: lmdb.Environment, ours: Table) -> Case:
    """Every round writes new versions of all rows, in both."""
    rounds = itertools.count(1)
    mutations = [Mutation(_key(number), CELLS) for number in range(ROWS)]

    def peer() -> None:
        items = next(prepared)
        with raw.begin(write=True) as txn:
            for key, value in items:
                txn.put(key, value)

    prepared = iter([_raw_items(next(rounds)) for _ in range(10)])

    def subject() -> None:
        ours.put_many(mutations)

    return Case("put_many, new versions", "cells", ROWS * len(CELLS), peer, subject, 0.5)


def _load(raw: lmdb.Environment, ours: Table) -> Case:
    """Every round writes rows that were not there, after all others: what a raw put is quickest at."""
    ranges = [range(ROWS * number, ROWS * (number + 1)) for number in range(1, 11)]
    items = iter(
        [[(_raw_key(key, column), value) for key in keys for column, value in CELLS.items()] for keys in ranges]
    )
    mutations = iter([[Mutation(_key(key), CELLS) for key in keys] for keys in ranges])

    def peer() -> None:
        with raw.begin(write=True) as txn:
            for key, value in next(items):
                txn.put(key, value)

    return Case("put_many, first load", "cells", ROWS * len(CELLS), peer, lambda: ours.put_many(next(mutations)), 0.5)


def _raw_key(number: int, column: bytes) -> bytes:
    return b"\1\0\0\1" + _key(number) + b"\0" + column + b"\0" + bytes(8)


def _swap(raw: lmdb.Environment, ours: Table) -> Case:
    version = [CELLS[VERSION], CELLS[VERSION]]
    ours.put_many([Mutation(b"swapped", {VERSION: version[1]})])
    with raw.begin(write=True) as txn:
        txn.put(b"swapped", version[0])

    def peer() -> int:
        won = 0
        for _ in range(SWAPS):
            with raw.begin(write=True) as txn:
                if txn.get(b"swapped") == version[0]:
                    version[0] = successor(version[0])
                    txn.put(b"swapped", version[0])
                    won += 1
        return won

    def subject() -> int:
        won = 0
        for _ in range(SWAPS):
            expected, version[1] = version[1], successor(version[1])
            won += ours.swap(b"swapped", expected, {VERSION: version[1]})
        return won

    return Case("swap, on disk", "swaps", SWAPS, peer, subject, 0.7)


def report() -> list[Measured]:
    return [Comparison("LMDB store, one process", "raw py-lmdb", run())]
