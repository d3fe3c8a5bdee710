"""neomodel on Apache Spark: models as DataFrames, one partition for each region."""

from spark.source import ModelSource, register

__all__ = ["ModelSource", "register"]
