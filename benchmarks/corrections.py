"""A step with manual actions beside the same step without, as a pipeline runs it: rows generated, computed, sorted,
written and put on record. And both beside Spark's own way to write Parquet, where little else takes time."""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import neomodel as nm
import spark
from benchmarks.measure import WARMING, Figure, Figures, Measured, show, sized
from benchmarks.places import session as spark_session
from metamodels import anna, elsa
from metamodels.anna.actions import Action
from metamodels.anna.applying import APPLIED, NO_TARGET, NOT_MET
from metamodels.anna.operations import Operation

ROWS, ACTIONS = sized((10_000_000, 100_000), (100_000, 1_000))
WARM = 5  # rows for each action, in a first round that is checked
WANTED = 1.5
_OPERATIONS = [("multiply", 10), ("add", 5), ("set", 1234)]


def _step(session: SparkSession, rows: int) -> DataFrame:
    """People with incomes: `income` is ten times the remainder of the number by 1,000."""
    number = F.col("id")
    return session.range(0, rows, 1, 8).select(
        number,
        F.concat(F.lit("person "), number.cast("string")).alias("name"),
        (number % 97).cast("int").alias("department"),
        (number % 1000 * 10).cast("int").alias("income"),
        (number * 7 % 100_003 / 100).cast("decimal(12,2)").alias("bonus"),
        F.sqrt(number.cast("double")).alias("score"),
        F.date_add(F.lit("2020-01-01").cast("date"), (number % 1500).cast("int")).alias("since"),
    )


def _actions(rows: int, count: int) -> list[Action]:
    """Every hundredth row has one, and of a hundred of those two preconditions don't hold, and one row is missing."""
    made = []
    for number in range(count):
        row, kind = number * (rows // count), number % 100
        income = row % 1000 * 10
        target = rows + number if kind == 99 else row
        precondition = f"income {'<>' if kind in (97, 98) else '='} {income} and department < 100"
        column = ("income", "bonus", "income")[number % 3]
        operation = Operation(*_OPERATIONS[number % 3])
        made.append(
            Action(
                f"a{number}",
                "p",
                "1",
                "s",
                (str(target),),
                column,
                1000,
                number,
                0,
                operation,
                precondition,
                "Ann",
                "benchmark",
            )
        )
    return made


@contextmanager
def _runs(session: SparkSession, rows: int, actions: list[Action], folder: Path) -> Iterator[spark.Pipeline]:
    """A process of one step, and the actions on it on record."""
    process = anna.Process("p")
    schema = "id long, name string, department int, income int, bonus decimal(12,2), score double, since date"
    process.step(key="id", schema=schema, name="s")(lambda: _step(session, rows))
    names = ("id", "run", "step", "row", "column", "operation", "precondition", "who", "why", "event")
    with nm.connect(f"lmdb:{folder / 'db'}") as repo:
        elsa.open(repo)
        told = anna.open(repo).actions("p")
        told.add_many([{name: getattr(one, name) for name in names} for one in actions])
        yield spark.Pipeline(process, repo, folder, session=session)


def _in_a_pipeline(session: SparkSession, rows: int, count: int, *, checked: bool) -> list[tuple[float, float]]:
    """Seconds of the step and of the whole run, first of one that knows no actions, then of one that knows all."""
    times = []
    with tempfile.TemporaryDirectory() as name, _runs(session, rows, _actions(rows, count), Path(name)) as process:
        for known in (1, 2000):
            began = time.perf_counter()
            run = process.run(actions=(known, None))
            times.append((run.step("s").seconds, time.perf_counter() - began))
        assert run.counts() == _expected(count), run.counts()
        if checked:
            _check(rows, count, process.frame(1, "s"), process.frame(2, "s"))
    return times


def _in_spark(session: SparkSession, rows: int, count: int) -> tuple[float, float]:
    """Seconds of writing rows, and of writing them corrected, and counting outcomes."""
    actions = _actions(rows, count)
    with tempfile.TemporaryDirectory() as name:
        began = time.perf_counter()
        _step(session, rows).write.parquet(f"{name}/plain")
        between = time.perf_counter()
        done = spark.corrected(_step(session, rows), ["id"], actions)
        done.marked.write.parquet(f"{name}/marked")
        _, outcomes = done.split(session.read.parquet(f"{name}/marked"))
        found = {row["outcome"]: row["count"] for row in outcomes.groupBy("outcome").count().collect()}
        ended = time.perf_counter()
    assert found == _expected(count), found
    return between - began, ended - between


def _expected(count: int) -> dict[str, int]:
    return {APPLIED: count * 97 // 100, NOT_MET: count * 2 // 100, NO_TARGET: count // 100}


def _check(rows: int, count: int, plain: DataFrame, corrected: DataFrame) -> None:
    """Or it is no result."""
    changed = plain.join(corrected, plain.columns, "left_anti").count()
    unchanged = sum(1 for n in range(0, count, 3) if n % 100 < 97 and n * (rows // count) % 1000 == 0)  # 0 * 10
    unchanged += sum(1 for n in range(2, count, 3) if n % 100 < 97 and n * (rows // count) % 1000 * 10 == 1234)
    assert changed == _expected(count)[APPLIED] - unchanged, (changed, unchanged)


def report(rows: int = ROWS, count: int = ACTIONS) -> list[Measured]:
    with spark_session(driver_memory="4g", sql_shuffle_partitions="4") as session:
        if WARMING:
            _in_a_pipeline(session, WARM * count, count, checked=True)
            _in_spark(session, WARM * count, count)
        (step, run), (step_with, run_with) = _in_a_pipeline(session, rows, count, checked=not WARMING)
        bare, bare_with = _in_spark(session, rows, count)
    figures = [
        Figure(f"a step of {rows:,} rows, in a pipeline", f"{step:.1f} s"),
        Figure(
            f"the same with {count:,} actions, and outcomes",
            f"{step_with:.1f} s: {step_with / step:.2f} times",
            f"at most {WANTED}",
            step_with / step <= WANTED,
        ),
        Figure("the run of that step, actions read and all on record", f"{run:.1f} s"),
        Figure("the same with actions", f"{run_with:.1f} s: {run_with / run:.2f} times"),
        Figure("rows written by Spark, and nothing else", f"{bare:.1f} s"),
        Figure("the same with actions, and outcomes", f"{bare_with:.1f} s: {bare_with / bare:.2f} times"),
    ]
    return [Figures("Manual actions on Spark, local[2]", figures)]


if __name__ == "__main__":
    show(report(*map(int, sys.argv[1:])))
