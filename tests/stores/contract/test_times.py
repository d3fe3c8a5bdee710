"""Time: what the store stamps, what a caller brings in, and what a read as of a time sees."""

import time

import pytest

from neomodel.stores import VERSION, Mutation, Table, Version, successor
from neomodel.stores.base import MAX_TIME
from tests.stores.shorthand import put, span_keys, stamp, versions

HOUR = 3_600_000_000


def test_every_mutation_is_stamped_later_than_all_before_it(table: Table, span: tuple[bytes, bytes]) -> None:
    order = []
    version = None
    for number in range(10):
        keys = [span[0] + b"%d-%d" % (number, part) for part in range(3)]
        table.put_many([Mutation(key, {b"p:x": b"", b"c:x": b""}) for key in reversed(keys)])
        table.swap(span[0] + b"row", version, {VERSION: successor(version), b"p:x": b""})
        version = (table.get(span[0] + b"row") or {})[VERSION]
        order += [stamp(table, key) for key in [*reversed(keys), span[0] + b"row"]]

    assert order == sorted(set(order))


def test_all_cells_of_a_mutation_have_one_time(table: Table, key: bytes) -> None:
    put(table, key, {b"c:x": b"1", b"p:x": b"1", b"p:y": None, b"t:x": b""})

    assert len({version.time for version in versions(table, key)}) == 1


