"""Reading a table of the HBase store; `hbase` has what holds for all of it."""

import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from neomodel.errors import InvalidValue
from neomodel.stores import hbase_calls as calls
from neomodel.stores import hbase_rows as rows
from neomodel.stores.base import MAX_TIME, Cell, Columns, Row, Table, Version
from neomodel.stores.checks import check_at, check_columns, check_family, check_key, check_named
from neomodel.stores.encoding import decode_live
from neomodel.stores.hbase_definition import Definition
from neomodel.stores.hbase_errors import Call, Subject
from neomodel.stores.hbase_gateways import Gateways, Pair, side_by_side
from neomodel.stores.hbase_knowledge import Facts, Knowledge, Locations

if TYPE_CHECKING:
    from neomodel.stores.blocks import Block

_LONGEST_KEY = 32767
_AT_ONCE = 4  # calls to one gateway, each of `rows.ROWS`: it works on some while others are on their way or read here
_EVERYTHING = rows.Selection(None, None)

T = TypeVar("T")


class HBaseReading(Table):
    """What of the contract reads rows."""

    def __init__(self, subject: Subject, gateways: Gateways, knowledge: Knowledge) -> None:
        self.name = subject.table
        self._subject = subject
        self._full_name = subject.full_name.encode()
        self._gateways = gateways
        self._knowledge = knowledge
        self._definition = Definition(subject, gateways)

    def get(self, key: bytes, *, at: int | None = None, columns: Columns = None) -> Row | None:
        wanted = self._selection(at, columns)
        near = self._near(check_length(key))
        if wanted.columns == []:
            return None
        call = Call("get", self._subject, key)
        found = self._gateways.one(
            call, lambda connection: rows.get(connection, self._full_name, key, wanted), near=near
        )
        self._knowledge.remember(rows.versions(found))
        return (rows.row(found[0]) or None) if found else None

    def get_many(self, keys: Iterable[bytes], *, at: int | None = None, columns: Columns = None) -> dict[bytes, Row]:
        wanted = self._selection(at, columns)
        ordered = list(dict.fromkeys(map(check_length, keys)))
        if wanted.columns == [] or not ordered:
            return {}

        def read(pair: Pair, some: list[bytes]) -> dict[bytes, Row]:
            call = Call("get_many", self._subject)
            found = self._gateways.one(
                call, lambda connection: rows.get_many(connection, self._full_name, some, wanted), near=pair
            )
            self._knowledge.remember(rows.versions(found))
            return {result.row: row for result in found if (row := rows.row(result))}

        jobs = [partial(read, pair, some) for pair, some in self._by_pair(ordered, lambda key: key)]
        found: dict[bytes, Row] = {}
        for answer in side_by_side(jobs, self._at_once):
            found.update(answer)
        return {key: found[key] for key in ordered if key in found}

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
        whole = self._slice(check_length(key), family, start, stop, at)
        part = partial(calls.Slice, key, whole.family, until=whole.until)
        found = self._backwards(part, start, stop) if reverse else self._forwards(part, start, stop, limit)
        yield from itertools.islice(found, limit)

    def firsts(
        self,
        keys: Iterable[bytes],
        family: str,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
    ) -> dict[bytes, Cell]:
        ordered = list(dict.fromkeys(map(check_length, keys)))
        if (part := self._slice(b"", family, start, stop, at)).empty:
            return {}

        def read(pair: Pair, some: list[bytes]) -> list[Any]:
            call, gets = Call("firsts", self._subject), part.firsts(some)
            if len(gets) == 1:
                return [self._gateways.two(call, lambda client: client.get(self._full_name, gets[0]), near=pair)]
            return self._gateways.two(call, lambda client: client.getMultiple(self._full_name, gets), near=pair)

        jobs = [partial(read, pair, some) for pair, some in self._by_pair(ordered, lambda key: key)]
        answers = [jobs[0]()] if len(jobs) == 1 else side_by_side(jobs, self._at_once)
        found = dict(self._alive(part, itertools.chain.from_iterable(answers)))
        return {key: found[key] for key in ordered if key in found}

    def scan_firsts(
        self, rows: tuple[bytes, bytes | None], family: str, start: bytes = b"", stop: bytes | None = None, *, at: int
    ) -> Iterator[tuple[bytes, Cell]]:
        if (part := self._slice(b"", family, start, stop, at)).empty:
            return

        def ask(client: Any, place: calls.Place) -> Iterator[tuple[calls.Place, list[Any]]]:
            return calls.scan_firsts(client, self._full_name, part.scan(), place)

        call = Call("scan_firsts", self._subject)
        for pair, low, high in self._locations().segments(*rows):
            for page in self._gateways.stream_two(call, ask, calls.Place(low, high), near=pair):
                yield from self._alive(part, page)

    def scan(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
        columns: Columns = None,
    ) -> Iterator[tuple[bytes, Row]]:
        wanted = self._selection(at, columns)
        if wanted.columns == []:
            return
        for page in self._scanned(start, stop, wanted):
            self._knowledge.remember(rows.versions(page))
            for result in page:
                if row := rows.row(result):
                    yield result.row, row

    def blocks(
        self, columns: Collection[bytes], start: bytes = b"", stop: bytes | None = None, *, at: int | None = None
    ) -> Iterator["Block"]:
        from neomodel.stores.blocks import Block  # needs Arrow, which takes long to import

        named = check_named(columns, self._facts().families)
        for page in self._scanned(start, stop, self._selection(at, named)):
            cells = {column: rows.cells(page, column) for column in named}
            found = Block.made([result.row for result in page], cells)
            if len(found):
                yield found

    def _scanned(self, start: bytes, stop: bytes | None, wanted: rows.Selection) -> Iterator[list[Any]]:
        def ask(connection: Any, bounds: rows.Bounds) -> Iterator[tuple[rows.Bounds, list[Any]]]:
            return rows.scan(connection, self._full_name, bounds, wanted)

        call = Call("scan", self._subject)
        for pair, low, high in self._locations().segments(start, stop):
            yield from self._gateways.stream_one(call, ask, rows.Bounds(low, high), near=pair)

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
        first = 0 if since is None else check_at(since, facts.horizon, self._where) + 1
        last = check_at(until, facts.horizon, self._where)
        if first > last or not selected:
            return
        scan = calls.history(selected, first, last)

        def ask(client: Any, place: calls.Place) -> Iterator[tuple[calls.Place, list[Version]]]:
            return calls.walk(client, self._full_name, scan, place)

        call = Call("history", self._subject)
        for pair, low, high in self._locations().segments(start, stop):
            for page in self._gateways.stream_two(call, ask, calls.Place(low, high), near=pair):
                yield from page

    def histories(self, cells: Collection[tuple[bytes, bytes]]) -> dict[tuple[bytes, bytes], list[Version]]:
        check_columns({column for _, column in cells}, self._facts().families)
        wanted: dict[bytes, list[bytes]] = {}
        for key, column in cells:
            wanted.setdefault(check_length(key), []).append(column)

        def read(pair: Pair, some: list[bytes]) -> list[Version]:
            gets = [calls.versions_of(key, wanted[key]) for key in some]
            call = Call("histories", self._subject)
            found = self._gateways.two(call, lambda client: client.getMultiple(self._full_name, gets), near=pair)
            return [version for result in found for version in calls.versions(result)]

        jobs = [partial(read, pair, some) for pair, some in self._by_pair(list(wanted), lambda key: key)]
        found: dict[tuple[bytes, bytes], list[Version]] = {}
        for answer in side_by_side(jobs, self._at_once):
            for version in answer:
                found.setdefault((version.key, version.column), []).append(version)
        return found

    # how

    @property
    def _at_once(self) -> int:
        return _AT_ONCE * len(self._gateways.pairs)

    @property
    def _where(self) -> str:
        return Call("", self._subject).where

    def _facts(self) -> Facts:
        return self._knowledge.facts(self._definition.facts)

    def _locations(self) -> Locations:
        return self._knowledge.locations(self._definition.regions_now)

    def _near(self, key: bytes) -> Pair:
        pairs = self._gateways.pairs
        return pairs[0] if len(pairs) == 1 else self._locations().near(key)

    def _by_pair(self, items: list[T], key: Callable[[T], bytes]) -> Iterator[tuple[Pair, list[T]]]:
        """The items in parts for one call each, each for the pair beside its region."""
        groups: dict[int, tuple[Pair, list[T]]] = {}
        if len(self._gateways.pairs) == 1:
            groups[0] = (self._gateways.pairs[0], items)
        else:
            locations = self._locations()
            for item in items:
                pair = locations.near(key(item))
                groups.setdefault(id(pair), (pair, []))[1].append(item)
        for first in range(0, len(items), rows.ROWS):  # in turns, so that all pairs are at work
            for pair, some in groups.values():
                if part := some[first : first + rows.ROWS]:
                    yield pair, part

    def _selection(self, at: int | None, columns: Columns) -> rows.Selection:
        facts = self._facts()
        if columns is None and at is None:
            return _EVERYTHING
        until = None if at is None else min(check_at(at, facts.horizon, self._where), MAX_TIME - 1) + 1
        selected = check_columns(columns, facts.families)
        return rows.Selection([column[:1] if len(column) == 2 else column for column in selected], until)

    def _slice(self, key: bytes, family: str, start: bytes, stop: bytes | None, at: int | None) -> calls.Slice:
        facts = self._facts()
        head = check_family(family, facts.families)[:1]
        return calls.Slice(key, head, start, stop, check_at(at, facts.horizon, self._where))

    def _alive(self, part: calls.Slice, results: Iterable[Any]) -> Iterator[tuple[bytes, Cell]]:
        """The first live cell of each row that has one in the slice: behind a tombstone, by one more call."""
        for result in results:
            for value in result.columnValues:
                if value.value:
                    yield result.row, Cell(value.qualifier, value.timestamp, decode_live(value.value))
                    continue
                left = partial(calls.Slice, result.row, part.family, until=part.until)
                cells = self._forwards(left, value.qualifier + b"\0", part.stop, None)
                yield from ((result.row, cell) for cell in itertools.islice(cells, 1))

    def _page(self, part: calls.Slice, size: int, skip: int = 0) -> list[Any]:
        if part.empty or not size:
            return []
        call, get = Call("cells", self._subject, part.key), part.page(size, skip)
        found = self._gateways.two(call, lambda client: client.get(self._full_name, get), near=self._near(part.key))
        values: list[Any] = found.columnValues
        return values

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


def check_length(key: bytes) -> bytes:
    if not isinstance(key, bytes) or not 0 < len(key) <= _LONGEST_KEY:
        check_key(key)
        raise InvalidValue("the length of a row key", len(key), f"at most {_LONGEST_KEY}")
    return key
