"""The cache: what it saves, what it never keeps, what it may take."""

import os
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from neomodel.errors import InvalidValue, Purged, TableNotFound
from neomodel.stores import Mutation, Store, Table, open_store
from neomodel.stores.wrappers import Caching, Counting, WrappedStore

A, B = b"p:a", b"p:b"


@pytest.fixture
def inner() -> Store:
    """A store with a table `t` of rows r0 to r4."""
    store = open_store("memory:")
    store.table("t").create(["p"])
    store.table("t").put_many(Mutation(b"r%d" % n, {A: b"%d" % n, B: b"x"}) for n in range(5))
    return store


@pytest.fixture
def counting(inner: Store) -> Counting:
    return Counting(inner)


@pytest.fixture
def cached(counting: Counting) -> Table:
    return Caching(counting).table("t")


def test_a_snapshot_row_is_read_once(counting: Counting, cached: Table) -> None:
    at = cached.now()
    counting.reset()

    rows = [cached.get(b"r1", at=at) for _ in range(3)]

    assert rows == [{A: b"1", B: b"x"}] * 3
    assert counting.calls == {"now": 1, "get": 1}


def test_an_absent_row_is_cached_too(counting: Counting, cached: Table) -> None:
    at = cached.now()
    counting.reset()

    assert [cached.get(b"absent", at=at), cached.get_many([b"absent"], at=at)] == [None, {}]
    assert counting.calls == {"now": 1, "get": 1}


def test_get_many_asks_once_and_only_for_what_is_missing(inner: Store) -> None:
    asked = []

    class Spying(WrappedStore):
        def table(self, name: str) -> Table:
            table = self.inner.table(name)
            get_many = table.get_many
            table.get_many = lambda keys, **options: asked.append(list(keys)) or get_many(asked[-1], **options)
            return table

    cached = Caching(Spying(inner)).table("t")
    at = cached.now()
    cached.get_many([b"r1", b"r2"], at=at)

    rows = cached.get_many(iter([b"r3", b"r1", b"absent", b"r2"]), at=at)
    again = cached.get_many([b"r3", b"absent"], at=at)

    assert {key: row[A] for key, row in rows.items()} == {b"r1": b"1", b"r2": b"2", b"r3": b"3"}
    assert again == {b"r3": {A: b"3", B: b"x"}}
    assert asked == [[b"r1", b"r2"], [b"r3", b"absent"]]


def test_reads_of_the_present_pass_through(counting: Counting, cached: Table) -> None:
    for _ in range(2):
        cached.get(b"r1")
        cached.get_many([b"r1"])

    assert counting.calls == {"get": 2, "get_many": 2}


def test_different_times_and_columns_are_different_rows(cached: Table) -> None:
    before = cached.now()
    cached.put_many([Mutation(b"r1", {A: b"new"})])
    after = cached.now()

    for _ in range(2):
        assert cached.get(b"r1", at=before) == {A: b"1", B: b"x"}
        assert cached.get(b"r1", at=after) == {A: b"new", B: b"x"}
        assert cached.get(b"r1", at=after, columns=[A]) == {A: b"new"}
        assert cached.get(b"r1", at=after, columns=[]) is None


def test_tables_do_not_share_rows(inner: Store) -> None:
    caching = Caching(inner)
    other = caching.table("other")
    other.create(["p"])
    other.put_many([Mutation(b"r1", {A: b"other"})])
    at = other.now()

    for _ in range(2):
        assert caching.table("t").get(b"r1", at=at) == {A: b"1", B: b"x"}
        assert other.get(b"r1", at=at) == {A: b"other"}


def test_a_time_that_may_still_change_is_never_cached(inner: Store) -> None:
    inner.settling = 60_000_000
    table = Caching(inner).table("t")
    at = table.now()
    assert table.get(b"r1", at=at) == {A: b"1", B: b"x"}

    inner.table("t").put_many([Mutation(b"r1", {A: b"late"}, at)])

    assert table.get(b"r1", at=at) == {A: b"late", B: b"x"}


def test_a_future_time_is_never_cached(cached: Table) -> None:
    future = cached.now() + 3_600_000_000
    assert cached.get(b"r1", at=future) == {A: b"1", B: b"x"}

    cached.put_many([Mutation(b"r1", {A: b"new"})])

    assert cached.get(b"r1", at=future) == {A: b"new", B: b"x"}


