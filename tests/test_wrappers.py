"""What each wrapper adds to the contract. That they keep it is the contract suite's business."""

import os
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from neomodel.errors import InvalidValue, OutcomeUnknown, Purged, ReadOnly, StoreUnavailable, TableNotFound
from neomodel.stores import VERSION, Mutation, Store, Table, open_store
from neomodel.stores.wrappers import Caching, Counting, Faulty, Reading, WrappedStore, faults

A, B, C = b"p:a", b"p:b", b"c:c"


def filled(store: Store) -> Table:
    """Table `t` with rows r0 to r4 of two cells each, and a wide row r5 of three."""
    table = store.table("t")
    table.create(["p", "c", "t"], splits=[b"r3"])
    table.put_many(Mutation(b"r%d" % n, {A: b"%d" % n, B: b"x"}) for n in range(5))
    table.put_many([Mutation(b"r5", {A: b"5", B: b"x", C: b"y"})])
    return table


@pytest.fixture
def inner() -> Store:
    store = open_store("memory:")
    filled(store)
    return store


@pytest.fixture
def counting(inner: Store) -> Counting:
    return Counting(inner)


OPERATIONS: dict[str, Callable[[Store], object]] = {
    "tables": lambda store: store.tables(),
    "create": lambda store: store.table("new").create(["p"]),
    "drop": lambda store: store.table("t").drop(),
    "get": lambda store: store.table("t").get(b"r1"),
    "get_many": lambda store: store.table("t").get_many([b"r1", b"r2", b"absent"]),
    "cells": lambda store: list(store.table("t").cells(b"r5", "p")),
    "scan": lambda store: list(store.table("t").scan(b"r4")),
    "history": lambda store: list(store.table("t").history(b"r4")),
    "swap": lambda store: store.table("t").swap(b"r1", None, {A: b"new", VERSION: b"1"}),
    "put_many": lambda store: store.table("t").put_many([Mutation(b"r1", {A: b"new"})]),
    "regions": lambda store: store.table("t").regions(),
    "now": lambda store: store.table("t").now(),
    "purge": lambda store: store.table("t").purge(0),
}
WRITES = ("create", "drop", "swap", "put_many", "purge")
READS = tuple(name for name in OPERATIONS if name not in WRITES)


def content(store: Store) -> list[object]:
    return [(name, list(store.table(name).history())) for name in store.tables()]


# the base


@pytest.mark.parametrize("operation", READS)
def test_a_wrapped_store_reads_as_the_inner_one(inner: Store, operation: str) -> None:
    assert OPERATIONS[operation](WrappedStore(inner)) == OPERATIONS[operation](inner)


@pytest.mark.parametrize("operation", WRITES)
def test_a_wrapped_store_writes_and_answers_as_the_inner_one_would(inner: Store, operation: str) -> None:
    twin = open_store("memory:")
    filled(twin)

    assert OPERATIONS[operation](WrappedStore(inner)) == OPERATIONS[operation](twin)

    assert {name: list(inner.table(name).scan()) for name in inner.tables()} == {
        name: list(twin.table(name).scan()) for name in twin.tables()
    }


def test_a_wrapped_store_has_the_inner_ones_url_capabilities_and_settling() -> None:
    inner = open_store("memory:")
    inner.capabilities, inner.settling = frozenset({"shared"}), 7

    wrapped = WrappedStore(inner)

    assert (wrapped.url, wrapped.capabilities, wrapped.settling) == ("memory:", {"shared"}, 7)


