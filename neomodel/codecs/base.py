"""What a codec is: all that is known of the values of one data type."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NoReturn

import attrs


@attrs.frozen(eq=False, kw_only=True)
class Codec:
    """The values of one data type: which there are, and their forms in files, in cells, in lists and in keys.

    Every form is exact: what is read back equals what was written, to the last bit and in type. `check` comes first;
    the functions that write expect what it returned. Functions that read raise ValueError for what the ones that write
    can't have written, as far as they notice. No message names a feature: whoever calls knows it, and adds it.
    """

    name: str
    scalar: str
    """Which values there are, for whoever has types for them: int8 to int64, integer, float32, float64, decimal,
    boolean, text, bytes, time, enum."""
    expected: str
    """What is a value, in words that complete "expected": "an integer from -128 to 127"."""
    primitive: bool
    """None is no value of it, as with Java's primitives."""
    default: Any
    """What a feature of the type holds before it is set, by Ecore's rules."""

    check: Callable[[Any], Any]
    """The value to keep for the one given; TypeError or ValueError if there is none."""
    to_text: Callable[[Any], str]
    """The form in files and default literals, as EMF writes it."""
    from_text: Callable[[str], Any]
    """The value for any form that EMF reads, and for those that PyEcore writes; else ValueError."""
    encode: Callable[[Any], bytes]
    """The form in a cell; a person can read it, bytes excepted."""
    decode: Callable[[bytes], Any]
    key: Callable[[Any], str]
    """A text that sorts, by its UTF-8 bytes, as the values do, and is equal for equal values only. ValueError for a
    value that has no place in the order."""

    native: type | None = None
    """The JSON type that values have as they are (str, int, bool). None: `to_json` and `from_json` convert."""
    to_json: Callable[[Any], Any] | None = None
    from_json: Callable[[Any], Any] | None = None


def refuse(value: object, expected: str) -> NoReturn:
    """Raises the TypeError for a value of a wrong type."""
    raise TypeError(f"{shown(value)} is a {type(value).__name__}, expected {expected}")


def shown(value: object) -> str:
    """A value in a message: a long one in part."""
    text = written(value) if isinstance(value, int) and not isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"


def written(value: int) -> str:
    """The decimal digits of an integer of any length: `str` refuses, where Python is so set, past 640 digits."""
    return str(value) if value.bit_length() < 2048 else format(Decimal(value), "f")


def text_of(found: object) -> str:
    """The JSON text that something else is written as; ValueError if it is none."""
    if type(found) is not str:
        raise ValueError(f"{shown(found)} in a list, where text is kept")
    return found
