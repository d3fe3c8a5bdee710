"""Where things are measured: one local HBase for all benchmarks of a run, which are given it empty; Sparks; folders."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from pyspark.sql import SparkSession

import neomodel as nm
import spark
from benchmarks.measure import QUICK, sized
from neomodel import cluster
from neomodel.stores import open_store
from spark.session import prepare

SETTINGS = sized("settling=10", "settling=1&regions=2")
"""Of HBase: seconds after which a time is stable, and regions of a new table, each of which takes a while."""


@contextmanager
def hbase(servers: int = 1) -> Iterator[str]:
    """The URL of an empty HBase; what is left in it goes away."""
    url = _running(servers)
    try:
        yield url
    finally:
        with open_store(url) as store, ThreadPoolExecutor() as pool:  # HBase takes half a second to drop one
            list(pool.map(lambda name: store.table(name).drop(), store.tables()))


@cache
def _running(servers: int) -> str:
    """Started once: it takes 20 s. Times are stable after seconds, not a minute: nobody writes from elsewhere."""
    folder = tempfile.mkdtemp(prefix="neomodel-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    started = cluster.up(folder, servers=servers)
    atexit.register(cluster.down, folder)
    return f"{started.url}&{SETTINGS}"


@contextmanager
def lmdb() -> Iterator[nm.Repository]:
    """A repository in a folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="neomodel-bench-") as folder, nm.connect(f"lmdb:{folder}/db") as repository:
        yield repository


@contextmanager
def session(cores: int = 2, **more: str) -> Iterator[SparkSession]:
    """A Spark with so many cores, that knows our formats; `more` are settings, with _ where Spark has a dot.

    Each has one of its own, but for a quick run: there all have the same, and only one number of cores.
    """
    prepare()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {"spark.ui.enabled": "false", "spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in (settings | {f"spark.{name.replace('_', '.')}": value for name, value in more.items()}).items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    spark.register(found)
    try:
        yield found
    finally:
        if not QUICK:
            found.stop()
