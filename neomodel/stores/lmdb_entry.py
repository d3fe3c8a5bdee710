"""What an LMDB file says of a table, and how mutations of it are stored."""

from collections.abc import Iterable, Iterator
from types import NoneType

import attrs

from neomodel.stores.base import Cells, Mutation, check_cells, check_key
from neomodel.stores.encoding import encode_time, encode_value, escape

CELLS = b"\1"
_WRITES = 50_000  # cells written in one transaction, or few more
_MOST_PLAIN = 4096
_VALUES = frozenset({bytes, NoneType})


@attrs.frozen
class Entry:
    """What the file says of a table."""

    number: bytes
    horizon: int
    families: frozenset[bytes]
    plain: set[bytes] = attrs.field(factory=set, init=False, eq=False)
    """Columns that were checked and need no escaping."""
    cells: bytes = attrs.field(init=False)

    @cells.default
    def _cells(self) -> bytes:
        return CELLS + self.number

    def stored(self) -> bytes:
        return self.number + self.horizon.to_bytes(8, "big") + b"".join(sorted(f[:1] for f in self.families))

    @classmethod
    def load(cls, stored: bytes) -> "Entry":
        families = frozenset(bytes([letter]) + b":" for letter in stored[11:])
        return cls(stored[:3], int.from_bytes(stored[3:11], "big"), families)


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


def writes(entry: Entry, key: bytes, cells: Cells, time: int) -> list[tuple[bytes, bytes]]:
    """The stored keys and values of a mutation."""
    head = entry.cells + escape(check_key(key)) + b"\0"
    tail = b"\0" + encode_time(time)
    if not entry.plain.issuperset(cells) or not _VALUES.issuperset(map(type, cells.values())) or not cells:
        check_cells(cells, entry.families)
        if len(entry.plain) < _MOST_PLAIN:
            entry.plain.update(column for column in cells if escape(column) == column)
        return [_escaped(head, column, tail, value) for column, value in cells.items()]
    return [
        (head + column + tail, value if value and value >= b"\1" else encode_value(value))
        for column, value in cells.items()
    ]


def _escaped(head: bytes, column: bytes, tail: bytes, value: bytes | None) -> tuple[bytes, bytes]:
    """As above, of a column that may need escaping: then its value starts with a zero byte, a mark for readers."""
    name = escape(column)
    return head + name + tail, encode_value(value) if name == column or value is None else b"\0" + value
