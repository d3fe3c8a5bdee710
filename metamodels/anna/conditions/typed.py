"""Trees with types: every name is a column there is, every operation has operands it can be done with.

Conversions become nodes of their own, so whoever computes converts nothing in silence: Python and Spark do the same.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal

import attrs

import neomodel as nm
from metamodels.anna.conditions import arithmetic
from metamodels.anna.conditions.nodes import Node, literal
from metamodels.anna.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    NULL,
    TEXT,
    Type,
    decimal,
    exact,
)  # fmt: skip
from neomodel.errors import near

_ORDERED = ("integer", "decimal", "double", "text", "date", "timestamp")
_ARITHMETIC = ("add", "subtract", "multiply", "divide", "modulo", "negate", "abs")


@attrs.frozen
class Typing:
    """Gives types to the nodes of one condition, `text`, over rows with these columns."""

    text: str
    types: Mapping[str, Type]

    def __call__(self, node: Node) -> Node:
        """The node, typed, and all in it; `InvalidCondition` if that can't be."""
        if node.op == "literal":
            return node
        if node.op in ("column", "lookup"):
            name = node.value if node.op == "column" else node.value.column
            return attrs.evolve(node, type=self._column(name))
        args = tuple(map(self, node.args))
        if node.op in _ARITHMETIC:
            return self.arithmetic(node.op, args)
        return _RULES[node.op](self, node, args)

    def refused(self, reason: str) -> nm.InvalidCondition:
        return nm.InvalidCondition(self.text if len(self.text) <= 80 else f"{self.text[:80]}…", reason)

    def expected(self, node: Node, kind: Type) -> Node:
        """The node as one of that type."""
        if node.type == NULL and node.op == "literal":
            return literal(None, kind)
        if node.type != kind:
            raise self.refused(f"{_said(node)} is {node.type}, expected {kind}")
        return node

    def _column(self, name: str) -> Type:
        kind = self.types.get(name)
        if kind is None:
            raise self.refused(f"there is no column {name!r}{near(name, self.types)}")
        return INTEGER if kind.name == "integer" else kind

    def numbers(self, args: tuple[Node, ...]) -> tuple[Node, ...]:
        """Numbers of one kind, integers, decimals or doubles, with their own sizes."""
        found = tuple(literal(None, INTEGER) if arg.type == NULL else arg for arg in args)
        for arg in found:
            if not arg.type.numeric:
                raise self.refused(f"{_said(arg)} is {arg.type}, expected a number")
        names = {arg.type.name for arg in found}
        if "double" in names:
            return tuple(_converted(arg, DOUBLE) for arg in found)
        return tuple(map(_as_decimal, found)) if "decimal" in names else found

    def arithmetic(self, op: str, args: tuple[Node, ...]) -> Node:
        args = self.numbers(args)
        if op in ("negate", "abs"):
            return Node(op, args, None, args[0].type)
        kind = args[0].type
        if op == "modulo" and kind != INTEGER:
            raise self.refused(f"% is for integers, {_said(args[0])} is {kind}")
        if op == "divide" and kind == INTEGER:
            args = tuple(map(_as_decimal, args))
        if args[0].type.name == "decimal":
            kind = arithmetic.result(op, args[0].type, args[1].type)
        return Node(op, args, None, kind)

    def alike(self, args: tuple[Node, ...]) -> tuple[Node, ...]:
        """Values of one type, so that they can be compared, or stand for one another."""
        kinds = [arg.type for arg in args if arg.type != NULL]
        if not kinds:
            return tuple(literal(None, TEXT) for _ in args)
        if all(kind.numeric for kind in kinds):
            args = self.numbers(args)
            kind = args[0].type
            if kind.name == "decimal":
                for arg in args:
                    wider = arithmetic.common(kind, arg.type)
                    if wider is None:
                        raise self.refused(f"{kind} and {arg.type} have no common type of 38 digits")
                    kind = wider
            return tuple(_converted(arg, kind) for arg in args)
        return tuple(self.expected(arg, kinds[0]) for arg in args)

    def compared(self, node: Node, args: tuple[Node, ...]) -> Node:
        args = self.alike(args)
        kind = args[0].type.name
        ordered = kind in _ORDERED or (kind == "boolean" and node.op in ("eq", "ne", "in"))
        if not ordered:
            raise self.refused(f"{_said(args[0])} is {args[0].type}, which can't be compared like this")
        return Node(node.op, args, None, BOOLEAN)

    def logical(self, node: Node, args: tuple[Node, ...]) -> Node:
        return Node(node.op, tuple(self.expected(arg, BOOLEAN) for arg in args), None, BOOLEAN)

    def is_null(self, _: Node, args: tuple[Node, ...]) -> Node:
        one = args[0]
        return Node("is_null", (literal(None, TEXT) if one.type == NULL else one,), None, BOOLEAN)

    def case(self, _: Node, args: tuple[Node, ...]) -> Node:
        whens = [self.expected(arg, BOOLEAN) for arg in args[:-1:2]]
        values = self._known((*args[1:-1:2], args[-1]))
        pairs = [one for pair in zip(whens, values[:-1], strict=True) for one in pair]
        return Node("case", (*pairs, values[-1]), None, values[0].type)

    def coalesce(self, _: Node, args: tuple[Node, ...]) -> Node:
        values = self._known(args)
        return Node("coalesce", values, None, values[0].type)

    def nullif(self, _: Node, args: tuple[Node, ...]) -> Node:
        one, other = self._known(args)
        equal = self.compared(Node("eq"), (one, other))
        return Node("case", (equal, literal(None, one.type), one), None, one.type)

    def _known(self, args: tuple[Node, ...]) -> tuple[Node, ...]:
        """Values of one type, of which something is known."""
        if all(arg.type == NULL for arg in args):
            raise self.refused("it chooses among nulls only")
        found = self.alike(args)
        for arg in found:
            if arg.type.name.startswith("other "):
                raise self.refused(f"{_said(arg)} is {arg.type}, which can only be asked whether it is null")
        return found

    def texts(self, kind: Type) -> Callable[[Node, tuple[Node, ...]], Node]:
        return lambda node, args: Node(node.op, tuple(self.expected(arg, TEXT) for arg in args), node.value, kind)

    def dates(self, node: Node, args: tuple[Node, ...]) -> Node:
        return Node(node.op, (self.expected(args[0], DATE),), None, INTEGER)


