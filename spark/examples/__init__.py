"""Published queries, each in two ways: as plain Python over objects, and as a job of Spark over DataFrames."""
