"""Texts that sort as values do: what natural keys are made of.

No text made of numbers or times here is the beginning of another, decimals excepted; text, bytes and decimals sort
before what they are the beginning of. So a list of such texts, with a separator below all their characters, sorts as
the list of values.
"""

import math
import struct
from datetime import UTC, datetime
from decimal import Decimal

from neomodel.codecs.base import Codec, written

_COMPLEMENT = str.maketrans("0123456789", "9876543210")
_BITS = struct.Struct(">Q")
_DOUBLE = struct.Struct(">d")
_LONGEST = 25  # digits that a letter can count; "z" and "A" say that the number of digits follows


def key_text(codec: Codec, value: object) -> str:
    """The value, as `check` returned it, as a part of a natural key. ValueError for None and for what has no order.

    Text and characters are themselves. Booleans are ``false`` and ``true``, literals of enums their names (so they sort
    by name, and renumbering changes no id), bytes hexadecimal, dates their UTC time. Integers have a letter in front
    that counts their digits, ``b42``, `a` for one digit; equal numbers have equal texts, whatever their type.
    """
    if value is None:
        raise ValueError("None can't be part of a key, expected " + codec.expected)
    return codec.key(value)


def integer_key(value: int) -> str:
    """``a7``, ``b42``, ``c365``; below zero the nines' complement, and letters the other way: -7 is ``Z2``."""
    digits = written(abs(value))
    count = len(digits)
    if value < 0:
        head = chr(ord("Z") + 1 - count) if count <= _LONGEST else "A" + integer_key(-count)
        return head + digits.translate(_COMPLEMENT)
    head = chr(ord("a") - 1 + count) if count <= _LONGEST else "z" + integer_key(count)
    return head + digits


def float_key(value: float) -> str:
    """The IEEE bits, made to sort, as 16 hexadecimal digits. Both zeros are one; NaN has no place."""
    if math.isnan(value):
        raise ValueError("NaN can't be part of a key: it has no place in the order of numbers")
    (bits,) = _BITS.unpack(_DOUBLE.pack(value + 0.0))  # -0.0 + 0.0 is 0.0
    return f"{bits ^ (2**64 - 1 if bits >> 63 else 2**63):016x}"


def decimal_key(value: Decimal) -> str:
    """``pb10.125`` for 12500000000: sign (n, o for zero, p), exponent, digits; below zero complemented."""
    digits = "".join(map(str, value.as_tuple().digits)).strip("0")
    if not digits:
        return "o"
    if value < 0:
        return f"n{integer_key(-value.adjusted())}.{digits.translate(_COMPLEMENT)}z"
    return f"p{integer_key(value.adjusted())}.{digits}"


def date_key(value: datetime) -> str:
    """``2024-01-31T23:59:59.000000Z``. A naive time has no place among others."""
    if value.tzinfo is None:
        raise ValueError(f"{value.isoformat()} can't be part of a key: it has no time zone")
    try:
        universal = value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{value.isoformat()} can't be part of a key: in UTC it is out of range") from None
    return universal.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
