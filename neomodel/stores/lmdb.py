"""The embedded store: one folder, one LMDB file, many processes at once.

Readers never wait. Writers wait for one another and never fail for it. A write that returned is on disk. Times are
stamped inside the write transaction, so they grow strictly over all processes, and `now` is complete at once.

What the file holds, by the first byte of the key; `encoding` says how a version's key and value are made:

    00 "format", 00 "clock"       the format's name; the last time given out
    00 "next"                     the number of the next table, 3 bytes
    00 "table" 00 NAME            number of the table, horizon of its purges (8 bytes), its families
    00 "dropped" 00 NUMBER        a table that is gone, while its space is being taken back
    01 NUMBER VERSION-KEY         one version of one cell
    02 NUMBER ESCAPED-ROW-KEY     a sample of one row in 256, for `regions`
"""

import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

import attrs

from neomodel.errors import InvalidStore, InvalidValue, TableExists, TableNotFound
from neomodel.stores import lmdb_file, lmdb_sweep
from neomodel.stores import lmdb_walk as walk
from neomodel.stores.base import (
    DURABLE,
    ORDERED,
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
    check_named,
    check_swap,
    check_time,
)
from neomodel.stores.encoding import decode_live, decode_time, decode_value, encode_time, escape, unescape
from neomodel.stores.lmdb_entry import CELLS, Entry, batches, end_of, row_of, writes
from neomodel.stores.lmdb_walk import ROW

if TYPE_CHECKING:
    from neomodel.stores.blocks import Block

_NEXT_KEY, _TABLE_KEY, _DROPPED_KEY = b"\0next", b"\0table\0", b"\0dropped\0"
_SAMPLES = b"\2"
_ROWS = 128  # read in one transaction: few enough to stay in the processor's cache
_CELLS = 1024  # of one row, or versions, read in one transaction
_SAMPLED = 256  # of that many rows, one is a sample
_REGION_ROWS, _MOST_REGIONS = 8192, 16

T = TypeVar("T")


class LmdbStore(Store):
    capabilities = frozenset({DURABLE, ORDERED, SHARED})

    def __init__(self, url: str, file: lmdb_file.LmdbFile) -> None:
        self.url = url
        self._file = file
        self._open = True

    def table(self, name: str) -> Table:
        return LmdbTable(self.url, self._file, check_name(name))

    def tables(self) -> list[str]:
        with self._file.reading("listing tables") as txn:
            return [key.removeprefix(_TABLE_KEY).decode() for key in walk.keys(txn.cursor(), _TABLE_KEY)]

    def close(self) -> None:
        if self._open:
            self._open = False
            self._file.close()


