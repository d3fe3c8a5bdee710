"""One store, opened more than once, closed more than once, and used by several threads."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neomodel.errors import StoreClosed, TableNotFound
from neomodel.stores import VERSION, Mutation, Store, Table
from neomodel.stores.base import DURABLE, SHARED
from tests.stores.kinds import Kind
from tests.stores.processes import run
from tests.stores.shorthand import put, span_keys, versions


def test_closing_a_store_twice_is_harmless(kind: Kind, place: Path, name: str) -> None:
    with kind.open(place) as store:
        store.table(name).create("p")
        store.table(name).drop()
    store.close()
    store.close()


def test_a_store_says_where_it_is(store: Store) -> None:
    assert store.url.partition(":")[1] == ":"
    assert store.settling >= 0


@pytest.mark.needs(DURABLE)
def test_a_store_opened_again_has_everything(kind: Kind, place: Path, name: str) -> None:
    with kind.open(place) as store:
        table = store.table(name)
        table.create("cpt", splits=[b"m"])
        put(table, b"\x00k", {b"p:x": b"1", b"c:\x00": b"", VERSION: b"1"})
        put(table, b"\x00k", {b"p:x": None})
        put(table, b"old", {b"p:x": b"old"}, time=1000)
        horizon = table.now()
        table.purge(1500)
        told = list(table.history())

    with kind.open(place) as store:
        table = store.table(name)
        assert name in store.tables()
        assert list(table.history()) == told
        assert table.now() >= horizon
        assert table.get(b"\x00k", at=horizon) == {b"c:\x00": b"", VERSION: b"1"}
        with pytest.raises(ValueError, match="purged"):
            table.get(b"k", at=1499)
        assert table.swap(b"\x00k", b"1", {VERSION: b"2"}) is True
        assert max(v.time for v in versions(table, b"\x00k")) > horizon
        table.drop()


@pytest.mark.needs(DURABLE)
def test_closing_a_store_leaves_the_others_that_have_it_open_alone(
    kind: Kind, folder: Path, table: Table, span: tuple[bytes, bytes]
) -> None:
    put(table, span[0] + b"a", {b"p:x": b"1"})
    scan = table.scan(*span)
    next(scan)

    with kind.open(folder) as other:
        assert other.table(table.name).get(span[0] + b"a") == {b"p:x": b"1"}
        put(other.table(table.name), span[0] + b"b", {b"p:x": b"2"})

    assert table.get(span[0] + b"b") == {b"p:x": b"2"}
    assert list(scan) in ([], [(span[0] + b"b", {b"p:x": b"2"})])
    put(table, span[0] + b"c", {b"p:x": b"3"})
    assert span_keys(table, span) == [b"a", b"b", b"c"]


REFUSED: dict[str, Callable[[Store, Table], object]] = {
    "tables": lambda store, _: store.tables(),
    "a table asked for since": lambda store, table: store.table(table.name).get(b"k"),
    "families": lambda _, table: table.families(),
    "regions": lambda _, table: table.regions(),
    "now": lambda _, table: table.now(),
    "get": lambda _, table: table.get(b"k"),
    "get at": lambda _, table: table.get(b"k", at=1),
    "get_many": lambda _, table: table.get_many([b"k"]),
    "cells": lambda _, table: list(table.cells(b"k", "p")),
    "firsts": lambda _, table: table.firsts([b"k"], "p"),
    "scan": lambda _, table: list(table.scan()),
    "blocks": lambda _, table: list(table.blocks([b"p:x"])),
    "history": lambda _, table: list(table.history()),
    "history_blocks": lambda _, table: list(table.history_blocks()),
    "histories": lambda _, table: table.histories([(b"k", b"p:x")]),
    "swap": lambda _, table: table.swap(b"k", None, {VERSION: b"1"}),
    "put_many": lambda _, table: table.put_many([Mutation(b"k", {b"p:x": b"2"})]),
    "erase": lambda _, table: table.erase(b"k", "p", b"x", b"y", 1, {}),
    "purge": lambda _, table: table.purge(1),
    "create": lambda _, table: table.create("p"),
    "drop": lambda _, table: table.drop(),
}
"""Whatever is asked of a store and of its tables."""


def test_a_closed_store_and_its_tables_refuse_everything_also_while_others_have_it_open(
    kind: Kind, place: Path, name: str
) -> None:
    with kind.open(place) as other:
        store = kind.open(place)
        table = store.table(name)
        table.create("pt")
        put(table, b"k", {b"p:x": b"1"})
        assert table.get(b"k") == {b"p:x": b"1"}
        scan = table.scan()

        store.close()

        for asked, ask in {"scan begun before": lambda *_: list(scan), **REFUSED}.items():
            with pytest.raises(StoreClosed, match="it was closed; open it again"):
                pytest.fail(f"{asked}: {ask(store, table)}")
        if DURABLE in other.capabilities:
            assert dict(other.table(name).scan()) == {b"k": {b"p:x": b"1"}}
            other.table(name).drop()


@pytest.mark.needs(SHARED)
def test_what_one_process_wrote_another_reads_and_the_other_way_round(store: Store, table: Table, key: bytes) -> None:
    put(table, key, {b"p:\x00": b"\x00", VERSION: b"1"})

    seen, swapped = run(_read_and_swap, store.url, table.name, key)

    assert seen == {b"p:\x00": b"\x00", VERSION: b"1"}
    assert swapped
    assert table.get(key) == {b"p:\x00": b"theirs", VERSION: b"2"}
    assert table.swap(key, b"1", {VERSION: b"3"}) is False


def _read_and_swap(store: Store, name: str, key: bytes) -> tuple[object, bool]:
    table = store.table(name)
    return table.get(key), table.swap(key, b"1", {VERSION: b"2", b"p:\x00": b"theirs"})


@pytest.mark.needs(SHARED)
def test_a_table_dropped_or_made_anew_by_another_process_is_so_at_once(store: Store, own_table: Table) -> None:
    put(own_table, b"k", {b"p:x": b"1"})
    now = own_table.now()
    assert own_table.get(b"k", at=now) == {b"p:x": b"1"}

    run(_drop, store.url, own_table.name)
    for at in (None, now):
        with pytest.raises(TableNotFound):
            own_table.get(b"k", at=at)
    with pytest.raises(TableNotFound):
        put(own_table, b"k", {b"p:x": b"2"})
    assert own_table.name not in store.tables()

    run(_create, store.url, own_table.name)
    assert own_table.get(b"k") is None
    put(own_table, b"k", {b"a:x": b"3"})
    assert dict(own_table.scan()) == {b"k": {b"a:x": b"3"}}


def _drop(store: Store, name: str) -> None:
    store.table(name).drop()


def _create(store: Store, name: str) -> None:
    store.table(name).create(["a", "t"])


def test_a_table_is_safe_to_use_from_many_threads(table: Table, span: tuple[bytes, bytes]) -> None:
    barrier = threading.Barrier(6)

    def work(thread: int) -> int:
        barrier.wait(30)
        for number in range(40):
            key = span[0] + b"%d-%02d" % (thread, number)
            table.put_many([Mutation(key, {b"p:x": key}), Mutation(key + b"+", {b"p:x": key})])
            assert table.get_many([key, key + b"+"]) == {key: {b"p:x": key}, key + b"+": {b"p:x": key}}
            if number % 10 == 0:
                assert [cell.value for cell in table.cells(key, "p")] == [key]
                assert all(row[b"p:x"] == one.removesuffix(b"+") for one, row in table.scan(*span))
        return thread

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == list(range(6))
    assert len(span_keys(table, span)) == 480
    assert len({version.time for version in table.history(*span)}) == 480