def _rule(name: str) -> Callable[[Typing, Node, tuple[Node, ...]], Node]:
    return lambda typing, node, args: getattr(typing, name)(node, args)


def _texts(kind: Type) -> Callable[[Typing, Node, tuple[Node, ...]], Node]:
    return lambda typing, node, args: typing.texts(kind)(node, args)


_RULES = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "in", "between"), _rule("compared")),
    **dict.fromkeys(("and", "or", "not"), _rule("logical")),
    **dict.fromkeys(("year", "month", "day"), _rule("dates")),
    **dict.fromkeys(("lower", "upper", "trim", "ltrim", "rtrim", "substring", "concat"), _texts(TEXT)),
    **{name: _rule(name) for name in ("is_null", "case", "coalesce", "nullif")},
    "length": _texts(INTEGER),
    "like": _texts(BOOLEAN),
}


def _as_decimal(node: Node) -> Node:
    if node.type.name == "decimal":
        return node
    if node.op == "literal" and node.value is not None and abs(node.value) < 10**9:
        return literal(Decimal(node.value), decimal(9, 0))
    return _converted(node, decimal(19, 0))


def _converted(node: Node, kind: Type) -> Node:
    """The node as one of a type that has all its values, or as a double."""
    if node.type == kind:
        return node
    if node.op != "literal":
        return Node("convert", (node,), None, kind)
    if node.value is None:
        return literal(None, kind)
    return literal(float(node.value) if kind == DOUBLE else exact(kind, Decimal(node.value)), kind)


def _said(node: Node) -> str:
    if node.op in ("column", "lookup"):
        return repr(node.value if node.op == "column" else node.value.column)
    return repr(node.value) if node.op == "literal" else f"the result of {node.op}"
