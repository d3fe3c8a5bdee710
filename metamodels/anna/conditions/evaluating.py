"""Typed trees as functions of a row, in Python. `spark/conditions.py` has the same for Spark; a test holds them equal.

Every value is one of its type, None, or `FAILED`. What is made of a failed value fails, and what is made of null is
null, but: a false operand decides an `and`, and a true one an `or`, whatever the others are; `is null`, `case` and
`coalesce` ask. Where nothing decides, failed comes before null. NaN equals itself and is above all numbers.
"""

import datetime
import functools
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from metamodels.anna.conditions import arithmetic
from metamodels.anna.conditions.arithmetic import FAILED
from metamodels.anna.conditions.nodes import Node
from metamodels.anna.types import DOUBLE, utc

Row = Mapping[str, Any]
Function = Callable[[Row], Any]


PARAMETERS = "\0parameters"
"""Where a row has the values of parameters, for trees that have such."""


def compiled(node: Node) -> Function:
    """The function of a typed tree."""
    return _MADE.get(node.op, _strict)(node)


def _strict(node: Node) -> Function:
    """Of an operation that is null if an operand is."""
    operands = [compiled(arg) for arg in node.args]
    function = _FUNCTIONS[node.op](node)

    def done(row: Row) -> Any:
        values = [operand(row) for operand in operands]
        if FAILED in values:
            return FAILED
        return None if None in values else function(*values)

    return done


def _literal(node: Node) -> Function:
    value = node.value
    return lambda _: value


def _column(node: Node) -> Function:
    name = node.value
    if node.type.name == "timestamp":
        return lambda row: _in_utc(row[name])
    return lambda row: row[name]


def _in_utc(value: datetime.datetime | None) -> datetime.datetime | None:
    return None if value is None else utc(value)


def _parameter(node: Node) -> Function:
    at, kind = node.value, node.type
    if kind == DOUBLE:
        return lambda row: None if row[PARAMETERS][at] is None else float(row[PARAMETERS][at])
    return lambda row: row[PARAMETERS][at]


def _decided(by: bool) -> Callable[[Node], Function]:
    def made(node: Node) -> Function:
        operands = [compiled(arg) for arg in node.args]
        return lambda row: _decision(by, [operand(row) for operand in operands])

    return made


def _decision(by: bool, values: list[Any]) -> Any:
    if by in values:
        return by
    return FAILED if FAILED in values else None if None in values else not by


def _in(node: Node) -> Function:
    operands = [compiled(arg) for arg in node.args]
    equal = _comparison("eq", node)

    def done(row: Row) -> Any:
        one, *others = (operand(row) for operand in operands)
        return _decision(True, [_of_two(equal, one, other) for other in others])

    return done


def _between(node: Node) -> Function:
    operands = [compiled(arg) for arg in node.args]
    at_least, at_most = _comparison("ge", node), _comparison("le", node)

    def done(row: Row) -> Any:
        one, low, high = (operand(row) for operand in operands)
        return _decision(False, [_of_two(at_least, one, low), _of_two(at_most, one, high)])

    return done


