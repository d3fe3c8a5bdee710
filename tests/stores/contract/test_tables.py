"""Tables come and go: create, drop, regions."""

import itertools
import pickle
from collections.abc import Callable

import pytest

from neomodel.errors import InvalidValue, TableExists, TableNotFound
from neomodel.stores import VERSION, Mutation, Store, Table
from tests.stores.shorthand import put

OPERATIONS: dict[str, Callable[[Table], object]] = {
    "drop": lambda table: table.drop(),
    "get": lambda table: table.get(b"k"),
    "get_many": lambda table: table.get_many([b"k"]),
    "cells": lambda table: list(table.cells(b"k", "p")),
    "cells, none": lambda table: list(table.cells(b"k", "p", limit=0)),
    "scan": lambda table: list(table.scan()),
    "history": lambda table: list(table.history()),
    "swap": lambda table: table.swap(b"k", None, {VERSION: b"1"}),
    "put_many": lambda table: table.put_many([Mutation(b"k", {b"p:x": b"1"})]),
    "regions": lambda table: table.regions(),
    "families": lambda table: table.families(),
    "now": lambda table: table.now(),
    "purge": lambda table: table.purge(0),
}


def test_a_table_that_was_never_made_is_not_found(store: Store, name: str) -> None:
    for operation in OPERATIONS.values():
        with pytest.raises(TableNotFound, match=name):
            operation(store.table(name))
    assert name not in store.tables()


def test_every_write_moves_the_mark(store: Store, name: str) -> None:
    table = store.table(name)
    marks = [table.mark()]
    for write in (
        lambda: table.create("pt"),
        lambda: table.swap(b"k", None, {VERSION: b"1"}),
        lambda: table.put_many([Mutation(b"k", {b"p:x": b"1"})]),
        lambda: table.erase(b"k", "p", b"x", b"y", table.now(), {b"p:z": b"gone"}),
        lambda: table.purge(table.now()),
        table.drop,
    ):
        write()
        marks.append(table.mark())

    assert marks == [None] * len(marks) or len(set(marks)) == len(marks)


def test_a_dropped_table_is_not_found_by_anyone_who_had_it(store: Store, own_table: Table) -> None:
    put(own_table, b"k", {b"p:x": b"1", VERSION: b"1"})
    others = [store.table(own_table.name), own_table]
    now = own_table.now()
    for table in others:
        assert table.get(b"k") == table.get(b"k", at=now) == {b"p:x": b"1", VERSION: b"1"}

    own_table.drop()

    for table in others:
        for read in (lambda table: table.get(b"k", at=now), lambda table: table.get_many([b"k"], at=now)):
            with pytest.raises(TableNotFound):
                read(table)
    for table, operation in itertools.product(others, OPERATIONS.values()):
        with pytest.raises(TableNotFound):
            operation(table)
    assert own_table.name not in store.tables()


def test_a_table_made_anew_has_nothing_of_the_old_one(own_table: Table) -> None:
    put(own_table, b"k", {b"p:x": b"1", VERSION: b"1"})
    put(own_table, b"k", {b"p:x": b"2"})
    then = own_table.now()
    assert own_table.get(b"k", at=then) == {b"p:x": b"2", VERSION: b"1"}
    own_table.purge(then)

    own_table.drop()
    own_table.create("pt")

    assert own_table.get(b"k") is None
    assert own_table.get(b"k", at=then) is own_table.get(b"k", at=0) is None
    assert list(own_table.scan(at=then)) == list(own_table.history(since=0)) == []
    assert own_table.swap(b"k", None, {VERSION: b"new"}) is True
    assert own_table.get(b"k") == {VERSION: b"new"}
    assert own_table.get(b"k", at=then) is None


def test_a_table_made_anew_has_its_new_families(store: Store, own_table: Table) -> None:
    other = store.table(own_table.name)
    put(other, b"k", {b"p:x": b"1"})
    own_table.drop()
    own_table.create(["a", "t"])

    put(other, b"k", {b"a:x": b"1"})
    assert other.families() == {"a", "t"}
    assert other.get(b"k") == {b"a:x": b"1"}
    with pytest.raises(InvalidValue):
        put(other, b"k", {b"p:x": b"1"})
    with pytest.raises(InvalidValue):
        other.get(b"k", columns=[b"p:x"])


