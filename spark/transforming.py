"""Transformations on Spark: each task applies the rules to its part of the source, and writes what they make of it.

Results lie in the shards of their sources, so a task writes to the regions that lie as its own part does. What results
of different parts say of one another goes through one shuffle, by these parts, and is settled there; how much
that is, `Run.settled` tells. Tasks that run twice write the same rows. Once settling has begun no part is written
again: a part that Spark asks for once more, since what it handed on was lost, only tells it anew.
"""

import gc
import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import attrs
from pyspark import Accumulator
from pyspark.sql import SparkSession

from neomodel.errors import RuleFailed
from neomodel.garbage import settled
from neomodel.model import Model
from neomodel.rules.circles import circles, stored
from neomodel.rules.definition import Transformation
from neomodel.rules.part import Member, Message, Said, Tally, Unplaced
from neomodel.rules.part import Part as Applied
from neomodel.rules.reads import WatchedModel
from neomodel.rules.running import Outcome, Task, bound, counted, in_order
from neomodel.rules.running import transform as run_by
from neomodel.rules.runs import APPLYING, Run, Runs, Token
from neomodel.rules.settling import Settling, list_roots
from neomodel.sharing import shared
from spark.partitions import Part, parts_of
from spark.reads import Counter, Watched
from spark.sentences import one_sentence
from spark.snapshots import Snapshot
from spark.telling import Merged, Telling

_BUNDLE = 5_000  # messages
_PARTS = 8
"""Parts that one task settles, at most: to begin a task takes longer than to settle most parts."""


def transform(session: SparkSession, transformation: Transformation, source: Model, target: str, **options: Any) -> Run:
    """As `neomodel.transform`, with the tasks of a Spark: the same rows, whatever the number of regions."""
    return run_by(transformation, source, target, engine=SparkEngine(session), **options)


