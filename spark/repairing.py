"""Repairs on Spark: each task repairs what its part of the model has, as it finds it."""

import gc
import time
from collections.abc import Iterable, Iterator
from typing import Any

import attrs
from pyspark.sql import SparkSession

from neomodel.errors import InvalidValue
from neomodel.model import Model
from neomodel.rules.definition import Transformation
from neomodel.rules.in_place import Repairs, repair_part
from neomodel.rules.running import bound
from neomodel.times import STABLE
from spark.partitions import Part, parts_of
from spark.sentences import one_sentence
from spark.snapshots import Snapshot


def repair(session: SparkSession, transformation: Transformation, model: Model, *, as_of: Any = STABLE) -> Repairs:
    """As `neomodel.repair`, with the tasks of a Spark. A task that runs twice finds repaired what it has repaired."""
    if model.as_of is not None:
        raise InvalidValue("a model to repair", f"one as of {model.as_of}", "one that can be changed")
    began = time.monotonic()
    work = Work(Snapshot.of(model, as_of), transformation)
    bound(transformation, work.snapshot.open(), model.repository)  # what can't be right is told here
    parts = parts_of(work.snapshot.table)
    found = session.sparkContext.parallelize(parts, len(parts)).mapPartitions(work.repair).collect()
    applied: dict[str, int] = {}
    for counts, _ in found:
        for rule, count in counts.items():
            applied[rule] = applied.get(rule, 0) + count
    return Repairs(applied, sum(seen for _, seen in found), time.monotonic() - began)


@attrs.frozen(eq=False)
class Work:
    """What every task is told."""

    snapshot: Snapshot
    transformation: Transformation

    def repair(self, parts: Iterable[Part]) -> Iterator[tuple[dict[str, int], int]]:
        for part in parts:
            gc.collect()
            with one_sentence():
                snapshot = self.snapshot.open()
                plan = bound(self.transformation, snapshot, snapshot.repository)
                live = Model(snapshot.repository, snapshot.name, None)
                yield repair_part(plan, snapshot, live, part.start, part.stop)
