"""What can't be stored is refused with `InvalidValue` before anything is written."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from neomodel.errors import InvalidValue
from neomodel.stores import VERSION, Mutation, Table
from neomodel.stores.base import MAX_TIME
from tests.stores.shorthand import put, versions

HOUR = 3_600_000_000

BAD_CELLS: dict[str, dict[Any, Any]] = {
    "a family the table lacks": {b"x:a": b"1"},
    "a family in the other case": {b"P:a": b"1"},
    "no qualifier": {b"p:": b"1"},
    "no colon": {b"pa": b"1"},
    "no column": {b"": b"1"},
    "a family of two letters": {b"pp:a": b"1"},
    "text for a column": {"p:a": b"1"},
    "text for a value": {b"p:a": "1"},
    "a number for a value": {b"p:a": 1},
    "a bytearray for a value": {b"p:a": bytearray(b"1")},
}


@pytest.mark.parametrize("bad", BAD_CELLS)
def test_bad_cells_are_refused_and_the_good_ones_beside_them_not_written(table: Table, key: bytes, bad: str) -> None:
    cells = {b"p:good": b"1", VERSION: b"1", **BAD_CELLS[bad], b"t:good": b"1"}
    put(
        table, key + b"before", {b"p:good": b"1", b"p:a": b"1", b"t:good": b"1", VERSION: b"1"}
    )  # nothing wrong with the columns

    with pytest.raises(InvalidValue):
        table.swap(key, None, cells)
    with pytest.raises(InvalidValue):
        table.put_many([Mutation(key, cells)])

    assert versions(table, key) == []


def test_a_mutation_of_no_cells_is_refused(table: Table, key: bytes) -> None:
    with pytest.raises(InvalidValue):
        table.put_many([Mutation(key, {})])
    with pytest.raises(InvalidValue):
        table.swap(key, None, {})
    assert versions(table, key) == []


@pytest.mark.parametrize("bad", [b"", "text", None, 7, bytearray(b"a")], ids=repr)
def test_a_key_that_is_no_key_is_refused_everywhere(table: Table, bad: Any) -> None:
    calls: list[Callable[[], object]] = [
        lambda: table.get(bad),
        lambda: table.get_many([bad]),
        lambda: list(table.cells(bad, "p")),
        lambda: table.swap(bad, None, {VERSION: b"1"}),
        lambda: table.put_many([Mutation(bad, {b"p:x": b"1"})]),
    ]
    for call in calls:
        with pytest.raises(InvalidValue):
            call()


def test_a_time_in_the_future_or_before_all_time_is_refused(table: Table, key: bytes) -> None:
    future = max(table.now(), time.time_ns() // 1000) + HOUR

    for bad in (future, MAX_TIME, MAX_TIME + 1, -1):
        with pytest.raises(InvalidValue):
            put(table, key, {b"p:x": b"1"}, time=bad)

    assert versions(table, key) == []


@pytest.mark.parametrize("at", [-1, MAX_TIME + 1])
def test_a_time_to_read_at_that_is_none_is_refused(
    table: Table, key: bytes, span: tuple[bytes, bytes], at: int
) -> None:
    calls: list[Callable[[], object]] = [
        lambda: table.get(key, at=at),
        lambda: table.get_many([key], at=at),
        lambda: list(table.cells(key, "p", at=at)),
        lambda: list(table.cells(key, "p", at=at, limit=0)),
        lambda: list(table.scan(*span, at=at)),
    ]
    for call in calls:
        with pytest.raises(InvalidValue):
            call()
    put(table, key, {b"p:x": b"1"})
    for call in calls:
        with pytest.raises(InvalidValue):
            call()