class LmdbTable(Table):
    def __init__(self, url: str, file: lmdb_file.LmdbFile, name: str) -> None:
        self.name = name
        self._url = url
        self._file = file
        self._key = _TABLE_KEY + name.encode()
        self._known: tuple[bytes, Entry] | tuple[None, None] = (None, None)

    # the table itself

    def create(self, families: Iterable[str], *, splits: Iterable[bytes] = ()) -> None:
        letters = check_families(families)
        for split in splits:
            check_key(split)  # and no more: ranges follow what is stored
        with self._file.writing("create") as txn:
            if txn.get(self._key) is not None:
                raise TableExists(self.name, self._url)
            number = txn.get(_NEXT_KEY, b"\0\0\1")
            txn.put(_NEXT_KEY, (int.from_bytes(number, "big") + 1).to_bytes(3, "big"))
            txn.put(self._key, Entry(number, 0, letters).stored())

    def drop(self) -> None:
        with self._file.writing("drop") as txn:
            number = self._entry(txn).number
            txn.delete(self._key)
            txn.put(_DROPPED_KEY + number, b"")
        self._take_back()

    def families(self) -> frozenset[str]:
        with self._file.reading("families") as txn:
            return frozenset(family[:1].decode() for family in self._entry(txn).families)

    def regions(self) -> list[Region]:
        """About equally many rows each: one range for every 8,192, 16 at the most."""
        with self._file.reading("regions") as txn:
            entry = self._entry(txn)
            keys = [key[ROW:] for key in walk.keys(txn.cursor(), _SAMPLES + entry.number)]
            weight = _SAMPLED
            if len(keys) * weight < 8 * _REGION_ROWS:  # too few to judge by: look at the rows themselves
                keys, weight = walk.row_keys(txn.cursor(), entry.cells), 1
        count = max(1, min(_MOST_REGIONS, len(keys) * weight // _REGION_ROWS))
        cuts = [unescape(keys[len(keys) * cut // count]) for cut in range(1, count)]
        return [Region(start or b"", stop) for start, stop in itertools.pairwise([b"", *cuts, None])]

    def now(self) -> int:
        with self._file.reading("now") as txn:
            self._entry(txn)
            return lmdb_file.clock(txn)

    def mark(self) -> int:
        """The number of the last transaction in the file. Asked for with every object that is touched."""
        try:
            with (self._file.env or self._file.open()).begin() as txn:
                return txn.id()  # type: ignore[no-any-return]
        except lmdb_file.ReadersFull:
            with self._file.reading("mark") as txn:
                return txn.id()  # type: ignore[no-any-return]
        except lmdb_file.DriverError as exc:
            raise lmdb_file.failure("mark", self._where(), exc) from exc

    # reading

    def get(self, key: bytes, *, at: int | None = None, columns: Columns = None) -> Row | None:
        try:
            with self._file.begin() as txn:
                entry = self._entry(txn)
                inverse = self._reading_at(at, entry, txn)
                return row_of(txn.cursor(), entry, key, entry.selected(columns), inverse)
        except lmdb_file.DriverError as exc:
            raise lmdb_file.failure("get", self._where(), exc) from exc

    def get_many(self, keys: Iterable[bytes], *, at: int | None = None, columns: Columns = None) -> dict[bytes, Row]:
        with self._file.reading("get_many") as txn:
            entry = self._entry(txn)
            inverse = self._reading_at(at, entry, txn)
            parts = entry.selected(columns)
            cursor = txn.cursor()
            if not inverse and len(parts) == 1:
                return walk.newest(cursor, entry.cells, keys, *parts[0])
            found = ((key, row_of(cursor, entry, key, parts, inverse)) for key in keys)
            return {key: row for key, row in found if row}

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
        head = escape(check_key(key)) + b"\0" + family.encode() + b":"
        first = head + escape(start)
        last = head[:-1] + b";" if stop is None else head + escape(stop)
        skip = ROW + len(head)

        def step(txn: Any, position: tuple[bytes, bytes, int]) -> tuple[list[Cell], tuple[bytes, bytes, int] | None]:
            low, high, left = position
            entry = self._entry(txn)
            check_family(family, entry.families)
            live = walk.live_backwards if reverse else walk.live
            cells = live(txn.cursor(), entry.cells + low, entry.cells + high, self._reading_at(at, entry, txn))
            size = min(left, _CELLS)
            found = list(itertools.islice(cells, size))
            listed = [Cell(unescape(key[skip:-9]), decode_time(key[-8:]), decode_live(value)) for key, value in found]
            if len(found) < size or size == left:
                return listed, None
            last = found[-1][0][ROW:-9]
            return listed, (low, last, left - size) if reverse else (last + b"\1", high, left - size)

        return self._stream("cells", step, (first, last, sys.maxsize if limit is None else limit))

    def firsts(
        self,
        keys: Iterable[bytes],
        family: str,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
    ) -> dict[bytes, Cell]:
        try:
            with self._file.begin() as txn:
                entry = self._entry(txn)
                part = walk.part(check_family(family, entry.families), start, stop)
                return walk.firsts(txn.cursor(), entry.cells, keys, part, self._reading_at(at, entry, txn))
        except lmdb_file.DriverError as exc:
            raise lmdb_file.failure("firsts", self._where(), exc) from exc

    def scan_firsts(
        self, rows: tuple[bytes, bytes | None], family: str, start: bytes = b"", stop: bytes | None = None, *, at: int
    ) -> Iterator[tuple[bytes, Cell]]:
        def step(txn: Any, position: bytes) -> tuple[list[tuple[bytes, Cell]], bytes | None]:
            entry = self._entry(txn)
            part = walk.part(check_family(family, entry.families), start, stop)
            inverse = self._reading_at(at, entry, txn)
            low, high = entry.cells + position, end_of(entry, rows[1])
            found, resume = walk.rows_firsts(txn.cursor(), low, high, part, inverse, _ROWS)
            return found, resume and resume[ROW:]

        return self._stream("scan_firsts", step, escape(rows[0]))

    def scan(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
        columns: Columns = None,
    ) -> Iterator[tuple[bytes, Row]]:
        def step(txn: Any, position: bytes) -> tuple[list[tuple[bytes, Row]], bytes | None]:
            entry = self._entry(txn)
            inverse = self._reading_at(at, entry, txn)
            low, high = entry.cells + position, end_of(entry, stop)
            parts = entry.selected(columns)
            if len(parts) == 1 and parts[0][0] <= entry.first:
                found, resume = walk.rows(txn.cursor(), low, high, inverse, _ROWS, parts[0][1])
            elif len(parts) > 1 and columns is not None and all(len(column) > 2 for column in columns):
                found, resume = walk.chosen_rows(txn.cursor(), low, high, columns, inverse, _ROWS)
            else:
                found, resume = walk.selected_rows(txn.cursor(), low, high, parts, inverse, _ROWS)
            return found, resume and resume[ROW:]

        return self._stream("scan", step, escape(start))

    def blocks(
        self, columns: Collection[bytes], start: bytes = b"", stop: bytes | None = None, *, at: int | None = None
    ) -> Iterator["Block"]:
        from neomodel.stores import lmdb_pages  # needs numpy and Arrow, which take long to import

        def step(txn: Any, position: bytes) -> tuple[list["Block"], bytes | None]:
            entry = self._entry(txn)
            inverse = self._reading_at(at, entry, txn)
            wanted = check_named(columns, entry.families)
            low, high = entry.cells + position, end_of(entry, stop)
            found, resume = lmdb_pages.block(self._file, txn, low, high, wanted, inverse)
            return [found] if len(found) else [], resume and resume[ROW:]

        return self._stream("scan", step, escape(start))

    def history(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        columns: Columns = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[Version]:
        def step(txn: Any, position: bytes) -> tuple[list[Version], bytes | None]:
            entry = self._entry(txn)
            wanted = set(check_columns(columns, entry.families))
            newest = self._inverse(until, entry)
            oldest = self._inverse(since, entry)
            parts = entry.selected(columns) or walk.WHOLE
            low, high = entry.cells + max(position, escape(start) + parts[0][0]), end_of(entry, stop)
            if stop == start + b"\0":  # one row: no more of it than was asked for
                high = entry.cells + escape(start) + parts[-1][1]
            if oldest and stop != start + b"\0":  # most versions are older than who follows a model asks for
                from neomodel.stores import lmdb_pages

                found, resume = lmdb_pages.recent(self._file, txn, low, high, newest, oldest)
            else:
                found = list(itertools.islice(walk.versions(txn.cursor(), low, high), _CELLS))
                resume = found[-1][0] + b"\0" if len(found) == _CELLS else None
            listed = []
            for stored_key, stored in found:
                time = stored_key[-8:]
                if time < newest or (oldest and time >= oldest):
                    continue
                key, column = stored_key[ROW:-9].split(b"\0")
                if column[:2] in wanted or unescape(column) in wanted:
                    listed.append(Version(unescape(key), unescape(column), decode_time(time), decode_value(stored)))
            return listed, resume and resume[ROW:]

        return self._stream("history", step, escape(start))

    # writing

    def swap(self, key: bytes, expected: bytes | None, cells: Cells) -> bool:
        check_swap(expected, cells)
        with self._file.writing("swap") as txn:
            entry = self._entry(txn)
            current = row_of(txn.cursor(), entry, key, entry.selected((VERSION,)), b"")
            if (current[VERSION] if current else None) != expected:
                check_cells(cells, entry.families)
                return False
            self._put(txn, entry, [Mutation(key, cells)])
            return True

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        for batch in batches(mutations):
            with self._file.writing("put_many") as txn:
                entry = self._entry(txn)
                self._put(txn, entry, batch)

    def purge(self, before: int) -> int:
        with self._file.writing("purge") as txn:
            entry = self._entry(txn)
            check_time(before, lmdb_file.tick(txn, 1))
            horizon = max(before, entry.horizon)
            txn.put(self._key, attrs.evolve(entry, horizon=horizon).stored())
        gone = 0
        kept = b""
        position: bytes | None = entry.cells
        while position is not None:
            with self._file.writing("purge") as txn:
                self._entry(txn)
                removed, position, kept = lmdb_sweep.purge(
                    txn, position, walk.after(entry.cells), encode_time(horizon), kept
                )
            gone += removed
        return gone

    def erase(self, key: bytes, family: str, start: bytes, stop: bytes, until: int, instead: Row) -> int:
        with self._file.writing("erase") as txn:
            entry = self._entry(txn)
            at_horizon = Mutation(key, instead, entry.horizon)
            txn.cursor().putmulti(writes(attrs.evolve(entry, horizon=0), [at_horizon], lmdb_file.tick(txn, 1)))
            first, last = walk.part(check_family(family, entry.families), start, stop)
            head = entry.cells + escape(key)
            kept = {head + b"\0" + escape(column) + b"\0" for column in instead}
            return lmdb_sweep.erase(txn, head + first, head + last, encode_time(until), kept)

    # how

    def _where(self) -> str:
        return f"table {self.name!r} of {self._url}"

    def _entry(self, txn: Any) -> Entry:
        """What the file says of this table now, or `TableNotFound`."""
        stored = txn.get(self._key)
        if stored is None:
            raise TableNotFound(self.name, self._url)
        known, entry = self._known
        if entry is None or known != stored:
            entry = Entry.load(stored)
            self._known = stored, entry
        return entry

    def _inverse(self, at: int | None, entry: Entry) -> bytes:
        return b"" if at is None else encode_time(check_at(at, entry.horizon, self._where()))

    def _reading_at(self, at: int | None, entry: Entry, txn: Any) -> bytes:
        """As `_inverse`; nothing, which is quicker, if all that can be seen was written by then."""
        inverse = self._inverse(at, entry)
        return b"" if at is not None and at >= lmdb_file.clock(txn) else inverse

    def _put(self, txn: Any, entry: Entry, batch: list[Mutation]) -> None:
        first = lmdb_file.tick(txn, len(batch))
        try:
            txn.cursor().putmulti(writes(entry, batch, first))
        except lmdb_file.BadLength as exc:
            raise InvalidValue(
                "the length of a row key with its column, as LMDB stores them,",
                max(len(key) for key, _ in writes(entry, batch, first)),
                f"at most {lmdb_file.LONGEST_KEY}",
            ) from exc
        for key, _, _ in batch:
            if not crc32(key) % _SAMPLED:
                txn.put(_SAMPLES + entry.number + escape(key), b"")

    def _stream(self, operation: str, step: Callable[[Any, Any], tuple[list[T], Any]], position: Any) -> Iterator[T]:
        """What `step` finds, batch after batch, each in a transaction that ends before the batch is handed out."""

        def batches(position: Any) -> Iterator[list[T]]:
            while position is not None:
                with self._file.reading(operation) as txn:
                    found, position = step(txn, position)
                yield found

        return itertools.chain.from_iterable(batches(position))

    def _take_back(self) -> None:
        """Free the space of dropped tables, also of those whose dropper did not come to it."""
        with self._file.reading("drop") as txn:
            numbers = [key.removeprefix(_DROPPED_KEY) for key in walk.keys(txn.cursor(), _DROPPED_KEY)]
        for number, kind in itertools.product(numbers, (_SAMPLES, CELLS)):
            left = True
            while left:
                with self._file.writing("drop") as txn:
                    left = lmdb_sweep.delete(txn, kind + number)
                    if not left and kind == CELLS:
                        txn.delete(_DROPPED_KEY + number)


def open_url(url: str, rest: str, *, create: bool) -> Store:
    """`rest` is what follows ``lmdb:``: a folder."""
    if not rest:
        raise InvalidStore(url, "name a folder, as in lmdb:my.db")
    return LmdbStore(url, lmdb_file.use(rest, create=create))
