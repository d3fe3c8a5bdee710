"""What an LMDB file says of a table, where its rows are in it, and how mutations are stored."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import attrs

from neomodel.stores import lmdb_walk as walk
from neomodel.stores.base import Cells, Columns, Mutation, Row
from neomodel.stores.checks import check_cells, check_columns, check_key, check_time, check_value
from neomodel.stores.encoding import encode_time, encode_value, escape

CELLS = b"\1"
_WRITES = 50_000  # cells written in one transaction, or few more
_MOST_PLAIN = 4096
_MOST_SEEN = 512  # cells of a row whose columns may be met again: more are parts of a collection


@attrs.frozen
class Entry:
    """What the file says of a table."""

    number: bytes
    horizon: int
    families: frozenset[bytes]
    plain: set[bytes] = attrs.field(factory=set, init=False, eq=False)
    """Columns that were checked and need no escaping."""
    parts: dict[tuple[bytes, ...], Any] = attrs.field(factory=dict, init=False, eq=False)
    """What to read of a row, for families that were asked for (see `lmdb_walk.ranges`)."""
    cells: bytes = attrs.field(init=False)

    @cells.default
    def _cells(self) -> bytes:
        return CELLS + self.number

    @property
    def first(self) -> bytes:
        """What follows the row key in the first stored key of a row, or what comes before that."""
        return b"\0" + min(self.families)

    def selected(self, columns: Columns) -> list[tuple[bytes, bytes]]:
        """What to read of a row (see `lmdb_walk.ranges`)."""
        if columns is None:
            return walk.WHOLE
        known = self.parts.get(columns) if isinstance(columns, tuple) else None
        if known is None:
            known = walk.ranges(check_columns(columns, self.families), self.families)
            if isinstance(columns, tuple) and all(len(column) == 2 for column in columns):
                self.parts[columns] = known
        return known

    def stored(self) -> bytes:
        return self.number + self.horizon.to_bytes(8, "big") + b"".join(sorted(f[:1] for f in self.families))

    @classmethod
    def load(cls, stored: bytes) -> "Entry":
        families = frozenset(bytes([letter]) + b":" for letter in stored[11:])
        return cls(stored[:3], int.from_bytes(stored[3:11], "big"), families)


def end_of(entry: Entry, stop: bytes | None) -> bytes:
    """The stored key before which the rows of a range end."""
    return walk.after(entry.cells) if stop is None else entry.cells + escape(stop)


def row_of(cursor: Any, entry: Entry, key: bytes, parts: list[tuple[bytes, bytes]], inverse: bytes) -> Row | None:
    """The live cells in parts of a row."""
    if not inverse and len(parts) == 1:
        return walk.newest(cursor, entry.cells, (key,), *parts[0]).get(key)
    return walk.row_at(cursor, entry.cells + escape(check_key(key)), parts, inverse)


def batches(mutations: Iterable[Mutation]) -> Iterator[list[Mutation]]:
    """The mutations in parts of about equally many cells, read from the caller outside of any transaction."""
    batch, cells = [], 0
    for mutation in mutations:
        batch.append(mutation)
        cells += len(mutation[1])
        if cells >= _WRITES:
            yield batch
            batch, cells = [], 0
    if batch:
        yield batch


def writes(entry: Entry, mutations: Iterable[Mutation], first: int) -> Iterator[tuple[bytes, bytes]]:
    """The stored keys and values of the mutations, the first of which is stamped `first`. Checks as it goes.

    This loop is what a bulk load waits for: a column that was seen before costs two joins of bytes and a comparison.
    """
    return chain.from_iterable(_row_by_row(entry, mutations, first))


def _row_by_row(entry: Entry, mutations: Iterable[Mutation], first: int) -> Iterator[list[tuple[bytes, bytes]]]:
    plain, prefix, horizon = entry.plain, entry.cells, entry.horizon or -1
    for stamp, (key, cells, time) in enumerate(mutations, first):
        if not key or type(key) is not bytes:
            check_key(key)
        head = prefix + (escape(key) if 0 in key or 1 in key else key) + b"\0"
        tail = b"\0" + encode_time(stamp if time is None else check_time(time, stamp, horizon))
        if cells and plain.issuperset(cells):
            yield [
                (head + column + tail, value if type(value) is bytes and value >= b"\1" else _rare(column, value))
                for column, value in cells.items()
            ]
        else:
            yield _unseen(entry, head, cells, tail)


def _rare(column: bytes, value: bytes | None) -> bytes:
    """The stored form of a value that is not bytes, or is empty, or starts with a zero byte."""
    check_value(column, value)
    return encode_value(value)


def _unseen(entry: Entry, head: bytes, cells: Cells, tail: bytes) -> list[tuple[bytes, bytes]]:
    """The entries of a row with columns that are new, or need escaping: then a value starts with a zero byte, a mark
    for readers. In a ledger all do, each with an event of its own."""
    check_cells(cells, entry.families)
    memorable = len(entry.plain) < _MOST_PLAIN and len(cells) < _MOST_SEEN
    found = []
    for column, value in cells.items():
        name = escape(column)
        if name is not column:
            found.append((head + name + tail, b"" if value is None else b"\0" + value))
            continue
        found.append((head + column + tail, encode_value(value)))
        if memorable:
            entry.plain.add(column)
    return found
