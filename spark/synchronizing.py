"""Synchronization: a stream of messages into a system of ELSA, each applied once.

Each micro-batch is a round of the system's `Intake`. Messages are read in the tasks that have them, and go, as the
operations they tell, to the task that writes their region; those that tell nothing sensible become dead letters where
they are read. Nothing is collected but counts. A micro-batch that Spark does again, since something was killed, writes
what is missing of it.
"""

import bisect
import marshal
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import attrs
import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JJavaError
from pyspark import TaskContext
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StructField,
    StructType,
)

from metamodels import elsa
from metamodels.elsa.formats import FORMATS
from metamodels.elsa.intake import LEASE, Intake, Round
from metamodels.elsa.messages import LARGEST, Message, Reader
from neomodel.errors import InvalidValue, SyncFailed
from neomodel.garbage import settled, undisturbed
from neomodel.operations import Applied, Operation
from neomodel.repository import connect
from neomodel.sharing import shared
from neomodel.stores.base import ORDERED
from spark import queues
from spark.queues import LINES, LONGEST_FILE, LONGEST_PLACE, LONGEST_QUEUE, QUEUED, place
from spark.sentences import one_sentence, reason_of
from spark.snapshots import reached

_READ = StructType(
    [
        StructField("part", IntegerType()),
        StructField("messages", LongType()),
        StructField("dead", LongType()),
        StructField("operations", BinaryType()),
    ]
)
_READ_ARROW = to_arrow_schema(_READ)
_COUNTS = ("messages", "written", "doubled", "superseded", "dead")
_DONE = StructType([StructField(name, LongType()) for name in _COUNTS])
_DONE_ARROW = pa.schema([(name, pa.int64()) for name in _COUNTS])
_DEAD = 500  # kept at once


_opened: dict[tuple[str, str], elsa.ElsaStore] = {}


@attrs.frozen
class Target:
    """Which system messages go into, and how they are read: as it goes to every task, nothing live."""

    store: str
    system: str
    name: str = "elsa"
    form: str = "plain"
    largest: int = LARGEST
    lease: float = LEASE

    def open(self) -> elsa.ExternalSystem:
        """Opened once in each process, for as long as its store is open."""
        repository = shared(self.store)
        found = _opened.get((self.store, self.name))
        if found is None or found.repository is not repository:
            found = _opened[self.store, self.name] = elsa.open(repository, self.name)
        return found.system(self.system)

    def intake(self) -> Intake:
        return Intake(self.open(), lease=self.lease)

    def reader(self) -> Reader:
        return Reader(self.open().writable(), FORMATS[self.form], self.largest)


@attrs.frozen
class Batch:
    """What became of a micro-batch: how many messages it had, of which some were written, had come before, came after
    later ones, or are dead letters; the others told of nothing. `seconds` is how long it took."""

    number: int
    messages: int
    written: int
    doubled: int
    superseded: int
    dead: int
    seconds: float


def synchronize(
    frame: DataFrame,
    target: Target,
    checkpoint: str | Path,
    *,
    once: bool = False,
    every: float = 1.0,
    rate: float | None = None,
    splits: list[str] | None = None,
    told: Callable[[Batch], None] = lambda _: None,
    waiting: Callable[[str], None] = lambda _: None,
) -> StreamingQuery:
    """Start to bring the messages of a streaming frame, with the columns of `queues.QUEUED` or those of `queues.LINES`,
    into a system.

    `once`: until what is there by now is done; else for ever, a micro-batch every so many seconds, if there is
    something new. `rate`: messages in a second, at most, over time. `told` gets what became of each micro-batch;
    `waiting`, in a sentence, what is waited for. The checkpoint is for this stream and this system alone. A system that
    is not there is made, on HBase in regions that are split at the keys `splits`."""
    _check(frame, target, rate)
    target = _made(target, splits)
    writer = frame.writeStream.option("checkpointLocation", str(checkpoint))
    trigger: dict[str, Any] = (
        {"availableNow": True} if once else {"processingTime": f"{round(every * 1000)} milliseconds"}
    )
    return writer.foreachBatch(_Rounds(target, rate, told, waiting)).trigger(**trigger).start()


