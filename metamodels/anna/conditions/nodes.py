"""What a condition is made of: a tree of small values, before and after types are known."""

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from metamodels.anna.types import NULL, Type


@attrs.frozen(cache_hash=True)
class Node:
    """An operation on others. `value` is that of a literal, the name of a column, the number of a parameter, the
    pattern of a LIKE. `type` is set in trees that were typed, and of literals."""

    op: str
    args: tuple["Node", ...] = ()
    value: Any = None
    type: Type = NULL

    def walk(self) -> Iterator["Node"]:
        """This and all in it."""
        yield self
        for arg in self.args:
            yield from arg.walk()

    def rebuilt(self, change: Callable[["Node"], "Node"]) -> "Node":
        """The tree with all nodes changed, those inside first."""
        args = tuple(arg.rebuilt(change) for arg in self.args)
        return change(self if args == self.args else attrs.evolve(self, args=args))


def literal(value: Any, kind: Type) -> Node:
    return Node("literal", (), value, kind)


@attrs.frozen
class Lookup:
    """A cell of another row that a condition asks for."""

    row: tuple[str, ...]
    column: str
