"""neomodel on Apache Spark: models as DataFrames, one partition for each region."""

from spark.changes import follow
from spark.elements import Elements, elements
from spark.elsa import ElsaSource, lookup
from spark.graph import Graph, graph
from spark.jobs import Job
from spark.repairing import repair
from spark.session import session
from spark.source import ModelSource, register
from spark.transforming import SparkEngine, transform
from spark.writing import undo, unfinished_jobs

__all__ = [
    "Elements",
    "ElsaSource",
    "Graph",
    "Job",
    "ModelSource",
    "SparkEngine",
    "elements",
    "follow",
    "graph",
    "lookup",
    "register",
    "repair",
    "session",
    "transform",
    "undo",
    "unfinished_jobs",
]
