"""One Spark for all tests of a run, on this machine, started by the first that asks for it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import neomodel as nm
from neomodel import sharing
from neomodel.stores import lmdb_file
from spark import ElsaSource, ModelSource
from spark.session import know
from tests.spark.people import people
from tests.spark.things import things
from tests.workers import only


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Close what a test has opened and left open, for itself and for tasks that it ran: each LMDB file takes a part of
    the address space, which has room for a hundred or so."""
    before = set(lmdb_file._files)
    yield
    while sharing._shared:
        sharing._shared.popitem()[1].close()
    for folder in set(lmdb_file._files) - before:
        left = lmdb_file._files[folder]
        while left.users:
            left.close()


@pytest.fixture
def model(tmp_path: Path) -> nm.Model:
    """An empty model in a store of its own, that knows things and people."""
    repo = nm.connect(f"lmdb:{tmp_path}/db")
    repo.register(things, people)
    return repo.create("m")


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Two cores in this machine's own Spark, that knows our format."""
    only("spark", tmp_path_factory)
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").appName("neomodel tests")
    settings = {
        "spark.driver.memory": "2g",  # a message of 100 MB is in it several times
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    know(found, ModelSource, ElsaSource)
    try:
        yield found
    finally:
        found.stop()
