"""The data types of XML schemas: Ecore's own, but for the text that stands for their values in files."""

import base64
import binascii
import math
from collections.abc import Callable
from typing import Any

import attrs

from neomodel.codecs.base import Codec, shown
from neomodel.codecs.ecore import codec

_INFINITE = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf}
_ONE_OR_ZERO = {"1": True, "0": False}

_LIKE = {
    "Boolean": "EBoolean",
    "Byte": "EByte",
    "Decimal": "EBigDecimal",
    "Double": "EDouble",
    "Float": "EFloat",
    "HexBinary": "EByteArray",
    "Int": "EInt",
    "Integer": "EBigInteger",
    "Long": "ELong",
    "NegativeInteger": "EBigInteger",
    "NonNegativeInteger": "EBigInteger",
    "NonPositiveInteger": "EBigInteger",
    "PositiveInteger": "EBigInteger",
    "Short": "EShort",
    "UnsignedByte": "EShort",
    "UnsignedInt": "ELong",
    "UnsignedLong": "EBigInteger",
    "UnsignedShort": "EInt",
}
_BOXED = {"EInt": "EIntegerObject"}


def xml_codec(name: str) -> Codec | None:
    """The codec of the data type of XML schemas with that name; None if it is text, as most are, or none of them."""
    return _BY_NAME.get(name)


def in_xml(found: Codec, base: str) -> Codec:
    """The codec of a data type that a schema derives from one of XML's, which is named as schemas do: `base64Binary`.
    Its values are the same, their text is as that one's."""
    like = _BY_NAME.get(base[:1].upper() + base[1:])
    if like is None or like.check is not found.check:
        return found
    return attrs.evolve(found, from_text=like.from_text, to_text=like.to_text)


def _made(name: str, like: str) -> Codec:
    found = codec(like)
    assert found is not None
    read, write = found.from_text, found.to_text
    if like.startswith("EBoolean"):
        read = _or(_ONE_OR_ZERO, read)
    elif like.startswith(("EFloat", "EDouble")):
        read, write = _or(_INFINITE, read), _infinite(write)
    return attrs.evolve(found, name=name, from_text=_collapsed(read), to_text=write)


def _collapsed(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """White space around a value is none of it."""
    return lambda given: read(given.strip(" \t\r\n"))


def _or(forms: dict[str, Any], read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda given: forms[given] if given in forms else read(given)


def _infinite(write: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: write(value).replace("Infinity", "INF")


def _base64() -> Codec:
    """Bytes: as they are in a cell, base 64 in files."""
    found = codec("EByteArray")
    assert found is not None

    def from_text(given: str) -> bytes:
        try:
            return base64.b64decode("".join(given.split()), validate=True)
        except (binascii.Error, ValueError) as exc:
            raise ValueError(f"{shown(given)} is not base 64") from exc

    return attrs.evolve(
        found, name="Base64Binary", from_text=from_text, to_text=lambda value: base64.b64encode(value).decode()
    )


_BY_NAME = {"Base64Binary": _base64(), **{name: _made(name, like) for name, like in _LIKE.items()}}
for _name, _like in _LIKE.items():
    _boxed = _BOXED.get(_like, f"{_like}Object")
    if codec(_boxed) is not None:
        _BY_NAME[f"{_name}Object"] = _made(f"{_name}Object", _boxed)
