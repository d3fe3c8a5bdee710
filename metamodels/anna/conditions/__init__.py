"""Conditions: a small part of SQL's expressions, safe to take from anybody.

    condition = conditions.parse("income < 1000 and name is not null").typed(types)
    condition.python({"income": 900, "name": "Ann"})  # True, False, None or FAILED

What a text may say is on a list (`parsing.py`); nothing in it can name code, files or other tables, loop or wait.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs

import neomodel as nm
from metamodels.anna.conditions import evaluating, parsing
from metamodels.anna.conditions.arithmetic import FAILED, Failure
from metamodels.anna.conditions.nodes import Lookup, Node, literal
from metamodels.anna.conditions.typed import Typing
from metamodels.anna.types import BOOLEAN, Type

__all__ = ["FAILED", "Condition", "Failure", "Lookup", "Node", "Parsed", "parse"]


@attrs.frozen
class Parsed:
    """A text that is of the language, whatever rows it is about."""

    text: str
    root: Node

    def typed(self, types: Mapping[str, Type], kind: Type | None = BOOLEAN) -> "Condition":
        """It, over rows of these columns, with a value of that type, or of any if None; or `InvalidCondition`."""
        typing = Typing(self.text, types)
        root = typing(self.root)
        return Condition(self.text, root if kind is None else typing.expected(root, kind))


def parse(text: str) -> Parsed:
    """A text as a condition; `InvalidCondition` if it is not of the language. Takes milliseconds."""
    return Parsed(text, parsing.parsed(text))


@attrs.frozen(slots=False)
class Condition:
    """A condition whose columns and types are known. A value: its tree."""

    text: str = attrs.field(eq=False)
    root: Node

    @cached_property
    def lookups(self) -> frozenset[Lookup]:
        """The cells of other rows that it asks for; `resolved` puts them in."""
        return frozenset(node.value for node in self.root.walk() if node.op == "lookup")

    def resolved(self, cells: Mapping[Lookup, Any]) -> "Condition":
        """With the values of those cells in the place of look-ups."""
        if not self.lookups:
            return self

        def put(node: Node) -> Node:
            return literal(cells[node.value], node.type) if node.op == "lookup" else node

        return Condition(self.text, self.root.rebuilt(put))

    def lifted(self) -> tuple[Node, tuple[Any, ...]]:
        """Its shape, a tree with parameters where it has literals, and their values: conditions that differ by numbers
        and texts have one shape."""
        values: list[Any] = []

        def lift(node: Node) -> Node:
            value = evaluating.regex(node.value) if node.op == "like" else node.value
            if node.op == "literal" or node.op == "like":
                values.append(value)
                return attrs.evolve(node, op="parameter" if node.op == "literal" else "matches", value=len(values) - 1)
            return node

        return self.root.rebuilt(lift), tuple(values)

    @cached_property
    def _function(self) -> evaluating.Function:
        if self.lookups:
            raise nm.InvalidCondition(self.text, "its look-ups are not resolved; resolve them first")
        return evaluating.compiled(self.root)

    def python(self, row: Mapping[str, Any]) -> Any:
        """Its value for a row: of its type, None where that is unknown, or `FAILED`, as of a division by zero."""
        return self._function(row)
