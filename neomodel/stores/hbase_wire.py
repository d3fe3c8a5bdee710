"""Puts in the form in which Thrift's binary protocol has them: what a driver would make of an object for each put and
each cell, made at once. `hbase2.thrift` says which fields there are; the rest is Thrift's.

A field is its type (1 byte) and number (2), then the value; a struct ends with a zero. A text is its length (4) and its
bytes; a list the type of its entries (1), their number (4) and the entries. All numbers are big-endian.
"""

from itertools import chain
from typing import NamedTuple

from neomodel.stores.base import Cells
from neomodel.stores.encoding import encode_value

_TEXT, _LONG, _STRUCT, _LIST = b"\x0b", b"\x0a", b"\x0c", b"\x0f"
END = b"\0"
"""What a struct ends with."""
_FIRST, _SECOND, _THIRD = b"\0\1", b"\0\2", b"\0\3"
_MOST_KNOWN = 4096  # columns
_LENGTHS = [length.to_bytes(4, "big") for length in range(1024)]


class Put(NamedTuple):
    """A put: the row it goes to, and the struct."""

    row: bytes
    struct: bytes


def put(key: bytes, cells: Cells, stamp: int) -> Put:
    """What writes these cells at a time; None is a tombstone, as `encoding.encode_value` has it."""
    parts = [_TEXT + _FIRST, _length(key), key, _LIST + _SECOND + _STRUCT, _length(cells)]
    add = parts.append
    known = _known.get
    for column, value in cells.items():
        add(known(column) or _column(column))
        if value is None:
            add(b"\0\0\0\0\0")  # nothing, and the end of the struct
        elif value >= b"\1" and len(value) < 1024:
            parts += (_LENGTHS[len(value)], value, END)
        else:
            value = encode_value(value)
            parts += (_length(value), value, END)
    add(_LONG + _THIRD)
    add(stamp.to_bytes(8, "big"))
    add(END)
    return Put(key, b"".join(parts))


_known: dict[bytes, bytes] = {}


def _column(column: bytes) -> bytes:
    """What comes before the value of a cell in that column."""
    family, qualifier = column[:1], column[2:]
    made = b"".join(
        [_TEXT + _FIRST, _length(family), family, _TEXT + _SECOND, _length(qualifier), qualifier, _TEXT + _THIRD]
    )
    if len(_known) < _MOST_KNOWN:
        _known[column] = made
    return made


def put_multiple(table: bytes, puts: list[Put]) -> bytes:
    """The arguments of a putMultiple, but for the last byte (`END`)."""
    head = [_TEXT + _FIRST, _length(table), table, _LIST + _SECOND + _STRUCT, _length(puts)]
    return b"".join(chain(head, (one.struct for one in puts)))


def _length(sized: "bytes | Cells | list[Put]") -> bytes:
    return len(sized).to_bytes(4, "big")
