"""One Spark for all tests of a run, on this machine, started by the first that asks for it."""

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from spark import ModelSource


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    """Two cores in this machine's own Spark, that knows our format."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").appName("neomodel tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.dataSource.register(ModelSource)
    try:
        yield found
    finally:
        found.stop()
