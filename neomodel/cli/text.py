"""Bytes as people and programs read them, and a key as a person types it."""

import json

from neomodel.cli.frame import Refused

LONGEST = 200
"""Characters of a value that a person is shown."""


def counted(number: int, what: str) -> str:
    """So many of something, of which the plural ends in s."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def name_text(name: bytes) -> str:
    """A key or a column: itself if it is printable text, else 0x and hex digits. `key_of` reads it back."""
    text = _decoded(name)
    return text if text and text.isprintable() and not text.startswith("0x") else "0x" + name.hex()


def value_text(value: bytes) -> str:
    """A value: as text, in quotes if it has line breaks or could be taken for something else, or else in hex."""
    text = _decoded(value)
    if text is None or not all(c.isprintable() or c in "\n\r\t" for c in text):
        text = "0x" + value.hex()
    elif not text.isprintable() or text != text.strip() or text.startswith(("0x", '"')) or not text:
        text = json.dumps(text, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(value):,} bytes)"


def plain(data: bytes) -> str | dict[str, str]:
    """For JSON, without loss: a string if it is UTF-8, else ``{"hex": …}``."""
    text = _decoded(data)
    return {"hex": data.hex()} if text is None else text


def key_of(typed: str) -> bytes:
    """The key that `name_text` shows like this."""
    if not typed.startswith("0x"):
        return typed.encode("utf-8", "surrogateescape")
    try:
        return bytes.fromhex(typed[2:])
    except ValueError:
        raise Refused(f"the ID {typed!r} starts with 0x but is not hex digits in pairs; copy one from `show`") from None


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
