"""neomodel on Apache Spark: models as DataFrames, one partition for each region."""

from spark.jobs import Job
from spark.source import ModelSource, register
from spark.writing import undo, unfinished_jobs

__all__ = ["Job", "ModelSource", "register", "undo", "unfinished_jobs"]
