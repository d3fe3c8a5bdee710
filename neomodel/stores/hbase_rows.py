"""Rows as the Thrift1 gateway has them: reading them through a happybase connection, and making ours of them.

By the calls of happybase's connection, not by its tables: those make a row of their own first, which takes as long as
reading it.
"""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from neomodel.stores.base import VERSION, Row

ROWS = 1000  # read or written in one call


class Selection(NamedTuple):
    """Columns (None: all) and an exclusive time (None: the newest) as Thrift1 has them.

    A family goes without its colon. The gateway minds the time only if there are columns.
    """

    columns: list[bytes] | None
    until: int | None


class Bounds(NamedTuple):
    start: bytes
    stop: bytes | None


def get(connection: Any, table: bytes, key: bytes, wanted: Selection) -> list[Any]:
    """One result, or none."""
    if wanted.until is None:
        found: list[Any] = connection.client.getRowWithColumns(table, key, wanted.columns, {})
    else:
        found = connection.client.getRowWithColumnsTs(table, key, wanted.columns, wanted.until, {})
    return found


def get_many(connection: Any, table: bytes, keys: list[bytes], wanted: Selection) -> list[Any]:
    if wanted.until is None:
        found: list[Any] = connection.client.getRowsWithColumns(table, keys, wanted.columns, {})
    else:
        found = connection.client.getRowsWithColumnsTs(table, keys, wanted.columns, wanted.until, {})
    return found


def scan(connection: Any, table: bytes, bounds: Bounds, wanted: Selection) -> Iterator[tuple[Bounds, list[Any]]]:
    """Pages of results, each with what is left after it."""
    client = connection.client
    how = sys.modules["Hbase_thrift"].TScan(  # happybase's own
        startRow=bounds.start, stopRow=bounds.stop, timestamp=wanted.until, columns=wanted.columns, caching=ROWS
    )
    scanner = client.scannerOpenWithScan(table, how, {})
    while page := client.scannerGetList(scanner, ROWS):
        bounds = Bounds(page[-1].row + b"\0", bounds.stop)
        yield bounds, page
        if len(page) < ROWS:
            break
    client.scannerClose(scanner)


def row(result: Any) -> Row:
    """The live cells, sorted: the gateway sorts by signed bytes."""
    columns = result.columns
    return {
        column: value if value >= b"\1" else value[1:]  # as `encoding.decode_live` does, but for the cost of a call
        for column in sorted(columns)
        if (value := columns[column].value)
    }


def versions(results: list[Any]) -> dict[bytes, tuple[bytes, int]]:
    """Of each row that has a version, that version as it is stored, and its time."""
    return {
        result.row: (cell.value, cell.timestamp)
        for result in results
        if (cell := result.columns.get(VERSION)) and cell.value
    }
