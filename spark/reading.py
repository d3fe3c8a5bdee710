"""The objects of a class as Arrow batches: the task of one partition, and the plan for all of them.

Where not every row of the range is wanted, because it is of another class or does not pass a filter, the cells that
tell are read first, and the rest of a row only if it is: by key where few are wanted, in a scan where many are. What
share it is, is seen as one goes along.
"""

from collections.abc import Generator, Iterator
from functools import reduce

import attrs
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSourceReader, Filter
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from neomodel import ids, layout
from neomodel.kinds import EClass
from neomodel.metamodel import ANYTHING
from neomodel.model import Model
from neomodel.stores import Row
from neomodel.stores.blocks import ROWS, Block
from spark.columns import Column, Page, columns_of, schema_of
from spark.filters import Conditions
from spark.partitions import Part, parts_of
from spark.sentences import one_sentence
from spark.snapshots import Snapshot

_FEW = 8  # by key, if not more than one in so many is wanted
_ROOT = ids.ROOT.encode()


@attrs.frozen
class Reading:
    """What is read: the objects of a class, or all, with some columns, of a model as of a time."""

    snapshot: Snapshot
    type: str | None = None
    columns: tuple[str, ...] | None = None
    exact: bool = False

    def kind(self) -> EClass | None:
        return None if self.type is None else self.snapshot.kind(self.type)

    def made(self) -> list[Column]:
        return columns_of(self.kind(), self.columns, exact=self.exact)


class ModelReader(DataSourceReader):
    """Plans partitions in the driver, and reads them in tasks."""

    def __init__(self, reading: Reading, schema: StructType) -> None:
        self._reading = reading
        self._schema = schema
        self._conditions = Conditions()

    @property
    def pushFilters(self) -> "_Push":  # noqa: N802  Spark's name
        return _Push(self)

    @one_sentence()
    def heed(self, filters: list[Filter]) -> None:
        """Leave out rows that don't pass, as far as can be told before they are read."""
        columns = columns_of(self._reading.kind(), exact=self._reading.exact)
        self._conditions = Conditions.of(filters, {one.name: one for one in columns})

    @one_sentence()
    def partitions(self) -> list[Part]:
        found = self._conditions
        return parts_of(self._reading.snapshot.table, found.start, found.stop, found.keys) or [
            Part(b"\0", b"\0", keys=[])
        ]

    def read(self, partition: Part) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        with one_sentence():
            yield from Task(self._reading, self._schema, self._conditions).batches(partition)


class _Push:
    """Takes filters for a reader. Spark refuses readers that take any unless its setting
    ``spark.sql.python.filterPushdown.enabled`` is on, which it is not by default; so this looks like what readers have
    that take none, and is called only where it is on."""

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader: ModelReader) -> None:
        self._reader = reader

    def __call__(self, filters: list[Filter]) -> list[Filter]:
        self._reader.heed(filters)
        return filters


