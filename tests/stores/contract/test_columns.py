"""Selections: `columns` names columns and whole families, and means the same to every read."""

from collections.abc import Callable, Collection

import pytest

from neomodel.errors import InvalidValue
from neomodel.stores import Row, Table
from tests.stores.shorthand import put

ROW = {b"c:a": b"1", b"p:a": b"2", b"p:a\x00": b"3", b"p:ab": b"4", b"p:b": b"5", b"t:a": b"6"}

SELECTIONS: dict[str, tuple[Collection[bytes] | None, list[bytes]]] = {
    "everything": (None, [*ROW]),
    "a column is not its prefix": ([b"p:a"], [b"p:a"]),
    "columns in any order": ([b"t:a", b"c:a", b"p:b"], [b"c:a", b"p:b", b"t:a"]),
    "a family": ([b"p:"], [b"p:a", b"p:a\x00", b"p:ab", b"p:b"]),
    "families": ({b"t:", b"c:"}, [b"c:a", b"t:a"]),
    "the first families": ((b"c:", b"p:"), [b"c:a", b"p:a", b"p:a\x00", b"p:ab", b"p:b"]),
    "the last families": ((b"t:", b"p:"), [b"p:a", b"p:a\x00", b"p:ab", b"p:b", b"t:a"]),
    "a family and a column of it": ((b"p:a", b"p:", b"p:b"), [b"p:a", b"p:a\x00", b"p:ab", b"p:b"]),
    "a family and a column of another": ([b"p:ab", b"t:"], [b"p:ab", b"t:a"]),
    "twice the same": ([b"p:a", b"p:a", b"t:", b"t:"], [b"p:a", b"t:a"]),
    "one that is there and one that is not": ([b"p:nothing", b"p:b"], [b"p:b"]),
    "one between those that are there": ([b"p:a\x00\x00"], []),
    "nothing": ([], []),
}


@pytest.fixture(params=SELECTIONS)
def selection(request: pytest.FixtureRequest) -> tuple[Collection[bytes] | None, Row]:
    columns, expected = SELECTIONS[request.param]
    return columns, {column: ROW[column] for column in expected}


def test_every_read_selects_the_same(
    table: Table, span: tuple[bytes, bytes], selection: tuple[Collection[bytes] | None, Row]
) -> None:
    columns, expected = selection
    key, other = span[0] + b"1", span[0] + b"2"
    put(table, key, ROW)
    put(table, other, {b"c:other": b"", b"p:other": b"", b"t:other": b""})
    now = table.now()

    for at in (None, now):
        row = table.get(key, at=at, columns=columns)
        assert (row or {}) == expected
        assert (row is None) == (not expected)
        assert list(row or {}) == sorted(expected)
        assert table.get_many([key], at=at, columns=columns) == ({key: expected} if expected else {})
        assert dict(table.scan(key, key + b"\x00", at=at, columns=columns)) == ({key: expected} if expected else {})
    history = table.history(key, key + b"\x00", columns=columns)
    assert [(version.column, version.value) for version in history] == sorted(expected.items())


def test_a_scan_leaves_out_rows_without_a_selected_cell(table: Table, span: tuple[bytes, bytes]) -> None:
    put(table, span[0] + b"1", {b"p:x": b"1", b"c:x": b"1"})
    put(table, span[0] + b"2", {b"c:x": b"2"})
    put(table, span[0] + b"3", {b"p:x": b"3"})
    put(table, span[0] + b"4", {b"p:x": b"4", b"c:x": b"4"})
    put(table, span[0] + b"4", {b"p:x": None})

    assert list(table.scan(*span, columns=[b"p:x"])) == [
        (span[0] + b"1", {b"p:x": b"1"}),
        (span[0] + b"3", {b"p:x": b"3"}),
    ]
    assert [key for key, _ in table.scan(*span, columns=[b"c:"])] == [span[0] + end for end in (b"1", b"2", b"4")]


def test_a_scan_of_the_first_families_passes_over_the_rest_of_each_row(table: Table, span: tuple[bytes, bytes]) -> None:
    expected = {}
    for number in range(300):
        key = span[0] + b"%03d" % number
        first = {b"c:a": b"%d" % number, b"p:a": b"2"} if number % 3 else {}
        last = {b"t:%d" % cell: b"3" for cell in range(number % 5)}
        if first or last:
            put(table, key, {**first, **last})
        if first:
            expected[key] = first
    now = table.now()

    for at in (None, now):
        assert list(table.scan(*span, at=at, columns=(b"c:", b"p:"))) == list(expected.items())


def test_a_selected_tombstone_is_absent(table: Table, key: bytes) -> None:
    put(table, key, {b"p:x": b"1", b"p:y": b"1"})
    put(table, key, {b"p:x": None})

    assert table.get(key, columns=[b"p:x"]) is None
    assert table.get(key, columns=[b"p:x", b"p:y"]) == {b"p:y": b"1"}


@pytest.mark.parametrize("column", [b"x:", b"x:a", b"p", b"", b"pa:x", b"P:x"], ids=repr)
def test_a_selection_outside_the_tables_families_is_refused_whether_there_are_rows_or_not(
    table: Table, key: bytes, span: tuple[bytes, bytes], column: bytes
) -> None:
    columns = [b"p:", column]
    calls: list[Callable[[], object]] = [
        lambda: table.get(key, columns=columns),
        lambda: table.get_many([key], columns=columns),
        lambda: list(table.scan(*span, columns=columns)),
        lambda: list(table.history(*span, columns=columns)),
    ]

    for call in calls:
        with pytest.raises(InvalidValue):
            call()
    put(table, key, {b"p:a": b"1"})
    for call in calls:
        with pytest.raises(InvalidValue):
            call()
