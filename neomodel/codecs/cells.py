"""What one cell holds: a value or null, a list of values, a list of references.

A single value is its codec's form. An attribute set to None is not one that is unset: it is the cell ``NULL``, a zero
byte, and a value whose form begins with a zero byte has one more in front. A list is a JSON array, with null for None.
References are their texts with commas between; no such text has one.
"""

import json
from typing import Any

from neomodel.codecs.base import Codec

NULL = b"\0"

_JSON = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode
_NONE = type(None)


def encode_single(codec: Codec, value: Any) -> bytes:
    """The cell of a value, or of None."""
    if value is None:
        return NULL
    cell = codec.encode(value)
    return cell if cell >= b"\1" or not cell else NULL + cell


def decode_single(codec: Codec, cell: bytes) -> Any:
    """The value of a cell; ValueError for what `encode_single` can't have written."""
    if cell >= b"\1" or not cell:  # the quickest way to ask whether the first byte is not zero
        return codec.decode(cell)
    return None if cell == NULL else codec.decode(cell[1:])


def encode_many(codec: Codec, values: list[Any]) -> bytes:
    """The cell of a list of values, Nones among them."""
    if convert := codec.to_json:
        values = [None if value is None else convert(value) for value in values]
    return _JSON(values).encode()


def decode_many(codec: Codec, cell: bytes) -> list[Any]:
    """The list of a cell; ValueError for what `encode_many` can't have written."""
    found = json.loads(cell.decode())
    if type(found) is not list:
        raise ValueError(f"a list is kept as a JSON array, found {type(found).__name__}")
    if convert := codec.from_json:
        return [None if value is None else convert(value) for value in found]
    if not {codec.native, _NONE}.issuperset(map(type, found)):
        raise ValueError(f"a list of {codec.name} holds {codec.expected}, found something else")
    return found


def encode_refs(refs: list[str]) -> bytes:
    """The cell of a list of references."""
    return ",".join(refs).encode()


def decode_refs(cell: bytes) -> list[str]:
    """The references of a cell."""
    return cell.decode().split(",") if cell else []
