"""Requests to the Thrift2 gateway, made of what the contract speaks of: puts, slices of a row, walks over versions."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import attrs

from neomodel.stores.base import MAX_TIME, VERSION, Cell, Cells, Version
from neomodel.stores.encoding import decode_live, decode_value, encode_value
from neomodel.stores.hbase_client import thrift2

ALL_VERSIONS = 2**31 - 1
CELLS = 1000  # of one row, read in one call
FIRSTS = 1000  # rows of a scan of first cells
_ROWS = 50  # of the first page of a walk over versions, of up to that many cells each; then as many as make up a page
_MOST_ROWS = 1000
_PAGE_BYTES = 1_000_000


def put(key: bytes, cells: Cells, stamp: int) -> Any:
    api = thrift2()
    values = [api.TColumnValue(column[:1], column[2:], encode_value(value)) for column, value in cells.items()]
    return api.TPut(key, values, stamp)


def swap(table: bytes, key: bytes, guard: bytes, cells: Cells, stamp: int) -> tuple[Any, ...]:
    """The arguments of a checkAndMutate. An empty guard stands for a cell that is absent or empty."""
    api = thrift2()
    mutations = api.TRowMutations(key, [api.TMutation(put=put(key, cells, stamp))])
    return table, key, VERSION[:1], VERSION[2:], api.TCompareOp.EQUAL, guard, mutations


def delete(version: Version) -> Any:
    """Of this one version, and no other."""
    api = thrift2()
    column = api.TColumn(version.column[:1], version.column[2:], version.time)
    return api.TDelete(version.key, [column], api.TDeleteType.DELETE_COLUMN)


def version_of(key: bytes, at: int | None) -> Any:
    """A get of the row's newest version, or of that of one time."""
    api = thrift2()
    get = api.TGet(key, [api.TColumn(VERSION[:1], VERSION[2:])], maxVersions=1)
    if at is not None:
        get.timeRange = api.TTimeRange(at, at + 1)
    return get


@attrs.frozen
class Slice:
    """Cells of one family of one row with `start` <= qualifier < `stop`, as of a time."""

    key: bytes
    family: bytes
    start: bytes
    stop: bytes | None
    until: int

    @property
    def empty(self) -> bool:
        return self.stop is not None and self.start >= self.stop

    def page(self, size: int, skip: int = 0) -> Any:
        """A get of the first `size` cells after `skip` others, tombstones too. HBase applies the time range before it
        counts, and seeks to `start`."""
        return self.firsts([self.key], size, skip)[0]

    def firsts(self, keys: list[bytes], size: int = 1, skip: int = 0) -> list[Any]:
        """The same for the same slice of other rows."""
        api = thrift2()
        bounded = self.start or self.stop is not None or skip
        how = {"filterString": self._filter(size, skip)} if bounded else {"storeLimit": size}
        columns, times = [api.TColumn(self.family)], _range(0, self.until)
        return [api.TGet(key, columns, timeRange=times, maxVersions=1, **how) for key in keys]

    def scan(self) -> Any:
        """A scan of the first cell of the slice of every row. A filter for that alone does not go with one for bounds,
        as it may count what lies before them."""
        api = thrift2()
        bounded = self.start or self.stop is not None
        return api.TScan(
            columns=[api.TColumn(self.family)],
            caching=FIRSTS,
            maxVersions=1,
            timeRange=_range(0, self.until),
            filterString=self._filter(1, 0) if bounded else b"FirstKeyOnlyFilter()",
        )

    def _filter(self, size: int, skip: int) -> bytes:
        bounds = b"ColumnRangeFilter(%s, true, %s, false)" % (_quoted(self.start), _quoted(self.stop or b""))
        return b"%s AND ColumnPaginationFilter(%d, %d)" % (bounds, size, skip)


def live_cells(values: list[Any]) -> list[Cell]:
    return [Cell(value.qualifier, value.timestamp, decode_live(value.value)) for value in values if value.value]


