"""neomodel on Apache Spark: models as DataFrames, one partition for each region."""

from spark.changes import follow
from spark.source import ModelSource, register

__all__ = ["ModelSource", "follow", "register"]
