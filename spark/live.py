"""The objects of a class in the tasks of a job: live and lazy, as of one time, a partition for each part of the model.

A task scans its part once, and knows its rows from then on: to go from object to object inside it costs no call. What
lies outside is read for many objects at a time; how much that was is told by `Elements.reads`.
"""

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs
from pyspark import RDD, Accumulator
from pyspark.sql import SparkSession

from neomodel.errors import InvalidValue
from neomodel.kinds import EClass
from neomodel.metamodel import ANYTHING, TypeName
from neomodel.model import Model
from neomodel.prefilling import ROWS, prefilled
from neomodel.times import STABLE, Time
from spark.partitions import Part, parts_of
from spark.reads import Counter, Reads, Watched
from spark.sentences import one_sentence
from spark.snapshots import Snapshot


def elements(
    session: SparkSession,
    model: Model | Snapshot,
    cls: Any,
    *,
    as_of: Time | str = STABLE,
    rows: int = ROWS,
) -> "Elements":
    """The objects of a class, its subclasses included, of a model as of a time; that of a live model is taken here,
    once. The class is given itself, as its EClass, or by its name, as in option `type` of the data source.

    Each task keeps up to so many `rows` of its part in memory, about half a kilobyte for a small one. In a larger part
    what is beyond them is scanned as well, but read again, 500 rows in a call, where objects lead to it; that counts as
    read, so `reads.local` is then more than the model has.
    """
    if not isinstance(rows, int) or rows < 0:
        raise InvalidValue("rows to keep in a task", rows, "a number, 0 or more")
    snapshot = Snapshot.of(model, as_of)
    task = Task(snapshot, _type(snapshot, cls), rows)
    parts = parts_of(snapshot.table)
    context = session.sparkContext
    counts = context.accumulator(0), context.accumulator(0)
    local, remote = counts
    spread = context.parallelize(parts, len(parts))
    return Elements(spread.mapPartitions(lambda some: task(some, Counter(local.add, remote.add))), snapshot, counts)


@attrs.frozen(eq=False)
class Elements:
    """Objects by partitions.

    They belong to the task that read them. Those that are sent on, to another task or to the driver, are objects of the
    same state of the model there, and read their rows anew, 500 in a call.
    """

    rdd: "RDD[Any]"
    snapshot: Snapshot
    _counts: "tuple[Accumulator[int], Accumulator[int]]"

    def map(self, f: Callable[[Any], Any]) -> "RDD[Any]":
        """What a function makes of each object."""
        return self.rdd.map(f)

    def map_partitions(self, f: Callable[[Iterable[Any]], Iterable[Any]]) -> "RDD[Any]":
        """What a function makes of the objects of each part, all at once."""
        return self.rdd.mapPartitions(f)

    @property
    def reads(self) -> Reads:
        """The rows that the tasks of all actions so far have read."""
        local, remote = self._counts
        return Reads(local.value, remote.value)


@attrs.frozen
class Task:
    """Which objects to make of a part; goes to every task."""

    snapshot: Snapshot
    type: TypeName
    rows: int

    def __call__(self, parts: Iterable[Part], counter: Counter) -> Iterator[Any]:
        for part in parts:
            gc.collect()  # a model is a cycle: what the last task of this process knew would stay for a while
            with one_sentence():
                model = self.snapshot.open()
                watched = Watched(model.repository.store, model.name, part, counter)
                own = model.repository.apart(model, watched)  # another task of this process has its own
                yield from prefilled(own, self.type, part.start, part.stop, rows=self.rows)


def _type(snapshot: Snapshot, cls: Any) -> TypeName:
    """The class's name that all processes know it by; `FeatureNotFound` if it was not registered at that time."""
    if isinstance(cls, str):
        return snapshot.kind(cls).type_name
    kind = cls if isinstance(cls, EClass) else getattr(cls, "eClass", None)
    if not isinstance(kind, EClass):
        raise InvalidValue(
            "a class of a metamodel", cls, "one of a registered package, such as java.Package, or a name"
        )
    return kind.type_name if kind.type_name == ANYTHING else snapshot.kind(str(kind.type_name)).type_name
