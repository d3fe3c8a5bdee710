"""The Spark of this process."""

import os
import sys

from pyspark.sql import SparkSession


def session(what: str) -> SparkSession:
    """The one that there is, or a new one of that name, as its environment configures it."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # where neomodel is; Spark would take any python3
    builder = SparkSession.builder.appName(what).config("spark.ui.showConsoleProgress", "false")  # commands tell better
    return builder.getOrCreate()