def test_whether_a_time_is_complete_is_asked_only_beyond_the_last_known_one(counting: Counting, cached: Table) -> None:
    early = cached.now()
    cached.put_many([Mutation(b"r1", {A: b"new"})])
    late = cached.now()
    counting.reset()

    for at in (late, early, late - 1, late):
        cached.get(b"r2", at=at)

    assert counting.calls["now"] == 1


def test_a_caller_who_changes_a_row_does_not_change_the_cache(cached: Table) -> None:
    at = cached.now()
    for _ in range(3):
        for row in (cached.get(b"r1", at=at), cached.get_many([b"r1"], at=at)[b"r1"]):
            assert row == {A: b"1", B: b"x"}
            row[A] = b"damaged"


def test_the_least_recently_used_row_goes_first(counting: Counting) -> None:
    at = counting.table("t").now()
    table = Caching(counting, limit_bytes=2000).table("t")  # two rows of two cells, not three

    for key in (b"r1", b"r2", b"r1", b"r3"):  # r2 goes
        table.get(key, at=at)
    counting.reset()
    for key in (b"r1", b"r3"):
        table.get(key, at=at)
    assert counting.calls == {}

    table.get(b"r2", at=at)
    assert counting.calls == {"get": 1}


def test_a_row_larger_than_the_limit_pushes_nothing_out(counting: Counting) -> None:
    counting.table("t").put_many([Mutation(b"big", {A: bytes(5000)})])
    at = counting.table("t").now()
    table = Caching(counting, limit_bytes=2000).table("t")
    table.get(b"r1", at=at)
    counting.reset()

    assert table.get(b"big", at=at) == {A: bytes(5000)}
    table.get(b"r1", at=at)

    assert counting.calls == {"get": 1}


@pytest.mark.parametrize("cells", [0, 1, 20])
def test_memory_stays_within_the_limit(cells: int) -> None:
    inner = open_store("memory:")
    inner.table("t").create(["p"])
    limit = 1_000_000
    at = inner.table("t").now()
    row = {b"p:%d" % n: b"v" for n in range(cells)}

    class Making(WrappedStore):
        """Makes every row afresh, as a driver does: no bytes are shared with anything."""

        def table(self, name: str) -> Table:
            table = self.inner.table(name)
            table.get = lambda *_, **__: {bytes(bytearray(c)): bytes(bytearray(v + b"!")) for c, v in row.items()}
            return table

    table = Caching(Making(inner), limit_bytes=limit).table("t")
    tracemalloc.start()
    try:
        for n in range(4000):
            table.get(b"row %d" % n, at=int(str(at)))
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert limit / 2 < taken < limit


def test_what_is_dropped_purged_or_rewritten_through_the_cache_is_seen_at_once(cached: Table) -> None:
    before = cached.now()
    cached.put_many([Mutation(b"r1", {A: b"2"})])
    at = cached.now()
    assert cached.get(b"r1", at=before) == {A: b"1", B: b"x"}
    assert cached.get(b"r1", at=at) == {A: b"2", B: b"x"}

    cached.put_many([Mutation(b"r1", {B: b"history"}, at)])
    assert cached.get(b"r1", at=at) == {A: b"2", B: b"history"}

    cached.purge(at)
    with pytest.raises(Purged):
        cached.get(b"r1", at=before)

    cached.drop()
    with pytest.raises(TableNotFound):
        cached.get(b"r1", at=at)


def test_a_bad_key_is_refused_by_the_cache_as_by_the_store(cached: Table) -> None:
    for key in (b"", bytearray(b"r1"), "r1"):
        with pytest.raises(InvalidValue):
            cached.get(key, at=cached.now())


def test_threads_share_a_cache_that_overflows_all_the_time(inner: Store) -> None:
    table = Caching(inner, limit_bytes=2000).table("t")
    at = table.now()

    def read(n: int) -> bool:
        key = b"r%d" % (n % 5)
        return table.get(key, at=at) == table.get_many([key], at=at)[key] == {A: b"%d" % (n % 5), B: b"x"}

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(4000)))


def test_a_cache_works_after_a_fork_that_found_it_locked(inner: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    caching = Caching(inner)
    table = caching.table("t")
    at = table.now()
    with caching.cache._lock:
        monkeypatch.setattr(os, "getpid", lambda: -1)  # what a forked child sees: another process, the lock held
        answers: list[object] = []
        thread = threading.Thread(target=lambda: answers.append(table.get(b"r1", at=at)), daemon=True)
        thread.start()
        thread.join(10)

    assert answers == [{A: b"1", B: b"x"}]
