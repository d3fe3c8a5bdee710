"""Streams of rows: `Table.scan`."""

import itertools

import pytest

from neomodel.stores import Mutation, Table
from tests.stores.shorthand import put, span_keys

ENDS = [b"", b"\x00", b"a", b"a\x00", b"a\x00\x00", b"a\x00\x01", b"a\x01", b"ab", b"b", b"\xff", b"\xff\xff"]
BOUNDS = [b"", b"\x00", b"\x00\x00", b"a", b"a\x00\x00", b"a\x00\xff", b"aa", b"b", b"\xff", b"\xff\xff\xff"]


@pytest.fixture
def rows(table: Table, key: bytes) -> list[bytes]:
    table.put_many(Mutation(key + end, {b"p:x": end, b"t:x": end}) for end in ENDS)
    return [key + end for end in ENDS]


def test_a_scan_includes_its_start_and_not_its_stop(table: Table, key: bytes, rows: list[bytes]) -> None:
    for start, stop in itertools.product(BOUNDS, BOUNDS):
        expected = [one for one in rows if key + start <= one < key + stop]
        assert [one for one, _ in table.scan(key + start, key + stop)] == expected


def test_a_scan_keeps_rows_apart_whatever_the_lengths_of_their_keys(table: Table, key: bytes) -> None:
    lengths = [1, 100, 2, 99, 3, 50, 1, 1, 60, 60, 61, 59, 120, 5]
    ends = [b"%02d" % number + b"k" * length for number, length in enumerate(lengths)]
    table.put_many(Mutation(key + end, {b"p:x": end, b"p:" + b"y" * len(end): b""}) for end in ends)

    found = list(table.scan(key, key + b"x"))

    assert found == [(key + end, {b"p:x": end, b"p:" + b"y" * len(end): b""}) for end in ends]


def test_a_scan_without_bounds_sees_the_first_and_the_last_possible_key(own_table: Table) -> None:
    keys = [b"\x00", b"\x00\x00", b"\x01", b"m", b"\xff", b"\xff" * 50]
    own_table.put_many(Mutation(key, {b"c:\x00": key, b"t:\xff": key}) for key in reversed(keys))

    assert [key for key, _ in own_table.scan()] == keys
    assert [key for key, _ in own_table.scan(b"\x00\x00")] == keys[1:]
    assert [key for key, _ in own_table.scan(stop=b"\xff")] == keys[:4]
    assert list(own_table.scan(stop=b"")) == []
    assert {version.key for version in own_table.history()} == set(keys)


def test_a_scan_of_an_empty_table_is_empty(own_table: Table) -> None:
    assert list(own_table.scan()) == []
    assert list(own_table.history()) == []


def test_rows_come_whole(table: Table, span: tuple[bytes, bytes]) -> None:
    row = {b"%b:%03d" % (family, number): b"%d" % number for family in (b"c", b"p", b"t") for number in range(200)}
    for end in (b"1", b"2", b"3"):
        put(table, span[0] + end, row)

    assert list(table.scan(*span)) == [(span[0] + end, row) for end in (b"1", b"2", b"3")]


def test_a_scan_passes_over_any_number_of_rows_that_have_nothing_to_show(
    table: Table, span: tuple[bytes, bytes]
) -> None:
    keys = [span[0] + b"%04d" % number for number in range(2000)]
    table.put_many(Mutation(key, {b"c:x": b"1", b"p:x": b"1"}) for key in keys)
    then = table.now()
    table.put_many(Mutation(key, {b"c:x": None, b"p:x": None}) for key in keys[100:1900])
    table.put_many(Mutation(key, {b"t:x": b"1"}) for key in keys[::700])

    assert [key for key, _ in table.scan(*span, columns=[b"p:"])] == keys[:100] + keys[1900:]
    assert [key for key, _ in table.scan(*span, columns=[b"t:x"])] == keys[::700]
    assert [key for key, _ in table.scan(*span)] == [*keys[:100], keys[700], keys[1400], *keys[1900:]]
    assert [key for key, _ in table.scan(*span, at=then, columns=[b"p:x"])] == keys
    assert len(list(table.history(*span, columns=[b"t:x", b"c:"]))) == 2000 + 1800 + 3


def test_a_scan_as_of_a_time_is_of_that_time_whatever_happens_meanwhile(
    table: Table, span: tuple[bytes, bytes]
) -> None:
    for end in (b"b", b"d", b"f"):
        put(table, span[0] + end, {b"p:x": b"old"})
    scan = table.scan(*span, at=table.now())

    seen = [next(scan)]
    put(table, span[0] + b"a", {b"p:x": b"new"})
    put(table, span[0] + b"d", {b"p:x": b"new", b"p:y": b"new"})
    put(table, span[0] + b"e", {b"p:x": b"new"})
    put(table, span[0] + b"f", {b"p:x": None})
    seen += scan

    assert seen == [(span[0] + end, {b"p:x": b"old"}) for end in (b"b", b"d", b"f")]
    assert span_keys(table, span) == [b"a", b"b", b"d", b"e"]


def test_a_row_that_is_there_throughout_is_seen_once_whatever_happens_meanwhile(
    table: Table, span: tuple[bytes, bytes]
) -> None:
    lasting = [b"%04d" % number for number in range(0, 3000, 2)]
    table.put_many(Mutation(span[0] + end, {b"p:x": b"1"}) for end in lasting)

    seen = []
    for number, (key, row) in enumerate(table.scan(*span)):
        seen.append(key.removeprefix(span[0]))
        assert set(row) == {b"p:x"}
        if number % 100 == 0:
            put(table, span[0] + b"%04d" % (2999 - number), {b"p:x": b"2"})
            put(table, key, {b"p:x": b"3"})

    assert [end for end in seen if int(end) % 2 == 0] == lasting
    assert seen == sorted(set(seen))


def test_scans_may_be_nested_and_many_open_at_once(table: Table, span: tuple[bytes, bytes]) -> None:
    ends = [b"a", b"b", b"c"]
    table.put_many(Mutation(span[0] + end, {b"p:x": end}) for end in ends)

    pairs = [(one, two) for one, _ in table.scan(*span) for two, _ in table.scan(*span)]
    scans = [table.scan(*span) for _ in range(30)]
    firsts = [next(scan)[0] for scan in scans]

    assert pairs == [(span[0] + one, span[0] + two) for one in ends for two in ends]
    assert firsts == [span[0] + b"a"] * 30
    assert [[key for key, _ in scan] for scan in scans] == [[span[0] + b"b", span[0] + b"c"]] * 30


def test_a_scan_left_early_stands_in_nobodys_way(own_table: Table) -> None:
    own_table.put_many(Mutation(b"%d" % number, {b"p:x": b""}) for number in range(9))
    left = [own_table.scan(), own_table.history()]
    assert [next(iterator)[0] for iterator in left] == [b"0", b"0"]

    put(own_table, b"0", {b"p:x": b"1"})
    del left
    own_table.purge(own_table.now())
    assert own_table.get(b"0") == {b"p:x": b"1"}
    own_table.drop()


def test_a_scan_that_was_begun_and_left_open_lets_the_table_be_dropped(own_table: Table) -> None:
    own_table.put_many(Mutation(b"%04d" % number, {b"p:x": b""}) for number in range(2000))
    scan = own_table.scan()
    next(scan)

    own_table.drop()
    own_table.create("p")

    assert list(own_table.scan()) == []
