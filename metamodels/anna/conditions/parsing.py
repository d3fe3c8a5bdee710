"""Text into trees. Everything that is not on a list here is refused: kinds of nodes, and their parts.

A look at the words comes first (`words.py`), so that the parser (sqlglot) only meets small text of harmless words, and
neither its time nor its stack depends on whoever wrote the text. What it makes of that is taken over node by node into
trees of our own; no other module knows sqlglot.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import neomodel as nm
from metamodels.anna.conditions.nodes import Lookup, Node, literal
from metamodels.anna.conditions.words import DEEPEST, Refusal, words
from metamodels.anna.types import BOOLEAN, DATE, INTEGER, NULL, TEXT, TIMESTAMP, literal_type, read

MOST_NODES = 400
MOST_CHOICES = 4
"""How deep what chooses (case, coalesce, nullif) may be nested in other such."""


def parsed(text: str) -> Node:
    """The tree of a text, or `InvalidCondition`. Takes milliseconds, whatever the text is."""
    if not isinstance(text, str):
        raise nm.InvalidCondition(repr(text)[:80], "it is no text")
    refused = Refusal(text)
    words(text, refused)
    root = _taken(_sql(text, refused), refused, 1)
    if sum(1 for _ in root.walk()) > MOST_NODES:
        raise refused(f"it has more than {MOST_NODES} parts; make it shorter")
    if _choices(root) > MOST_CHOICES:
        raise refused(f"case, coalesce and nullif are nested more than {MOST_CHOICES} deep in it; make it plainer")
    return root


def _sql(text: str, refused: Refusal) -> Any:
    import sqlglot
    from sqlglot import errors, exp

    try:
        return sqlglot.parse_one(text, into=exp.Condition)
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError) as exc:
        # the parser ends by whichever of these where a text of allowed words makes no sense
        described = getattr(exc, "errors", None)
        where = f" at character {described[0]['col']}" if described and described[0].get("col") else ""
        raise refused(f"it makes no sense{where}; an example: income < 1000 and name is not null") from exc


_OPERATORS = {
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide", "Mod": "modulo", "EQ": "eq", "NEQ": "ne",
    "LT": "lt", "LTE": "le", "GT": "gt", "GTE": "ge", "And": "and", "Or": "or", "DPipe": "concat",
}  # fmt: skip
_FUNCTIONS = {
    "Abs": "abs", "Length": "length", "Lower": "lower", "Upper": "upper", "Year": "year", "Month": "month",
    "Day": "day", "Nullif": "nullif",
}  # fmt: skip
_HARMLESS = {"safe", "coalesce", "typed"}
"""Parts that the parser sets on its own, to true, and that mean nothing without others that are refused."""


def _parts(node: Any, refused: Refusal, *names: str) -> list[Any]:
    """Those parts of a node, which must be all it has; None where it has not."""
    there = {name: part for name, part in node.args.items() if part not in (None, False, []) and name not in names}
    others = {name for name, part in there.items() if part is not True or name not in _HARMLESS}
    if others:
        raise refused(f"{type(node).__name__.upper()} can't have {', '.join(sorted(others)).upper()} here")
    return [node.args.get(name) for name in names]


def _taken(node: Any, refused: Refusal, depth: int) -> Node:
    """The node as one of ours."""
    if depth > DEEPEST:
        raise refused(f"it is nested deeper than {DEEPEST}")
    name = type(node).__name__

    def inner(one: Any) -> Node:
        return _taken(one, refused, depth + 1)

    if name == "Paren":
        return _taken(_parts(node, refused, "this")[0], refused, depth)
    if name in ("And", "Or"):  # a chain of them is one node
        return Node(_OPERATORS[name], tuple(inner(one) for one in _chain(node, name, refused)))
    if name in _OPERATORS:
        return Node(_OPERATORS[name], tuple(map(inner, _parts(node, refused, "this", "expression"))))
    if name in _FUNCTIONS:
        given = _parts(node, refused, "this", *(["expression"] if name == "Nullif" else []))
        return Node(_FUNCTIONS[name], tuple(map(inner, given)))
    taken = _TAKEN.get(name)
    if taken is None:
        raise refused(f"{name.upper()} is not part of the language of conditions")
    return taken(node, refused, inner)


def _chain(node: Any, name: str, refused: Refusal) -> list[Any]:
    found: list[Any] = []
    left = [node]
    while left:
        one = left.pop()
        if type(one).__name__ == name:
            left += reversed(_parts(one, refused, "this", "expression"))
        else:
            found.append(one)
    return found


Inner = Callable[[Any], Node]


def _literal(node: Any, refused: Refusal, _: Inner) -> Node:
    text, quoted = _parts(node, refused, "this", "is_string")
    if quoted:
        return literal(text, TEXT)
    value: Any = float(text) if "e" in text.lower() else Decimal(text) if "." in text else int(text)
    return literal(value, _number_type(value, refused))


def _number_type(value: Any, refused: Refusal) -> Any:
    kind = literal_type(value)
    if kind is None or value == float("inf"):
        raise refused("it has a number of more than 38 digits, or too large a one")
    return kind


def _negated(node: Any, refused: Refusal, inner: Inner) -> Node:
    one = inner(_parts(node, refused, "this")[0])
    if one.op == "literal" and one.type.numeric:
        return literal(-one.value, _number_type(-one.value, refused))
    return Node("negate", (one,))


def _column(node: Any, refused: Refusal, _: Inner) -> Node:
    (name,) = _parts(node, refused, "this")
    if type(name).__name__ != "Identifier":
        raise refused("* means nothing here")
    return Node("column", (), _parts(name, refused, "this", "quoted")[0])


def _is(node: Any, refused: Refusal, inner: Inner) -> Node:
    one, what = _parts(node, refused, "this", "expression")
    if type(what).__name__ != "Null":
        raise refused("IS can be followed by NULL and NOT NULL only")
    return Node("is_null", (inner(one),))


def _not(node: Any, refused: Refusal, inner: Inner) -> Node:
    return Node("not", (inner(_parts(node, refused, "this")[0]),))


def _in(node: Any, refused: Refusal, inner: Inner) -> Node:
    one, others = _parts(node, refused, "this", "expressions")
    if not others:
        raise refused("IN needs a list of values in brackets")
    return Node("in", (inner(one), *map(inner, others)))


def _between(node: Any, refused: Refusal, inner: Inner) -> Node:
    return Node("between", tuple(map(inner, _parts(node, refused, "this", "low", "high"))))


def _like(node: Any, refused: Refusal, inner: Inner) -> Node:
    one, pattern, negate = _parts(node, refused, "this", "expression", "negate")
    if type(pattern).__name__ != "Literal" or not pattern.args.get("is_string"):
        raise refused("LIKE needs a pattern in single quotes")
    found = pattern.args["this"]
    if re.search(r"\\(?![%_\\])", found.replace("\\\\", "")):
        raise refused("a backslash in a pattern is followed by %, _ or another backslash")
    made = Node("like", (inner(one),), found)
    return Node("not", (made,)) if negate else made


def _case(node: Any, refused: Refusal, inner: Inner) -> Node:
    subject, branches, default = _parts(node, refused, "this", "ifs", "default")
    args: list[Node] = []
    for branch in branches:
        when, then = _parts(branch, refused, "this", "true")
        args += [Node("eq", (inner(subject), inner(when))) if subject is not None else inner(when), inner(then)]
    return Node("case", (*args, literal(None, NULL) if default is None else inner(default)))


def _cast(node: Any, refused: Refusal, _: Inner) -> Node:
    """``date '2024-05-01'``, and no other conversion."""
    text, to = _parts(node, refused, "this", "to")
    kind = {"DATE": DATE, "TIMESTAMP": TIMESTAMP}.get(getattr(to.args.get("this"), "name", ""))
    if kind is None or type(text).__name__ != "Literal" or not text.args.get("is_string"):
        raise refused("there are no conversions, but date '2024-05-01' and timestamp '2024-05-01T12:00:00Z'")
    try:
        return literal(read(kind, text.args["this"]), kind)
    except (ValueError, nm.InvalidValue):
        raise refused(f"{text.args['this']!r} is no {kind}") from None


def _trim(node: Any, refused: Refusal, inner: Inner) -> Node:
    one, position = _parts(node, refused, "this", "position")
    name = {None: "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[position]
    return Node(name, (inner(one),))


def _substring(node: Any, refused: Refusal, inner: Inner) -> Node:
    one, start, length = _parts(node, refused, "this", "start", "length")
    bounds = [inner(bound) for bound in (start, length) if bound is not None]
    if len(bounds) != 2 or not all(
        b.op == "literal" and b.type == INTEGER and 0 < b.value + at < 2**31 for at, b in enumerate(bounds)
    ):
        raise refused("substring needs a text, a first character from 1 on, and a length: substring(name, 1, 3)")
    return Node("substring", (inner(one),), (bounds[0].value, bounds[1].value))


def _concat(node: Any, refused: Refusal, inner: Inner) -> Node:
    return Node("concat", tuple(map(inner, _parts(node, refused, "expressions")[0])))


def _coalesce(node: Any, refused: Refusal, inner: Inner) -> Node:
    one, others = _parts(node, refused, "this", "expressions")
    return Node("coalesce", (inner(one), *map(inner, others or [])))


def _lookup(node: Any, refused: Refusal, _: Inner) -> Node:
    name, given = _parts(node, refused, "this", "expressions")
    texts = [one.args["this"] for one in given or [] if type(one).__name__ == "Literal" and one.args.get("is_string")]
    if str(name).lower() != "lookup" or len(texts) != len(given or []) or len(texts) < 2:
        raise refused("lookup needs the key of a row and a column, in single quotes: lookup('42', 'income')")
    return Node("lookup", (), Lookup(tuple(texts[:-1]), texts[-1]))


_TAKEN: dict[str, Callable[[Any, Refusal, Inner], Node]] = {
    "Literal": _literal, "Null": lambda *_: literal(None, NULL), "Neg": _negated, "Column": _column, "Is": _is,
    "Boolean": lambda node, *_: literal(bool(node.args["this"]), BOOLEAN), "Not": _not, "In": _in,
    "Between": _between, "Like": _like, "Case": _case, "Cast": _cast, "Trim": _trim, "Substring": _substring,
    "Concat": _concat, "Coalesce": _coalesce, "Anonymous": _lookup,
}  # fmt: skip


def _choices(node: Node) -> int:
    """How deep nodes that choose are nested."""
    inside = max(map(_choices, node.args), default=0)
    return inside + (node.op in ("case", "coalesce", "nullif"))
