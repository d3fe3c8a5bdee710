"""The first cells of many rows, `Table.firsts` and `Table.scan_firsts`, and `Table.erase`."""

import pytest

from neomodel.errors import InvalidValue
from neomodel.stores import Cell, Mutation, Table
from tests.stores.shorthand import put, stamp


@pytest.fixture
def keys(table: Table, key: bytes) -> list[bytes]:
    """Rows next to one another, each with cells a, b and c in family p; and one with none there."""
    found = [key + bytes([number]) for number in range(3)]
    table.put_many(Mutation(one, {b"p:a": b"1", b"p:b": b"2", b"p:c": b"3", b"t:a": b"t"}) for one in found)
    put(table, key + b"\x07", {b"t:a": b"t"})
    return found


def test_the_first_cell_of_a_slice_is_read_of_each_row(table: Table, keys: list[bytes]) -> None:
    found = table.firsts([keys[2], keys[0], b"nowhere", keys[0]], "p", b"aa")

    assert found == {one: Cell(b"b", stamp(table, one), b"2") for one in (keys[2], keys[0])}
    assert table.firsts(keys, "p", b"d") == {}
    assert table.firsts([], "p") == {}


def test_tombstones_and_what_came_later_are_passed_over(table: Table, keys: list[bytes]) -> None:
    now = table.now()
    put(table, keys[0], {b"p:a": None, b"p:b": None})
    put(table, keys[1], {b"p:Z": b"later"})

    assert {key: cell.value for key, cell in table.firsts(keys, "p").items()} == {
        keys[0]: b"3",
        keys[1]: b"later",
        keys[2]: b"1",
    }
    assert [cell.value for cell in table.firsts(keys, "p", at=now).values()] == [b"1", b"1", b"1"]


def test_a_scan_of_first_cells_goes_through_a_range_of_rows(table: Table, key: bytes, keys: list[bytes]) -> None:
    at = table.now()
    put(table, keys[1], {b"p:b": b"later"})

    found = list(table.scan_firsts((key, key + b"\xff"), "p", b"b", b"c", at=at))
    assert [(one, cell.value) for one, cell in found] == [(one, b"2") for one in keys]
    assert [one for one, _ in table.scan_firsts((keys[1], keys[2]), "p", at=at)] == [keys[1]]
    assert list(table.scan_firsts((key, key + b"\xff"), "p", b"c", b"b", at=at)) == []


def test_what_is_erased_is_gone_at_every_time_and_something_else_is_there_instead(
    table: Table, keys: list[bytes]
) -> None:
    before = table.now()
    put(table, keys[0], {b"p:b": b"newer"})
    until = table.now()
    put(table, keys[0], {b"p:b": b"newest"})

    assert table.erase(keys[0], "p", b"b", b"d", until, {b"p:cc": b"gone"}) == 3

    assert table.get(keys[0], at=before) == {b"p:a": b"1", b"p:cc": b"gone", b"t:a": b"t"}
    assert table.get(keys[0], at=0) == {b"p:cc": b"gone"}
    assert table.get(keys[0]) == {b"p:a": b"1", b"p:b": b"newest", b"p:cc": b"gone", b"t:a": b"t"}
    assert table.get(keys[1], at=before) == {b"p:a": b"1", b"p:b": b"2", b"p:c": b"3", b"t:a": b"t"}


def test_what_is_there_instead_is_seen_at_the_horizon_of_a_purge(own_table: Table) -> None:
    put(own_table, b"k", {b"p:a": b"1"})
    horizon = own_table.now()
    put(own_table, b"k", {b"p:a": b"2"})
    own_table.purge(horizon)

    own_table.erase(b"k", "p", b"a", b"c", own_table.now(), {b"p:b": b"gone"})

    assert own_table.get(b"k", at=horizon) == {b"p:b": b"gone"}


def test_erasing_again_changes_nothing(table: Table, keys: list[bytes]) -> None:
    until = table.now()
    table.erase(keys[0], "p", b"a", b"d", until, {b"p:cc": b"gone"})

    assert table.erase(keys[0], "p", b"a", b"d", until, {b"p:cc": b"gone again"}) == 0
    assert [cell.value for cell in table.cells(keys[0], "p")] == [b"gone again"]


def test_a_family_that_is_not_there_is_refused(table: Table, key: bytes) -> None:
    with pytest.raises(InvalidValue):
        table.firsts([key], "z")
    with pytest.raises(InvalidValue):
        table.erase(key, "z", b"a", b"b", 0, {b"z:a": b"gone"})
