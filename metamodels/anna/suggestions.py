"""Conditions made for a person: what to write for a column, a value, and a row as it is."""

import datetime
import math
from typing import Any

import neomodel as nm
from metamodels.anna import conditions
from metamodels.anna.types import Type, written


def column_text(name: str) -> str:
    """A column's name as a condition has it: in double quotes, if without them it is something else."""
    try:
        root = conditions.parse(f"{name} is null").root
        if (root.op, root.args[0].op, root.args[0].value) == ("is_null", "column", name):
            return name
    except nm.InvalidCondition:
        pass
    return '"' + name.replace('"', '""') + '"'


def value_text(value: Any) -> str:
    """A value as a condition has it."""
    match value:
        case bool():
            return written(value)
        case datetime.datetime():
            return f"timestamp '{written(value)}'"
        case datetime.date():
            return f"date '{written(value)}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
    return written(value)


def still(name: str, value: Any, kind: Type) -> str | None:
    """The condition that a cell has the value that it has now; None if that can't be said."""
    if value is None:
        return f"{column_text(name)} is null"
    if kind.name.startswith("other ") or (isinstance(value, float) and not math.isfinite(value)):
        return None
    found = f"{column_text(name)} = {value_text(value)}"
    try:
        conditions.parse(found).typed({name: kind})
    except nm.InvalidCondition:  # as of a text that is too long
        return None
    return found
