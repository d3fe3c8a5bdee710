"""A stream that ends up in files, one for each micro-batch, so that who reads them sees what came in which order.

Also a program, to be killed: a driver of its own that follows a model for as long as it lives.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import StreamingQuery

import spark


def started(frame: DataFrame, folder: Path, **trigger: Any) -> StreamingQuery:
    """A query on a stream of changes with its checkpoint and its files in a folder."""
    (folder / "rows").mkdir(parents=True, exist_ok=True)

    def keep(batch: DataFrame, number: int) -> None:
        rows = [json.dumps(row.asDict()) for row in batch.withColumn("_time", f.unix_micros("_time")).collect()]
        partial = folder / f"{number}.partial"
        partial.write_text("\n".join(rows))
        os.replace(partial, folder / "rows" / f"{number:09}")  # the same one, if it comes again

    writer = frame.writeStream.option("checkpointLocation", str(folder / "checkpoint")).foreachBatch(keep)
    return writer.trigger(**trigger).start() if trigger else writer.start()


def kept(folder: Path) -> list[dict[str, Any]]:
    """All rows that came, in order."""
    files = sorted((folder / "rows").iterdir())
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def main(store: str, folder: str) -> None:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "OFF").getOrCreate()
    spark.register(session)
    frame = spark.follow(session, store, "m", type="Thing", columns="_id, name, number, _container", span="1")
    query = started(frame, Path(folder))
    print("started", flush=True)
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