def synchronize_frame(frame: DataFrame, target: Target, *, waiting: Callable[[str], None] = lambda _: None) -> Batch:
    """Bring the messages of a frame that is no stream into a system, as one round. Done again it changes nothing.
    `SyncFailed` if the frame can't be read to its end."""
    _check(frame, target, None)
    target = _made(target, None)
    done: list[Batch] = []
    try:
        _Rounds(target, None, done.append, waiting)(frame, 0)
    except (PySparkException, Py4JJavaError) as exc:
        raise SyncFailed("the synchronization", reason_of(exc)) from exc
    return done[0]


def _made(target: Target, splits: list[str] | None) -> Target:
    """The target as all processes reach it, made if it is not there."""
    target = attrs.evolve(target, store=reached(target.store))
    with connect(target.store) as repository:
        elsa.open(repository, target.name).system(target.system, splits=splits).writable()
    return target


def _check(frame: DataFrame, target: Target, rate: float | None) -> None:
    _columns(frame)
    if target.form not in FORMATS:
        raise InvalidValue("the format of messages", target.form, f"one of {', '.join(FORMATS)}")
    if rate is not None and not rate > 0:
        raise InvalidValue("the rate of messages", rate, "a number in a second")


def _columns(frame: DataFrame) -> list[str]:
    """Those by which the frame has its messages."""
    there = {field.name: field.dataType for field in frame.schema.fields}
    for form in (QUEUED, LINES):
        if all(there.get(field.name) == field.dataType for field in form.fields):
            return form.fieldNames()
    expected = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in QUEUED.fields)
    raise InvalidValue("the columns of a frame of messages", frame.schema.simpleString(), expected)


def wait(query: StreamingQuery, seconds: float | None = None) -> bool:
    """Whether the stream has ended; waits for that, or so many seconds. `SyncFailed` if it was before its time."""
    try:
        ended = query.awaitTermination(None if seconds is None else seconds)  # type: ignore[arg-type]
    except StreamingQueryException as exc:
        raise SyncFailed("the synchronization", reason_of(exc)) from None
    return ended is not False


class _Rounds:
    """What is done with each micro-batch, in the driver."""

    def __init__(self, target: Target, rate: float | None, told: Callable[[Batch], None], waiting: Any) -> None:
        self._target = target
        self._rate = rate
        self._told = told
        self._waiting = waiting
        self._intake: Intake | None = None

    def __call__(self, frame: DataFrame, number: int) -> None:
        began = time.monotonic()
        intake = self._intake = self._intake or self._target.intake()
        try:
            begun = intake.begin(self._waiting)
            counts = self._written(frame, begun)
            intake.end()
        finally:
            intake.leave()
        done = Batch(number, **counts, seconds=time.monotonic() - began)
        self._told(done)
        if self._rate is not None:
            time.sleep(max(0.0, done.messages / self._rate - done.seconds))

    def _written(self, frame: DataFrame, begun: Round) -> dict[str, int]:
        starts = _starts(self._target, frame.sparkSession.sparkContext.defaultParallelism)
        read = frame.select(*_columns(frame)).mapInArrow(partial(_read, self._target, starts), _READ)
        parted = read.repartitionById(max(len(starts), 1), "part")
        rows = parted.mapInArrow(partial(_write, self._target, begun), _DONE).collect()
        return {name: sum(row[name] for row in rows) for name in _COUNTS}


def _starts(target: Target, breadth: int) -> list[bytes | None]:
    """Where parts begin: with regions that have records; where there are fewer than tasks at once, rows are dealt out.
    So they are too where one task writes at a time: the others make ready what they will write."""
    system = target.open()
    store, ledger = system.store.repository.store, system.writable()
    if ORDERED in store.capabilities:
        return [None] * breadth
    low, high = ledger.bounds()
    regions = store.table(ledger.model.name).regions()
    starts = [one.start for one in regions if one.start < high and (one.stop is None or one.stop > low)]
    return [*starts] if len(starts) >= breadth else [None] * breadth


