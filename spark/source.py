"""The data source ``neomodel``: models in Spark's SQL."""

from collections.abc import MutableMapping

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from neomodel.errors import InvalidValue
from spark.columns import schema_of
from spark.options import Options
from spark.reading import ModelReader, Reading
from spark.sentences import one_sentence
from spark.snapshots import Snapshot
from spark.writing import ModelWriter, plan


class ModelSource(DataSource):
    """``session.dataSource.register(ModelSource)``, then ``session.read.format("neomodel").options(...).load()``.

    Options: `store`, `model`; `type`, a class, without which all objects come with the columns that all have; `as_of`,
    a time, without which the stable one is taken once, when `load` is called, so that all that is done with the
    DataFrame is about one state of the model; `columns`, to read no others; `exact`, see `columns`.
    """

    @classmethod
    def name(cls) -> str:
        return "neomodel"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._reading: Reading | None = None

    @one_sentence()
    def schema(self) -> StructType:
        options = Options.reading(self.options)
        snapshot = Snapshot.taken(options.store, options.model, options.as_of, unstable=options.flag("unstable"))
        columns = options.columns
        self._reading = Reading(
            snapshot, options.type, None if columns is None else tuple(columns), exact=options.flag("exact")
        )
        return schema_of(self._reading.made())

    @one_sentence()
    def reader(self, schema: StructType) -> ModelReader:
        if self._reading is None:
            raise InvalidValue("a schema for format neomodel", schema.simpleString(), "none: the metamodel has it")
        return ModelReader(self._reading, schema)

    @one_sentence()
    def writer(self, schema: StructType, overwrite: bool) -> ModelWriter:
        return plan(Options.writing(self.options), schema, overwrite=overwrite)


def register(session: SparkSession) -> None:
    """Let a session know the format ``neomodel``, and hand its filters down to where rows are read."""
    session.dataSource.register(ModelSource)
    session.conf.set("spark.sql.python.filterPushdown.enabled", "true")
