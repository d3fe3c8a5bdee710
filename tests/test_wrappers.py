"""What each wrapper but the cache adds to the contract. That they keep it is the contract suite's business."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from neomodel.errors import OutcomeUnknown, ReadOnly, StoreUnavailable, TableNotFound
from neomodel.stores import VERSION, Mutation, Store, Table, open_store
from neomodel.stores.wrappers import Counting, Faulty, Reading, WrappedStore, faults

A, B = b"p:a", b"p:b"


def filled(store: Store) -> Table:
    """Table `t` with rows r0 to r4 of two cells each, and a wide row r5 of three."""
    table = store.table("t")
    table.create(["p", "c", "t"], splits=[b"r3"])
    table.put_many(Mutation(b"r%d" % n, {A: b"%d" % n, B: b"x"}) for n in range(5))
    table.put_many([Mutation(b"r5", {A: b"5", B: b"x", b"c:c": b"y"})])
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
