"""neomodel on Apache Spark: models as DataFrames, one partition for each region."""

from spark.changes import follow
from spark.elements import Elements, elements
from spark.graph import Graph, graph
from spark.source import ModelSource, register

__all__ = ["Elements", "Graph", "ModelSource", "elements", "follow", "graph", "register"]