class Task:
    """Reads parts of a model; for one process."""

    def __init__(self, reading: Reading, schema: StructType, conditions: Conditions) -> None:
        self.model: Model = reading.snapshot.open()
        self._table, self._at = reading.snapshot.table, reading.snapshot.at
        self._conditions = conditions
        kind = reading.kind()
        everything = {one.name: one for one in columns_of(kind, exact=reading.exact)}
        self._columns = [everything[name] for name in schema.names]
        self._schema = to_arrow_schema(schema, timezone="UTC")
        self._tested = [everything[name] for name in sorted(conditions.names)]
        self._tested_types = to_arrow_schema(schema_of(self._tested), timezone="UTC")
        self._classes = Classes(reading.snapshot, kind)
        self._heads = {*self._classes.cells, *(cell for one in self._tested for cell in one.cells)}
        self._cells = self._heads | {cell for one in self._columns for cell in one.cells}

    def batches(self, part: Part) -> Iterator[pa.RecordBatch]:
        """The rows of a part that are wanted. About one call for each 8,192, and one more where some are not."""
        for block in self._blocks(part):
            page = Page(self.model, block)
            arrays = [one.build(page, field.type) for one, field in zip(self._columns, self._schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _blocks(self, part: Part) -> Iterator[Block]:
        if part.keys is not None:
            for first in range(0, len(part.keys), ROWS):
                yield from self._chosen(self._get(part.keys[first : first + ROWS]))
            return
        if self._heads == self._cells or (self._classes.all and not self._tested):
            yield from self._full(part.start, part.stop, None)
            return
        start: bytes | None = part.start
        while start is not None:
            start = yield from self._thin(start, part.stop)
            if start is not None:
                start = yield from self._full(start, part.stop, _FEW * 2)

    def _full(self, start: bytes, stop: bytes | None, fewest: int | None) -> Generator[Block, None, bytes | None]:
        """Read rows whole; goes on until less than one in `fewest` is wanted, and returns where."""
        for read in self._table.blocks(self._cells, start, stop, at=self._at):
            found = 0
            for block in self._chosen(read):
                found += len(block)
                yield block
            if fewest is not None and found * fewest < len(read):
                return _after(read)
        return None

    def _thin(self, start: bytes, stop: bytes | None) -> Generator[Block, None, bytes | None]:
        """Read first what tells whether a row is wanted; goes on until more than one in `_FEW` is; returns where."""
        wanted: list[bytes] = []
        for read in self._table.blocks(self._heads, start, stop, at=self._at):
            found = [key for block in self._chosen(read) for key in block.keys.to_pylist()]
            if len(found) * _FEW > len(read):
                yield from self._ready(wanted)
                yield from self._full(read.keys[0].as_py(), _after(read), None)
                return _after(read)
            wanted += found
            if len(wanted) >= ROWS:
                yield from self._ready(wanted)
                wanted = []
        yield from self._ready(wanted)
        return None

    def _ready(self, keys: list[bytes]) -> Iterator[Block]:
        if keys:
            yield self._get(keys)

    def _get(self, keys: list[bytes]) -> Block:
        return Block.of(self._table.get_many(keys, at=self._at, columns=self._cells).items(), self._cells)

    def _chosen(self, read: Block) -> Iterator[Block]:
        """Those rows that are of the class and pass the tests, if there are any."""
        kept = self._classes.kept(read)
        if self._tested and len(kept):
            page, types = Page(self.model, kept), self._tested_types
            arrays = {one.name: one.build(page, types.field(one.name).type) for one in self._tested}
            kept = kept.kept(self._conditions.passed(arrays))
        if len(kept):
            yield kept


def _after(block: Block) -> bytes:
    """The first key that may come after a block."""
    last: bytes = block.keys[-1].as_py()
    return last + b"\0"


class Classes:
    """Which rows are of a class, or of one of its subclasses: by the name alone where only one class has that name."""

    def __init__(self, snapshot: Snapshot, wanted: EClass | None) -> None:
        self.all = wanted is None or wanted.type_name == ANYTHING
        kinds = snapshot.kinds()
        named: dict[bytes, list[EClass]] = {}
        for kind in kinds:
            named.setdefault(kind.name.encode(), []).append(kind)
        mine = [kind for kind in kinds if wanted is not None and wanted.type_name in kind.names]
        clear = all(len(named[kind.name.encode()]) == 1 for kind in mine)
        self.cells = (layout.ECLASS,) if self.all or clear else (layout.ECLASS, layout.NSURI)
        self._names = {kind.name.encode() for kind in mine}
        self._full_names = None if clear else {(kind.name.encode(), kind.ePackage.nsURI.encode()) for kind in mine}

    def wanted(self, row: Row) -> bool:
        """Whether a row is."""
        name = row.get(layout.ECLASS)
        if self.all:
            return name is not None
        return name in self._names if self._full_names is None else (name, row.get(layout.NSURI)) in self._full_names

    def kept(self, read: Block) -> Block:
        """Those rows that are."""
        names = read.cells[layout.ECLASS]
        if self.all:
            found = pc.and_(pc.is_valid(names), pc.not_equal(read.keys, _ROOT))
        elif self._full_names is None:
            found = pc.is_in(names, value_set=pa.array(self._names, pa.binary()))
        else:
            of = read.cells[layout.NSURI]
            pairs = (pc.and_(pc.equal(names, name), pc.equal(of, ns_uri)) for name, ns_uri in self._full_names)
            found = reduce(pc.or_, pairs).fill_null(False)
        return read if pc.all(found).as_py() else read.kept(found)
