"""The one atomic operation: `Table.swap`."""

import pytest

from neomodel.errors import InvalidValue
from neomodel.stores import VERSION, Table, successor
from tests.stores.shorthand import put, versions


def test_a_swap_of_a_new_row_wins_once(table: Table, key: bytes) -> None:
    assert table.swap(key, None, {VERSION: b"1", b"p:x": b"first"}) is True
    assert table.swap(key, None, {VERSION: b"2", b"p:x": b"second"}) is False
    assert table.get(key) == {b"p:x": b"first", VERSION: b"1"}


def test_a_swap_with_the_right_version_writes_all_its_cells_at_one_time(table: Table, key: bytes) -> None:
    put(table, key, {VERSION: b"1", b"c:x": b"1", b"p:x": b"1", b"p:y": b"1"})

    assert table.swap(key, b"1", {VERSION: b"2", b"c:x": None, b"p:x": b"", b"p:z": b"2"}) is True

    assert table.get(key) == {b"p:x": b"", b"p:y": b"1", b"p:z": b"2", VERSION: b"2"}
    newest = [v for v in versions(table, key) if v.time == max(v.time for v in versions(table, key))]
    assert [(v.column, v.value) for v in newest] == [(b"c:x", None), (b"p:x", b""), (b"p:z", b"2"), (VERSION, b"2")]


@pytest.mark.parametrize("expected", [None, b"", b"0", b"1\x00", b"\x001", b"11", b"2"], ids=repr)
def test_a_swap_with_another_version_is_refused_and_changes_nothing(
    table: Table, key: bytes, expected: bytes | None
) -> None:
    put(table, key, {VERSION: b"1", b"p:x": b"1"})
    before = versions(table, key)

    assert table.swap(key, expected, {VERSION: b"3", b"p:x": b"3", b"p:y": b"3"}) is False

    assert versions(table, key) == before
    assert table.get(key) == {b"p:x": b"1", VERSION: b"1"}


def test_a_swap_that_expects_a_version_of_a_row_that_is_not_there_is_refused(table: Table, key: bytes) -> None:
    assert table.swap(key, b"1", {VERSION: b"2"}) is False
    assert versions(table, key) == []


def test_a_swap_is_refused_once_the_version_it_expects_is_past(table: Table, key: bytes) -> None:
    version = None
    for _ in range(3):
        stale, version = version, successor(version)
        assert table.swap(key, stale, {VERSION: version}) is True
        assert table.swap(key, stale, {VERSION: successor(stale), b"p:x": b"late"}) is False

    assert table.get(key) == {VERSION: version}


def test_a_row_without_a_version_swaps_from_none(table: Table, key: bytes) -> None:
    put(table, key, {b"p:x": b"1", b"t:versio": b"", b"t:version\x00": b"", b"p:version": b"9"})

    assert table.swap(key, b"9", {VERSION: b"1"}) is False
    assert table.swap(key, None, {VERSION: b"1", b"p:x": b"2"}) is True
    assert (table.get(key) or {})[b"p:x"] == b"2"


def test_a_version_under_a_tombstone_is_none(table: Table, key: bytes) -> None:
    put(table, key, {VERSION: b"1"})
    put(table, key, {VERSION: None})

    assert table.swap(key, b"1", {VERSION: b"2"}) is False
    assert table.swap(key, None, {VERSION: b"2"}) is True
    assert table.get(key) == {VERSION: b"2"}


def test_a_swap_may_take_the_version_away(table: Table, key: bytes) -> None:
    put(table, key, {VERSION: b"1", b"p:x": b"1"})

    assert table.swap(key, b"1", {VERSION: None, b"p:x": None}) is True
    assert table.get(key) is None
    assert table.swap(key, b"1", {VERSION: b"2"}) is False
    assert table.swap(key, None, {VERSION: b"2"}) is True


def test_an_empty_version_is_a_version(table: Table, key: bytes) -> None:
    assert table.swap(key, None, {VERSION: b""}) is True
    assert table.swap(key, None, {VERSION: b"1"}) is False
    assert table.swap(key, b"", {VERSION: b"1"}) is True


def test_a_version_brought_in_from_the_past_does_not_count_while_there_is_a_newer_one(table: Table, key: bytes) -> None:
    put(table, key, {VERSION: b"new"})
    put(table, key, {VERSION: b"old"}, time=1000)

    assert table.swap(key, b"old", {VERSION: b"2"}) is False
    assert table.swap(key, b"new", {VERSION: b"2"}) is True


def test_a_swap_of_one_row_leaves_those_beside_it_alone(table: Table, key: bytes) -> None:
    for end in (b"", b"\x00", b"a"):
        put(table, key + end, {VERSION: b"1"})

    assert table.swap(key + b"\x00", b"1", {VERSION: b"2"}) is True

    assert [table.get(key + end) for end in (b"", b"\x00", b"a")] == [{VERSION: b"1"}, {VERSION: b"2"}, {VERSION: b"1"}]


@pytest.mark.parametrize(
    ("expected", "cells"),
    [
        (None, {b"p:x": b"2"}),
        (b"1", {b"p:x": b"2"}),
        (b"1", {b"p:x": b"2", VERSION: b"1"}),
        (None, {b"p:x": b"2", VERSION: None}),
    ],
    ids=["none, not set", "not set", "same again", "none again"],
)
def test_a_swap_that_does_not_change_the_version_is_refused(
    table: Table, key: bytes, expected: bytes | None, cells: dict[bytes, bytes | None]
) -> None:
    if expected:
        put(table, key, {VERSION: expected})
    before = versions(table, key)

    with pytest.raises(InvalidValue):
        table.swap(key, expected, cells)

    assert versions(table, key) == before
