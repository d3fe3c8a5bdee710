"""neomodel on Apache Spark: models as DataFrames, one partition for each region."""

from spark.elements import Elements, elements
from spark.source import ModelSource, register

__all__ = ["Elements", "ModelSource", "elements", "register"]
