"""Rows by column: some of the rows of a scan, with all cells of a column in one Arrow array; and versions by column.

Who wants columns of many rows (a DataFrame does) is spared a dict for each of them, and a store that can fill arrays
without making Python objects of cells may do so.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from neomodel.stores.base import Mutation, Row, Version

ROWS = 8192
"""Rows in a block, about, where a store has no reason to choose another number."""

VERSIONS = pa.schema(
    [
        pa.field("key", pa.binary(), nullable=False),
        pa.field("column", pa.binary(), nullable=False),
        pa.field("time", pa.int64(), nullable=False),
        pa.field("value", pa.binary()),
    ]
)
"""Versions of cells, by column; the value of a tombstone is null."""

CELLS = pa.schema([field for field in VERSIONS if field.name != "time"])
"""Cells to be written, by column."""

_FIRST = 1024  # rows: by them one can tell whether to go on


@attrs.frozen(eq=False)
class Block:
    """Some rows: their keys, and of each column their cells, null where a row has none; all of type binary."""

    keys: Any
    cells: dict[bytes, Any]

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def of(cls, rows: Collection[tuple[bytes, Row]], columns: Iterable[bytes]) -> "Block":
        """These columns of rows that are there one by one."""
        return cls.made([key for key, _ in rows], {column: [row.get(column) for _, row in rows] for column in columns})

    @classmethod
    def made(cls, keys: list[bytes], cells: dict[bytes, list[bytes | None]]) -> "Block":
        """Of keys and cells in lists; rows without any are left out."""
        found = cls(
            pa.array(keys, pa.binary()), {column: pa.array(listed, pa.binary()) for column, listed in cells.items()}
        )
        if all(one.null_count for one in found.cells.values()):
            return found.kept(reduce(pc.or_, (one.is_valid() for one in found.cells.values())))
        return found

    def kept(self, wanted: Any) -> "Block":
        """Those rows for which an array of booleans says so."""
        return Block(self.keys.filter(wanted), {column: cells.filter(wanted) for column, cells in self.cells.items()})

    def rows(self) -> Iterator[tuple[bytes, Row]]:
        """The rows one by one."""
        columns = [(column, cells.to_pylist()) for column, cells in sorted(self.cells.items())]
        for at, key in enumerate(self.keys.to_pylist()):
            yield key, {column: cells[at] for column, cells in columns if cells[at] is not None}


def blocks_of(rows: Iterator[tuple[bytes, Row]], columns: Collection[bytes]) -> Iterator[Block]:
    """A scan in blocks."""
    size = _FIRST
    while some := list(islice(rows, size)):
        yield Block.of(some, columns)
        size = ROWS


def versions_of(versions: Iterator[Version]) -> Iterator[Any]:
    """Versions in record batches."""
    while some := list(islice(versions, ROWS)):
        columns = zip(*some, strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, VERSIONS, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=VERSIONS)


def cells_of(keys: Sequence[bytes], columns: Sequence[bytes], values: Sequence[bytes | None]) -> Any:
    """Cells in a record batch."""
    arrays = [pa.array(some, pa.binary()) for some in (keys, columns, values)]
    return pa.RecordBatch.from_arrays(arrays, schema=CELLS)


def singles(cells: Iterable[Any]) -> Iterator[Mutation]:
    """What writes cells that are in record batches, each by itself."""
    for block in cells:
        for key, column, value in zip(*(part.to_pylist() for part in block.columns), strict=True):
            yield Mutation(key, {column: value})


def mutations_of(versions: Iterable[Any]) -> Iterator[Mutation]:
    """What writes versions that are in record batches, each at its own time."""
    for block in versions:
        last: bytes | None = None
        times: dict[int, dict[bytes, bytes | None]] = {}
        for key, column, time, value in zip(*(part.to_pylist() for part in block.columns), strict=True):
            if key != last:
                if last is not None:
                    yield from (Mutation(last, cells, then) for then, cells in times.items())
                last, times = key, {}
            cells = times.get(time)
            if cells is None:
                times[time] = {column: value}
            else:
                cells[column] = value
        if last is not None:
            yield from (Mutation(last, cells, then) for then, cells in times.items())


def without(versions: Iterable[Any], keys: Collection[bytes]) -> Iterator[Any]:
    """Versions in record batches, but for those of some rows."""
    if not keys:
        yield from versions
        return
    listed = pa.array(sorted(keys), pa.binary())
    for block in versions:
        left = block.filter(pc.invert(pc.is_in(block.column(0), listed)))
        if len(left):
            yield left
