"""Reading a table of an LMDB file: each read is one transaction, or, of what is long, one after another."""

import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from neomodel.errors import TableNotFound
from neomodel.stores import lmdb_file
from neomodel.stores import lmdb_walk as walk
from neomodel.stores.base import Cell, Columns, Row, Table, Version
from neomodel.stores.checks import check_at, check_columns, check_family, check_key, check_named
from neomodel.stores.encoding import decode_live, decode_time, decode_value, encode_time, escape, unescape
from neomodel.stores.lmdb_entry import Entry, end_of, row_of
from neomodel.stores.lmdb_walk import ROW

if TYPE_CHECKING:
    from neomodel.stores.blocks import Block

TABLE_KEY = b"\0table\0"

_ROWS = 128  # read in one transaction: few enough to stay in the processor's cache
_CELLS = 1024  # of one row, or versions, read in one transaction

T = TypeVar("T")


class LmdbReading(Table):
    """What of the contract reads rows."""

    def __init__(self, url: str, file: lmdb_file.LmdbFile, name: str) -> None:
        self.name = name
        self._url = url
        self._file = file
        self._key = TABLE_KEY + name.encode()
        self._known: tuple[bytes, Entry] | tuple[None, None] = (None, None)

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

    def history_blocks(
        self, start: bytes = b"", stop: bytes | None = None, *, since: int | None = None, until: int | None = None
    ) -> Iterator[Any]:
        from neomodel.stores import lmdb_versions  # needs numpy and Arrow

        def step(txn: Any, position: bytes) -> tuple[list[Any], bytes | None]:
            entry = self._entry(txn)
            newest, oldest = self._inverse(until, entry), self._inverse(since, entry)
            low, high = entry.cells + position, end_of(entry, stop)
            found, resume = lmdb_versions.block(self._file, txn, low, high, newest, oldest)
            return [found] if found is not None and len(found) else [], resume and resume[ROW:]

        return self._stream("history", step, escape(start))

    def histories(self, cells: Collection[tuple[bytes, bytes]]) -> dict[tuple[bytes, bytes], list[Version]]:
        found: dict[tuple[bytes, bytes], list[Version]] = {}
        with self._file.reading("histories") as txn:
            entry, cursor = self._entry(txn), txn.cursor()
            check_columns({column for _, column in cells}, entry.families)
            for key, column in cells:
                low, high = walk.part(column[:2], column[2:], column[2:] + b"\0")
                head = entry.cells + escape(check_key(key))
                versions = [
                    Version(key, column, decode_time(stored_key[-8:]), decode_value(stored))
                    for stored_key, stored in walk.versions(cursor, head + low, head + high)
                ]
                if versions:
                    found[key, column] = versions
        return found

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

    def _stream(self, operation: str, step: Callable[[Any, Any], tuple[list[T], Any]], position: Any) -> Iterator[T]:
        """What `step` finds, batch after batch, each in a transaction that ends before the batch is handed out."""

        def batches(position: Any) -> Iterator[list[T]]:
            while position is not None:
                with self._file.reading(operation) as txn:
                    found, position = step(txn, position)
                yield found

        return itertools.chain.from_iterable(batches(position))
