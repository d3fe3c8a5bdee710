"""The Spark of this process."""

import os
import sys
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

_known: "WeakKeyDictionary[SparkSession, dict[str, type[DataSource]]]" = WeakKeyDictionary()
_SHUFFLED = "spark.sql.shuffle.partitions"


def session(what: str) -> SparkSession:
    """The one that there is, or a new one of that name, as its environment configures it."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # where neomodel is; Spark would take any python3
    builder = SparkSession.builder.appName(what).config("spark.ui.showConsoleProgress", "false")  # commands tell better
    found = builder.getOrCreate()
    context = found.sparkContext
    if str(context.master).startswith("local") and not context.getConf().contains(_SHUFFLED):
        found.conf.set(_SHUFFLED, context.defaultParallelism)  # 200 tasks on the few cores of one machine take seconds
    return found


def know(session: SparkSession, *sources: type[DataSource]) -> None:
    """Let a session know data sources: each is registered once, since Spark warns of one that takes another's place."""
    known = _known.setdefault(session, {})
    for source in sources:
        if known.get(source.name()) is not source:
            session.dataSource.register(source)
            known[source.name()] = source
