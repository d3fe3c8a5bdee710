"""Rows as they are kept in memory, by the hundred thousand: most have the same columns as thousands of others."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from neomodel.stores import Row

_SHAPES: dict[tuple[bytes, ...], dict[bytes, int]] = {}
_MOST_SHAPES = 10_000


class PackedRow(tuple[Any, ...]):
    """The cells of a row, not to be changed: where the value of each column is, which all rows with these columns
    share, then the values. A third of what a dict takes. Loops may look into it: ``row[row[0][column]]``."""

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


def pack(cells: Mapping[bytes, bytes]) -> PackedRow:
    return tuple.__new__(PackedRow, (_shape(tuple(cells)), *cells.values()))


def packed(rows: Iterable[Mapping[bytes, bytes]], alike: Collection[bytes]) -> list[PackedRow]:
    """Rows that came in one answer, which share the values of those columns in which many are alike."""
    found = []
    same: dict[bytes, bytes] = {}
    share, new = same.setdefault, tuple.__new__
    shapes: dict[tuple[bytes, ...], tuple[dict[bytes, int], list[int]]] = {}
    for row in rows:
        columns = tuple(row)
        known = shapes.get(columns)
        if known is None:
            shape = _shape(columns)
            known = shapes[columns] = shape, [shape[column] for column in alike if column in shape]
        values: list[Any] = [known[0], *row.values()]
        for at in known[1]:
            value = values[at]
            values[at] = share(value, value)
        found.append(new(PackedRow, values))
    return found


def _shape(columns: tuple[bytes, ...]) -> dict[bytes, int]:
    shape = _SHAPES.get(columns)
    if shape is None:
        shape = {column: at for at, column in enumerate(columns, 1)}
        if len(_SHAPES) < _MOST_SHAPES:
            _SHAPES[columns] = shape
    return shape
