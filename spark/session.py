"""The Spark of this process."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

from neomodel.errors import ClusterFailed

_known: "WeakKeyDictionary[SparkSession, dict[str, type[DataSource]]]" = WeakKeyDictionary()
_SHUFFLED = "spark.sql.shuffle.partitions"
_LOGGING = Path(__file__).with_name("log4j2.properties")


def session(what: str) -> SparkSession:
    """The one that there is, or a new one of that name, as its environment configures it.

    Raises `nm.ClusterFailed` if a JVM must be started for it and there is no Java, or none that Spark runs on.
    """
    from neomodel.cluster.java import WANTED, any_java  # not where workers load this module: they need no Java

    prepare()
    java = any_java() if _starts_java() else ""
    builder = SparkSession.builder.appName(what).config("spark.ui.showConsoleProgress", "false")  # commands tell better
    try:
        with uninterrupted():
            found = builder.getOrCreate()
    except PySparkRuntimeError as exc:
        if exc.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise ClusterFailed("start Spark with", java, "it ended at once, and said above why", WANTED) from exc
    context = found.sparkContext
    if str(context.master).startswith("local") and not context.getConf().contains(_SHUFFLED):
        found.conf.set(_SHUFFLED, context.defaultParallelism)  # 200 tasks on the few cores of one machine take seconds
    return found


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Lets Ctrl-C wait until the end of the block: a JVM that is only just starting would stay behind for ever, since
    PySpark ends only one that has answered."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals don't come here
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


def _starts_java() -> bool:
    """Whether a session needs a JVM that is not there: none of this process, of spark-submit or of Spark Connect."""
    elsewhere = {"PYSPARK_GATEWAY_PORT", "SPARK_REMOTE"} & os.environ.keys()
    return not elsewhere and SparkSession.getActiveSession() is None


def prepare() -> None:
    """Let a Spark that this process starts run its tasks with our Python, and say little of itself while it is well."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # where neomodel is; Spark would take any python3
    if not _logs_by_itself():
        os.environ.setdefault("LOG4J_CONFIGURATION_FILE", str(_LOGGING))  # Log4j reads its properties there, too


def _logs_by_itself() -> bool:
    """Whether somebody has configured what Spark logs, in the folder where that is done."""
    home, folder = os.environ.get("SPARK_HOME"), os.environ.get("SPARK_CONF_DIR")
    where = Path(folder) if folder else Path(home) / "conf" if home else None
    return where is not None and any(one.suffix != ".template" for one in where.glob("log4j2*"))


def know(session: SparkSession, *sources: type[DataSource]) -> None:
    """Let a session know data sources: each is registered once, since Spark warns of one that takes another's place."""
    known = _known.setdefault(session, {})
    for source in sources:
        if known.get(source.name()) is not source:
            session.dataSource.register(source)
            known[source.name()] = source
