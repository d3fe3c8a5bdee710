"""neomodel on Apache Spark."""