class SparkEngine:
    """Does the parts of a run in the tasks of a Spark."""

    name = "spark"

    def __init__(self, session: SparkSession) -> None:
        self._context = session.sparkContext

    def __call__(self, task: Task) -> Outcome:
        runs = Runs(task.target.repository.store)
        attempt = runs.begin(task.target.name)
        work = Work(
            Snapshot.of(task.source),
            task.target.name,
            task.plan.transformation,
            task.token,
            task.constants,
            max(task.patience, 1),  # what tasks raise Spark would try again
            task.recording,
            attempt,
        )
        tallies = self._context.accumulator({}, Merged())
        parts = parts_of(task.source.table)
        starts = [part.start for part in parts][1:]  # results lie as their sources do
        spread = self._context.parallelize(parts, len(parts))
        messages = spread.mapPartitions(lambda some: work.apply(some, tallies.add))
        if any(one.rule.mode == "grouped" for one in task.plan.matching):
            messages = messages.persist()
            groups = messages.flatMap(_membership).groupByKey(len(parts))
            grouped = groups.mapPartitions(lambda some: work.apply_groups(some, tallies.add))
            messages = messages.union(grouped)
        dealt = messages.mapPartitions(lambda some: _dealt(some, starts)).partitionBy(len(parts), int)
        dealt = dealt.coalesce(max(self._context.defaultParallelism, -(-len(parts) // _PARTS)))
        with Telling(_telling(task.progress, tallies, len(parts))):
            settled = dealt.mapPartitions(work.settle).collect()
        found = [tallies.value[key] for key in sorted(tallies.value)]
        failures = [failure for tally in found for failure in tally.failures]
        if failures and not task.patience:
            raise failures[0]
        if failures:
            return Outcome(found)
        contradictions = [failure for part in settled for failure in part.failures]
        if not contradictions:
            contradictions = circles({oid for part in settled for oid in part.nested}, stored(task.target))
        if contradictions and not task.patience:
            raise contradictions[0]
        if contradictions:
            found[-1].failures += contradictions
            return Outcome(found)
        roots = heapq.merge(*(part.roots for part in settled))
        listed = list_roots(task.target, (Unplaced(oid, order) for order, oid in roots), task.token.row_version)
        runs.end(task.target.name)
        return Outcome(found, sum(part.count for part in settled), listed, sum(part.shared for part in settled))


@attrs.frozen
class Settled:
    """What a task has settled: how many results, how many of them others may have made too, and which roots it knows
    of, in their order; or why it could not. And from which results there may be circles of containers."""

    count: int
    shared: int
    roots: list[tuple[str, str]]
    failures: list[RuleFailed]
    nested: set[str]


@attrs.frozen(eq=False)
class Work:
    """What every task is told of a run."""

    source: Snapshot
    target: str
    transformation: Transformation
    token: Token
    constants: dict[str, Any]
    patience: int
    recording: bool
    attempt: str

    def apply(self, parts: Iterable[Part], tell: Callable[[Any], None]) -> Iterator[Message]:
        """Apply the rules to parts."""
        for part in parts:
            settled()
            gc.collect(1)  # a model is a cycle: what the last task of this process knew, and is still young, would stay
            with one_sentence():
                counts = [0, 0]
                applied = self._applied(part, counts)
                yield from applied.apply(part.start, part.stop)
                self._told(applied.tally, part.start, part.stop, part.host, counts, tell)

    def apply_groups(
        self, groups: Iterable[tuple[tuple[str, str], Iterable[str]]], tell: Callable[[Any], None]
    ) -> Iterator[Message]:
        """Apply grouped rules, each to the objects of one key."""
        with one_sentence():
            counts = [0, 0]
            mine = sorted((rule, key, list(oids)) for (rule, key), oids in groups)
            if mine:
                applied = self._applied(Part(b"", b""), counts)
                yield from applied.apply_groups(mine)
                self._told(applied.tally, b"", f"{mine[0][0]}={mine[0][1]}".encode(), None, counts, tell)

    def settle(self, dealt: Iterable[tuple[int, list[Said]]]) -> Iterator[Settled]:
        """Fold again what other parts contributed to, one part after another, as they come."""
        with one_sentence():
            repository = shared(self.source.store)
            Runs(repository.store).settle(self.target, self.attempt)
            model = Model(repository, self.target, None)
            plan = bound(self.transformation, self.source.open(), repository)
            for _, bundles in groupby(dealt, itemgetter(0)):
                gathered: dict[str, list[Said]] = {}
                for _, some in bundles:
                    for one in some:
                        gathered.setdefault(one.target, []).append(one)
                settling = Settling(plan, model)
                roots = sorted((one.order, one.target) for one in settling.settle(in_order(gathered)))
                yield Settled(*counted(gathered), roots, settling.failures, settling.nested)

    def _applied(self, part: Part, counts: list[int]) -> Applied:
        def local(number: int) -> None:
            counts[0] += number

        def remote(number: int) -> None:
            counts[1] += number

        source = self.source.open()
        repository = source.repository
        watched = Watched(repository.store, source.name, part, Counter(local, remote))
        own = repository.apart(source, watched, WatchedModel)
        assert isinstance(own, WatchedModel)
        runs = Runs(repository.store)
        return Applied(
            bound(self.transformation, source, repository),
            own,
            Model(repository, self.target, None),
            self.constants,
            self.token.row_version,
            patience=self.patience,
            recording=self.recording,
            may_write=lambda: runs.state(self.target, self.attempt) == APPLYING,
        )

    def _told(
        self,
        tally: Tally,
        start: bytes,
        stop: bytes | None,
        host: str | None,
        counts: list[int],
        tell: Callable[[Any], None],
    ) -> None:
        tally.start = start.decode(errors="backslashreplace")
        tally.stop = None if stop is None else stop.decode(errors="backslashreplace")
        tally.host = host
        tally.local, tally.remote = counts
        tell({(tally.start, tally.stop or ""): tally})


def _membership(message: Message) -> list[tuple[tuple[str, str], str]]:
    return [((message.rule, message.key), message.source)] if isinstance(message, Member) else []


def _dealt(messages: Iterable[Message], starts: list[bytes]) -> Iterator[tuple[int, list[Said]]]:
    """What concerns results of each part, many at a time: one by one Spark takes longer than making them did."""
    held: list[list[Said]] = [[] for _ in range(len(starts) + 1)]
    for message in messages:
        if not isinstance(message, Member):
            part = bisect_right(starts, message.target.encode())
            held[part].append(message)
            if len(held[part]) == _BUNDLE:
                yield part, held[part]
                held[part] = []
    yield from ((part, some) for part, some in enumerate(held) if some)


def _telling(
    progress: Callable[[int, float], Any] | None, tallies: "Accumulator[dict[Any, Tally]]", parts: int
) -> Callable[[], None] | None:
    """Tells how far tasks are, if anybody wants to know."""
    if progress is None:
        return None

    def tell() -> None:
        done = [*tallies.value.values()]  # grouped rules have parts of their own, after all others
        progress(sum(one.elements for one in done), min(1.0, len(done) / parts))

    return tell


__all__ = ["SparkEngine", "transform"]
