"""Models on Spark."""
