"""The one exception to keeping everything: `Table.purge`."""

import time
from collections.abc import Callable

import pytest

from neomodel.errors import InvalidValue, Purged
from neomodel.stores import VERSION, Mutation, Table
from tests.stores.shorthand import put, versions

HOUR = 3_600_000_000


def test_a_purge_forgets_what_only_reads_before_it_could_see(own_table: Table) -> None:
    for value in (b"1", b"2", b"3", b"4", b"5"):
        put(own_table, b"k", {b"p:x": value})
    times = sorted(version.time for version in versions(own_table, b"k"))

    assert own_table.purge(times[2]) == 2

    assert [v.value for v in versions(own_table, b"k")] == [b"5", b"4", b"3"]
    assert [own_table.get(b"k", at=time) for time in times[2:]] == [{b"p:x": b"3"}, {b"p:x": b"4"}, {b"p:x": b"5"}]
    assert own_table.get(b"k") == {b"p:x": b"5"}


def test_a_purge_between_two_versions_keeps_the_one_that_is_seen_then(own_table: Table) -> None:
    for time_, value in ((1000, b"1"), (2000, b"2"), (3000, b"3")):
        put(own_table, b"k", {b"p:x": value}, time=time_)

    assert own_table.purge(2500) == 1

    assert [(v.time, v.value) for v in versions(own_table, b"k")] == [(3000, b"3"), (2000, b"2")]
    assert own_table.get(b"k", at=2500) == {b"p:x": b"2"}


def test_a_purge_forgets_tombstones_that_hide_nothing_any_more(own_table: Table) -> None:
    put(own_table, b"gone", {b"p:x": b"1", b"p:y": b"1"})
    put(own_table, b"gone", {b"p:x": None, b"p:y": None})
    put(own_table, b"kept", {b"p:x": b"1"})
    horizon = own_table.now()
    put(own_table, b"kept", {b"p:x": None})

    assert own_table.purge(horizon) == 4

    assert versions(own_table, b"gone") == []
    assert [v.value for v in versions(own_table, b"kept")] == [None, b"1"]
    assert list(own_table.scan(at=horizon)) == [(b"kept", {b"p:x": b"1"})]
    assert list(own_table.scan()) == []


def test_a_purge_counts_and_keeps_every_cell_by_itself(own_table: Table) -> None:
    for number in range(6):
        put(own_table, b"a", {b"p:often": b"%d" % number})
        if number % 3 == 0:
            put(own_table, b"b", {b"c:seldom": b"%d" % number, b"p:\x00": None})
    put(own_table, b"b", {b"t:once": b""})
    before = dict(own_table.scan())

    assert own_table.purge(own_table.now()) == 5 + 1 + 2
    assert dict(own_table.scan()) == before
    assert len(list(own_table.history())) == 3


def test_a_time_before_the_horizon_is_refused_and_the_horizon_itself_is_not(own_table: Table) -> None:
    put(own_table, b"k", {b"p:x": b"1"})
    put(own_table, b"k", {b"p:x": b"2"})
    early, late = sorted(version.time for version in versions(own_table, b"k"))
    assert own_table.get(b"k", at=early) == own_table.get_many([b"k"], at=early)[b"k"] == {b"p:x": b"1"}
    own_table.purge(late)

    calls: list[Callable[[int], object]] = [
        lambda at: own_table.get(b"k", at=at),
        lambda at: own_table.get_many([b"k"], at=at),
        lambda at: list(own_table.cells(b"k", "p", at=at)),
        lambda at: list(own_table.scan(at=at)),
        lambda at: list(own_table.history(since=at)),
        lambda at: list(own_table.history(until=at)),
    ]
    for call in calls:
        for at in (0, early, late - 1):
            with pytest.raises(Purged):
                call(at)
        call(late)
    assert own_table.get(b"k", at=late) == {b"p:x": b"2"}
    assert [v.value for v in own_table.history()] == [b"2"]
    assert list(own_table.history(since=late)) == []


def test_a_horizon_never_moves_back(own_table: Table) -> None:
    for value in (b"1", b"2", b"3"):
        put(own_table, b"k", {b"p:x": value})
    first, second, third = sorted(version.time for version in versions(own_table, b"k"))

    assert own_table.purge(second) == 1
    assert own_table.purge(second) == 0
    assert own_table.purge(first) == 0

    with pytest.raises(Purged):
        own_table.get(b"k", at=first)
    assert own_table.get(b"k", at=second) == {b"p:x": b"2"}
    assert own_table.purge(third) == 1


def test_a_purge_leaves_versions_to_swap_by(own_table: Table) -> None:
    put(own_table, b"k", {VERSION: b"1"})
    assert own_table.swap(b"k", b"1", {VERSION: b"2"}) is True
    put(own_table, b"none", {VERSION: b"1"})
    put(own_table, b"none", {VERSION: None})
    own_table.purge(own_table.now())

    assert own_table.swap(b"k", b"1", {VERSION: b"3"}) is False
    assert own_table.swap(b"k", b"2", {VERSION: b"3"}) is True
    assert own_table.swap(b"none", b"1", {VERSION: b"2"}) is False
    assert own_table.swap(b"none", None, {VERSION: b"2"}) is True


def test_a_purge_of_the_future_is_refused_and_forgets_nothing(own_table: Table) -> None:
    for value in (b"1", b"2"):
        put(own_table, b"k", {b"p:x": value})

    for bad in (max(own_table.now(), time.time_ns() // 1000) + HOUR, -1):
        with pytest.raises(InvalidValue):
            own_table.purge(bad)

    assert len(versions(own_table, b"k")) == 2
    assert own_table.get(b"k", at=0) is None


def test_a_purge_of_an_empty_table_forgets_nothing_and_has_a_horizon(own_table: Table) -> None:
    assert own_table.purge(own_table.now()) == 0
    assert own_table.purge(1000) == 0

    for call in (lambda: own_table.get(b"k", at=999), lambda: list(own_table.scan(at=999))):
        with pytest.raises(Purged):
            call()
    assert list(own_table.scan(at=max(own_table.now(), 1000))) == []


def test_a_large_purge_is_whole(own_table: Table) -> None:
    for number in range(3):
        own_table.put_many([Mutation(b"%04d" % key, {b"p:x": b"%d" % number}) for key in range(3000)])

    assert own_table.purge(own_table.now()) == 6000
    assert [row[b"p:x"] for _, row in own_table.scan()] == [b"2"] * 3000
    assert len(list(own_table.history())) == 3000
