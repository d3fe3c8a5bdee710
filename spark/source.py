"""The data source ``neomodel``: models in Spark's SQL."""

from collections.abc import MutableMapping

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from neomodel.errors import InvalidValue
from spark.changes import ChangeReader, Following, Refusal
from spark.columns import schema_of
from spark.edges import SCHEMAS, GraphReader
from spark.elsa import ElsaSource
from spark.folder_queue import FolderSource
from spark.options import ROWS, Options
from spark.reading import ModelReader, Reading
from spark.sentences import one_sentence
from spark.session import know
from spark.snapshots import Snapshot
from spark.writing import ModelWriter, plan


class ModelSource(DataSource):
    """``session.dataSource.register(ModelSource)``, then ``session.read.format("neomodel").options(...).load()``.

    Options: `store`, `model`; `type`, a class, without which all objects come with the columns that all have; `as_of`,
    a time, without which the stable one is taken once, when `load` is called, so that all that is done with the
    DataFrame is about one state of the model; `columns`, to read no others; `exact`, see `columns`; `view`, to have
    the ``vertices`` or the ``edges`` of all objects instead, see `graph`.

    ``session.readStream.format("neomodel")`` gives the changes of a model, see `changes`: `since` a time, ``stable`` or
    ``creation``, which must be given, since by it a stream is told from what is read once; `span`, seconds, the most
    that a micro-batch takes in; `ordered`, false for one partition for each region instead of one for all.
    """

    @classmethod
    def name(cls) -> str:
        return "neomodel"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._reading: Reading | None = None
        self._view = ROWS
        self._following: Following | None = None

    @one_sentence()
    def schema(self) -> StructType:
        if Options.stream(self.options):
            self._following = Following.asked(Options.streaming(self.options))
            return self._following.schema()
        options = Options.reading(self.options)
        snapshot = Snapshot.taken(options.store, options.model, options.as_of, unstable=options.flag("unstable"))
        columns, self._view = options.columns, options.view
        self._reading = Reading(
            snapshot, options.type, None if columns is None else tuple(columns), exact=options.flag("exact")
        )
        if self._view == ROWS:
            return schema_of(self._reading.made())
        options.without("type", "columns", "exact", why=f"none with view {self._view}, which has all objects")
        return SCHEMAS[self._view]

    @one_sentence()
    def reader(self, schema: StructType) -> ModelReader | GraphReader:
        if self._following is not None:
            raise InvalidValue(
                "a batch read of format neomodel", "one with options of a stream", "readStream, or as_of"
            )
        if self._reading is None:
            raise InvalidValue("a schema for format neomodel", schema.simpleString(), "none: the metamodel has it")
        if self._view != ROWS:
            return GraphReader(self._reading.snapshot, self._view, schema)
        return ModelReader(self._reading, schema)

    def streamReader(self, schema: StructType) -> ChangeReader | Refusal:  # noqa: N802  Spark's name
        if self._following is None:
            expected = "a time, stable, or creation for all changes there were"
            return Refusal(InvalidValue("option since of a stream", None, expected))
        return ChangeReader(self._following, schema)

    @one_sentence()
    def writer(self, schema: StructType, overwrite: bool) -> ModelWriter:
        return plan(Options.writing(self.options), schema, overwrite=overwrite)


def register(session: SparkSession) -> None:
    """Let a session know the formats ``neomodel``, and hand its filters down to where rows are read, ``elsa``, and the
    queue ``elsa-folder``. ``elsa-kafka`` needs a client that is an extra: register `kafka_queue.KafkaSource`."""
    know(session, ModelSource, ElsaSource, FolderSource)
    session.conf.set("spark.sql.python.filterPushdown.enabled", "true")
