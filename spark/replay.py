"""The history of a range of rows as changes of objects, in the order of their times: the task of a micro-batch.

History comes by key. So the changes of an object are put together as its versions come by: the row as it was before is
read, 2,000 at a time, and what was written at each time is applied to it. What each time left of the row, as far as it
is wanted, is a record; these are sorted by time (`sorting`). Held at a time are the versions of 2,000 objects, of fewer
if they have many, at least those of one; what `sorting` holds; and one Arrow batch.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby, islice
from operator import attrgetter
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from neomodel import ids, layout
from neomodel.errors import InvalidValue
from neomodel.kinds import EClass, EFeature
from neomodel.model import Model
from neomodel.stores import Row, Table
from neomodel.stores.blocks import ROWS, Block
from spark.columns import CLASS, ID, Column, Page, columns_of
from spark.reading import Classes, Reading
from spark.sorting import in_order

TIME, CHANGE = "_time", "_change"
CREATED, CHANGED, DELETED = "created", "changed", "deleted"

_KEYS = 2000  # objects whose rows are read in one call
_VERSIONS = 50_000  # or fewer, if they have so many versions
_OVERHEAD = 300  # bytes that a record takes beside its cells
_ROOT = ids.ROOT.encode()

Written = dict[int, dict[bytes, bytes | None]]
"""The cells that were written to a row, by time; of those that are not wanted, the time alone."""
Record = tuple[int, bytes, str, Row]
"""Time, key, what happened, and the row as that left it; if it is gone, what it was."""


class Replay:
    """What happened to the objects of a class from after `since` up to `until`; for one process.

    The metamodel is that of the `reading`, whose time is not before `until`: what was written before is read by it, as
    objects are.
    """

    def __init__(self, reading: Reading, schema: StructType, since: int, until: int) -> None:
        self._table: Table = reading.snapshot.table
        self._model = reading.snapshot.open()
        self._since, self._until = since, until
        self._schema = to_arrow_schema(schema, timezone="UTC")
        self._columns = _columns(reading, schema)
        self._classes = Classes(reading.snapshot, reading.kind())
        self._cells = {*self._classes.cells, *(cell for one in self._columns for cell in one.cells)}

    def batches(self, start: bytes, stop: bytes | None) -> Iterator[pa.RecordBatch]:
        """The changes of the objects in a range of keys. The history of the range is read once, and what was before
        in one call for each 2,000 objects; long collections that are wanted are read one by one."""
        records = in_order((record, _size(record)) for record in self._records(start, stop))
        while some := list(islice(records, ROWS)):
            yield self._batch(some)

    def _records(self, start: bytes, stop: bytes | None) -> Iterator[Record]:
        for page in self._pages(start, stop):
            before = self._table.get_many(page, at=self._since, columns=self._cells) if self._since else {}
            for key, written in page.items():
                yield from self._changes(key, before.get(key, {}), written)

    def _pages(self, start: bytes, stop: bytes | None) -> Iterator[dict[bytes, Written]]:
        """What was written to rows, some rows at a time."""
        page: dict[bytes, Written] = {}
        count = 0
        versions = self._table.history(start, stop, since=self._since, until=self._until)
        for key, found in groupby(versions, key=attrgetter("key")):
            if key == _ROOT:
                continue
            written = page[key] = {}
            for _, column, time, value in found:
                cells = written.setdefault(time, {})
                count += 1
                if column in self._cells:
                    cells[column] = value
            if len(page) == _KEYS or count >= _VERSIONS:
                yield page
                page, count = {}, 0
        if page:
            yield page

    def _changes(self, key: bytes, row: Row, written: Written) -> Iterator[Record]:
        wanted = self._classes.wanted
        was = wanted(row)
        for time in sorted(written):
            before, row = row, _after(row, written[time])
            now = wanted(row)
            if now:
                yield time, key, CHANGED if was else CREATED, row
            elif was:
                yield time, key, DELETED, {layout.ECLASS: before[layout.ECLASS]}
            was = now

    def _batch(self, records: list[Record]) -> pa.RecordBatch:
        whole = _Moments(self._model, records, self._cells, (self._until, self._since))
        there = [record for record in records if record[2] != DELETED]
        alive = (
            whole
            if len(there) == len(records)
            else _Moments(self._model, there, self._cells, (self._until, self._since))
        )
        numbers = iter(range(len(there)))
        places = pa.array([None if record[2] == DELETED else next(numbers) for record in records], pa.int64())
        made: dict[str, Any] = {
            TIME: [record[0] for record in records],
            CHANGE: [record[2] for record in records],
        }
        arrays = [pa.array(made[name], self._schema.field(name).type) for name in (TIME, CHANGE)]
        for column in self._columns:
            kind = self._schema.field(column.name).type
            if alive is whole or column.name in (ID, CLASS):
                arrays.append(column.build(whole, kind))
            else:
                arrays.append(column.build(alive, kind).take(places))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


class _Moments(Page):
    """Rows each as of a time of its own."""

    def __init__(self, model: Model, records: list[Record], cells: set[bytes], ends: tuple[int, int]) -> None:
        super().__init__(model, Block.of([(record[1], record[3]) for record in records], cells))
        self._times = [record[0] for record in records]
        self._ends = ends

    def long(self, number: int, feature: EFeature, cell: bytes) -> Iterable[Any]:
        return self._long(self.model.at(self._times[number]), number, feature, cell)

    @cached_property
    def containers(self) -> list[EClass | None]:
        """The class of an object never changes: it is looked for as of the end, then as of the beginning, and of what
        came and went in between, as of the times at which something was in it."""
        table = self.model.repository.store.table(self.model.name)
        named = self.cells(layout.CONTAINER)
        found: dict[bytes, Row] = {}
        missing = {key: time for key, time in zip(named, self._times, strict=True) if key and key != _ROOT}
        for time in (*self._ends, *sorted(set(missing.values()))):
            if wanted := [key for key, met in missing.items() if time in (met, *self._ends)]:
                found |= table.get_many(sorted(wanted), at=time, columns=layout.TYPE)
                missing = {key: met for key, met in missing.items() if key not in found}
        rows = [None if key is None else found.get(key) for key in named]
        return [None if row is None or layout.ECLASS not in row else self.model.kind_of(row) for row in rows]


def _columns(reading: Reading, schema: StructType) -> list[Column]:
    """The columns of a schema, but those of the change itself; refused if the metamodel has changed them since."""
    known = {one.name: one for one in columns_of(reading.kind(), exact=reading.exact)}
    names = [name for name in schema.names if name not in (TIME, CHANGE)]
    for name in names:
        if name not in known or known[name].type != schema[name].dataType:
            expected = f"{known[name].type.simpleString() if name in known else 'gone'} since; load the stream anew"
            raise InvalidValue(f"the type of column {name!r}", schema[name].dataType.simpleString(), expected)
    return [known[name] for name in names]


def _after(row: Row, written: dict[bytes, bytes | None]) -> Row:
    merged = {**row, **written}
    return {column: value for column, value in merged.items() if value is not None}


def _size(record: Record) -> int:
    return _OVERHEAD + sum(map(len, record[3].values()))