# in tasks


def _read(target: Target, starts: list[bytes | None], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Messages as operations, packed for the parts that they are for; dead letters are kept, and counted."""
    with one_sentence(), undisturbed():
        reader, letters = target.reader(), target.intake().dead_letters
        settled()
        number = TaskContext.get().partitionId()  # type: ignore[union-attr]
        for messages in _messages(batches):
            operations: list[Operation] = []
            rejected: list[tuple[Message, str]] = []
            for message in messages:
                found = reader.read(message)
                if isinstance(found, Operation):
                    operations.append(found)
                elif found is not None:
                    rejected.append((message, found))
            dead = sum(letters.put(rejected[first : first + _DEAD]) for first in range(0, len(rejected), _DEAD))
            rows = [(part, len(some), 0, _packed(some)) for part, some in _parted(starts, operations).items()]
            if len(operations) < len(messages):  # what is no operation is told by any part
                rows.append((number % len(starts), len(messages) - len(operations), dead, _packed([])))
            arrays = [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(_READ_ARROW.types)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_READ_ARROW)


def _messages(batches: Iterable[pa.RecordBatch]) -> Iterator[list[Message]]:
    """Some at a time."""
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        if batch.schema.names == QUEUED.fieldNames():
            _check_places(batch, place=LONGEST_PLACE)
            yield [*map(Message, *columns)]
        else:
            _check_places(batch, file=LONGEST_FILE)
            for queue, file, start, lines in zip(*columns, strict=True):
                yield [Message(queue, place(file, at), None, line) for at, line in queues.messages(start, lines)]


def _parted(starts: list[bytes | None], operations: list[Operation]) -> dict[int, list[Operation]]:
    """By the part that each is for."""
    found: dict[int, list[Operation]] = {}
    for one in operations:
        found.setdefault(_part(starts, one.row), []).append(one)
    return found


def _packed(operations: list[Operation]) -> bytes:
    """Many as one value: Spark, which would take them in and out of rows three times, carries it as it is. All Pythons
    of a Spark are of one version, as `marshal` asks for; `pickle` takes four times as long, and so does a later format
    of `marshal`, which looks for each value among those before."""
    return marshal.dumps([*zip(*operations, strict=True)], 2)


def _unpacked(packed: bytes) -> Iterator[Operation]:
    return map(Operation, *(marshal.loads(packed) or [()] * len(Operation._fields)))


def _check_places(batch: pa.RecordBatch, **limits: int) -> None:
    """That of each message is said where it comes from, in a text that all stores take as a part of a key."""
    for name, most in {"queue": LONGEST_QUEUE, **limits}.items():
        column = batch.column(name)
        longest = pc.max(pc.binary_length(column)).as_py() or 0
        if column.null_count or longest > most:
            found = "null" if column.null_count else f"one of {longest} bytes"
            raise InvalidValue(f"the column {name} of a message", found, f"text of up to {most} bytes")


def _part(starts: list[bytes | None], row: bytes) -> int:
    if len(starts) == 1:
        return 0
    return crc32(row) % len(starts) if starts[0] is None else bisect.bisect_right(starts, row) - 1  # type: ignore[type-var]


def _write(target: Target, begun: Round, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A part of a round."""
    with one_sentence(), undisturbed():
        intake = target.intake()
        settled()
        operations: list[Operation] = []
        messages = dead = 0
        for batch in batches:
            messages += pc.sum(batch.column("messages")).as_py() or 0
            dead += pc.sum(batch.column("dead")).as_py() or 0
            for packed in batch.column("operations").to_pylist():
                operations.extend(_unpacked(packed))
        part = TaskContext.get().partitionId()  # type: ignore[union-attr]
        done: Applied = intake.write(begun, part, operations)
        counts = [messages, done.written, done.doubled, done.superseded, dead]
        yield pa.RecordBatch.from_arrays([pa.array([one], pa.int64()) for one in counts], schema=_DONE_ARROW)
