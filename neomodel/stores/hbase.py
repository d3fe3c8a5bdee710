"""The store on Apache HBase, through a Thrift1 and a Thrift2 gateway beside each region server.

happybase carries gets, multi-gets and scans. What Thrift1 can't do goes through Thrift2: swaps of several cells, writes that
are stamped one by one, tables with splits, slices of a row, versions. `hbase_url` has the URL.

**Times.** Cells are stamped by this process's clock in microseconds, in the order of its writes. A swap is stamped later
than the version it replaces, whoever stamped that, so the times of one row always grow, whatever the clocks of the machines
say. Times of different clients are comparable only as far as their clocks are: see `settling`.

**A table** has all versions kept, and says in two attributes of its own that it is ours and what was purged. What it says
is asked again after a second; `purge` waits that long before it removes anything.
"""

import itertools
import os
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import attrs

from neomodel.errors import InvalidStore, InvalidValue, OutcomeUnknown, TableExists, TableNotFound
from neomodel.stores import hbase_url
from neomodel.stores.base import (
    DURABLE,
    MAX_TIME,
    SHARED,
    VERSION,
    Cell,
    Cells,
    Columns,
    Mutation,
    Region,
    Row,
    Store,
    Table,
    Version,
    check_at,
    check_cells,
    check_columns,
    check_families,
    check_family,
    check_key,
    check_name,
    check_swap,
    check_time,
)
from neomodel.stores.clock import Clock
from neomodel.stores.encoding import decode_live, decode_value, encode_value
from neomodel.stores.hbase_gateways import ROUNDS, Call, Gateways, Pair, thrift2

_OURS, _HORIZON = b"NEOMODEL", b"NEOMODEL_HORIZON"
_LAYOUT = b"1"
_ALL_VERSIONS = 2**31 - 1
_LEASE = 1.0  # seconds for which what a table says of itself is believed
_LOCATIONS = 10.0  # seconds for which regions are believed to be where they are
_ROWS = 1000  # read or written in one call
_CELLS = 1000  # of one row, read in one call
_HISTORY_ROWS = 50  # of up to that many cells each
_REMEMBERED = 100_000
_LONGEST_KEY = 32767

T = TypeVar("T")
_clock = Clock()


@attrs.frozen
class _Facts:
    families: frozenset[bytes]
    horizon: int
    until: float


@attrs.frozen
class _Locations:
    starts: list[bytes]
    pairs: list[Pair]
    until: float


class HBaseStore(Store):
    capabilities = frozenset({DURABLE, SHARED})

    def __init__(self, url: str, settings: hbase_url.HBaseUrl) -> None:
        self.url = url
        self.prefix = settings.prefix.encode()
        pairs = [
            Pair(gateway.host, gateway.port1, gateway.port2, gateway.server, settings.timeout)
            for gateway in settings.gateways
        ]
        self.gateways = Gateways(pairs)
        self.settling = int(settings.timeout * 1_000_000) * ROUNDS * len(pairs)
        self._facts: dict[bytes, _Facts] = {}
        self._locations: dict[bytes, _Locations] = {}
        self._stamps: dict[tuple[bytes, bytes], tuple[bytes, int]] = {}
        self._threads: tuple[int, ThreadPoolExecutor | None] = (os.getpid(), None)

    def table(self, name: str) -> Table:
        return HBaseTable(self, check_name(name))

    def tables(self) -> list[str]:
        call = Call("listing tables", self.url, url=self.url)
        found = self.gateways.two(call, lambda client: client.getTableDescriptorsByPattern(".*", False))
        names = [descriptor.tableName.qualifier for descriptor in found if _OURS in (descriptor.attributes or {})]
        return sorted(name.removeprefix(self.prefix).decode() for name in names if name.startswith(self.prefix))

    def close(self) -> None:
        process, threads = self._threads
        if threads and process == os.getpid():
            threads.shutdown()
        self._threads = (os.getpid(), None)
        self.gateways.close()

    # what tables share, by their names in HBase

    def facts(self, table: "HBaseTable") -> _Facts:
        """What the table says of itself: families and horizon, not older than a second."""
        known = self._facts.get(table.full_name)
        if known and known.until > time.monotonic():
            return known
        asked = time.monotonic()
        descriptor = table.descriptor()
        families = frozenset(column.name + b":" for column in descriptor.columns)
        known = _Facts(families, int(descriptor.attributes[_HORIZON]), asked + _LEASE)
        self._facts[table.full_name] = known
        return known

    def forget(self, full_name: bytes) -> None:
        self._facts.pop(full_name, None)
        self._locations.pop(full_name, None)

    def locations(self, table: "HBaseTable") -> _Locations:
        """Which pair stands beside each region, as of some seconds ago: a matter of speed, any pair will do."""
        known = self._locations.get(table.full_name)
        if known and known.until > time.monotonic():
            return known
        regions = table.regions() if len(self.gateways.pairs) > 1 else [Region(b"", None)]
        pairs = [self.gateways.beside(f"{region.host}:{region.port}") for region in regions]
        known = _Locations([region.start for region in regions], pairs, time.monotonic() + _LOCATIONS)
        self._locations[table.full_name] = known
        return known

    def remember(self, full_name: bytes, key: bytes, version: bytes, stamp: int) -> None:
        """The time of a version that was seen, so that a swap that replaces it can be stamped later without asking."""
        self._stamps[full_name, key] = (version, stamp)
        if len(self._stamps) > _REMEMBERED:
            self._stamps.pop(next(iter(self._stamps)), None)

    def remembered(self, full_name: bytes, key: bytes, version: bytes) -> int | None:
        seen, stamp = self._stamps.get((full_name, key), (b"", 0))
        return stamp if seen == version else None

    def side_by_side(self, work: list[Callable[[], T]]) -> list[T]:
        """All answers, in order; the jobs run at the same time."""
        if len(work) == 1:
            return [work[0]()]
        process, threads = self._threads
        if threads is None or process != os.getpid():
            threads = ThreadPoolExecutor(2 * len(self.gateways.pairs), thread_name_prefix="neomodel-hbase")
            self._threads = (os.getpid(), threads)
        return [job.result() for job in [threads.submit(one) for one in work]]