def _of_two(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if left is FAILED or right is FAILED:
        return FAILED
    return None if left is None or right is None else function(left, right)


def _is_null(node: Node) -> Function:
    operand = compiled(node.args[0])

    def done(row: Row) -> Any:
        found = operand(row)
        return FAILED if found is FAILED else found is None

    return done


def _case(node: Node) -> Function:
    functions = [compiled(arg) for arg in node.args]
    pairs, default = list(zip(functions[:-1:2], functions[1:-1:2], strict=True)), functions[-1]

    def done(row: Row) -> Any:
        for when, then in pairs:
            found = when(row)
            if found is FAILED:
                return FAILED
            if found is True:
                return then(row)
        return default(row)

    return done


def _coalesce(node: Node) -> Function:
    operands = [compiled(arg) for arg in node.args]

    def done(row: Row) -> Any:
        return next((found for operand in operands if (found := operand(row)) is not None), None)

    return done


_MADE: dict[str, Callable[[Node], Function]] = {
    "literal": _literal, "parameter": _parameter,
    "column": _column, "and": _decided(False), "or": _decided(True), "in": _in,
    "between": _between, "is_null": _is_null, "case": _case, "coalesce": _coalesce,
}  # fmt: skip


# operations on values that are there


def _total(value: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(value) else (False, value)


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda left, right: left == right,
    "ne": lambda left, right: left != right,
    "lt": lambda left, right: left < right,
    "le": lambda left, right: left <= right,
    "gt": lambda left, right: left > right,
    "ge": lambda left, right: left >= right,
}


def _comparison(op: str, node: Node) -> Callable[[Any, Any], bool]:
    function = _COMPARED[op]
    if node.args[0].type == DOUBLE:
        return lambda left, right: function(_total(left), _total(right))
    return function


def _convert(node: Node) -> Callable[[Any], Any]:
    kind = node.type
    return float if kind == DOUBLE else lambda value: arithmetic.rounded(kind, Decimal(value))


def _negated(node: Node) -> Callable[[Any], Any]:
    if node.type.name == "integer":
        subtract = arithmetic.computed("subtract", node.type)
        return lambda value: subtract(0, value)
    return (lambda value: -value) if node.type == DOUBLE else (lambda value: value.copy_negate())


def _absolute(node: Node) -> Callable[[Any], Any]:
    negated = _negated(node)
    if node.type == DOUBLE:
        return abs
    return lambda value: negated(value) if value < 0 else value


def _pairs() -> tuple[str, str]:
    """Letters that are each other's only other case, in scripts whose letters don't change any more."""
    ranges = (*range(0x250), *range(0x370, 0x530))
    large = [chr(n) for n in ranges if len(chr(n).lower()) == 1 and chr(n).lower() != chr(n)]
    large = [letter for letter in large if letter.lower().upper() == letter]
    return "".join(large), "".join(large).lower()


LARGE, SMALL = _pairs()
"""What `lower` and `upper` turn into each other: the letters of the Latin, Greek and Cyrillic scripts that have one
other case. Python and Java don't agree on all others."""
_TO_SMALL, _TO_LARGE = str.maketrans(LARGE, SMALL), str.maketrans(SMALL, LARGE)


def regex(pattern: str) -> str:
    """A pattern of LIKE as a regular expression, which Python and Java read alike. What is between two % is looked for
    once, and never again further on: that finds the same, and takes no time beyond the length of a text."""
    parts: list[list[str]] = [[]]
    for one in re.findall(r"\\[%_\\]|.", pattern, re.DOTALL):
        if one == "%":
            parts.append([])
        else:
            parts[-1].append("." if one == "_" else re.escape(one[-1]))
    first, *others = ("".join(part) for part in parts)
    if not others:
        return rf"(?s)\A{first}\z"
    *middle, last = others
    return rf"(?s)\A{first}{''.join(f'(?>.*?{part})' for part in middle if part)}.*{last}\z"


def _like(node: Node) -> Callable[[str], bool]:
    found = re.compile(regex(node.value).replace(r"\z", r"\Z"))
    return lambda value: found.match(value) is not None


def _substring(node: Node) -> Callable[[str], str]:
    start, length = node.value
    return lambda value: value[start - 1 : start - 1 + length]


_Maker = Callable[[Node], Callable[..., Any]]


def _plain(function: Callable[..., Any]) -> _Maker:
    return lambda _: function


_FUNCTIONS: dict[str, _Maker] = {
    **{op: functools.partial(_comparison, op) for op in _COMPARED},
    **{
        op: lambda node: arithmetic.computed(node.op, node.type)
        for op in ("add", "subtract", "multiply", "divide", "modulo")
    },
    "not": _plain(lambda value: not value),
    "convert": _convert,
    "assign": lambda node: arithmetic.assigned(node.args[0].type, node.type),
    "negate": _negated,
    "abs": _absolute,
    "length": _plain(len),
    "lower": _plain(lambda value: value.translate(_TO_SMALL)),
    "upper": _plain(lambda value: value.translate(_TO_LARGE)),
    "trim": _plain(lambda value: value.strip(" ")),
    "ltrim": _plain(lambda value: value.lstrip(" ")),
    "rtrim": _plain(lambda value: value.rstrip(" ")),
    "substring": _substring,
    "concat": _plain(lambda *values: "".join(values)),
    "like": _like,
    "year": _plain(lambda value: value.year),
    "month": _plain(lambda value: value.month),
    "day": _plain(lambda value: value.day),
}
