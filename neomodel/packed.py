"""Rows as they are kept in memory, by the hundred thousand: most have the same columns as thousands of others.

A `PackedRow` is quick to read. What is kept for long is a *compact* row: one bytes object, of which single cells are
cut out. It begins with a number, two bytes, the lower one first, that stands for its `_Form`. Then come the ends of the
values that are its own, one byte each, or two if the number is odd, and these values.
"""

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import accumulate, count
from operator import itemgetter
from typing import Any

from neomodel.stores import Row

_MOST_SHAPES = 10_000
_MOST_FORMS = 1 << 15


class Shape(dict[bytes, int]):
    """Where the value of each column is, which all rows with these columns share."""

    __slots__ = ("alike", "forms", "own")

    def __init__(self, columns: tuple[bytes, ...]) -> None:
        super().__init__((column, at) for at, column in enumerate(columns, 1))
        self.forms: dict[tuple[bytes, ...], _Form] | None = None
        """Those of compact rows of this shape, by the values that `alike` gives; `own` gives the others."""
        self.alike = self.own = _values([])

    def divide(self, alike: Collection[bytes]) -> "dict[tuple[bytes, ...], _Form]":
        self.alike = _values([at for column, at in self.items() if column in alike])
        self.own = _values([at for column, at in self.items() if column not in alike])
        self.forms = {}
        return self.forms


def _values(places: list[int]) -> Callable[[Any], tuple[bytes, ...]]:
    return itemgetter(*places) if len(places) > 1 else lambda row: tuple([row[at] for at in places])


class PackedRow(tuple[Any, ...]):
    """The cells of a row, not to be changed: their shape, then the values. A third of what a dict takes. Loops may look
    into it: ``row[row[0][column]]``."""

    __slots__ = ()

    def get(self, column: bytes, default: Any = None) -> Any:
        at = self[0].get(column)
        return default if at is None else self[at]

    def cells(self) -> Row:
        return dict(zip(self[0], self[1:], strict=True))

    def __contains__(self, column: object) -> bool:
        return column in self[0]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self[0])

    def __len__(self) -> int:
        return len(self[0])

    def __bool__(self) -> bool:
        return bool(self[0])


class _Form:
    """What compact rows of one number have in common: their columns, and the values of some of these."""

    __slots__ = ("count", "number", "places", "shape")

    def __init__(self, number: int, shape: Shape, alike: Collection[bytes], values: tuple[bytes, ...]) -> None:
        self.number = number
        self.shape = shape
        own = [column for column in shape if column not in alike]
        self.count = len(own)
        known = zip((column for column in shape if column in alike), values, strict=True)
        self.places: dict[bytes, int | bytes] = {**{column: at for at, column in enumerate(own)}, **dict(known)}
        """Of each column, which of the row's own values it has, or the value that all have."""


Kept = Row | PackedRow | bytes
"""A row: as a store answered it, which is not to be changed, packed, or compact."""

FORM = slice(2)
"""What compact rows begin with: rows for which it is the same have the same columns, and the same values where most
are alike."""

_SHAPES: dict[tuple[bytes, ...], Shape] = {}
_FORMS: dict[int, _Form] = {}
_NUMBERS = count()


def pack(cells: Mapping[bytes, bytes]) -> PackedRow:
    return tuple.__new__(PackedRow, (_shape(tuple(cells)), *cells.values()))


def compact(row: PackedRow, alike: Collection[bytes], never: bytes) -> Kept:
    """The same row in a quarter of the memory, if it can be: it must not be large, nor have a value with `never` in it.
    Most rows with the same columns have the same values in those named `alike`, which are always the same ones."""
    shape: Shape = row[0]
    forms = shape.forms
    if forms is None:
        if len(_SHAPES) >= _MOST_SHAPES or len(_FORMS) >= _MOST_FORMS:
            return row
        forms = shape.divide(alike)
    values = shape.alike(row)
    form = forms.get(values)
    if form is None:
        number = next(_NUMBERS)  # to one thread alone, whoever else is here
        if number >= _MOST_FORMS:
            return row
        form = _FORMS[number] = _Form(2 * number, shape, alike, values)
        forms[values] = form
    own = shape.own(row)
    data = b"".join(own)
    ends = accumulate(map(len, own))
    if never in data or len(data) >= 1 << 16:
        return row
    if len(data) < 1 << 8:
        return b"%c%c%b%b" % (form.number & 255, form.number >> 8, bytes(ends), data)
    return b"%c%c%b%b" % (form.number & 255 | 1, form.number >> 8, array("H", ends).tobytes(), data)


def cell(row: Kept, column: bytes) -> bytes | None:
    """One cell of a row; None if there is none."""
    if type(row) is not bytes:
        return row.get(column)  # type: ignore[union-attr]
    number = row[0] | row[1] << 8
    form = _FORMS[number >> 1]
    at = form.places.get(column)
    if type(at) is not int:
        return at  # type: ignore[return-value]  # what all have alike, or None
    if number & 1:
        first = 2 + 2 * form.count
        ends = memoryview(row)[2:first].cast("H")
        return row[first + (ends[at - 1] if at else 0) : first + ends[at]]
    first = 2 + form.count
    return row[first + (row[at + 1] if at else 0) : first + row[at + 2]]


def expanded(row: Kept) -> PackedRow:
    """The same row, to look at more than one cell of it."""
    if type(row) is PackedRow:
        return row
    if type(row) is not bytes:
        return pack(row)  # type: ignore[arg-type]
    shape = _FORMS[(row[0] | row[1] << 8) >> 1].shape
    return tuple.__new__(PackedRow, (shape, *[cell(row, column) for column in shape]))


def _shape(columns: tuple[bytes, ...]) -> Shape:
    shape = _SHAPES.get(columns)
    if shape is None:
        shape = Shape(columns)
        if len(_SHAPES) < _MOST_SHAPES:
            _SHAPES[columns] = shape
    return shape
