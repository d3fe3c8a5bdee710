"""A scan of versioned rows on HBase takes constant memory, though the store remembers the versions it has seen.

`test_streaming` has the other streams, on every store, of rows without versions.
"""

import gc
import uuid
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from neomodel.cluster import Cluster
from neomodel.stores import VERSION, Mutation, Store, open_store, successor
from tests.memory import own_memory
from tests.stores.processes import run
from tests.stores.test_streaming import MEGABYTE, VALUE

BOUND = 64 * MEGABYTE
SAMPLE = 1000  # rows from one look at the memory to the next


@pytest.fixture(params=[20_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def filled(request: pytest.FixtureRequest, hbase: Cluster) -> Iterator[tuple[str, int]]:
    """A table of that many rows."""
    with open_store(hbase.url) as store:
        table = store.table(f"stream-{uuid.uuid4().hex}")
        table.create("pt")
        table.put_many(
            Mutation(b"%08d" % number, {VERSION: successor(None), b"p:a": VALUE, b"p:b": VALUE})
            for number in range(request.param)
        )
        yield table.name, request.param
        table.drop()


def test_a_scan_of_versioned_rows_takes_constant_memory(
    hbase: Cluster, filled: tuple[str, int], figures: Callable[[str], None]
) -> None:
    name, size = filled
    count, in_order, growth, late = run(_scan, hbase.url, name)
    figures(
        f"scanning {count:,} versioned rows on HBase: grew by {growth / MEGABYTE:.1f} MB,"
        f" {late / MEGABYTE:.1f} MB of it in the second half"
    )

    assert (count, in_order) == (size, True)
    assert growth < BOUND
    assert late < BOUND / 8 or size <= 200_000  # what is remembered is full by then


def _scan(store: Store, name: str) -> tuple[int, bool, int, int]:
    """Rows, whether their keys grew, how much this process's own memory did at most, and what came late of that."""
    table = store.table(name)
    for _ in islice(table.scan(), SAMPLE):  # what is set up once is no growth
        pass
    gc.collect()
    before, last, count, in_order, samples = own_memory(), b"", 0, True, []
    for key, _ in table.scan():
        count += 1
        in_order = in_order and last < key
        last = key
        if count % SAMPLE == 1:
            samples.append(own_memory())
    half = len(samples) // 2
    return count, in_order, max(samples) - before, max(samples) - max(samples[:half])
