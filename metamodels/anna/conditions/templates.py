"""Many conditions that differ by numbers and texts only, typed once.

A person writes ``income = 900`` for one row and ``income = 1200`` for the next. Their words with the numbers and texts
left open are a *template*; what it means is found by one of them, with marks in the open places, which are looked for
in the typed tree. That costs a look at the words for each further one, instead of a parser; and if only the numbers and
texts differ, and not a space, a look for these: its *sketch* was seen before.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import attrs

import neomodel as nm
from metamodels.anna.conditions.nodes import Node
from metamodels.anna.conditions.parsing import parsed
from metamodels.anna.conditions.typed import Typing
from metamodels.anna.conditions.words import LONGEST, Refusal, words
from metamodels.anna.types import BOOLEAN, Type

_CLOSED = ("like", "date", "timestamp")
"""Words after which a text is more than a value."""
_WHOLE = {"lookup", "substring"}
"""Functions whose arguments are more than values."""
_LITERAL = re.compile(r"""("(?:[^"]|"")+"|'(?:[^']|'')*'|(?<![\w.])(?:\d{1,9}\.\d{1,6}|\d{1,18})(?![\w.]))""")
"""Texts and numbers that may be in open places; and quoted names, since what looks like one may be inside."""


@attrs.frozen
class Shape:
    """A typed tree with parameters in the place of values. Equal ones are the same object, of one `Templates`."""

    root: Node = attrs.field(eq=False)
    number: int


@attrs.frozen
class _Meaning:
    """What a template means: a shape, and where its parameters come from: an open place of the template, to be negated
    or not, or a value that is always the same."""

    shape: Shape
    sources: tuple[tuple[int | None, Any], ...]


Template = tuple[str, ...]


class Templates:
    """The templates of conditions over rows with these columns."""

    def __init__(self, types: Mapping[str, Type]) -> None:
        self._types = types
        self._known: dict[Template, _Meaning | nm.InvalidCondition] = {}
        self._sketches: dict[Template, _Meaning] = {}
        self._shapes: dict[Node, Shape] = {}

    def shaped(self, text: str) -> tuple[Shape, tuple[Any, ...]] | None:
        """The shape of a condition, and the values of its parameters; None if it is of no template, since it looks up
        cells, or has numbers of unusual length. `InvalidCondition` if it is none."""
        sketch, values = _sketched(text)
        meaning = self._sketches.get(sketch)
        if meaning is None or not _sound(text):
            found = self._read(text)
            if found is None:
                return None
            meaning, read = found
            if read == values:  # so it will be in all texts of this sketch
                self._sketches[sketch] = meaning
            values = read
        return meaning.shape, tuple(
            [
                constant if place is None else -values[place] if constant else values[place]
                for place, constant in meaning.sources
            ]
        )

    def _read(self, text: str) -> tuple[_Meaning, list[Any]] | None:
        """What a text means, and the values in its open places, word by word."""
        refused = Refusal(text)
        there = words(text, refused)
        found = _open(there)
        if found is None:
            return None
        template, values = found
        meaning = self._known.get(template)
        if meaning is None:
            meaning = self._known[template] = self._meaning(_marked(there, values), values)
        if isinstance(meaning, nm.InvalidCondition):
            self._typed(text)  # which says it with the values of this text
            raise refused(meaning.reason)
        return meaning, values

    def shape(self, root: Node) -> Shape:
        """The one shape of a tree."""
        return self._shapes.setdefault(root, Shape(root, len(self._shapes)))

    def _meaning(self, marked: str, values: list[Any]) -> _Meaning | nm.InvalidCondition:
        from metamodels.anna.conditions import Condition

        try:
            root, parameters = Condition(marked, self._typed(marked)).lifted()
        except nm.InvalidCondition as exc:
            return exc
        return _Meaning(self.shape(root), tuple(_source(value, values) for value in parameters))

    def _typed(self, text: str) -> Node:
        typing = Typing(text, self._types)
        return typing.expected(typing(parsed(text)), BOOLEAN)


def _source(value: Any, values: list[Any]) -> tuple[int | None, Any]:
    for place, one in enumerate(values):
        mark = _mark(place, one)
        if isinstance(value, str) != isinstance(mark, str) or isinstance(value, bool | None):
            continue
        if isinstance(value, float):
            mark = float(mark)
        if value == mark:
            return place, False
        if not isinstance(mark, str) and value == -mark:
            return place, True
    return None, value


def _sketched(text: str) -> tuple[Template, list[Any]]:
    """A text in pieces, with the values in what may be its open places taken out, and these."""
    pieces = _LITERAL.split(text)
    values: list[Any] = []
    for at in range(1, len(pieces), 2):
        word = pieces[at]
        if word[0] != '"' and not pieces[at - 1].rstrip().lower().endswith(_CLOSED):
            value, size = _value("text" if word[0] == "'" else "number", word)
            assert size is not None
            pieces[at] = size
            values.append(value)
    return tuple(pieces), values


def _sound(text: str) -> bool:
    """Whether no value in it can be the reason to refuse it."""
    try:
        return len(text) <= LONGEST and "\0" not in text and bool(text.encode())
    except UnicodeEncodeError:
        return False


def _open(found: list[tuple[str, str]]) -> tuple[Template, list[Any]] | None:
    """The template of words, and the values in its open places."""
    template: list[str] = []
    values: list[Any] = []
    before = ""
    for kind, word in found:
        if kind == "word" and word.lower() in _WHOLE:
            return None
        if _is_open(kind, before):
            value, size = _value(kind, word)
            if size is None:
                return None
            template.append(size)
            values.append(value)
        else:
            template.append(word)
        before = word
    return tuple(template), values


def _is_open(kind: str, before: str) -> bool:
    return (kind == "number" or kind == "text") and before.lower() not in _CLOSED


def _marked(found: list[tuple[str, str]], values: list[Any]) -> str:
    """The words as a text, with marks in the open places."""
    marks = (_written(_mark(place, value)) for place, value in enumerate(values))
    befores = ["", *(word for _, word in found)]
    return " ".join(
        next(marks) if _is_open(kind, before) else word for before, (kind, word) in zip(befores, found, strict=False)
    )


def _value(kind: str, word: str) -> tuple[Any, str | None]:
    """A value, and what its type depends on; None if that is more than this module knows."""
    if kind == "text":
        return word[1:-1].replace("''", "'"), "'"
    if len(word) <= 18 and word.isdecimal():
        number = int(word)
        return number, "0" if number < 10**9 else "0000000000"
    whole, _, rest = word.partition(".")
    if whole.isdecimal() and rest.isdecimal() and 0 < len(rest) <= 6 and len(whole) <= 9:
        return Decimal(word), f"0.{len(rest)}"
    return word, None


def _mark(place: int, value: Any) -> Any:
    """A value of the same type that nobody writes."""
    if isinstance(value, str):
        return f"\1{place}\2"
    if isinstance(value, int):
        return 912_345_000 + place if value < 10**9 else 912_345_678_912_345_000 + place
    _, _, exponent = value.as_tuple()
    return Decimal((0, tuple(map(int, str(912_345_678_000 + place))), exponent))


def _written(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else format(value, "f") if isinstance(value, Decimal) else str(value)
