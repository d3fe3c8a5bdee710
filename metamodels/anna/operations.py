"""What an action does to its cell: one of a closed set of operations, stored as JSON with a version, never as code.

    set, set-null            the cell gets a value, or none; what was there before does not matter
    add, subtract, multiply, divide    arithmetic with a number
    append-text              text after the text that is there

What a cell gets is of its column's type: numbers are rounded half up to its scale, or to an integer. Arithmetic and
`append-text` fail on a cell that is null, on a division by zero, and if the result does not fit.
"""

import json
import re
from decimal import Decimal
from functools import cache
from typing import Any

import attrs

import neomodel as nm
from metamodels.anna.conditions.nodes import Node
from metamodels.anna.conditions.typed import Typing
from metamodels.anna.types import (
    DOUBLE,
    INTEGER,
    TEXT,
    Type,
    fitted,
    literal_type,
    read,
    type_of,
    written,
)  # fmt: skip

VERSION = 1
ARITHMETIC = ("add", "subtract", "multiply", "divide")
NAMES = ("set", *ARITHMETIC, "set-null", "append-text")
CELL = "\0cell"
"""The name of the cell, in the trees that `tree` makes."""


@attrs.frozen
class Operation:
    """One of `NAMES`, with its value; `set-null` has None. A value given as text is read as what the column has."""

    name: str
    value: Any = None

    def __attrs_post_init__(self) -> None:
        if self.name not in NAMES:
            raise nm.InvalidValue("an operation", self.name, f"one of {', '.join(NAMES)}")
        if (self.value is None) != (self.name == "set-null"):
            expected = "none" if self.name == "set-null" else "one; set-null removes what is there"
            raise nm.InvalidValue(f"the value of {self.name}", self.value, expected)
        if self.value is None:
            return
        kind = literal_type(self.value)
        if kind is None or (kind == DOUBLE and not abs(self.value) < float("inf")):
            raise nm.InvalidValue(
                f"the value of {self.name}", self.value, "a number, text, a boolean, a date or a time"
            )
        if kind == TEXT:
            _checked_text(self.name, self.value)
        elif self.name == "append-text" or (self.name in ARITHMETIC and not kind.numeric):
            expected = "text" if self.name == "append-text" else "a number"
            raise nm.InvalidValue(f"the value of {self.name}", self.value, expected)

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name} {written(self.value)}"

    @property
    def replacing(self) -> bool:
        """Whether what was in the cell before does not matter."""
        return self.name in ("set", "set-null")

    def json(self) -> dict[str, Any]:
        """The stored form."""
        stored: dict[str, Any] = {"version": VERSION, "operation": self.name}
        if self.value is not None:
            stored |= {"type": str(literal_type(self.value)), "value": written(self.value)}
        return stored

    @classmethod
    def of_json(cls, stored: Any) -> "Operation":
        """The operation of a stored form; `InvalidValue` if it is none, or of a version that is not known here."""
        if not isinstance(stored, dict) or stored.get("version") != VERSION:
            raise nm.InvalidValue("a stored operation", stored, f"an object of version {VERSION}; update neomodel")
        if set(stored) - {"version", "operation", "type", "value"} or ("value" in stored) != ("type" in stored):
            raise nm.InvalidValue("a stored operation", stored, "version, operation, type and value, and no more")
        if "value" not in stored:
            return cls(stored.get("operation", ""))
        try:
            return cls(stored.get("operation", ""), read(type_of(stored["type"]), stored["value"]))
        except (TypeError, ValueError) as exc:
            raise nm.InvalidValue("a stored operation", json.dumps(stored), f"a value of its type ({exc})") from exc

    def shape(self, column: Type) -> tuple[Node, tuple[Any, ...]] | None:
        """The new value of a cell of a type, as an expression of the old one (`CELL`) and of parameters, and these;
        None if there can't be one. Operations that differ by their value only have the same one."""
        if self.name == "set-null":
            return _given(column), (None,)
        try:
            if self.name == "set":
                return _given(column), (fitted(column, self.value),)
            if self.name == "append-text":
                return (_APPENDED, (self.value,)) if column == TEXT else None
            if not column.numeric:
                return None
            value = _number(self.value) if isinstance(self.value, str) else self.value
            kind = literal_type(value)
            if kind is None or (kind == DOUBLE and column != DOUBLE):
                return None
            return _arithmetic(self.name, kind, column), (value,)
        except ValueError:
            return None


def operation(given: Any) -> Operation:
    """An operation, as it is given: itself, a name, a name and a value, or its stored form."""
    match given:
        case Operation():
            return given
        case str():
            return Operation(given)
        case (str() as name, value):
            return Operation(name, value)
        case dict():
            return Operation.of_json(given)
    raise nm.InvalidValue("an operation", given, "a name and a value, such as ('multiply', 10)")


def _checked_text(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise nm.InvalidValue(f"the value of {name}", text, "text that UTF-8 has") from exc


_APPENDED = Node("concat", (Node("column", (), CELL, TEXT), Node("parameter", (), 0, TEXT)), None, TEXT)


@cache
def _given(column: Type) -> Node:
    return Node("parameter", (), 0, column)


@cache
def _arithmetic(name: str, kind: Type, column: Type) -> Node:
    cell = Node("column", (), CELL, INTEGER if column.name == "integer" else column)
    computed = Typing(name, {}).arithmetic(name, (cell, Node("parameter", (), 0, kind)))
    return Node("assign", (computed,), None, column)


def _number(text: str) -> Any:
    """What a person writes as a number; `ValueError` for what is none."""
    if re.fullmatch(r"-?\d{1,38}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"-?\d{1,38}\.\d{1,38}", text, re.ASCII):
        return Decimal(text)
    return fitted(DOUBLE, text)