class HBaseTable(Table):
    def __init__(self, store: HBaseStore, name: str) -> None:
        self.name = name
        self.full_name = store.prefix + name.encode()
        self._store = store
        self._gateways = store.gateways

    # the table itself

    def create(self, families: Iterable[str], *, splits: Iterable[bytes] = ()) -> None:
        api = thrift2()
        columns = [
            api.TColumnFamilyDescriptor(
                name=family[:1], maxVersions=_ALL_VERSIONS, dataBlockEncoding=api.TDataBlockEncoding.FAST_DIFF
            )
            for family in sorted(check_families(families))
        ]
        keys = sorted({check_key(split) for split in splits})
        descriptor = api.TTableDescriptor(
            tableName=self._table_name(), columns=columns, attributes={_OURS: _LAYOUT, _HORIZON: b"0"}
        )
        try:
            self._two("create", lambda client: client.createTable(descriptor, keys), writes=True, repeatable=False)
        except OutcomeUnknown as exc:
            if "TableExistsException" in exc.reason:
                raise TableExists(self.name, self._store.url) from exc
            raise
        self._store.forget(self.full_name)

    def drop(self) -> None:
        self.descriptor()
        try:
            self._two("drop", lambda client: client.disableTable(self._table_name()), writes=True)
        except TableNotFound:  # disabled already: somebody else is dropping it, or came no further
            pass
        self._two("drop", lambda client: client.deleteTable(self._table_name()), writes=True, repeatable=False)
        self._store.forget(self.full_name)

    def descriptor(self) -> Any:
        """What HBase has on record of the table, or `TableNotFound`, or `InvalidStore` if it is not one of ours."""
        found = self._two("looking up", lambda client: client.getTableDescriptor(self._table_name()))
        layout = (found.attributes or {}).get(_OURS)
        if layout != _LAYOUT:
            reason = "was not made by neomodel" if layout is None else f"has layout {layout.decode()}, not 1"
            raise InvalidStore(self._store.url, f"its table {self.full_name.decode()!r} {reason}; name another")
        return found

    def regions(self) -> list[Region]:
        self.descriptor()
        call = self._call("regions")
        found = self._gateways.one(call, lambda client: client.client.getTableRegions(self.full_name))
        pairs = {pair.server: str(pair.one) for pair in self._gateways.pairs}
        return [
            Region(
                region.startKey,
                region.endKey or None,
                region.serverName.decode(),
                region.port,
                pairs.get(f"{region.serverName.decode()}:{region.port}"),
            )
            for region in sorted(found, key=lambda region: region.startKey)
        ]

    def now(self) -> int:
        self._store.facts(self)
        return _clock.tick()

    # reading

    def get(self, key: bytes, *, at: int | None = None, columns: Columns = None) -> Row | None:
        selected, until = self._selection(at, columns)
        if selected == []:
            return None
        call = self._call("get", _check_key(key), near=self._near(key))
        cells = self._gateways.one(
            call, lambda client: self._happy(client).row(key, selected, until, include_timestamp=True)
        )
        return self._row(key, cells) or None

    def get_many(self, keys: Iterable[bytes], *, at: int | None = None, columns: Columns = None) -> dict[bytes, Row]:
        selected, until = self._selection(at, columns)
        wanted = list(dict.fromkeys(_check_key(key) for key in keys))
        if selected == []:
            return {}

        def read(pair: Pair, some: list[bytes]) -> list[tuple[bytes, dict[bytes, tuple[bytes, int]]]]:
            call = self._call("get_many", near=pair)
            return self._gateways.one(
                call, lambda client: self._happy(client).rows(some, selected, until, include_timestamp=True)
            )

        jobs = [
            lambda pair=pair, some=some[at : at + _ROWS]: read(pair, some)  # type: ignore[misc]
            for pair, some in self._by_pair(wanted, lambda key: key)
            for at in range(0, len(some), _ROWS)
        ]
        found = {key: self._row(key, cells) for answer in self._store.side_by_side(jobs) for key, cells in answer}
        return {key: found[key] for key in wanted if found.get(key)}

    def cells(
        self,
        key: bytes,
        family: str,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[Cell]:
        """Backwards, the slice is walked once on the server before the first cell comes: HBase reads forwards only."""
        facts = self._store.facts(self)
        head = check_family(family, facts.families)
        until = check_at(at, facts.horizon, self._call("").where)
        low, left = start, sys.maxsize if limit is None else limit
        if reverse:
            marks = [start, *self._marks(_check_key(key), head, start, stop, until)]
            pages = itertools.pairwise([*marks, stop])
            cells = (
                cell for page in reversed(list(pages)) for cell in self._page(key, head, *page, until, _CELLS)[::-1]
            )
            yield from itertools.islice((cell for cell in map(_live, cells) if cell), left)
            return
        while left:
            size = min(left, _CELLS)
            page = self._page(_check_key(key), head, low, stop, until, size)
            found = [cell for cell in map(_live, page) if cell]
            yield from found
            left -= len(found)
            if len(page) < size:
                return
            low = page[-1].qualifier + b"\0"

    def scan(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
        columns: Columns = None,
    ) -> Iterator[tuple[bytes, Row]]:
        selected, until = self._selection(at, columns)
        if selected == []:
            return

        def ask(client: Any, bounds: tuple[bytes, bytes | None]) -> Iterator[Any]:
            rows = self._happy(client).scan(
                *bounds, columns=selected, timestamp=until, include_timestamp=True, batch_size=_ROWS
            )
            return (((key + b"\0", bounds[1]), (key, cells)) for key, cells in rows)

        for pair, low, high in self._segments(start, stop):
            call = self._call("scan", near=pair)
            for key, cells in self._gateways.stream(call, lambda pair: pair.one, ask, (low, high)):
                row = self._row(key, cells)
                if row:
                    yield key, row

    def history(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        columns: Columns = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[Version]:
        api = thrift2()
        facts = self._store.facts(self)
        where = self._call("").where
        selected = check_columns(columns, facts.families)
        first = 0 if since is None else check_at(since, facts.horizon, where) + 1
        last = check_at(until, facts.horizon, where)
        if first > last or not selected:
            return
        scan = api.TScan(
            columns=[api.TColumn(column[:1], column[2:] or None) for column in selected],
            caching=_HISTORY_ROWS,
            maxVersions=_ALL_VERSIONS,
            timeRange=api.TTimeRange(first, min(last, MAX_TIME - 1) + 1),
            batchSize=_CELLS,
        )

        def ask(client: Any, position: _Place) -> Iterator[tuple[_Place, Version]]:
            scan.startRow, scan.stopRow = position.key, position.stop
            scanner = client.openScanner(self.full_name, scan)
            while results := client.getScannerRows(scanner, _HISTORY_ROWS):
                for result in results:
                    for cell in result.columnValues:
                        column = cell.family + b":" + cell.qualifier
                        if position.before(result.row, column, cell.timestamp):
                            version = Version(result.row, column, cell.timestamp, decode_value(cell.value))
                            yield _Place(result.row, position.stop, column, cell.timestamp), version
            client.closeScanner(scanner)

        for pair, low, high in self._segments(start, stop):
            call = self._call("history", near=pair)
            yield from self._gateways.stream(call, lambda pair: pair.two, ask, _Place(low, high))

    # writing

    def swap(self, key: bytes, expected: bytes | None, cells: Cells) -> bool:
        check_swap(expected, cells)
        check_cells(cells, self._store.facts(self).families)
        guard = encode_value(expected)
        known = self._store.remembered(self.full_name, _check_key(key), guard)
        stamp = _clock.tick(after=self._version(key)[1] if known is None else known)
        api = thrift2()
        mutation = api.TRowMutations(key, [api.TMutation(put=self._put(key, cells, stamp))])
        won: bool = self._gateways.two(
            self._call("swap", key, near=self._near(key), writes=True, repeatable=False),
            lambda client: client.checkAndMutate(
                self.full_name, key, VERSION[:1], VERSION[2:], api.TCompareOp.EQUAL, guard, mutation
            ),
        )
        # A gateway that sends a swap again, since its server died, may be told that it lost to itself.
        won = won or self._version(key, at=stamp) == (encode_value(cells[VERSION]), stamp)
        if won:
            self._store.remember(self.full_name, key, encode_value(cells[VERSION]), stamp)
        return won

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        remaining = iter(mutations)
        while batch := list(itertools.islice(remaining, _ROWS)):
            facts = self._store.facts(self)
            now = _clock.tick(len(batch))
            puts = []
            for stamp, (key, cells, own) in enumerate(batch, now):
                check_cells(cells, facts.families)
                stamp = stamp if own is None else check_time(own, stamp, facts.horizon)
                puts.append(self._put(_check_key(key), cells, stamp))

            def write(pair: Pair, some: list[Any]) -> None:
                call = self._call("put_many", near=pair, writes=True)  # stamped here, so it may be sent twice
                self._gateways.two(call, lambda client: client.putMultiple(self.full_name, some))

            jobs = [
                lambda pair=pair, some=some: write(pair, some)  # type: ignore[misc]
                for pair, some in self._by_pair(puts, lambda put: put.row)
            ]
            self._store.side_by_side(jobs)

    def purge(self, before: int) -> int:
        api = thrift2()
        descriptor = self.descriptor()
        check_time(before, _clock.tick())
        horizon = max(before, int(descriptor.attributes[_HORIZON]))
        descriptor.attributes[_HORIZON] = b"%d" % horizon
        self._two("purge", lambda client: client.modifyTable(descriptor), writes=True)
        self._store.forget(self.full_name)
        time.sleep(_LEASE)  # now everybody knows, and refuses to read what is about to go
        removed = 0
        useless = self._useless(horizon)
        while some := list(itertools.islice(useless, _ROWS)):
            deletes = [
                api.TDelete(
                    version.key,
                    [api.TColumn(version.column[:1], version.column[2:], version.time)],
                    api.TDeleteType.DELETE_COLUMN,
                )
                for version in some
            ]
            self._two("purge", lambda client: client.deleteMultiple(self.full_name, deletes), writes=True)
            removed += len(some)
        return removed

    # how

    def _table_name(self) -> Any:
        return thrift2().TTableName(qualifier=self.full_name)

    def _happy(self, client: Any) -> Any:
        return client.table(self.full_name, use_prefix=False)

    def _call(self, operation: str, key: bytes | None = None, **how: Any) -> Call:
        row = "" if key is None else f"row {key!r} of "
        where = f"{row}table {self.name!r} of {self._store.url}"
        return Call(operation, where, self.name, self.full_name.decode(), self._store.url, **how)

    def _two(self, operation: str, ask: Callable[[Any], T], **how: Any) -> T:
        return self._gateways.two(self._call(operation, **how), ask)

    def _near(self, key: bytes) -> Pair:
        locations = self._store.locations(self)
        return locations.pairs[max(0, bisect_right(locations.starts, key) - 1)]

    def _by_pair(self, items: list[T], key: Callable[[T], bytes]) -> list[tuple[Pair, list[T]]]:
        groups: dict[int, tuple[Pair, list[T]]] = {}
        for item in items:
            pair = self._near(key(item))
            groups.setdefault(id(pair), (pair, []))[1].append(item)
        return list(groups.values())

    def _segments(self, start: bytes, stop: bytes | None) -> Iterator[tuple[Pair, bytes, bytes | None]]:
        """The range in parts, one for each region it touches."""
        locations = self._store.locations(self)
        ends = [*locations.starts[1:], None]
        for pair, low, high in zip(locations.pairs, locations.starts, ends, strict=True):
            first = max(start, low)
            last = high if stop is None else stop if high is None else min(stop, high)
            if last is None or first < last:
                yield pair, first, last

    def _selection(self, at: int | None, columns: Columns) -> tuple[list[bytes] | None, int | None]:
        """Columns and (exclusive) time as Thrift1 has them: a family without its colon; no time without columns."""
        facts = self._store.facts(self)
        until = None if at is None else check_at(at, facts.horizon, self._call("").where) + 1
        selected = check_columns(columns, facts.families)
        if columns is None and at is None:
            return None, None
        return [column[:1] if len(column) == 2 else column for column in selected], until

    def _row(self, key: bytes, cells: dict[bytes, tuple[bytes, int]]) -> Row:
        if VERSION in cells:
            self._store.remember(self.full_name, key, *cells[VERSION])
        return {column: decode_live(value) for column, (value, _) in sorted(cells.items()) if value}

    def _put(self, key: bytes, cells: Cells, stamp: int) -> Any:
        api = thrift2()
        values = [api.TColumnValue(column[:1], column[2:], encode_value(value)) for column, value in cells.items()]
        return api.TPut(key, values, stamp)

    def _page(
        self, key: bytes, head: bytes, start: bytes, stop: bytes | None, until: int, size: int, skip: int = 0
    ) -> list[Any]:
        """The first cells of a slice, tombstones too, after `skip` others."""
        api = thrift2()
        upper = b"'', false" if stop is None else _quoted(stop) + b", false"
        bounds = b"ColumnRangeFilter(%s, true, %s)" % (_quoted(start), upper)
        get = api.TGet(
            key,
            [api.TColumn(head[:1])],
            timeRange=api.TTimeRange(0, min(until, MAX_TIME - 1) + 1),
            maxVersions=1,
            filterString=b"%s AND ColumnPaginationFilter(%d, %d)" % (bounds, size, skip),
        )
        if stop is not None and start >= stop:
            return []
        call = self._call("cells", key, near=self._near(key))
        found: list[Any] = self._gateways.two(call, lambda client: client.get(self.full_name, get)).columnValues
        return found

    def _marks(self, key: bytes, head: bytes, start: bytes, stop: bytes | None, until: int) -> Iterator[bytes]:
        """Qualifiers that cut a slice into pages."""
        while page := self._page(key, head, start, stop, until, 1, _CELLS):
            start = page[0].qualifier
            yield start

    def _useless(self, horizon: int) -> Iterator[Version]:
        """The versions that no read at the horizon or later can see."""
        for _, versions in itertools.groupby(self.history(until=horizon), key=lambda v: (v.key, v.column)):
            newest = next(versions)
            if newest.value is None:
                yield newest
            yield from versions

    def _version(self, key: bytes, at: int | None = None) -> tuple[bytes, int]:
        """The row's newest version as it is stored, a tombstone too, or the one of time `at`; and its time."""
        api = thrift2()
        get = api.TGet(key, [api.TColumn(VERSION[:1], VERSION[2:])], maxVersions=1)
        if at is not None:
            get.timeRange = api.TTimeRange(at, at + 1)
        call = self._call("get", key, near=self._near(key))
        found = self._gateways.two(call, lambda client: client.get(self.full_name, get)).columnValues
        return (found[0].value, found[0].timestamp) if found else (b"", 0)


@attrs.frozen
class _Place:
    """How far a walk over versions has come, and where it ends."""

    key: bytes
    stop: bytes | None
    column: bytes = b""
    time: int = 0

    def before(self, key: bytes, column: bytes, time: int) -> bool:
        return (self.key, self.column) < (key, column) or (
            key == self.key and column == self.column and time < self.time
        )


def _live(cell: Any) -> Cell | None:
    return Cell(cell.qualifier, cell.timestamp, decode_live(cell.value)) if cell.value else None


def _check_key(key: bytes) -> bytes:
    if len(check_key(key)) > _LONGEST_KEY:
        raise InvalidValue("the length of a row key", len(key), f"at most {_LONGEST_KEY}")
    return key


def _quoted(data: bytes) -> bytes:
    """Bytes as a filter string has them."""
    return b"'" + data.replace(b"'", b"''") + b"'"


def open_url(url: str, rest: str, *, create: bool) -> Store:  # noqa: ARG001  a gateway is there or not
    return HBaseStore(url, hbase_url.parse(url))
