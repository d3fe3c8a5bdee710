"""The types that cells have, and values of each as text.

All that is stored of a value, and all that is sent along with it, is text that its type reads back: one home for that,
so that a key, a literal and a parameter are read alike wherever they are.
"""

import datetime
import math
import re
from decimal import Decimal
from typing import Any

import attrs

import neomodel as nm
from neomodel.times import instant, micros

DIGITS = 38
"""Most digits of a decimal number, as in Spark."""


@attrs.frozen
class Type:
    """A type of cells. `size` has the bits of an integer or the digits of a decimal, `scale` those after its point."""

    name: str
    size: int = 0
    scale: int = 0

    def __str__(self) -> str:
        if self.name == "decimal":
            return f"decimal({self.size},{self.scale})"
        return f"integer({self.size})" if self.name == "integer" and self.size != 64 else self.name

    @property
    def numeric(self) -> bool:
        return self.name in ("integer", "decimal", "double")


INTEGER = Type("integer", 64)
DOUBLE = Type("double")
TEXT = Type("text")
BOOLEAN = Type("boolean")
DATE = Type("date")
TIMESTAMP = Type("timestamp")
NULL = Type("null")
"""Of a null that nothing is known of."""

Types = dict[str, Type]


def decimal(size: int, scale: int) -> Type:
    return Type("decimal", size, scale)


def other(name: str) -> Type:
    """A type that is only known by name: its cells can be asked whether they are null, and made null."""
    return Type(f"other {name}")


_PLAIN = {str(one): one for one in (INTEGER, DOUBLE, TEXT, BOOLEAN, DATE, TIMESTAMP)}
_SIZED = re.compile(r"(integer)\((8|16|32)\)|(decimal)\((\d{1,2}),(\d{1,2})\)")
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,18})", re.ASCII)
_DECIMAL = re.compile(r"-?\d{1,38}(\.\d{1,38})?", re.ASCII)


def type_of(text: str) -> Type:
    """The type that `str` shows like this; `InvalidValue` for none."""
    if text in _PLAIN:
        return _PLAIN[text]
    if text.startswith("other "):
        return Type(text)
    found = _SIZED.fullmatch(text)
    if found is None:
        raise nm.InvalidValue("a type", text, f"{', '.join(_PLAIN)}, integer(32) or decimal(10,2)")
    return Type("integer", int(found[2])) if found[1] else decimal(int(found[4]), int(found[5]))


def literal_type(value: Any) -> Type | None:
    """The type of a value as Python has it; None if it is of none. A decimal counts as 18 digits, or as 38 if it has
    more, so that numbers of different length are of few types."""
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int():
            return INTEGER if -(2**63) <= value < 2**63 else decimal(DIGITS, 0) if abs(value) < 10**DIGITS else None
        case float():
            return DOUBLE
        case Decimal():
            return _decimal_type(value)
        case str():
            return TEXT
        case datetime.datetime():
            return TIMESTAMP
        case datetime.date():
            return DATE
    return None


def _decimal_type(value: Decimal) -> Type | None:
    if not value.is_finite():
        return None
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    size = max(len(digits) + max(0, exponent), scale)
    return None if size > DIGITS else decimal(18 if size <= 18 else DIGITS, scale)


def written(value: Any) -> str:
    """A value as text: what `read` has for its type. Not for None."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | str():
            return str(value)
        case Decimal():
            return format(value, "f")
        case float():
            return repr(value)
        case datetime.datetime():
            return utc(value).isoformat()
        case datetime.date():
            return value.isoformat()
    raise nm.InvalidValue("a value", value, "a number, text, a boolean, a date or a time")


def utc(value: datetime.datetime) -> datetime.datetime:
    """The time in UTC; one without an offset is taken to be there already."""
    return value.replace(tzinfo=datetime.UTC) if value.tzinfo is None else value.astimezone(datetime.UTC)


def read(kind: Type, text: str) -> Any:
    """The value that a text is of; `ValueError` if it is of none of that type."""
    match kind.name:
        case "text":
            return sound(text)
        case "integer" if _INTEGER.fullmatch(text) and within(kind, int(text)):
            return int(text)
        case "decimal" if _DECIMAL.fullmatch(text):
            found = exact(kind, Decimal(text))
            if found is not None:
                return found
        case "double":
            number = float(text)
            if math.isfinite(number) and text == text.strip() and "_" not in text:
                return number
        case "boolean" if text in ("true", "false"):
            return text == "true"
        case "date" if len(text) == 10:
            return datetime.date.fromisoformat(text)
        case "timestamp":
            return instant(micros("a time", utc(datetime.datetime.fromisoformat(text)), first=-(2**63)))
    raise ValueError(f"{text!r} is no {kind}")


def sound(text: str) -> str:
    """The text, if UTF-8 has it; `ValueError` otherwise."""
    text.encode()
    return text


def within(kind: Type, number: int) -> bool:
    """Whether an integer type has a number."""
    return -(1 << kind.size - 1) <= number < 1 << kind.size - 1


def exact(kind: Type, number: Decimal) -> Decimal | None:
    """The number with the scale of a decimal type, None if that would change it, or is too large."""
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    value = int("".join(map(str, digits)))
    shift = kind.scale + exponent
    if shift < 0 and value % 10**-shift:
        return None
    value = value * 10**shift if shift >= 0 else value // 10**-shift
    return None if value >= 10**kind.size else Decimal((number.is_signed() and value != 0, _digits(value), -kind.scale))


def _digits(value: int) -> tuple[int, ...]:
    return tuple(map(int, str(value)))


def fitted(kind: Type, value: Any) -> Any:
    """A value as one of a type, which text is read as, and a number made to if that doesn't change it; `ValueError` if
    it can't be."""
    match value, kind.name:
        case str(), _:
            return read(kind, value)
        case bool(), "boolean":
            return value
        case (bool(), _):
            pass
        case int() | Decimal(), "integer":
            if value == int(value) and within(kind, int(value)):
                return int(value)
        case int() | Decimal(), "decimal":
            found = exact(kind, Decimal(value))
            if found is not None:
                return found
        case int() | Decimal() | float(), "double":
            if math.isfinite(value):
                return float(value)
        case datetime.datetime(), "timestamp":
            return utc(value)
        case datetime.datetime(), _:
            pass
        case datetime.date(), "date":
            return value
    raise ValueError(f"{value!r} is no {kind}")
