"""What streams does so in constant memory: measured in another process, as growth of the memory it has for itself.

A mapped file does not count: its pages go when somebody needs the room.
"""

import gc
import uuid
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import pytest

from neomodel.stores import Mutation, Store, Table
from neomodel.stores.base import SHARED
from tests.memory import own_memory
from tests.stores.processes import run

MEGABYTE = 2**20
BOUND = 16 * MEGABYTE
VALUE = b"v" * 100
WIDE = b"wide"
BATCH = 1000  # cells of the wide row that one mutation writes
SMALL = 100_000

STREAMS: dict[str, Callable[[Table, Table], Iterator[object]]] = {
    "rows": lambda rows, _: rows.scan(),
    "rows as of a time": lambda rows, _: rows.scan(at=rows.now()),
    "versions": lambda rows, _: rows.history(),
    "cells": lambda _, wide: wide.cells(WIDE, "p"),
    "cells backwards": lambda _, wide: wide.cells(WIDE, "p", reverse=True, at=wide.now()),
}


@pytest.fixture(scope="module", params=[SMALL, pytest.param(1_000_000, marks=pytest.mark.soak)])
def filled(request: pytest.FixtureRequest, store: Store) -> Iterator[tuple[int, tuple[str, str], int]]:
    """A size, a table of that many rows and one with a row of that many cells, and what writing them took."""
    if SHARED not in store.capabilities:  # before all the work, and before a test's own mark is looked at
        pytest.skip(f"the store is not {SHARED}")
    names = (f"rows-{uuid.uuid4().hex}", f"wide-{uuid.uuid4().hex}")
    for name in names:
        store.table(name).create("pt")
    yield request.param, names, run(_fill, store.url, names, request.param)
    for name in names:
        store.table(name).drop()


def _fill(store: Store, names: tuple[str, str], size: int) -> int:
    rows = (Mutation(b"%08d" % n, {b"p:a": VALUE, b"p:b": VALUE}) for n in range(size))
    cells = (Mutation(WIDE, {b"p:%08d" % n: VALUE for n in range(at, at + BATCH)}) for at in range(0, size, BATCH))
    before, peak = own_memory(), 0
    for name, mutations in zip(names, (rows, cells), strict=True):
        peak = max(peak, _peak(mutations, store.table(name).put_many))
    return peak - before


def _peak(mutations: Iterable[Mutation], write: Callable[[Iterable[Mutation]], None]) -> int:
    peak = 0

    def watched() -> Iterator[Mutation]:
        nonlocal peak
        for number, mutation in enumerate(mutations):
            if number % 100 == 0:
                peak = max(peak, own_memory())
            yield mutation

    write(watched())
    return max(peak, own_memory())


def test_writing_from_an_iterator_takes_constant_memory(
    filled: tuple[int, tuple[str, str], int], figures: Callable[[str], None]
) -> None:
    size, _, growth = filled
    figures(f"writing {size:,} rows and {size:,} cells of one row: grew by {growth / MEGABYTE:.1f} MB")

    assert growth < 4 * BOUND


@pytest.mark.parametrize("stream", STREAMS)
def test_a_stream_takes_constant_memory(
    store: Store, filled: tuple[int, tuple[str, str], int], stream: str, figures: Callable[[str], None]
) -> None:
    size, names, _ = filled
    count, growth, peak = run(_stream, store.url, names, stream)
    figures(f"streaming {count:,} {stream}: grew by {growth / MEGABYTE:.1f} MB to {peak / MEGABYTE:.1f} MB")

    assert count == (2 * size if stream == "versions" else size)
    assert growth < BOUND


@pytest.mark.parametrize("kind", ["lmdb"], indirect=True)  # the measure is the same for all
@pytest.mark.parametrize("filled", [SMALL], indirect=True)
@pytest.mark.parametrize("stream", STREAMS)
def test_the_measure_sees_a_stream_that_is_made_as_a_list(
    store: Store, filled: tuple[int, tuple[str, str], int], stream: str
) -> None:
    _, names, _ = filled
    _, growth, _ = run(_stream, store.url, names, stream, as_a_list=True)

    assert growth > BOUND


def _stream(store: Store, names: tuple[str, str], stream: str, *, as_a_list: bool = False) -> tuple[int, int, int]:
    """How many items there were, how much this process's own memory grew meanwhile at most, and to what."""
    rows, wide = map(store.table, names)
    for _ in islice(STREAMS[stream](rows, wide), 1000):  # what is set up once is no growth
        pass
    gc.collect()
    before, peak, count = own_memory(), 0, 0
    items = STREAMS[stream](rows, wide)
    for _ in list(items) if as_a_list else items:
        count += 1
        if count % 1000 == 1:
            peak = max(peak, own_memory())
    return count, peak - before, peak
