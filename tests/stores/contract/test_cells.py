"""Slices of one row: `Table.cells`."""

import itertools

import pytest

from neomodel.errors import InvalidValue
from neomodel.stores import Cell, Table
from tests.stores.shorthand import put, stamp

QUALIFIERS = [b"\x00", b"a", b"a\x00", b"a\x00\x00", b"a\x01", b"ab", b"b", b"c", b"\xff", b"\xff\xff"]
BOUNDS = [b"", b"\x00", b"a", b"a\x00", b"a\x00\x01", b"a\xff", b"b", b"bb", b"\xff", b"\xff\xff", b"\xff\xff\xff"]


@pytest.fixture
def wide(table: Table, key: bytes) -> bytes:
    """A row with cells before, in and after family p, every one of which had another value first."""
    put(table, key, {b"c:a": b"c", b"t:a": b"t"} | {b"p:" + qualifier: b"old" for qualifier in QUALIFIERS})
    put(table, key, {b"p:" + qualifier: qualifier for qualifier in QUALIFIERS})
    return key


def test_a_slice_has_qualifier_time_and_value_of_the_newest_version(table: Table, key: bytes) -> None:
    put(table, key, {b"p:x": b"1", b"p:y": b"1"})
    first = stamp(table, key)
    put(table, key, {b"p:y": b"2"})

    assert list(table.cells(key, "p")) == [Cell(b"x", first, b"1"), Cell(b"y", stamp(table, key), b"2")]


@pytest.mark.parametrize("stop", [*BOUNDS, None], ids=repr)
def test_a_slice_includes_its_start_and_not_its_stop(table: Table, wide: bytes, stop: bytes | None) -> None:
    for start in BOUNDS:
        expected = [q for q in QUALIFIERS if start <= q and (stop is None or q < stop)]
        assert [cell.qualifier for cell in table.cells(wide, "p", start, stop)] == expected
        backwards = [cell.qualifier for cell in table.cells(wide, "p", start, stop, reverse=True)]
        assert backwards == expected[::-1]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("limit", [0, 1, 3, len(QUALIFIERS), 1000])
def test_a_limit_counts_from_the_end_the_slice_begins_at(table: Table, wide: bytes, limit: int, reverse: bool) -> None:
    expected = QUALIFIERS[::-1] if reverse else QUALIFIERS
    found = [cell.qualifier for cell in table.cells(wide, "p", limit=limit, reverse=reverse)]
    assert found == expected[:limit]

    inside = [qualifier for qualifier in expected if b"a\x00" <= qualifier < b"c"]
    found = [cell.qualifier for cell in table.cells(wide, "p", b"a\x00", b"c", limit=limit, reverse=reverse)]
    assert found == inside[:limit]


@pytest.mark.parametrize("reverse", [False, True])
def test_tombstones_neither_show_nor_count(table: Table, wide: bytes, reverse: bool) -> None:
    put(table, wide, {b"p:" + qualifier: None for qualifier in QUALIFIERS[::2]})
    expected = QUALIFIERS[1::2][::-1] if reverse else QUALIFIERS[1::2]

    assert [cell.qualifier for cell in table.cells(wide, "p", reverse=reverse)] == expected
    assert [cell.qualifier for cell in table.cells(wide, "p", limit=2, reverse=reverse)] == expected[:2]


@pytest.mark.parametrize("reverse", [False, True])
def test_a_slice_as_of_a_time_is_of_that_time(table: Table, key: bytes, reverse: bool) -> None:
    put(table, key, {b"p:a": b"1", b"p:b": b"1"})
    first = table.now()
    put(table, key, {b"p:b": None, b"p:c": b"2"})
    second = table.now()
    put(table, key, {b"p:a": b"3", b"p:b": b"3"})

    def at(time: int | None) -> list[tuple[bytes, bytes]]:
        found = [(cell.qualifier, cell.value) for cell in table.cells(key, "p", at=time, reverse=reverse)]
        return found[::-1] if reverse else found

    assert at(first) == [(b"a", b"1"), (b"b", b"1")]
    assert at(second) == [(b"a", b"1"), (b"c", b"2")]
    assert at(None) == [(b"a", b"3"), (b"b", b"3"), (b"c", b"2")]
    assert at(0) == []


def test_a_long_slice_is_whole_in_either_direction_wherever_it_begins(table: Table, key: bytes) -> None:
    qualifiers = [b"%04d\x00" % number for number in range(1500)]
    put(table, key, {b"p:" + qualifier: b"old" for qualifier in qualifiers})
    put(table, key, {b"p:" + qualifier: qualifier for qualifier in qualifiers[::3]})
    put(table, key, {b"p:" + qualifier: None for qualifier in qualifiers[1::3]})
    expected = [q for number, q in enumerate(qualifiers) if number % 3 != 1]

    assert [cell.qualifier for cell in table.cells(key, "p")] == expected
    assert [cell.qualifier for cell in table.cells(key, "p", reverse=True)] == expected[::-1]
    assert [cell.qualifier for cell in table.cells(key, "p", limit=700)] == expected[:700]
    assert [cell.qualifier for cell in table.cells(key, "p", limit=700, reverse=True)] == expected[:-701:-1]
    middle = [q for q in expected if b"0300" <= q < b"1200"]
    assert [cell.qualifier for cell in table.cells(key, "p", b"0300", b"1200")] == middle
    assert [cell.qualifier for cell in table.cells(key, "p", b"0300", b"1200", reverse=True)] == middle[::-1]
    assert len(table.get(key) or {}) == len(expected)


def test_a_slice_ends_with_its_row_and_its_family(table: Table, key: bytes) -> None:
    for end in (b"", b"\x00", b"a"):
        put(table, key + end, {b"c:x": b"c" + end, b"p:x": b"p" + end, b"t:x": b"t" + end})

    for end, family in itertools.product((b"", b"\x00", b"a"), "cpt"):
        for reverse in (False, True):
            found = [cell.value for cell in table.cells(key + end, family, reverse=reverse)]
            assert found == [family.encode() + end]


def test_a_slice_of_a_row_nobody_wrote_is_empty(table: Table, key: bytes) -> None:
    assert list(table.cells(key, "p")) == []
    assert list(table.cells(key, "p", reverse=True)) == []


def test_a_slice_left_early_stands_in_nobodys_way(table: Table, wide: bytes) -> None:
    slices = [table.cells(wide, "p", reverse=reverse) for reverse in (False, True)]
    assert [next(cells).qualifier for cells in slices] == [QUALIFIERS[0], QUALIFIERS[-1]]
    put(table, wide, {b"p:a": b"meanwhile"})
    del slices

    assert [cell.value for cell in table.cells(wide, "p", b"a", limit=1)] == [b"meanwhile"]


@pytest.mark.parametrize("family", ["x", "", "p:", "pp", "P"])
def test_a_slice_of_a_family_the_table_lacks_is_refused(table: Table, wide: bytes, family: str) -> None:
    with pytest.raises(InvalidValue):
        list(table.cells(wide, family))
