"""Every version that is kept: `Table.history`."""

import random

import pytest

from neomodel.errors import InvalidValue
from neomodel.stores import Mutation, Table, Version
from tests.stores.shorthand import put, versions


def test_history_tells_by_key_and_column_the_newest_first_with_tombstones(
    table: Table, span: tuple[bytes, bytes]
) -> None:
    a, b = span[0] + b"a", span[0] + b"b"
    put(table, b, {b"p:y": b"1", b"p:x": b"1"})
    put(table, a, {b"p:x": b"2"})
    put(table, b, {b"p:y": None, b"c:x": b""})
    put(table, b, {b"p:y": b"4"})

    told = list(table.history(*span))

    assert [(v.key, v.column, v.value) for v in told] == [
        (a, b"p:x", b"2"),
        (b, b"c:x", b""),
        (b, b"p:x", b"1"),
        (b, b"p:y", b"4"),
        (b, b"p:y", None),
        (b, b"p:y", b"1"),
    ]
    assert told[3].time > told[4].time == told[1].time > told[0].time > told[5].time == told[2].time


def test_history_keeps_every_version_of_a_cell_however_fast_they_came(table: Table, key: bytes) -> None:
    values = [b"%d" % number for number in range(300)]
    table.put_many(Mutation(key, {b"p:x": value}) for value in values)

    told = versions(table, key)

    assert [version.value for version in told] == values[::-1]
    assert [version.time for version in told] == sorted({version.time for version in told}, reverse=True)
    for version in told[::60]:
        assert table.get(key, at=version.time) == {b"p:x": version.value}
    assert table.get(key) == {b"p:x": values[-1]}
    assert [cell.value for cell in table.cells(key, "p", at=told[-1].time)] == [values[0]]
    assert [cell.value for cell in table.cells(key, "p", at=told[150].time, reverse=True)] == [told[150].value]


def test_history_within_times_leaves_out_since_and_includes_until(table: Table, key: bytes) -> None:
    for value in (b"1", b"2", None, b"4"):
        put(table, key, {b"p:x": value, b"p:y": value})
    times = sorted({version.time for version in versions(table, key)})

    def told(since: int | None, until: int | None) -> list[bytes | None]:
        found = list(table.history(key, key + b"\x00", columns=[b"p:y"], since=since, until=until))
        assert {version.column for version in found} <= {b"p:y"}
        return [version.value for version in found]

    assert told(None, None) == [b"4", None, b"2", b"1"]
    assert told(times[0], times[2]) == [None, b"2"]
    assert told(times[0] - 1, times[2] - 1) == [b"2", b"1"]
    assert told(times[1], None) == [b"4", None]
    assert told(None, times[1]) == [b"2", b"1"]
    assert told(times[1], times[1]) == told(times[3], times[0]) == told(times[3], None) == []
    assert told(0, times[0]) == [b"1"]


def test_history_includes_its_start_and_not_its_stop(table: Table, key: bytes) -> None:
    keys = [key + end for end in (b"", b"\x00", b"a", b"a\x00", b"b")]
    for one in keys:
        put(table, one, {b"p:x": one})

    assert [version.key for version in table.history(keys[1], keys[3])] == keys[1:3]
    assert [version.key for version in table.history(key, key + b"\x00")] == [key]
    assert list(table.history(keys[2], keys[2])) == []


def test_history_adds_up_to_what_each_time_reads(table: Table, span: tuple[bytes, bytes]) -> None:
    ends = [b"a", b"a\x00", b"b"]
    for number in range(12):
        value = None if number % 5 == 4 else b"%d" % number
        put(table, span[0] + ends[number % 3], {b"p:%d" % (number % 2): value, b"c:x": b"%d" % number})

    told = list(table.history(*span))

    for time in sorted({version.time for version in told}):
        assert dict(table.scan(*span, at=time)) == _rows_at(told, time)


def _rows_at(told: list[Version], time: int) -> dict[bytes, dict[bytes, bytes]]:
    newest: dict[tuple[bytes, bytes], bytes | None] = {}
    for version in told:
        if version.time <= time:
            newest.setdefault((version.key, version.column), version.value)
    rows: dict[bytes, dict[bytes, bytes]] = {}
    for (key, column), value in newest.items():
        if value is not None:
            rows.setdefault(key, {})[column] = value
    return rows


@pytest.mark.parametrize("bound", ["since", "until"])
def test_a_bound_that_is_no_time_is_refused(table: Table, key: bytes, bound: str) -> None:
    with pytest.raises(InvalidValue):
        list(table.history(key, **{bound: -1}))  # type: ignore[arg-type]


def test_blocks_of_versions_are_what_history_tells(table: Table, span: tuple[bytes, bytes]) -> None:
    chance = random.Random(7)
    odd = [b"a", b"\0", b"\1", b"\1\1", b"\1\2", b"\2", b"\xff", b"\0\1\0", b"b" * 40]

    def some(count: int) -> bytes:
        return b"".join(chance.choices(odd, k=chance.randint(1, count)))

    values = [None, b"", b"\0", b"\0x", b"\1", b"plain", b"long" * 3000]
    for _ in range(2):
        table.put_many(
            Mutation(span[0] + some(2), {b"p:" + some(3): chance.choice(values), b"c:x": b"1"}) for _ in range(300)
        )
    times = sorted({version.time for version in table.history(*span)})
    middle = times[len(times) // 2]

    for bounds in ({}, {"since": middle}, {"until": middle}, {"since": times[5], "until": middle}):
        for rows in (span, (span[0] + b"\1", span[0] + b"\1\2"), (span[0] + b"b", span[1])):
            blocks = list(table.history_blocks(*rows, **bounds))
            assert [Version(*row.values()) for block in blocks for row in block.to_pylist()] == list(
                table.history(*rows, **bounds)
            )
            assert all(len(block) for block in blocks)
