"""A table of the HBase store; `hbase` has what holds for all of it."""

import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from neomodel.errors import InvalidStore, InvalidValue, OutcomeUnknown, StoreUnavailable, TableExists, TableNotFound
from neomodel.stores import hbase_calls as calls
from neomodel.stores.base import (
    MAX_TIME,
    VERSION,
    Cell,
    Cells,
    Columns,
    Mutation,
    Region,
    Row,
    Table,
    Version,
    check_at,
    check_cells,
    check_columns,
    check_families,
    check_family,
    check_key,
    check_swap,
    check_time,
)
from neomodel.stores.clock import Clock
from neomodel.stores.encoding import decode_live, encode_value
from neomodel.stores.hbase_gateways import Call, Gateways, Pair, side_by_side, thrift2
from neomodel.stores.hbase_knowledge import LEASE, Facts, Knowledge, Locations

OURS, HORIZON = b"NEOMODEL", b"NEOMODEL_HORIZON"
_LAYOUT = b"1"
_ROWS = 1000  # read or written in one call
_LONGEST_KEY = 32767

T = TypeVar("T")
_clock = Clock()


class HBaseTable(Table):
    def __init__(self, url: str, name: str, full_name: bytes, gateways: Gateways, knowledge: Knowledge) -> None:
        self.name = name
        self._url = url
        self._full_name = full_name
        self._gateways = gateways
        self._knowledge = knowledge

    # the table itself

    def create(self, families: Iterable[str], *, splits: Iterable[bytes] = ()) -> None:
        api = thrift2()
        columns = [
            api.TColumnFamilyDescriptor(
                name=family[:1], maxVersions=calls.ALL_VERSIONS, dataBlockEncoding=api.TDataBlockEncoding.FAST_DIFF
            )
            for family in sorted(check_families(families))
        ]
        keys = sorted({_check_key(split) for split in splits})
        attributes = {OURS: _LAYOUT, HORIZON: b"0"}
        descriptor = api.TTableDescriptor(tableName=self._table_name(), columns=columns, attributes=attributes)
        try:
            self._two("create", lambda client: client.createTable(descriptor, keys), writes=True, repeatable=False)
        except OutcomeUnknown as exc:
            if "TableExistsException" in exc.reason:
                raise TableExists(self.name, self._url) from exc
            with suppress(StoreUnavailable, TableNotFound):
                self._descriptor()  # tells a Thrift1 gateway, which knows a createTable of its own and fails
            raise
        self._knowledge.forget(self._full_name)

    def drop(self) -> None:
        self._descriptor()
        with suppress(TableNotFound):  # disabled already: whoever was dropping it came no further
            self._two("drop", lambda client: client.disableTable(self._table_name()), writes=True)
        self._two("drop", lambda client: client.deleteTable(self._table_name()), writes=True, repeatable=False)
        self._knowledge.forget(self._full_name)

    def regions(self) -> list[Region]:
        """As HBase has them on record at this moment."""
        self._descriptor()
        found = self._gateways.one(self._call("regions"), lambda client: client.client.getTableRegions(self._full_name))
        pairs = {pair.server: str(pair.one) for pair in self._gateways.pairs}
        regions = []
        for region in sorted(found, key=lambda region: region.startKey):
            host = region.serverName.decode()
            gateway = pairs.get(f"{host}:{region.port}")
            regions.append(Region(region.startKey, region.endKey or None, host, region.port, gateway))
        return regions

    def now(self) -> int:
        self._facts()
        return _clock.tick()

    # reading

    def get(self, key: bytes, *, at: int | None = None, columns: Columns = None) -> Row | None:
        selected, until = self._selection(at, columns)
        call = self._call("get", _check_key(key), near=self._near(key))
        if selected == []:
            return None
        cells = self._gateways.one(
            call, lambda client: self._happy(client).row(key, selected, until, include_timestamp=True)
        )
        return self._row(key, cells) or None

    def get_many(self, keys: Iterable[bytes], *, at: int | None = None, columns: Columns = None) -> dict[bytes, Row]:
        selected, until = self._selection(at, columns)
        wanted = list(dict.fromkeys(_check_key(key) for key in keys))
        if selected == [] or not wanted:
            return {}

        def read(pair: Pair, some: list[bytes]) -> list[tuple[bytes, dict[bytes, tuple[bytes, int]]]]:
            return self._gateways.one(
                self._call("get_many", near=pair),
                lambda client: self._happy(client).rows(some, selected, until, include_timestamp=True),
            )

        jobs = [partial(read, pair, some) for pair, some in self._by_pair(wanted, lambda key: key)]
        found = {key: self._row(key, cells) for answer in side_by_side(jobs) for key, cells in answer}
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
        facts = self._facts()
        head = check_family(family, facts.families)[:1]
        until = check_at(at, facts.horizon, self._where())
        part = partial(calls.Slice, _check_key(key), head, until=until)
        found = self._backwards(part, start, stop) if reverse else self._forwards(part, start, stop, limit)
        yield from itertools.islice(found, limit)

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

        for pair, low, high in self._locations().segments(start, stop):
            found = self._gateways.stream(self._call("scan", near=pair), lambda pair: pair.one, ask, (low, high))
            for key, cells in found:
                if row := self._row(key, cells):
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
        facts = self._facts()
        selected = check_columns(columns, facts.families)
        first = 0 if since is None else check_at(since, facts.horizon, self._where()) + 1
        last = check_at(until, facts.horizon, self._where())
        if first > last or not selected:
            return
        scan = calls.history(selected, first, last)
        for pair, low, high in self._locations().segments(start, stop):
            yield from self._gateways.stream(
                self._call("history", near=pair),
                lambda pair: pair.two,
                lambda client, place: calls.walk(client, self._full_name, scan, place),
                calls.Place(low, high),
            )

    # writing

    def swap(self, key: bytes, expected: bytes | None, cells: Cells) -> bool:
        check_swap(expected, cells)
        check_cells(cells, self._facts().families)
        guard = encode_value(expected)
        known = self._knowledge.remembered(self._full_name, _check_key(key), guard)
        stamp = _clock.tick(after=self._version(key)[1] if known is None else known)
        arguments = calls.swap(self._full_name, key, guard, cells, stamp)
        call = self._call("swap", key, near=self._near(key), writes=True, repeatable=False)
        won: bool = self._gateways.two(call, lambda client: client.checkAndMutate(*arguments))
        # A gateway that sends a swap again, since its server died, may be told that it lost to itself.
        try:
            won = won or self._version(key, at=stamp) == (encode_value(cells[VERSION]), stamp)
        except StoreUnavailable as exc:
            raise OutcomeUnknown("swap", exc.where, exc.reason) from exc
        if won:
            self._knowledge.remember(self._full_name, key, encode_value(cells[VERSION]), stamp)
        return won

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        """Stamped here, so it does no harm to send it again, and it is, if a gateway fails."""

        untouched = True

        def write(pair: Pair, some: list[Any]) -> None:
            nonlocal untouched
            call = self._call("put_many", near=pair, writes=True)
            try:
                self._gateways.two(call, lambda client: client.putMultiple(self._full_name, some))
            except OutcomeUnknown:
                untouched = False
                with suppress(StoreUnavailable):
                    self._descriptor()  # of a table that is gone, a gateway says no more than that some puts failed
                raise
            untouched = False

        remaining = iter(mutations)
        while batch := list(itertools.islice(remaining, _ROWS * len(self._gateways.pairs))):
            try:
                puts = self._puts(batch)
                side_by_side([partial(write, pair, some) for pair, some in self._by_pair(puts, lambda put: put.row)])
            except StoreUnavailable as exc:
                if untouched:
                    raise
                raise OutcomeUnknown("put_many", exc.where, exc.reason) from exc

    def purge(self, before: int) -> int:
        descriptor = self._descriptor()
        check_time(before, _clock.tick())
        horizon = max(before, int(descriptor.attributes[HORIZON]))
        descriptor.attributes[HORIZON] = b"%d" % horizon
        self._two("purge", lambda client: client.modifyTable(descriptor), writes=True)
        self._knowledge.forget(self._full_name)
        time.sleep(LEASE)  # now everybody knows, and refuses to read what is about to go
        removed = 0
        useless = self._useless(horizon)
        while deletes := [calls.delete(version) for version in itertools.islice(useless, _ROWS)]:
            self._two("purge", partial(self._delete, deletes), writes=True)
            removed += len(deletes)
        return removed

    # how

    def _table_name(self) -> Any:
        return thrift2().TTableName(qualifier=self._full_name)

    def _happy(self, client: Any) -> Any:
        return client.table(self._full_name, use_prefix=False)

    def _delete(self, deletes: list[Any], client: Any) -> None:
        client.deleteMultiple(self._full_name, deletes)

    def _where(self, key: bytes | None = None) -> str:
        row = "" if key is None else f"row {key!r} of "
        return f"{row}table {self.name!r} of {self._url}"

    def _call(self, operation: str, key: bytes | None = None, **how: Any) -> Call:
        return Call(operation, self._where(key), self.name, self._full_name.decode(), self._url, **how)

    def _two(self, operation: str, ask: Callable[[Any], T], **how: Any) -> T:
        return self._gateways.two(self._call(operation, **how), ask)

    def _descriptor(self) -> Any:
        """What HBase has on record of the table, or `TableNotFound`, or `InvalidStore` if it is not one of ours."""
        found = self._two("looking up", lambda client: client.getTableDescriptor(self._table_name()))
        layout = (found.attributes or {}).get(OURS)
        if layout != _LAYOUT:
            reason = "was not made by neomodel" if layout is None else f"has layout {layout.decode()}, not 1"
            raise InvalidStore(self._url, f"its table {self._full_name.decode()!r} {reason}; name another")
        return found

    def _facts(self) -> Facts:
        def ask() -> Facts:
            found = self._descriptor()
            return Facts(frozenset(column.name + b":" for column in found.columns), int(found.attributes[HORIZON]))

        return self._knowledge.facts(self._full_name, ask)

    def _locations(self) -> Locations:
        return self._knowledge.locations(self._full_name, self.regions)

    def _near(self, key: bytes) -> Pair:
        return self._locations().near(key)

    def _by_pair(self, items: list[T], key: Callable[[T], bytes]) -> Iterator[tuple[Pair, list[T]]]:
        """The items in parts for one call each, each for the pair beside its region."""
        locations = self._locations()
        groups: dict[int, tuple[Pair, list[T]]] = {}
        for item in items:
            pair = locations.near(key(item))
            groups.setdefault(id(pair), (pair, []))[1].append(item)
        for pair, some in groups.values():
            for first in range(0, len(some), _ROWS):
                yield pair, some[first : first + _ROWS]

    def _selection(self, at: int | None, columns: Columns) -> tuple[list[bytes] | None, int | None]:
        """Columns and (exclusive) time as Thrift1 has them: a family without its colon; no time without columns."""
        facts = self._facts()
        until = None if at is None else min(check_at(at, facts.horizon, self._where()), MAX_TIME - 1) + 1
        selected = check_columns(columns, facts.families)
        if columns is None and at is None:
            return None, None
        return [column[:1] if len(column) == 2 else column for column in selected], until

    def _row(self, key: bytes, cells: dict[bytes, tuple[bytes, int]]) -> Row:
        if VERSION in cells:
            self._knowledge.remember(self._full_name, key, *cells[VERSION])
        return {column: decode_live(value) for column, (value, _) in sorted(cells.items()) if value}

    def _puts(self, batch: list[Mutation]) -> list[Any]:
        facts = self._facts()
        puts = []
        for stamp, (key, cells, own) in enumerate(batch, _clock.tick(len(batch))):
            check_cells(cells, facts.families)
            when = stamp if own is None else check_time(own, stamp, facts.horizon or -1)
            puts.append(calls.put(_check_key(key), cells, when))
        return puts

    def _page(self, part: calls.Slice, size: int, skip: int = 0) -> list[Any]:
        if part.empty or not size:
            return []
        call = self._call("cells", part.key, near=self._near(part.key))
        found: list[Any] = self._gateways.two(
            call, lambda client: client.get(self._full_name, part.page(size, skip))
        ).columnValues
        return found

    def _forwards(
        self, part: Callable[[bytes, bytes | None], calls.Slice], start: bytes, stop: bytes | None, limit: int | None
    ) -> Iterator[Cell]:
        size = min(sys.maxsize if limit is None else limit, calls.CELLS)
        while page := self._page(part(start, stop), size):
            yield from calls.live_cells(page)
            if len(page) < size:
                return
            start = page[-1].qualifier + b"\0"

    def _backwards(
        self, part: Callable[[bytes, bytes | None], calls.Slice], start: bytes, stop: bytes | None
    ) -> Iterator[Cell]:
        marks = [start]
        while mark := self._page(part(marks[-1], stop), 1, calls.CELLS):
            marks.append(mark[0].qualifier)
        while marks:
            yield from reversed(calls.live_cells(self._page(part(marks[-1], stop), calls.CELLS)))
            stop = marks.pop()

    def _useless(self, horizon: int) -> Iterator[Version]:
        """The versions that no read at the horizon or later can see."""
        for _, versions in itertools.groupby(self.history(until=horizon), key=lambda v: (v.key, v.column)):
            for number, version in enumerate(versions):
                if number or version.value is None:
                    yield version

    def _version(self, key: bytes, at: int | None = None) -> tuple[bytes, int]:
        """The row's newest version as it is stored, a tombstone too, or the one of time `at`; and its time."""
        call = self._call("get", key, near=self._near(key))
        get = calls.version_of(key, at)
        found = self._gateways.two(call, lambda client: client.get(self._full_name, get)).columnValues
        return (found[0].value, found[0].timestamp) if found else (b"", 0)


def _check_key(key: bytes) -> bytes:
    if len(check_key(key)) > _LONGEST_KEY:
        raise InvalidValue("the length of a row key", len(key), f"at most {_LONGEST_KEY}")
    return key
