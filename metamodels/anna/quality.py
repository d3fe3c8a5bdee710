"""Quality checks: rules that the rows of a step are held against, as values. `spark/checks.py` does that.

A rule about values passes over null; `not_null` is about that. Severities: ``warning``; ``error``, which makes a run
unsound; ``fatal``, which ends it after the step.
"""

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from metamodels.anna import conditions
from metamodels.anna.code import fingerprint
from neomodel.errors import InvalidValue

SEVERITIES = ("warning", "error", "fatal")


def _severity(_: Any, field: Any, value: object) -> None:
    if value not in SEVERITIES:
        raise InvalidValue(f"the {field.name} of a check", value, f"one of {', '.join(SEVERITIES)}")


@attrs.frozen(kw_only=True)
class Rule:
    """What all rules have: a name, by default one that says what is asked, and a severity."""

    name: str
    severity: str = attrs.field(default="error", validator=_severity)

    def text(self) -> str:
        """All that decides what it finds; part of the code of its step."""
        return repr(self)


@attrs.frozen(kw_only=True)
class NotNull(Rule):
    column: str


@attrs.frozen(kw_only=True)
class Unique(Rule):
    columns: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Between(Rule):
    column: str
    low: Any
    high: Any


@attrs.frozen(kw_only=True)
class Matches(Rule):
    column: str
    pattern: str


@attrs.frozen(kw_only=True)
class RowCount(Rule):
    low: int
    high: int | None


@attrs.frozen(kw_only=True)
class Holds(Rule):
    expression: str
    column: str | None


@attrs.frozen(kw_only=True)
class Refers(Rule):
    columns: tuple[str, ...]
    table: str
    others: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Reported(Rule):
    function: Callable[[Any], Any]

    def text(self) -> str:
        return f"{self.name} {self.severity} {fingerprint(self.function)}"


def not_null(column: str, *, severity: str = "error", name: str | None = None) -> Rule:
    """There is a value in the column."""
    return NotNull(name=name or f"{column} is there", severity=severity, column=column)


def unique(*columns: str, severity: str = "error", name: str | None = None) -> Rule:
    """No two rows have the same values in these columns. (Those of the key are always unique.)"""
    _some("columns that are unique", columns)
    return Unique(name=name or f"{', '.join(columns)} is unique", severity=severity, columns=columns)


def between(
    column: str, low: Any = None, high: Any = None, *, severity: str = "error", name: str | None = None
) -> Rule:
    """The value is not below `low` and not above `high`, where these are given."""
    if low is None and high is None:
        raise InvalidValue(f"the range of {column}", None, "a lower end, an upper end or both")
    said = (
        f"from {low} to {high}" if None not in (low, high) else f"{low} or more" if high is None else f"{high} or less"
    )
    return Between(name=name or f"{column} is {said}", severity=severity, column=column, low=low, high=high)


def matches(column: str, pattern: str, *, severity: str = "error", name: str | None = None) -> Rule:
    """The whole text matches a regular expression, of Java's kind."""
    name = name or f"{column} matches {pattern}"
    return Matches(name=name, severity=severity, column=column, pattern=pattern)


def row_count(low: int = 1, high: int | None = None, *, severity: str = "error", name: str | None = None) -> Rule:
    """There are at least so many rows, and not more than so many."""
    said = f"{low} or more rows" if high is None else f"{low} to {high} rows"
    return RowCount(name=name or said, severity=severity, low=low, high=high)


def holds(expression: str, *, column: str | None = None, severity: str = "error", name: str | None = None) -> Rule:
    """A condition on the row holds, in the language of preconditions; `column` says which cell is to blame, if it is
    not the only one that is named. `InvalidCondition` if it is not of that language."""
    named = {node.value for node in conditions.parse(expression).root.walk() if node.op == "column"}
    column = column or (named.pop() if len(named) == 1 else None)
    return Holds(name=name or expression, severity=severity, expression=expression, column=column)


def refers(
    columns: str | Sequence[str],
    table: str,
    others: str | Sequence[str] | None = None,
    *,
    severity: str = "error",
    name: str | None = None,
) -> Rule:
    """The values are those of a row of another table: an input of the step, by the name of its parameter."""
    own = (columns,) if isinstance(columns, str) else tuple(columns)
    there = own if others is None else (others,) if isinstance(others, str) else tuple(others)
    if len(own) != len(there):
        raise InvalidValue("columns that are referred to", there, f"as many as {own}")
    name = name or f"{', '.join(own)} is in {table}"
    return Refers(name=name, severity=severity, columns=own, table=table, others=there)


def reported(name: str, function: Callable[[Any], Any], *, severity: str = "error") -> Rule:
    """Another library's check: `function` is given the rows and returns failure cases in the form pandera has them, a
    pandas frame or dicts with ``index`` (the row's key), ``column``, ``check`` and ``failure_case``."""
    return Reported(name=name, severity=severity, function=function)


def _some(what: str, columns: Sequence[str]) -> None:
    if not columns:
        raise InvalidValue(what, columns, "at least one")
