"""Integers, floats and decimals. Cells hold what one would write: ``42``, ``0.1``, ``NaN``, ``12.50``."""

import math
import operator
import re
import struct
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from neomodel.codecs.base import Codec, refuse, shown, text_of, written
from neomodel.codecs.keys import decimal_key, float_key, integer_key

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_READ = _SPECIAL | {"+Infinity": math.inf, "nan": math.nan, "inf": math.inf, "-inf": -math.inf}  # PyEcore's too
_SINGLE = struct.Struct("<f")
_LARGEST_SCALE = 2**31 - 1  # Java's BigDecimal


# integers


def integer(name: str, bits: int) -> Codec:
    """An integer of so many bits. What counts as one: any that has `__index__`, but no bool."""
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    expected = f"an integer from {low} to {high}"

    def check(value: Any) -> int:
        number = value if type(value) is int else _index(value, expected)
        if low <= number <= high:
            return number
        raise ValueError(f"{shown(number)} is out of range, expected {expected}")

    def from_text(text: str) -> int:
        return check(_read_integer(text))

    return Codec(
        name=name,
        scalar=f"int{bits}",
        expected=expected,
        primitive=True,
        default=0,
        check=check,
        to_text=str,
        from_text=from_text,
        encode=b"%d".__mod__,
        decode=int,
        key=integer_key,
        native=int,
    )


def big_integer(name: str) -> Codec:
    """An integer of any length."""
    expected = "an integer"
    return Codec(
        name=name,
        scalar="integer",
        expected=expected,
        primitive=False,
        default=None,
        check=lambda value: _index(value, expected),
        to_text=written,
        from_text=_read_integer,
        encode=lambda value: written(value).encode(),
        decode=lambda cell: _read_integer(cell.decode()),
        key=integer_key,
        to_json=lambda value: value if value.bit_length() < 2048 else written(value),
        from_json=lambda found: found if type(found) is int else _read_integer(text_of(found)),
    )


def _index(value: Any, expected: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        refuse(value, expected)
    return operator.index(value)


def _read_integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{shown(text)} is no integer")
    return int(text) if len(text) <= 640 else int(Decimal(text))  # see `written`


# floats


def double(name: str) -> Codec:
    """A float of 64 bits. An int is taken where a float equals it."""
    return _float(name, "a float, or an integer that a float of 64 bits equals", float, float)


def single(name: str) -> Codec:
    """A float of 32 bits, to which a given one is rounded. Cells show the shortest number that rounds to the value."""
    return _float(name, "a float in the range of 32 bits, or an integer that one equals", _rounded, _readable)


def _float(name: str, expected: str, rounded: Callable[[Any], float], readable: Callable[[float], float]) -> Codec:
    """`readable` gives the float whose `repr` is the shortest text that `rounded` makes the value again of."""

    def check(value: Any) -> float:
        if isinstance(value, float):
            return rounded(value)
        number = _index(value, expected)
        try:
            found = rounded(number)
        except OverflowError:
            found = math.inf
        if found != number:
            raise ValueError(f"{shown(number)} equals no float of that size, expected {expected}")
        return found

    def from_text(text: str) -> float:
        if text in _READ:
            return _READ[text]
        plain = text.rstrip("fFdD")
        if not _NUMBER.fullmatch(plain) or len(text) > len(plain) + 1:
            raise ValueError(f"{shown(text)} is no number")
        found = rounded(float(plain))
        if math.isinf(found):
            raise ValueError(f"{text} is out of range, expected {expected}")
        return found

    def from_json(found: Any) -> float:
        if type(found) is float:
            return rounded(found)
        if text_of(found) in _SPECIAL:
            return _SPECIAL[found]
        raise ValueError(f"{shown(found)} in a list of floats")

    return Codec(
        name=name,
        scalar="float64" if rounded is float else "float32",
        expected=expected,
        primitive=True,
        default=0.0,
        check=check,
        to_text=lambda value: _java(readable(value), value),
        from_text=from_text,
        encode=lambda value: (repr(readable(value)) if math.isfinite(value) else _java(value, value)).encode(),
        decode=float if rounded is float else lambda cell: rounded(float(cell)),
        key=float_key,
        to_json=lambda value: readable(value) if math.isfinite(value) else _java(value, value),
        from_json=from_json,
    )


def _rounded(value: float) -> float:
    try:
        return float(_SINGLE.unpack(_SINGLE.pack(value))[0])
    except (OverflowError, struct.error):
        raise ValueError(f"{shown(value)} is out of the range of a float of 32 bits") from None


def _readable(value: float) -> float:
    if not math.isfinite(value):
        return value
    fewest = 6 if abs(value) >= 2**-126 else 1  # a normal one keeps any 6 digits, so its shortest text is among these
    candidates = (float(f"{value:.{digits}g}") for digits in range(fewest, 9))
    return next((short for short in candidates if _fits(short, value)), float(f"{value:.9g}"))


def _fits(short: float, value: float) -> bool:
    try:
        return _rounded(short) == value
    except ValueError:  # the shorter text of the largest floats lies beyond them
        return False


def _java(value: float, exact: float) -> str:
    """As Java writes it: no exponent from a thousandth to ten million, else at least two digits and E."""
    if not math.isfinite(value):
        return next(text for text, special in _SPECIAL.items() if repr(special) == repr(value))
    if value == 0 or 0.001 <= abs(value) < 10_000_000:
        return repr(value)
    shortest = Decimal(repr(value))
    digits = "".join(map(str, shortest.as_tuple().digits)).rstrip("0")
    if len(digits) == 1:
        mantissa, _, exponent = f"{exact:.1e}".partition("e")
        return f"{mantissa}E{int(exponent)}"
    return f"{'-' * (value < 0)}{digits[0]}.{digits[1:]}E{shortest.adjusted()}"


# decimals


def decimal(name: str) -> Codec:
    """A decimal number of any length; 1.50 stays apart from 1.5 in its digits, not in keys."""
    expected = "a finite decimal.Decimal, or an integer"

    def check(value: Any) -> Decimal:
        found = value if isinstance(value, Decimal) else Decimal(_index(value, expected))
        exponent = found.as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > _LARGEST_SCALE:
            raise ValueError(f"{shown(value)} is not finite or has too large an exponent, expected {expected}")
        return found if type(found) is Decimal else Decimal(found)

    def from_text(text: str) -> Decimal:
        if not _NUMBER.fullmatch(text):
            raise ValueError(f"{shown(text)} is no decimal number")
        try:
            return check(Decimal(text))
        except InvalidOperation:
            raise ValueError(f"{shown(text)} is out of the range of decimal numbers") from None

    return Codec(
        name=name,
        scalar="decimal",
        expected=expected,
        primitive=False,
        default=None,
        check=check,
        to_text=str,
        from_text=from_text,
        encode=lambda value: str(value).encode(),
        decode=lambda cell: from_text(cell.decode()),
        key=decimal_key,
        to_json=str,
        from_json=lambda found: from_text(text_of(found)),
    )
