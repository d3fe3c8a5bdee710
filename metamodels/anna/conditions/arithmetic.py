"""Numbers: of which type a result is, and what it is, exactly as Spark computes it.

Integers have 64 bits; what does not fit fails. The result of decimals has the digits that Spark gives it (its rules are
those of Hive and SQL Server: exact where 38 digits suffice, then fewer after the point, but six if there were as many),
rounded half up. Integers are divided as decimals. A double that would be no finite number fails.
"""

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from enum import Enum
from typing import Any

from metamodels.anna.types import DIGITS, INTEGER, Type, decimal, within

_EXACT = Context(prec=200)
_FEWEST = 6  # digits after the point that are kept where there are too many in all


class Failure(Enum):
    """The value of what has none, as of a division by zero. It is not null, and not true."""

    FAILED = "failed"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "FAILED"


FAILED = Failure.FAILED


def result(op: str, left: Type, right: Type) -> Type:
    """The decimal type of an operation on two of them."""
    p1, s1, p2, s2 = left.size, left.scale, right.size, right.scale
    if op == "multiply":
        return _bounded(p1 + p2 + 1, s1 + s2)
    if op == "divide":
        scale = max(_FEWEST, s1 + p2 + 1)
        return _bounded(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return _bounded(max(p1 - s1, p2 - s2) + scale + 1, scale)


def _bounded(size: int, scale: int) -> Type:
    if size <= DIGITS:
        return decimal(size, scale)
    return decimal(DIGITS, max(DIGITS - (size - scale), min(scale, _FEWEST)))


def common(left: Type, right: Type) -> Type | None:
    """The decimal type that has all of two; None if there is none."""
    scale = max(left.scale, right.scale)
    size = max(left.size - left.scale, right.size - right.scale) + scale
    return decimal(size, scale) if size <= DIGITS else None


def rounded(kind: Type, number: Decimal) -> Any:
    """The number, rounded half up to the scale of a decimal type, or `FAILED` if it is too large. Zero has no sign, as
    it has none in Java."""
    found = number.quantize(Decimal((0, (1,), -kind.scale)), ROUND_HALF_UP, _EXACT)
    if not found:
        return found.copy_abs()
    return FAILED if found.copy_abs() >= Decimal((0, (1,), kind.size - kind.scale)) else found


def computed(op: str, kind: Type) -> Callable[[Any, Any], Any]:
    """The function of two numbers, which are of the types that `kind` is made of."""
    if kind.name == "integer":
        return _integers(_INTEGER[op])
    return _doubles(_DOUBLE[op]) if kind.name == "double" else _decimals(op, kind)


def _remainder(left: int, right: int) -> Any:
    """With the sign of the left one."""
    if right == 0:
        return FAILED
    found = abs(left) % abs(right)
    return -found if left < 0 else found


_INTEGER: dict[str, Callable[[int, int], Any]] = {
    "add": int.__add__,
    "subtract": int.__sub__,
    "multiply": int.__mul__,
    "modulo": _remainder,
}
_DOUBLE: dict[str, Callable[[float, float], Any]] = {
    "add": float.__add__,
    "subtract": float.__sub__,
    "multiply": float.__mul__,
    "divide": lambda left, right: FAILED if right == 0 else left / right,
}
_DECIMAL: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "add": _EXACT.add,
    "subtract": _EXACT.subtract,
    "multiply": _EXACT.multiply,
}


def _integers(function: Callable[[int, int], Any]) -> Callable[[int, int], Any]:
    def done(left: int, right: int) -> Any:
        found = function(left, right)
        return found if found is FAILED or within(INTEGER, found) else FAILED

    return done


def _doubles(function: Callable[[float, float], Any]) -> Callable[[float, float], Any]:
    def done(left: float, right: float) -> Any:
        found = function(left, right)
        return found if found is FAILED or math.isfinite(found) else FAILED

    return done


def _decimals(op: str, kind: Type) -> Callable[[Decimal, Decimal], Any]:
    if op == "divide":
        return lambda left, right: FAILED if right == 0 else rounded(kind, _EXACT.divide(left, right))
    function = _DECIMAL[op]
    return lambda left, right: rounded(kind, function(left, right))


def assigned(source: Type, kind: Type) -> Callable[[Any], Any]:
    """The function that makes a number of one type one of a cell: rounded half up, `FAILED` if it does not fit."""
    if kind.name == "double":
        return lambda number: number
    if kind.name == "decimal":
        return lambda number: rounded(kind, Decimal(number))
    whole = decimal(DIGITS, 0)

    def done(number: Any) -> Any:
        found = rounded(whole, number) if source.name == "decimal" else number
        return int(found) if found is not FAILED and within(kind, int(found)) else FAILED

    return done
