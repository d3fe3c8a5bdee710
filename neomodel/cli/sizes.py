"""What a table holds, counted in one pass that streams: a row that is too wide for memory is counted all the same."""

from collections import Counter
from collections.abc import Callable, Iterator
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import attrs

from neomodel import ids, layout
from neomodel.stores import Region, Row, Table

UNITS = ("rows", "cells", "bytes")
_WIDE = layout.EXTENT.encode() + b":"


@attrs.frozen
class Sizes:
    """What was counted."""

    regions: list[tuple[Region, dict[str, int]]]
    """Each with its figures, by unit."""
    classes: "Counter[tuple[bytes, bytes]]"
    """Objects, by the namespace and name of their class."""
    containments: "Counter[bool]"
    """Objects that lie in another, by whether both ids are of one shard. Roots lie in none."""

    @property
    def total(self) -> dict[str, int]:
        return {unit: sum(size[unit] for _, size in self.regions) for unit in UNITS}

    @property
    def inside(self) -> float | None:
        """The share of containments within one shard; None if there are none."""
        return self.containments[True] / self.containments.total() if self.containments else None

    def largest_over_mean(self, unit: str) -> float | None:
        """How much larger than the mean region the largest is; None if all are empty."""
        total = self.total[unit]
        return max(size[unit] for _, size in self.regions) * len(self.regions) / total if total else None


class _Piece(NamedTuple):
    """Cells of a row: all that are read with an object, or one that is not."""

    key: bytes
    row: Row
    cells: int
    size: int


def count(table: Table, advance: Callable[[int], None], *, at: int | None = None) -> Sizes:
    """Count what is in a table, be it a model or not, now or as of a time. One scan for each region, and one more of
    what is too much to be read with an object. `advance` is told of every thousand rows."""
    counted = Sizes([], Counter(), Counter())
    families = {family.encode() + b":" for family in table.families()}
    for region in table.regions():
        size = dict.fromkeys(UNITS, 0)
        for key, pieces in groupby(_pieces(table, region, families, at), key=itemgetter(0)):
            size["rows"] += 1
            size["bytes"] += len(key)
            for piece in pieces:
                size["cells"] += piece.cells
                size["bytes"] += piece.size
                _count_object(counted, piece)
            if size["rows"] % 1000 == 0:
                advance(1000)
        counted.regions.append((region, size))
    return counted


def _pieces(table: Table, region: Region, families: set[bytes], at: int | None) -> Iterator[_Piece]:
    narrow, wide = families - {_WIDE}, families & {_WIDE}
    return merge(
        (_narrow(key, row) for key, row in table.scan(region.start, region.stop, at=at, columns=narrow)),
        _wide(table, region, wide, at) if wide else (),
        key=itemgetter(0),
    )


def _narrow(key: bytes, row: Row) -> _Piece:
    return _Piece(key, row, len(row), sum(len(column) + len(value) for column, value in row.items()))


def _wide(table: Table, region: Region, columns: set[bytes], at: int | None) -> Iterator[_Piece]:
    """Cell by cell: the only read of many rows that does not hold each of them whole tells all versions."""
    versions = table.history(region.start, region.stop, columns=columns, until=at)
    for (key, column), found in groupby(versions, key=itemgetter(0, 1)):
        newest = next(found).value
        if newest is not None:
            yield _Piece(key, {}, 1, len(column) + len(newest))


def _count_object(counted: Sizes, piece: _Piece) -> None:
    key, row = piece.key, piece.row
    if layout.ECLASS not in row or key == ids.ROOT.encode():
        return
    counted.classes[row.get(layout.NSURI, b""), row[layout.ECLASS]] += 1
    container = row.get(layout.CONTAINER)
    if container is not None and container != ids.ROOT.encode():
        shard = _shard(key)
        counted.containments[shard is not None and shard == _shard(container)] += 1


def _shard(key: bytes) -> str | None:
    return ids.shard_of(key.decode(errors="replace"))
