"""Text, characters, booleans, bytes, and the literals of an enum."""

import re
from collections.abc import Mapping
from typing import Any

from neomodel.codecs.base import Codec, refuse, shown, text_of

_CODE = re.compile("[0-9]+")
_HEX = re.compile("([0-9A-Fa-f]{2})*")
_BOOLEANS = {"true": True, "false": False}


def text(name: str) -> Codec:
    """Text. Half of a surrogate pair is none: UTF-8 has no form for it."""
    expected = "text (str)"

    def check(value: Any) -> str:
        if not isinstance(value, str):
            refuse(value, expected)
        if not value.isascii():
            _utf8(value)
        return value if type(value) is str else str.__str__(value)

    return Codec(
        name=name,
        scalar="text",
        expected=expected,
        primitive=False,
        default=None,
        check=check,
        to_text=str,
        from_text=check,
        encode=str.encode,
        decode=bytes.decode,
        key=str,
        native=str,
    )


def _utf8(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError as exc:
        half = value[exc.start]
        raise ValueError(f"character {exc.start} is half of a surrogate pair ({half!r}), not text") from None


def character(name: str) -> Codec:
    """One character as Java has them, up to U+FFFF. In files EMF writes its number: ``97`` is an a."""
    expected = "one character from U+0000 to U+FFFF"

    def check(value: Any) -> str:
        if not isinstance(value, str):
            refuse(value, expected)
        if len(value) != 1 or value > "\uffff":
            raise ValueError(f"{shown(value)} is not {expected}")
        _utf8(value)
        return str.__str__(value)

    def from_text(given: str) -> str:
        if not _CODE.fullmatch(given):
            return check(given)
        if len(given) > 5 or int(given) > 0xFFFF:
            raise ValueError(f"{shown(given)} is the number of no character from U+0000 to U+FFFF")
        return check(chr(int(given)))

    return Codec(
        name=name,
        scalar="text",
        expected=expected,
        primitive=True,
        default="\0",
        check=check,
        to_text=lambda value: str(ord(value)),
        from_text=from_text,
        encode=str.encode,
        decode=bytes.decode,
        key=str,
        native=str,
    )


def boolean(name: str) -> Codec:
    """True or False; no number is one."""
    expected = "True or False"

    def check(value: Any) -> bool:
        if not isinstance(value, bool):
            refuse(value, expected)
        return value

    def from_text(given: str) -> bool:
        found = _BOOLEANS.get(given.lower())
        if found is None:
            raise ValueError(f"{shown(given)} is neither true nor false")
        return found

    def decode(cell: bytes) -> bool:
        if cell == b"true":
            return True
        if cell == b"false":
            return False
        raise ValueError(f"{shown(cell)} is neither true nor false")

    def to_text(value: bool) -> str:
        return "true" if value else "false"

    return Codec(
        name=name,
        scalar="boolean",
        expected=expected,
        primitive=True,
        default=False,
        check=check,
        to_text=to_text,
        from_text=from_text,
        encode=lambda value: b"true" if value else b"false",
        decode=decode,
        key=to_text,
        native=bool,
    )


def binary(name: str) -> Codec:
    """Bytes: as they are in a cell, hexadecimal everywhere else."""
    expected = "bytes"

    def check(value: Any) -> bytes:
        if not isinstance(value, (bytes, bytearray, memoryview)):  # a union of them would be made at every call
            refuse(value, expected)
        return bytes(value)

    def from_text(given: str) -> bytes:
        if not _HEX.fullmatch(given):  # fromhex would pass over white space
            raise ValueError(f"{shown(given)} is not hexadecimal")
        return bytes.fromhex(given)

    def to_text(value: bytes) -> str:
        return value.hex().upper()

    return Codec(
        name=name,
        scalar="bytes",
        expected=expected,
        primitive=False,
        default=None,
        check=check,
        to_text=to_text,
        from_text=from_text,
        encode=bytes,
        decode=bytes,
        key=to_text,
        to_json=to_text,
        from_json=lambda found: from_text(text_of(found)),
    )


def enum_codec(name: str, members: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> Codec:
    """The literals of an enum: `members` by their names, in order; `texts` has those whose text is not the name.

    A literal is kept by its name. Where a str is given for one it may be the name or the text; where one literal's name
    is another's text, Python code means the name and a file means the text. Of two with one text it means the first.
    None is a value, as for EMF's dynamic objects; the default is the first literal.
    """
    by_name = dict(members)
    names = {member: literal for literal, member in by_name.items()}
    forms = {literal: (texts or {}).get(literal, literal) for literal in by_name}
    by_text = {form: by_name[literal] for literal, form in reversed(forms.items())}
    by_cell = {literal.encode(): member for literal, member in by_name.items()}
    cells = {member: cell for cell, member in by_cell.items()}
    expected = "one of " + ", ".join(by_name) if by_name else f"nothing: {name} has no literals"

    def check(value: Any) -> Any:
        literal = names.get(value) if getattr(type(value), "__hash__", None) else None
        if literal is not None and type(by_name[literal]) is type(value):  # 1 is not the literal numbered 1
            return by_name[literal]
        if not isinstance(value, str):
            refuse(value, expected)
        return by_name[value] if value in by_name else from_text(value)

    def from_text(given: str) -> Any:
        if given in by_text:
            return by_text[given]
        if given in by_name:
            return by_name[given]
        raise ValueError(f"{shown(given)} is no literal of {name}, expected {expected}")

    def decode(cell: bytes) -> Any:
        if cell in by_cell:
            return by_cell[cell]
        raise ValueError(f"{shown(cell)} is no literal of {name}, expected {expected}")

    return Codec(
        name=name,
        scalar="enum",
        expected=expected,
        primitive=False,
        default=next(iter(by_name.values()), None),
        check=check,
        to_text=lambda member: forms[names[member]],
        from_text=from_text,
        encode=cells.__getitem__,
        decode=decode,
        key=names.__getitem__,
        to_json=names.__getitem__,
        from_json=lambda found: decode(text_of(found).encode()),
    )
