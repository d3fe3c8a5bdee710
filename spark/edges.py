"""A model as a graph: a DataFrame of vertices and one of edges, with the columns that GraphFrames looks for.

Every object is a vertex, and every entry of a reference that is stored, containment too, is an edge from the object
that holds it. The edges of containment are what containers list; in which container an object lies is told by the
vertex, and after a crash, until a repair, that alone is right. For a small model there is `neomodel.to_networkx`.
"""

from collections.abc import Iterator

import attrs
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSourceReader
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BooleanType, IntegerType, StringType, StructField, StructType

from neomodel import ids, layout
from neomodel.document_order import pages_of
from neomodel.kinds import EClass, EFeature
from neomodel.model import Model
from neomodel.stores import Row
from neomodel.stores.blocks import ROWS
from neomodel.times import STABLE, Time
from spark.columns import CLASS, CONTAINER, FEATURE, ID, Page, columns_of
from spark.options import EDGES, VERTICES
from spark.partitions import Part, parts_of
from spark.reading import Classes
from spark.sentences import one_sentence
from spark.session import know
from spark.snapshots import Snapshot

SCHEMAS = {
    VERTICES: StructType(
        [
            StructField("id", StringType(), nullable=False),
            StructField("class", StringType(), nullable=False),
            StructField("container", StringType()),
            StructField("feature", StringType()),
        ]
    ),
    EDGES: StructType(
        [
            StructField("src", StringType(), nullable=False),
            StructField("dst", StringType(), nullable=False),
            StructField("feature", StringType(), nullable=False),
            StructField("containment", BooleanType(), nullable=False),
            StructField("index", IntegerType(), nullable=False),
        ]
    ),
}
_ROOT = ids.ROOT.encode()


@attrs.frozen
class Graph:
    """A model as of a time. `vertices`: `id`, `class`, and for what is no root `container` and `feature`. `edges`:
    `src`, `dst`, which is ``@model/id`` in another model and begins with ``@?`` in a file that is in none, `feature`,
    `containment`, and `index`, the place in the collection, 0 where there is but one."""

    vertices: DataFrame
    edges: DataFrame


def graph(session: SparkSession, model: Model | Snapshot, *, as_of: Time | str = STABLE) -> Graph:
    """Vertices and edges of one state of a model; of a live one, the time is taken here, once."""
    from spark.source import ModelSource  # which knows of this module

    snapshot = Snapshot.of(model, as_of)
    know(session, ModelSource)
    options = {"store": snapshot.store, "model": snapshot.model, "as_of": str(snapshot.at)}
    reader = session.read.format(ModelSource.name()).options(**options, unstable=str(snapshot.unstable).lower())
    return Graph(*(reader.option("view", view).load() for view in (VERTICES, EDGES)))


class GraphReader(DataSourceReader):
    """Plans partitions in the driver, and reads one of the two views in tasks."""

    def __init__(self, snapshot: Snapshot, view: str, schema: StructType) -> None:
        self._snapshot = snapshot
        self._view = view
        self._schema = schema

    @one_sentence()
    def partitions(self) -> list[Part]:
        return parts_of(self._snapshot.table)

    def read(self, partition: Part) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        with one_sentence():
            views = {VERTICES: _vertices, EDGES: _edges}
            yield from views[self._view](self._snapshot, partition, to_arrow_schema(self._schema, timezone="UTC"))


def _vertices(snapshot: Snapshot, part: Part, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    columns = columns_of(None, (ID, CLASS, CONTAINER, FEATURE))
    cells = {cell for column in columns for cell in column.cells}
    model, classes = snapshot.open(), Classes(snapshot, None)
    for block in snapshot.table.blocks(cells, part.start, part.stop, at=snapshot.at):
        page = Page(model, classes.kept(block))
        arrays = [one.build(page, field.type) for one, field in zip(columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _edges(snapshot: Snapshot, part: Part, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """As many calls as a scan of the references takes, and one or a few for each collection that outgrew its cell."""
    model = snapshot.open()
    references: dict[EClass, list[EFeature]] = {}
    found = _Edges(schema)
    for key, row in _objects(snapshot, part, _reference_cells(snapshot)):
        kind = model.kind_of(row)
        if kind not in references:
            references[kind] = _references(kind)
        for feature in references[kind]:
            index = 0
            for tokens in pages_of(model, key, row, feature) if feature.column in row else ():
                found.add(key, tokens, feature, index)
                index += len(tokens)
                if len(found) >= ROWS:
                    yield found.batch()
    if len(found):
        yield found.batch()


class _Edges:
    """Edges on their way into a batch."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._begin()

    def _begin(self) -> None:
        self._sources: list[bytes] = []
        self._targets: list[bytes] = []
        self._features: list[str] = []
        self._containments: list[bool] = []
        self._indices: list[int] = []

    def __len__(self) -> int:
        return len(self._sources)

    def add(self, source: bytes, targets: list[bytes], feature: EFeature, index: int) -> None:
        count = len(targets)
        self._sources += [source] * count
        self._targets += targets
        self._features += [feature.name] * count
        self._containments += [feature.containment] * count
        self._indices += range(index, index + count)

    def batch(self) -> pa.RecordBatch:
        """All that were added since the last one."""
        made = (self._sources, self._targets, self._features, self._containments, self._indices)
        texts = [pa.array(values, pa.binary()).cast(pa.string()) for values in made[:2]]
        arrays = [*texts, *(pa.array(values) for values in made[2:])]
        self._begin()
        typed = [array.cast(field.type) for array, field in zip(arrays, self._schema, strict=True)]
        return pa.RecordBatch.from_arrays(typed, schema=self._schema)


def _objects(snapshot: Snapshot, part: Part, cells: set[bytes]) -> Iterator[tuple[bytes, Row]]:
    rows = snapshot.table.scan(part.start, part.stop, at=snapshot.at, columns=cells)
    return ((key, row) for key, row in rows if layout.ECLASS in row and key != _ROOT)


def _reference_cells(snapshot: Snapshot) -> set[bytes]:
    """The cells that some class has a reference in, and those that tell the class."""
    return {layout.ECLASS, layout.NSURI} | {one.column for kind in snapshot.kinds() for one in _references(kind)}


def _references(kind: EClass) -> list[EFeature]:
    return [feature for feature in kind.features.values() if feature.reference and feature.stored]
