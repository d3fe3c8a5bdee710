"""Rows: what was written reads back, in order, whatever bytes it is made of."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neomodel.stores import Mutation, Table
from tests.stores.shorthand import put, span_keys

ALIKE = [b"\x00", b"\x00\x00", b"\x00\x01", b"\x01", b"a", b"a\x00", b"a\x00\x00", b"a\x00\x01", b"a\x00\xff", b"a\x01"]
ALIKE += [b"a:", b"aa", b"ab", b"a\xff", b"a\xff\xff", b"b", b"\xfe", b"\xff", b"\xff\x00", b"\xff\xff"]
VALUES = [b"", b"\x00", b"\x00\x00", b"\x00x", b"\x01", b"\x01x", b"\xff", b"\xffx", bytes(range(256))]

binary = st.lists(st.sampled_from(b"\x00\x01\x02:a\xfe\xff"), min_size=1, max_size=6).map(bytes)


def test_a_row_nobody_wrote_is_none(table: Table, key: bytes) -> None:
    assert table.get(key) is None


def test_a_row_reads_back_sorted_by_column(table: Table, key: bytes) -> None:
    put(table, key, {b"t:a": b"3", b"p:b": b"2", b"c:z": b"0", b"p:a": b"1"})

    row = table.get(key)

    assert list((row or {}).items()) == [(b"c:z", b"0"), (b"p:a", b"1"), (b"p:b", b"2"), (b"t:a", b"3")]


def test_keys_that_begin_alike_are_different_rows_in_bytewise_order(table: Table, span: tuple[bytes, bytes]) -> None:
    table.put_many(Mutation(span[0] + end, {b"p:x": end}) for end in ALIKE)

    assert span_keys(table, span) == sorted(ALIKE)
    assert [table.get(span[0] + end) for end in ALIKE] == [{b"p:x": end} for end in ALIKE]


def test_qualifiers_that_begin_alike_are_different_cells_in_bytewise_order(table: Table, key: bytes) -> None:
    put(table, key, {b"p:" + qualifier: qualifier for qualifier in ALIKE})

    assert list((table.get(key) or {}).items()) == [(b"p:" + qualifier, qualifier) for qualifier in sorted(ALIKE)]
    assert [(cell.qualifier, cell.value) for cell in table.cells(key, "p")] == [(q, q) for q in sorted(ALIKE)]


def test_a_key_and_a_column_never_run_into_one_another(table: Table, key: bytes) -> None:
    put(table, key, {b"p:a": b"1", b"p:ap:a": b"2", b"p:\x00p:a": b"3"})
    put(table, key + b"p:a", {b"p:a": b"4"})
    put(table, key + b"\x00", {b"p:a": b"5"})
    put(table, key + b"\x00p:a\x00", {b"p:a": b"6"})

    assert table.get(key) == {b"p:a": b"1", b"p:ap:a": b"2", b"p:\x00p:a": b"3"}
    assert table.get(key + b"p:a") == {b"p:a": b"4"}
    assert table.get(key + b"\x00") == {b"p:a": b"5"}
    assert table.get(key + b"p") is None


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_any_value_reads_back_as_it_was_written(table: Table, key: bytes, value: bytes) -> None:
    put(table, key, {b"p:x": value})

    assert table.get(key) == {b"p:x": value}
    assert [cell.value for cell in table.cells(key, "p")] == [value]
    assert [version.value for version in table.history(key, key + b"\x00")] == [value]


def test_a_value_of_a_megabyte_reads_back(table: Table, key: bytes) -> None:
    value = bytes(range(256)) * 4096
    put(table, key, {b"p:large": value, b"p:small": b"s"})

    assert table.get(key) == {b"p:large": value, b"p:small": b"s"}


def test_a_tombstone_reads_as_absent_and_an_empty_value_does_not(table: Table, key: bytes) -> None:
    put(table, key, {b"p:empty": b"e", b"p:gone": b"g", b"p:kept": b"k"})
    put(table, key, {b"p:empty": b"", b"p:gone": None})

    assert table.get(key) == {b"p:empty": b"", b"p:kept": b"k"}
    assert [(cell.qualifier, cell.value) for cell in table.cells(key, "p")] == [(b"empty", b""), (b"kept", b"k")]


def test_a_row_of_tombstones_only_is_no_row(table: Table, span: tuple[bytes, bytes]) -> None:
    gone, never = span[0] + b"gone", span[0] + b"never"
    put(table, gone, {b"p:x": b"1", b"c:x": b"1"})
    put(table, gone, {b"p:x": None, b"c:x": None})
    put(table, never, {b"p:x": None})

    assert table.get(gone) is None
    assert table.get_many([gone, never]) == {}
    assert list(table.scan(*span)) == []
    assert list(table.cells(gone, "p")) == []


def test_a_cell_written_again_after_its_tombstone_is_back(table: Table, key: bytes) -> None:
    for value in (b"1", None, b"2"):
        put(table, key, {b"p:x": value})

    assert table.get(key) == {b"p:x": b"2"}


def test_a_mutation_leaves_the_other_cells_of_its_row_alone(table: Table, key: bytes) -> None:
    put(table, key, {b"p:x": b"1", b"p:y": b"1", b"c:x": b"1"})
    put(table, key, {b"p:y": b"2", b"p:z": b"2"})

    assert table.get(key) == {b"c:x": b"1", b"p:x": b"1", b"p:y": b"2", b"p:z": b"2"}


def test_get_many_reads_each_row_as_get_does_and_leaves_out_those_not_there(table: Table, key: bytes) -> None:
    keys = [key + end for end in (b"c", b"a", b"missing", b"gone", b"b")]
    for one in keys[:2] + keys[3:]:
        put(table, one, {b"p:x": one, b"c:x": b""})
    put(table, key + b"gone", {b"p:x": None, b"c:x": None})

    rows = table.get_many(iter([*keys, keys[0]]))

    assert rows == {one: {b"c:x": b"", b"p:x": one} for one in keys if table.get(one)}
    assert set(rows) == {key + b"a", key + b"b", key + b"c"}
    assert all(list(row) == sorted(row) for row in rows.values())
    assert table.get_many([]) == {}


def test_get_many_takes_many_keys(table: Table, key: bytes) -> None:
    keys = [key + b"%04d" % number for number in range(2000)]
    table.put_many(Mutation(one, {b"p:x": one}) for one in keys[::2])

    assert table.get_many(keys) == {one: {b"p:x": one} for one in keys[::2]}


def test_get_many_takes_keys_from_a_stream_that_reads_and_writes_the_table(
    table: Table, span: tuple[bytes, bytes]
) -> None:
    table.put_many(Mutation(span[0] + b"%d" % number, {b"p:x": b"1"}) for number in range(5))

    def keys() -> Iterator[bytes]:
        for key, _ in table.scan(*span):
            put(table, key, {b"p:y": b"2"})
            yield key

    rows = table.get_many(keys())

    assert sorted(rows) == [span[0] + b"%d" % number for number in range(5)]
    assert all(row[b"p:x"] == b"1" for row in rows.values())


def test_a_row_that_was_handed_out_is_the_callers_own(table: Table, key: bytes) -> None:
    put(table, key, {b"p:x": b"1"})
    now = table.now()

    for at in (None, now):
        for row in (table.get(key, at=at), table.get_many([key], at=at)[key], dict(table.scan(key, at=at))[key]):
            assert row == {b"p:x": b"1"}
            row[b"p:x"] = b"spoilt"
        table.get_many([key], at=at).clear()
        assert table.get(key, at=at) == table.get_many([key], at=at)[key] == {b"p:x": b"1"}


def test_cells_that_were_handed_in_stay_the_callers_own(table: Table, key: bytes) -> None:
    cells: dict[bytes, bytes | None] = {b"p:x": b"1"}
    put(table, key, cells)
    cells[b"p:x"] = b"2"
    cells[b"p:y"] = b"2"

    assert table.get(key) == {b"p:x": b"1"}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.dictionaries(binary, st.dictionaries(binary, st.binary(max_size=3), min_size=1), max_size=8))
def test_any_rows_of_any_cells_scan_back_in_order(
    table: Table, span: tuple[bytes, bytes], content: dict[bytes, dict[bytes, bytes]]
) -> None:
    rows = {span[0] + key: {b"p:" + q: value for q, value in cells.items()} for key, cells in content.items()}
    before = dict(table.scan(*span))
    table.put_many(Mutation(key, dict.fromkeys(row)) for key, row in before.items())
    table.put_many(Mutation(key, cells) for key, cells in rows.items())

    scanned = list(table.scan(*span))

    assert scanned == [(key, rows[key]) for key in sorted(rows)]
    assert [list(row) for _, row in scanned] == [sorted(rows[key]) for key in sorted(rows)]
