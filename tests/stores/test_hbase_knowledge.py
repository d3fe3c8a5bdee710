"""What a process remembers of the rows of an HBase store: enough, not everything, and from any thread."""

import itertools
import sys
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from neomodel.stores import hbase_knowledge, successor
from neomodel.stores.hbase_gateways import Gateways
from neomodel.stores.hbase_knowledge import Knowledge

ROOM = 100


@pytest.fixture
def knowledge(monkeypatch: pytest.MonkeyPatch) -> Knowledge:
    """One that has little room."""
    monkeypatch.setattr(hbase_knowledge, "_REMEMBERED", ROOM)
    return Knowledge(Gateways([], 1.0, 1_000_000))


@pytest.fixture
def _hasty() -> Iterator[None]:
    """Threads take turns all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def remember(knowledge: Knowledge, name: bytes, count: int) -> None:
    for number in range(count):
        knowledge.remember({b"%s-%d" % (name, number): (b"1-%d" % number, number)})


def recalled(knowledge: Knowledge, count: int) -> int:
    return sum(knowledge.remembered(b"k-%d" % number, b"1-%d" % number) is not None for number in range(count))


def test_the_versions_seen_last_are_remembered_and_not_many_more(knowledge: Knowledge) -> None:
    remember(knowledge, b"k", 10 * ROOM + 1)

    assert all(
        knowledge.remembered(b"k-%d" % number, b"1-%d" % number) == number
        for number in range(9 * ROOM + 1, 10 * ROOM + 1)
    )
    assert recalled(knowledge, 10 * ROOM + 1) <= 2 * ROOM + 1


def test_another_version_than_the_one_seen_is_not_known(knowledge: Knowledge) -> None:
    knowledge.remember({b"k": (b"1-a", 7)})

    assert knowledge.remembered(b"k", b"1-a") == 7
    assert knowledge.remembered(b"k", b"2-b") is None
    assert knowledge.remembered(b"l", b"1-a") is None


def test_a_row_without_a_version_is_never_known(knowledge: Knowledge) -> None:
    knowledge.remember({b"k": (b"", 7)})

    assert knowledge.remembered(b"k", b"") is None


def test_all_that_is_remembered_after_a_long_scan_takes_a_few_megabytes() -> None:
    knowledge = Knowledge(Gateways([], 1.0, 1_000_000))
    page, keys = 1000, iter(range(100 * 1000))
    tracemalloc.start()
    try:
        for _ in range(100):
            numbers = itertools.islice(keys, page)
            knowledge.remember({b"%016x" % number: (successor(b"1"), 2**50 + number) for number in numbers})
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert taken < 4_000_000


def test_a_table_that_may_be_another_one_is_forgotten(knowledge: Knowledge) -> None:
    remember(knowledge, b"k", 3)
    knowledge.forget()

    assert recalled(knowledge, 3) == 0


@pytest.mark.usefixtures("_hasty")
def test_threads_may_remember_at_once(knowledge: Knowledge) -> None:
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(remember, knowledge, b"%d" % thread, 20_000) for thread in range(4)]:
            done.result()
