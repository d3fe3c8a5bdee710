"""The changes of a model as a stream: each exactly once, in the order of their times.

An offset is a time: what has come is what was written up to then. The latest one is the stable time, under which nobody
can write any more; so what lies between two offsets is the same however often it is read, and Spark's checkpoint, which
keeps them, makes it exactly once. Micro-batches follow one another in time; see `replay` for what is in one.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import attrs
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, types
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from neomodel import ids, layout
from neomodel.errors import InvalidValue, NeomodelError
from neomodel.stores import Table
from neomodel.times import STABLE, micros, told
from spark.columns import Column, columns_of, schema_of
from spark.options import CREATION, Options
from spark.partitions import parts_of
from spark.reading import Reading
from spark.replay import CHANGE, TIME, Replay
from spark.sentences import one_sentence
from spark.snapshots import Snapshot

_ANY_SPAN = ReadMaxRows(2**62)
"""A span of time is no limit that Spark knows: this stands for it."""

_HEAD = types.StructType(
    [
        types.StructField(TIME, types.TimestampType(), nullable=False),
        types.StructField(CHANGE, types.StringType(), nullable=False),
    ]
)


def follow(session: SparkSession, store: str, model: str, **options: Any) -> DataFrame:
    """The changes of a model as a streaming DataFrame, from its creation on unless `since` says otherwise."""
    given = {"since": CREATION, **options, "store": store, "model": model}
    return session.readStream.format("neomodel").options(**given).load()


@attrs.frozen
class Following:
    """Which changes come: of which objects, with what columns, from which time on, how many at a time."""

    reading: Reading
    since: int | str
    span: int | None = None
    ordered: bool = True

    @classmethod
    def asked(cls, options: Options) -> "Following":
        """What the options say; refused if they make no sense. The metamodel is the stable one."""
        snapshot = Snapshot.taken(options.store, options.model)
        names = options.columns
        columns = None if names is None else tuple(name for name in names if name not in (TIME, CHANGE))
        reading = Reading(snapshot, options.type, columns, exact=options.flag("exact"))
        since = options.since
        time = since if isinstance(since, str) else micros("option since", since)
        if isinstance(time, int) and time > (now := snapshot.table.now()):
            raise InvalidValue("option since", told(time), f"a time that is past, up to {told(now)}")
        return cls(reading, time, options.span, options.flag("ordered", default=True))

    def schema(self) -> types.StructType:
        columns: list[Column] = columns_of(self.reading.kind(), self.reading.columns, exact=self.reading.exact)
        for name in {TIME, CHANGE} & {one.name for one in columns}:
            raise InvalidValue(f"a feature of {self.reading.kind()}", name, f"another name than {TIME} and {CHANGE}")
        return types.StructType([*_HEAD, *schema_of(columns)])

    def up_to(self, until: int) -> Reading:
        """What is read of changes up to a time: with all classes that were there by then."""
        snapshot = self.reading.snapshot
        return attrs.evolve(self.reading, snapshot=attrs.evolve(snapshot, at=max(until, snapshot.at)))


class Stretch(InputPartition):
    """The changes after `since` up to `until` of the rows with `start` <= key < `stop` (None: to the end)."""

    def __init__(self, start: bytes, stop: bytes | None, since: int, until: int) -> None:
        super().__init__((start, stop, since, until))
        self.start, self.stop = start, stop
        self.since, self.until = since, until


class ChangeReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Says in the driver which changes come next, and reads them in tasks."""

    def __init__(self, following: Following, schema: types.StructType) -> None:
        self._following = following
        self._schema = schema
        self._last: int | None = None
        self._ahead = _Ahead(following.span)

    @property
    def _table(self) -> Table:
        return self._following.reading.snapshot.table

    def _stable(self) -> int:
        snapshot = self._following.reading.snapshot
        return snapshot.repository.stable(snapshot.model)

    @one_sentence()
    def initialOffset(self) -> dict[str, int]:  # noqa: N802  Spark's name, as those below
        since = self._following.since
        time = 0 if since == CREATION else self._stable() if since == STABLE else int(since)
        self._table.get(ids.ROOT.encode(), at=time, columns=layout.TYPE)  # or what came after it was purged
        return {"time": time}

    @one_sentence()
    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """The stable time, or before it the end of the next span in which something changed; `start` while nothing
        has, so that no micro-batch is made of nothing. What is new is looked for in the history, until one is found;
        with a span all of it, once for each time that it has been caught up with."""
        table = self._table
        mark = table.mark()  # before the time is taken: what is written in between moves it
        last = self._stable() if self._last is None else self._last
        whole = isinstance(limit, ReadAllAvailable)
        end = self._ahead.end(table, start["time"], last, mark, whole=whole)
        return start if end is None else {"time": end}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadAllAvailable() if self._following.span is None else _ANY_SPAN

    @one_sentence()
    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return {"time": self._stable()}

    @one_sentence()
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """What is stable in this moment is all there is."""
        self._last = self._stable()

    @one_sentence()
    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        since, until = start["time"], end["time"]
        if since >= until:
            return []
        if self._following.ordered:
            return [Stretch(b"", None, since, until)]
        return [Stretch(part.start, part.stop, since, until) for part in parts_of(self._table)]

    def read(self, partition: Stretch) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        with one_sentence():
            reading = self._following.up_to(partition.until)
            replay = Replay(reading, self._schema, partition.since, partition.until)
            yield from replay.batches(partition.start, partition.stop)


class Refusal(DataSourceStreamReader):
    """Tells what is wrong as soon as it is asked for anything; what `streamReader` raises, Spark 4.3 does not tell."""

    def __init__(self, error: NeomodelError) -> None:
        self._error = error

    @one_sentence()
    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        raise self._error

    @one_sentence()
    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: ARG002, N802
        raise self._error

    @one_sentence()
    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:  # noqa: ARG002
        raise self._error

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        raise self._error


class _Ahead:
    """What lies ahead of a stream: the ends of the spans in which something was written."""

    def __init__(self, span: int | None) -> None:
        self._span = span
        self._ends: deque[int] = deque()
        self._looked = -1
        self._mark: int | None = None

    def end(self, table: Table, first: int, last: int, mark: int | None, *, whole: bool) -> int | None:
        """Where the next micro-batch ends, at `last` at the latest; None if nothing was written from `first` to there.

        `mark` is that of the table before it was known that `last` is stable. While it stays the same, nothing is new.
        """
        while self._ends and self._ends[0] <= first:
            self._ends.popleft()
        if not self._ends:
            low = max(first, self._looked)
            if low >= last or (mark is not None and mark == self._mark):
                return None
            self._ends.extend(self._busy(table, low, last))
            self._looked, self._mark = last, mark
        if not self._ends:
            return None
        return last if whole else self._ends[0]

    def _busy(self, table: Table, first: int, last: int) -> list[int]:
        versions = table.history(since=first, until=last)
        if self._span is None:
            return [] if next(versions, None) is None else [last]
        spans = {version.time // self._span for version in versions}
        return [min((number + 1) * self._span - 1, last) for number in sorted(spans)]