@attrs.frozen
class Place:
    """How far a walk over versions has come, and where it ends."""

    key: bytes
    stop: bytes | None
    column: bytes = b""
    time: int = 0

    def behind(self, key: bytes, column: bytes, time: int) -> bool:
        """Whether a version lies before this place: it was seen."""
        return key == self.key and (column < self.column or (column == self.column and time >= self.time))


def history(columns: list[bytes], first: int, last: int) -> Any:
    """A scan of all versions of those columns with `first` <= time <= `last`."""
    api = thrift2()
    return api.TScan(
        columns=[api.TColumn(column[:1], column[2:] or None) for column in columns],
        caching=_MOST_ROWS,  # a server hands out 2 MB at a time, however many these are
        maxVersions=ALL_VERSIONS,
        timeRange=_range(first, last),
        batchSize=CELLS,
    )


def versions_of(key: bytes, columns: list[bytes]) -> Any:
    """A get of all versions of these cells of a row."""
    api = thrift2()
    return api.TGet(key, [api.TColumn(column[:1], column[2:]) for column in columns], maxVersions=ALL_VERSIONS)


def versions(result: Any) -> list[Version]:
    """What was found of a row, by column, the newest first."""
    row = result.row
    return [
        Version(row, value.family + b":" + value.qualifier, value.timestamp, decode_value(value.value))
        for value in result.columnValues
    ]


def walk(client: Any, table: bytes, scan: Any, place: Place) -> Iterator[tuple[Place, list[Version]]]:
    """Pages of the versions that a scan has from a place on, each with the place after it. From the second page on the
    next one is asked for before a page is handed out, as `hbase_rows.scan` does."""
    api = thrift2()
    bounded = api.TScan(**{**vars(scan), "startRow": place.key, "stopRow": place.stop})
    scanner = client.openScanner(table, bounded)
    size, later = _ROWS, False
    results = client.getScannerRows(scanner, size)
    while results:
        ends = len(results) < size
        size = min(4 * size, _MOST_ROWS, max(1, int(_PAGE_BYTES * len(results) / _bytes(results))))
        ahead = client.begin("getScannerRows", scanner, size) if later and not ends else None
        page: list[Version] = []
        for result in results:
            found = versions(result)
            page += found if result.row != place.key else [one for one in found if not place.behind(*one[:3])]
        if page:
            place = Place(page[-1].key, place.stop, page[-1].column, page[-1].time)
            yield place, page
        if ends:
            break
        results = ahead() if ahead else client.getScannerRows(scanner, size)
        later = True
    client.closeScanner(scanner)


def _bytes(results: list[Any]) -> int:
    """About how long results are: a gateway has a whole page in memory, for every client."""
    return sum(len(value.value) + 50 for result in results for value in result.columnValues) or 1


def scan_firsts(client: Any, table: bytes, scan: Any, place: Place) -> Iterator[tuple[Place, list[Any]]]:
    """Pages of the results that a scan has from a place on, each with the place after it."""
    bounded = thrift2().TScan(**{**vars(scan), "startRow": place.key, "stopRow": place.stop})
    scanner = client.openScanner(table, bounded)
    while results := client.getScannerRows(scanner, FIRSTS):
        place = Place(results[-1].row + b"\0", place.stop)
        yield place, results
    client.closeScanner(scanner)


def useless(versions: Iterator[Version]) -> Iterator[Version]:
    """Of the versions up to a time, those that no read at that time or later can see."""
    for _, of_cell in groupby(versions, key=lambda version: (version.key, version.column)):
        for number, version in enumerate(of_cell):
            if number or version.value is None:
                yield version


def _range(first: int, last: int) -> Any:
    return thrift2().TTimeRange(first, min(last, MAX_TIME - 1) + 1)


def _quoted(data: bytes) -> bytes:
    """Bytes as a filter string has them."""
    return b"'" + data.replace(b"'", b"''") + b"'"