def test_a_table_that_is_there_is_not_made_again_and_keeps_its_rows(store: Store, own_table: Table) -> None:
    put(own_table, b"k", {b"p:x": b"1"})

    for table in (own_table, store.table(own_table.name)):
        with pytest.raises(TableExists, match=own_table.name):
            table.create("p")

    assert own_table.get(b"k") == {b"p:x": b"1"}
    put(own_table, b"k", {b"c:x": b"2"})


def test_tables_lists_those_that_are_there_in_order(store: Store, name: str) -> None:
    mine = [f"{name}{end}" for end in ("", "-a", ".a", "A", "_", "a")]
    for one in reversed(mine):
        store.table(one).create("p")

    assert [one for one in store.tables() if one.startswith(name)] == sorted(mine)
    assert store.tables() == sorted(store.tables())
    for one in mine:
        put(store.table(one), b"k", {b"p:x": one.encode()})
    assert [dict(store.table(one).scan()) for one in mine] == [{b"k": {b"p:x": one.encode()}} for one in mine]

    store.table(mine[0]).drop()
    assert [one for one in store.tables() if one.startswith(name)] == sorted(mine[1:])
    assert [store.table(one).get(b"k") for one in mine[1:]] == [{b"p:x": one.encode()} for one in mine[1:]]
    for one in mine[1:]:
        store.table(one).drop()


@pytest.mark.parametrize("bad", ["", ".", ".a", "-a", "a/b", "a b", "a:b", "ä", "a\x00", "a\n", "a" * 201])
def test_a_bad_name_is_refused(store: Store, bad: str) -> None:
    before = store.tables()

    with pytest.raises(InvalidValue):
        store.table(bad).create("p")

    assert store.tables() == before


def test_the_longest_name_is_taken(store: Store, name: str) -> None:
    table = store.table(name.ljust(200, "x"))
    table.create("p")

    assert table.name in store.tables()
    put(table, b"k", {b"p:x": b"1"})
    assert table.get(b"k") == {b"p:x": b"1"}
    table.drop()


@pytest.mark.parametrize("bad", [[], "", ["pp"], ["p", ""], ["1"], ["é"], [":"]], ids=repr)
def test_bad_families_are_refused_and_no_table_is_made(store: Store, name: str, bad: list[str]) -> None:
    with pytest.raises(InvalidValue):
        store.table(name).create(bad)
    assert name not in store.tables()


def test_a_bad_split_is_refused_and_no_table_is_made(store: Store, name: str) -> None:
    with pytest.raises(InvalidValue):
        store.table(name).create("p", splits=[b"m", b""])
    assert name not in store.tables()


@pytest.mark.parametrize("splits", [[], [b"t", b"\x00", b"m\x00", b"m", b"t", b"\xff"]], ids=["whole", "split"])
def test_regions_cover_every_key_once_in_order(store: Store, name: str, splits: list[bytes]) -> None:
    table = store.table(name)
    table.create("pt", splits=iter(splits))
    keys = [b"\x00", b"\x00\x01", b"m", b"m\x00", b"m\x00\x00", b"\xff", b"\xff\xff"]
    keys += [b"%05d" % number for number in range(3000)]
    table.put_many(Mutation(key, {b"p:x": b"v" * 50}) for key in keys)

    regions = table.regions()

    assert [regions[0].start, regions[-1].stop] == [b"", None]
    assert [one.stop for one in regions[:-1]] == [one.start for one in regions[1:]]
    assert all(one.stop is None or one.start < one.stop for one in regions)
    assert [key for one in regions for key, _ in table.scan(one.start, one.stop)] == sorted(keys)
    table.drop()


def test_errors_pickle_and_name_the_table(store: Store, name: str) -> None:
    with pytest.raises(TableNotFound) as caught:
        store.table(name).get(b"k")

    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is TableNotFound
    assert str(again) == str(caught.value)
    assert name in str(again)
    assert store.url in str(again)
