"""What rows hold as a hash, in a form that no library decides.

For each column, by name and type: for each row one byte, 1 where there is a value; then the values, null as zero, in
little-endian form. Of text and bytes, the lengths as 8 bytes each, then all of it; of lists, the lengths, and then the
elements as a column; of structs, their fields as columns.
"""

import hashlib
import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_WIDTHS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}


def hashed(data: Any) -> str:
    """The hash of bytes."""
    return hashlib.sha256(data).hexdigest()


def combined(schema: pa.Schema, key: Sequence[str], block: int, contents: list[str]) -> str:
    """The hash of all rows, given those of blocks of them."""
    columns = [[field.name, str(field.type)] for field in schema]
    return hashed(json.dumps([columns, list(key), block, contents]).encode())


def content_of(table: pa.Table) -> str:
    """The hash of rows, in their order."""
    digest = hashlib.sha256()
    for field in table.schema:
        digest.update(_framed(field.name.encode(), str(field.type).encode()))
        column = table.column(field.name)
        whole = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], field.type)
        for part in _canonical(whole):
            digest.update(part)
    return digest.hexdigest()


def _canonical(array: pa.Array) -> Iterator[bytes]:
    kind = array.type
    yield _values(pc.cast(array.is_valid(), pa.uint8()))
    if pa.types.is_list(kind):
        yield _values(pc.cast(pc.fill_null(pc.list_value_length(array), 0), pa.int64()))
        yield from _canonical(pc.list_flatten(array))
    elif pa.types.is_struct(kind):
        for number in range(kind.num_fields):
            yield _framed(kind.field(number).name.encode())
            yield from _canonical(pc.struct_field(array, [number]))
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        filled = pc.fill_null(pc.cast(array, pa.large_binary()), b"")
        yield _values(pc.binary_length(filled))
        yield _joined(filled)
    elif not pa.types.is_null(kind):
        if pa.types.is_boolean(kind):
            array = pc.cast(array, pa.uint8())
        elif pa.types.is_temporal(kind):
            array = pc.cast(array, _WIDTHS[kind.bit_width])
        yield _values(pc.fill_null(array, pa.scalar(0, array.type)))


def _values(array: pa.Array) -> bytes:
    """The values of an array of fixed width without nulls."""
    width = array.type.bit_width // 8
    return bytes(array.buffers()[1].slice(array.offset * width, len(array) * width)) if len(array) else b""


def _joined(array: pa.Array) -> bytes:
    """All bytes of an array of long bytes without nulls."""
    if not len(array):
        return b""
    _, offsets, data = array.buffers()
    first, last = (struct.unpack_from("<q", offsets, 8 * (array.offset + at))[0] for at in (0, len(array)))
    return bytes(data.slice(first, last - first)) if last > first else b""


def _framed(*parts: bytes) -> bytes:
    return b"".join(struct.pack("<q", len(part)) + part for part in parts)
