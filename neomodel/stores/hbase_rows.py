"""Rows as the Thrift1 gateway has them: reading them through a happybase connection, and making ours of them.

By the calls of happybase's connection, not by its tables: those make a row of their own first, which takes as long as
reading it.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from neomodel.stores.base import VERSION, Mutation, Row

ROWS = 1000  # read or written in one call
_FIRST_ROWS = 64  # of a scan; then as many as make a page of about this size
_PAGE_BYTES = 1_000_000
_SAMPLE = 32  # rows that are looked at for that
_ANY_ROW = b"PrefixFilter('')"
_BATCH_BYTES = 4_000_000  # written in one call, or few more: a gateway has all of it in memory


class Selection(NamedTuple):
    """Columns (None: all) and an exclusive time (None: the newest) as Thrift1 has them.

    A family goes without its colon. The gateway minds the time only if there are columns.
    """

    columns: list[bytes] | None
    until: int | None

    @property
    def filter(self) -> bytes | None:
        """For a scan of several named columns, one that lets every row pass. Without any, a server seeks the next
        column after each cell, which takes twice as long where they lie side by side (3.2 s, and 1.8 s)."""
        named = sum(len(column) > 2 for column in self.columns or ())  # a family has a name of one letter
        return _ANY_ROW if named > 1 else None


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
    """Pages of results, each with what is left after it; the longer the rows, the fewer in a page. From the second page
    on the next one is asked for before a page is handed out: a gateway fetches it while this one is made use of."""
    client = connection.client
    how = sys.modules["Hbase_thrift"].TScan(  # happybase's own
        startRow=bounds.start,
        stopRow=bounds.stop,
        timestamp=wanted.until,
        columns=wanted.columns,
        caching=ROWS,
        filterString=wanted.filter,
    )
    scanner = client.scannerOpenWithScan(table, how, {})
    size = _FIRST_ROWS
    page = client.scannerGetList(scanner, size)
    later = False
    while page:
        bounds = Bounds(page[-1].row + b"\0", bounds.stop)
        ends = len(page) < size
        size = min(4 * size, ROWS, max(1, int(_PAGE_BYTES / _row_bytes(page))))
        ahead = client.begin("scannerGetList", scanner, size) if later and not ends else None
        yield bounds, page
        if ends:
            break
        page = ahead() if ahead else client.scannerGetList(scanner, size)
        later = True
    client.scannerClose(scanner)


def _row_bytes(page: list[Any]) -> float:
    """About how long a row is: a gateway has a whole page in memory, for every client."""
    sample = page[:: max(1, len(page) // _SAMPLE)]
    return sum(len(cell.value) + 50 for result in sample for cell in result.columns.values()) / len(sample)


def batches(mutations: Iterable[Mutation], calls: int) -> Iterator[list[Mutation]]:
    """The mutations in parts that so many calls take."""
    batch: list[Mutation] = []
    size = 0
    for mutation in mutations:
        batch.append(mutation)
        cells = mutation[1]
        size += 50 * len(cells) + sum(len(value) for value in cells.values() if isinstance(value, bytes))
        if len(batch) >= ROWS * calls or size >= _BATCH_BYTES * calls:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def row(result: Any) -> Row:
    """The live cells, sorted: the gateway sorts by signed bytes."""
    columns = result.columns
    return {
        column: value if value >= b"\1" else value[1:]  # as `encoding.decode_live` does, but for the cost of a call
        for column in sorted(columns)
        if (value := columns[column].value)
    }


def cells(results: list[Any], column: bytes) -> list[bytes | None]:
    """The live cell of each row in a column, None where there is none."""
    found = [result.columns.get(column) for result in results]
    return [
        None if cell is None or not (value := cell.value) else value if value >= b"\1" else value[1:] for cell in found
    ]


def versions(results: list[Any]) -> dict[bytes, tuple[bytes, int]]:
    """Of each row that has a version, that version as it is stored, and its time."""
    return {
        result.row: (cell.value, cell.timestamp)
        for result in results
        if (cell := result.columns.get(VERSION)) and cell.value
    }