def test_closing_a_wrapped_store_closes_the_inner_one(inner: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []
    monkeypatch.setattr(inner, "close", lambda: closed.append("inner"))

    with WrappedStore(inner):
        assert closed == []

    assert closed == ["inner"]


# counting


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_operation_counts_as_one_call_by_its_name(counting: Counting, operation: str) -> None:
    OPERATIONS[operation](counting)

    assert counting.calls == {operation: 1}


@pytest.mark.parametrize(
    ("operation", "read", "written"),
    [
        ("get", 2, 0),
        ("get_many", 4, 0),
        ("cells", 2, 0),
        ("scan", 5, 0),
        ("history", 5, 0),
        ("swap", 0, 2),
        ("put_many", 0, 1),
        ("now", 0, 0),
    ],
)
def test_cells_read_and_written_are_counted(counting: Counting, operation: str, read: int, written: int) -> None:
    OPERATIONS[operation](counting)

    assert (counting.cells_read, counting.cells_written) == (read, written)


def test_asking_for_a_table_costs_nothing(counting: Counting) -> None:
    counting.table("t")

    assert counting.calls == {}


def test_a_stream_counts_when_first_advanced_and_its_cells_as_they_come(counting: Counting) -> None:
    rows = counting.table("t").scan()
    assert counting.calls == {}

    next(rows)
    assert (counting.calls, counting.cells_read) == ({"scan": 1}, 2)

    assert len(list(rows)) == 5
    assert (counting.calls, counting.cells_read) == ({"scan": 1}, 13)


def test_a_refused_swap_is_a_call_that_wrote_nothing(counting: Counting) -> None:
    assert not counting.table("t").swap(b"r1", b"stale", {VERSION: b"1"})

    assert (counting.calls, counting.cells_written) == ({"swap": 1}, 0)


def test_a_failed_operation_is_a_call(counting: Counting) -> None:
    with pytest.raises(TableNotFound):
        counting.table("nowhere").get(b"r1")

    assert counting.calls == {"get": 1}


def test_reset_starts_again_at_nothing(counting: Counting) -> None:
    OPERATIONS["get"](counting)
    OPERATIONS["swap"](counting)

    counting.reset()

    assert (counting.calls, counting.cells_read, counting.cells_written) == ({}, 0, 0)


def test_no_call_is_lost_when_threads_count_together(counting: Counting) -> None:
    table = counting.table("t")
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda _: table.get(b"r1"), range(2000)):
            pass

    assert (counting.calls, counting.cells_read) == ({"get": 2000}, 4000)


# caching


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


# reading


@pytest.mark.parametrize("operation", WRITES)
def test_a_write_on_a_reading_store_is_refused_and_reaches_nothing(counting: Counting, operation: str) -> None:
    before = content(counting.inner)

    with pytest.raises(ReadOnly, match=rf"{operation} on .*table '.*' of memory:"):
        OPERATIONS[operation](Reading(counting))

    assert counting.calls == {}
    assert content(counting.inner) == before


@pytest.mark.parametrize("operation", READS)
def test_a_reading_store_reads_as_the_inner_one(inner: Store, operation: str) -> None:
    assert OPERATIONS[operation](Reading(inner)) == OPERATIONS[operation](inner)


# faulty


@pytest.mark.parametrize("operation", WRITES)
def test_a_refused_write_says_so_and_reaches_nothing(counting: Counting, operation: str) -> None:
    with pytest.raises(StoreUnavailable, match=f"{operation} on .*table '.*' of memory:"):
        OPERATIONS[operation](Faulty(counting, lambda *_: "refused"))

    assert counting.calls == {}


@pytest.mark.parametrize("operation", WRITES)
def test_a_lost_write_is_written_and_its_outcome_unknown(counting: Counting, operation: str) -> None:
    with pytest.raises(OutcomeUnknown, match=f"{operation} on .*table '.*' of memory:"):
        OPERATIONS[operation](Faulty(counting, lambda *_: "lost"))

    assert counting.calls == {operation: 1}
    if operation in ("swap", "put_many"):
        assert counting.table("t").get(b"r1", columns=[A]) == {A: b"new"}


@pytest.mark.parametrize("kind", ["refused", "lost"])
@pytest.mark.parametrize("operation", READS)
def test_a_faulty_read_is_unavailable(inner: Store, operation: str, kind: str) -> None:
    with pytest.raises(StoreUnavailable, match=operation):
        OPERATIONS[operation](Faulty(inner, lambda *_: kind))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_without_a_fault_a_faulty_store_is_the_inner_one(counting: Counting, operation: str) -> None:
    asked: list[tuple[str, bytes | None]] = []

    def fault(operation: str, key: bytes | None) -> None:
        asked.append((operation, key))

    OPERATIONS[operation](Faulty(counting, fault))

    one_row = {"get": b"r1", "cells": b"r5", "swap": b"r1"}
    assert asked == [(operation, one_row.get(operation))]
    assert counting.calls == {operation: 1}


def test_a_faulty_stream_fails_when_first_advanced(inner: Store) -> None:
    rows: Iterator[object] = Faulty(inner, lambda *_: "refused").table("t").scan()

    with pytest.raises(StoreUnavailable):
        next(rows)


def test_a_schedule_of_faults_repeats_with_its_seed_and_keeps_its_rate() -> None:
    def drawn(seed: int, rate: float) -> list[str | None]:
        fault = faults(seed, rate)
        return [fault("get", b"key") for _ in range(5000)]

    assert drawn(1, 0.2) == drawn(1, 0.2)
    assert drawn(1, 0.2) != drawn(2, 0.2)
    assert set(drawn(1, 0)) == {None}
    assert set(drawn(1, 1)) == {"refused", "lost"}
    share = {kind: drawn(1, 0.2).count(kind) / 5000 for kind in ("refused", "lost")}
    assert all(0.08 < part < 0.12 for part in share.values()), share