def test_times_are_microseconds_since_the_epoch(table: Table, key: bytes) -> None:
    put(table, key, {b"p:x": b"1"})

    assert abs(stamp(table, key) - time.time_ns() // 1000) < 60_000_000


def test_time_goes_on_when_the_clock_is_put_back(table: Table, key: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    put(table, key, {b"p:x": b"1"})
    first, now = stamp(table, key), table.now()
    clocks = {"time": time.time, "time_ns": time.time_ns}
    monkeypatch.setattr(time, "time", lambda: clocks["time"]() - 3600)
    monkeypatch.setattr(time, "time_ns", lambda: clocks["time_ns"]() - 3600 * 10**9)

    assert table.now() >= now
    put(table, key, {b"p:x": b"2"})

    assert stamp(table, key) > now >= first
    assert table.get(key) == {b"p:x": b"2"}
    assert table.get(key, at=now) == {b"p:x": b"1"}


def test_a_read_sees_what_was_stamped_at_its_time_or_before(table: Table, span: tuple[bytes, bytes]) -> None:
    key = span[0]
    for value in (b"1", b"2", None, b"4"):
        put(table, key, {b"p:x": value})
    first, second, third, fourth = sorted(version.time for version in versions(table, key))

    def at(time: int) -> bytes | None:
        row = table.get(key, at=time)
        assert table.get_many([key], at=time) == ({key: row} if row else {})
        assert dict(table.scan(*span, at=time)) == ({key: row} if row else {})
        assert [cell.value for cell in table.cells(key, "p", at=time)] == list((row or {}).values())
        return row and row[b"p:x"]

    assert [at(first - 1), at(first), at(second - 1), at(second)] == [None, b"1", b"1", b"2"]
    assert [at(third - 1), at(third), at(fourth - 1), at(fourth)] == [b"2", None, None, b"4"]
    assert [at(0), at(MAX_TIME)] == [None, b"4"]


def test_a_row_as_of_a_time_takes_each_cell_at_its_own_newest(table: Table, key: bytes) -> None:
    put(table, key, {b"p:a": b"1", b"p:b": b"1", b"p:c": b"1"})
    put(table, key, {b"p:b": b"2", b"p:d": b"2"})
    now = table.now()
    put(table, key, {b"p:a": b"3", b"p:c": None, b"p:d": None, b"p:e": b"3"})

    assert table.get(key, at=now) == {b"p:a": b"1", b"p:b": b"2", b"p:c": b"1", b"p:d": b"2"}
    assert table.get(key, at=now, columns=[b"p:d", b"p:e"]) == {b"p:d": b"2"}


def test_history_recorded_elsewhere_keeps_its_times(table: Table, key: bytes) -> None:
    put(table, key, {b"p:x": b"now"})
    put(table, key, {b"p:x": b"then"}, time=2000)
    put(table, key, {b"p:x": None}, time=3000)
    put(table, key, {b"p:x": b"at the very first"}, time=0)

    assert [(v.time, v.value) for v in versions(table, key)][1:] == [
        (3000, None),
        (2000, b"then"),
        (0, b"at the very first"),
    ]
    assert table.get(key) == {b"p:x": b"now"}
    assert table.get(key, at=1999) == table.get(key, at=0) == {b"p:x": b"at the very first"}
    assert table.get(key, at=2999) == table.get(key, at=2000) == {b"p:x": b"then"}
    assert table.get(key, at=3000) is None


def test_a_time_in_the_past_is_the_newest_where_there_is_no_other(table: Table, key: bytes) -> None:
    put(table, key, {b"p:x": b"later"}, time=2000)
    put(table, key, {b"p:x": b"earlier", b"p:y": b"1"}, time=1000)

    assert table.get(key) == {b"p:x": b"later", b"p:y": b"1"}
    assert [(c.qualifier, c.time, c.value) for c in table.cells(key, "p")] == [
        (b"x", 2000, b"later"),
        (b"y", 1000, b"1"),
    ]


@pytest.mark.parametrize(
    "values", [(b"1", b"2"), (b"1", None), (None, b"2"), (b"1", b""), (b"long" * 99, b"x")], ids=repr
)
def test_of_two_writes_at_one_time_the_later_wins(
    table: Table, key: bytes, values: tuple[bytes | None, bytes | None]
) -> None:
    for value in values:
        put(table, key, {b"p:x": value}, time=5000)
    put(table, key, {b"p:y": b"beside"}, time=5000)

    assert versions(table, key) == [Version(key, b"p:x", 5000, values[1]), Version(key, b"p:y", 5000, b"beside")]
    assert (table.get(key) or {}).get(b"p:x") == values[1]
    assert (table.get(key, at=5000) or {}).get(b"p:x") == values[1]


def test_of_two_mutations_of_one_batch_at_one_time_the_later_wins(table: Table, key: bytes) -> None:
    table.put_many([Mutation(key, {b"p:x": b"1"}, 5000), Mutation(key, {b"p:x": b"2"}, 5000)])

    assert versions(table, key) == [Version(key, b"p:x", 5000, b"2")]


def test_bringing_in_the_past_does_not_turn_back_the_time(table: Table, key: bytes) -> None:
    put(table, key, {b"p:x": b"1"})
    before = stamp(table, key)
    put(table, key, {b"p:x": b"2"}, time=1000)
    put(table, key, {b"p:x": b"3"})

    assert stamp(table, key) > before
    assert table.now() >= stamp(table, key)
    assert table.get(key) == {b"p:x": b"3"}


def test_a_stamp_may_be_brought_in_again(table: Table, key: bytes) -> None:
    """Copying a table's history gives the same table."""
    for value in (b"1", None, b"3"):
        put(table, key, {b"p:x": value, b"p:y": b"y"})
    copy = key + b"copy"
    table.put_many(Mutation(copy, {v.column: v.value}, v.time) for v in versions(table, key))

    assert [v[1:] for v in versions(table, copy)] == [v[1:] for v in versions(table, key)]


def test_now_sees_every_write_that_returned_and_none_that_begins_later(table: Table, span: tuple[bytes, bytes]) -> None:
    marks = []
    for number in range(10):
        put(table, span[0] + b"%d" % number, {b"p:x": b""})
        marks.append(table.now())
    stamps = [stamp(table, span[0] + b"%d" % number) for number in range(10)]

    assert marks == sorted(set(marks))
    assert all(time <= mark for time, mark in zip(stamps, marks, strict=True))
    assert all(mark < time for mark, time in zip(marks, stamps[1:], strict=False))
    for number, mark in enumerate(marks):
        assert span_keys(table, span, at=mark) == [b"%d" % before for before in range(number + 1)]


def test_what_now_reads_once_it_reads_for_ever(table: Table, span: tuple[bytes, bytes]) -> None:
    key = span[0] + b"a"
    put(table, key, {b"p:x": b"1", b"p:y": b"1", VERSION: b"1"})
    now = table.now()
    first = (table.get(key, at=now), list(table.scan(*span, at=now)), list(table.cells(key, "p", at=now)))

    put(table, key, {b"p:x": b"2", b"p:z": b"2"})
    table.swap(key, b"1", {VERSION: b"2", b"p:y": None})
    put(table, span[0] + b"b", {b"p:x": b"1"})

    assert (table.get(key, at=now), list(table.scan(*span, at=now)), list(table.cells(key, "p", at=now))) == first
    assert table.get_many([key, span[0] + b"b"], at=now) == {key: first[0]}


def test_now_never_runs_backwards_and_asking_writes_nothing(own_table: Table) -> None:
    nows = [own_table.now() for _ in range(20)]

    assert nows == sorted(nows)
    assert list(own_table.history()) == []
