"""A Spark of its own that writes, and in the midst of it something is killed: ``python -m tests.spark.killing``.

Arguments: the master, the store, what is killed (worker, executor, driver; with commas between if several), and a
folder for the marks that say that it was done. Half of the rows are new ones, the other half are ones that were there.
"""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from spark import ModelSource
from spark.options import Options
from spark.writing import ModelWriter, plan

ROWS = 4000
DEADLY_AT = 2
"""The batch of a partition at which it happens for the first time; then it is the next one's."""


def kill(victim: str, marks: str, driver: int) -> None:
    """In a Python worker: kill it, its executor, or the driver as well; once."""
    try:
        (Path(marks) / victim).touch(exist_ok=False)
    except FileExistsError:
        return
    daemon = os.getppid()
    jvm = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
    if victim in ("executor", "driver"):
        os.kill(jvm, signal.SIGKILL)
    if victim == "driver":
        os.kill(driver, signal.SIGKILL)
        os.kill(daemon, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


class DeadlyWriter(ModelWriter):
    """Kills something when it has written some batches, if nobody has done so before."""

    victims = ""
    marks = ""
    driver = 0

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Any:
        return super().write(self._deadly(iterator))

    def _deadly(self, iterator: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(iterator):
            for at, victim in enumerate(self.victims.split(","), DEADLY_AT):
                if number == at:
                    kill(victim, self.marks, self.driver)
            yield batch


class Deadly(ModelSource):
    @classmethod
    def name(cls) -> str:
        return "deadly"

    def writer(self, schema: Any, overwrite: bool) -> Any:
        given = dict(self.options)
        victims, marks, driver = (given.pop(name) for name in ("victims", "marks", "driver"))
        planned = plan(Options.writing(given), schema, overwrite=overwrite)
        made = DeadlyWriter(planned._store, planned._kind, planned.job)
        made.victims, made.marks, made.driver = victims, marks, int(driver)
        return made


def own_session(master: str) -> SparkSession:
    """A Spark that may be killed: it is nobody else's."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "200",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
    }
    builder = SparkSession.builder.master(master).appName("neomodel tests that kill")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(master: str, store: str, victims: str, marks: str) -> None:
    session = own_session(master)
    session.dataSource.register(Deadly)
    number = f.col("id")
    frame = session.range(0, ROWS, numPartitions=3).select(
        f.when(number % 2 == 0, f.format_string("old%05d", number)).alias("_id"),
        f.concat(f.lit("n"), number).alias("name"),
        number.cast("int").alias("number"),
    )
    options = {"store": store, "model": "m", "type": "Thing", "victims": victims, "marks": marks}
    frame.write.format("deadly").mode("append").options(**options, driver=str(os.getpid())).save()
    session.stop()
    (Path(marks) / "finished").touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
