"""How long keys and columns may be."""

import contextlib

import pytest

from neomodel.errors import InvalidValue
from neomodel.stores import ALWAYS_FITS, VERSION, Mutation, Table
from tests.stores.shorthand import put, versions

FILLS = [b"\x00", b"\x01", b"\xff", b"a", b"\x00\xff", b"\x00\x01"]


def _filled(fill: bytes, length: int) -> bytes:
    return (fill * length)[:length]


@pytest.mark.parametrize("fill", FILLS, ids=repr)
def test_a_key_and_a_column_that_fit_are_taken_whatever_their_bytes(own_table: Table, fill: bytes) -> None:
    lengths = (1, 2, 100, ALWAYS_FITS // 2, ALWAYS_FITS - 4, ALWAYS_FITS - 3)
    rows = {_filled(fill, n): {b"p:" + _filled(fill, ALWAYS_FITS - n - 2): b"%d" % n} for n in lengths}
    own_table.put_many(Mutation(key, cells) for key, cells in rows.items())

    assert list(own_table.scan()) == [(key, rows[key]) for key in sorted(rows)]
    assert own_table.get_many(rows) == rows
    for key, cells in rows.items():
        ((column, value),) = cells.items()
        assert own_table.get(key, columns=[column]) == cells
        assert [(c.qualifier, c.value) for c in own_table.cells(key, "p", column[2:])] == [(column[2:], value)]
        assert [(c.qualifier, c.value) for c in own_table.cells(key, "p", reverse=True)] == [(column[2:], value)]
        assert [(v.column, v.value) for v in versions(own_table, key)] == [(column, value)]


def test_long_keys_that_differ_in_their_last_byte_are_different_rows(table: Table, span: tuple[bytes, bytes]) -> None:
    stem = span[0] + b"\x00" * (ALWAYS_FITS - len(VERSION) - len(span[0]) - 1)
    keys = [stem + last for last in (b"\x00", b"\x01", b"\xff")]
    for key in keys:
        assert table.swap(key, None, {VERSION: key[-1:]}) is True

    assert list(table.scan(*span)) == [(key, {VERSION: key[-1:]}) for key in keys]


@pytest.mark.parametrize("fill", [b"\x00", b"a"], ids=repr)
def test_what_is_longer_is_taken_whole_or_refused_whole(own_table: Table, fill: bytes) -> None:
    long = [_filled(fill, length - 3) for length in (ALWAYS_FITS + 1, 300, 505, 512, 1000, 5000, 40_000, 70_000)]
    for key, column in [*((key, b"p:x") for key in long), *((b"k", b"p:" + qualifier) for qualifier in long)]:
        cells = {b"c:first": b"1", column: b"2", VERSION: b"3"}
        before = list(own_table.history())
        try:
            own_table.put_many([Mutation(key, cells)])
        except InvalidValue:
            with pytest.raises(InvalidValue):
                own_table.swap(key, None, cells)
            assert list(own_table.history()) == before
        else:
            assert own_table.get(key) == cells
            assert own_table.swap(key, b"3", cells | {VERSION: b"4"}) is True
            assert dict(own_table.scan()) == {key: cells | {VERSION: b"4"}}
            put(own_table, key, dict.fromkeys(cells))
    own_table.purge(own_table.now())
    assert list(own_table.history()) == []


@pytest.mark.parametrize("length", [300, 600, 3000])
def test_a_bound_may_be_longer_than_any_key(table: Table, span: tuple[bytes, bytes], length: int) -> None:
    keys = [span[0] + end for end in (b"a", b"b", b"c")]
    put(table, keys[0], {b"p:a": b"1", b"p:b": b"1", b"p:c": b"1"})
    put(table, keys[1], {b"p:a": b"1"})
    put(table, keys[2], {b"p:a": b"1"})
    bound = b"b" + b"\x00" * length

    assert [key for key, _ in table.scan(span[0] + bound, span[1])] == keys[2:]
    assert [key for key, _ in table.scan(span[0], span[0] + bound)] == keys[:2]
    assert [version.key for version in table.history(span[0] + bound, span[1])] == keys[2:]
    for reverse in (False, True):
        assert [c.qualifier for c in table.cells(keys[0], "p", bound, reverse=reverse)] == [b"c"]
        up_to = [c.qualifier for c in table.cells(keys[0], "p", b"", bound, reverse=reverse)]
        assert sorted(up_to) == [b"a", b"b"]


def test_what_is_too_long_to_be_there_reads_as_absent_or_is_refused(table: Table, key: bytes) -> None:
    long = key + b"x" * 100_000
    for read in (lambda: table.get(long), lambda: table.get(key, columns=[b"p:" + long])):
        with contextlib.suppress(InvalidValue):
            assert read() is None


def test_a_row_that_is_too_long_to_be_there_is_erased_as_one_that_is_not_or_is_refused(own_table: Table) -> None:
    with contextlib.suppress(InvalidValue):
        assert own_table.erase(b"k" * 600, "p", b"a", b"c", own_table.now(), {b"p:b": b"gone"}) == 0
