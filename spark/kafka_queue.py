"""A topic of Kafka as a queue: the data source ``elsa-kafka``.

For Spark's own connector there is no need to be: it gives the same columns by a select, where it can be had. Here the
client is librdkafka, by the package confluent-kafka, which is an extra: ``pip install neomodel-hbase[kafka]``.

An offset is where each partition has been read up to; Spark's checkpoint keeps it, and nothing is committed to Kafka.
So a micro-batch that is done again has the same messages. A message's place is its offset in its partition, which is
the queue: messages of one key are in order if their producer puts them into one partition, as producers do."""

import time
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from neomodel.errors import InvalidValue, StoreUnavailable
from spark.options import check_positive, named
from spark.queues import ARROW, QUEUED, write_state
from spark.sentences import one_sentence

_OPTIONS = {"bootstrap", "topic", "log", "messages", "patience"}
_HEAD = "kafka."
_AT_ONCE = 100_000  # messages of a micro-batch
_ROWS, _BYTES = 8192, 4 * 2**20  # of an Arrow batch
_ANSWER = 5.0  # seconds for a question
_PATIENCE = 60.0
_POLL = 0.5
_NOT_ALLOWED = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
}


class KafkaSource(DataSource):
    """``session.readStream.format("elsa-kafka").options(bootstrap=…, topic=…, log=…).load()``: the messages of a topic.

    `log`: a folder for what is put down of it, the checkpoint's best. `messages`: how many a micro-batch takes in at
    most. `patience`: seconds that a task waits for a broker that does not answer, before it fails. Options that begin
    with ``kafka.`` are librdkafka's, such as ``kafka.security.protocol``.
    """

    @classmethod
    def name(cls) -> str:
        return "elsa-kafka"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)

    @one_sentence()
    def schema(self) -> StructType:
        own = {name: value for name, value in self.options.items() if not name.lower().startswith(_HEAD)}
        given = named(own, _OPTIONS, (), "elsa-kafka")
        for name in ("bootstrap", "topic", "log"):
            if not given.get(name):
                raise InvalidValue(f"option {name}", given.get(name), "host:port, the topic's name, and a folder")
        check_positive(given, "messages")
        check_positive(given, "patience", kind=float)
        return QUEUED

    def streamReader(self, schema: StructType) -> "KafkaReader":  # noqa: ARG002, N802  Spark's name
        return KafkaReader({name.lower(): value for name, value in self.options.items()})


class Stretch(InputPartition):
    """The messages of a partition from one offset to before another."""

    def __init__(self, number: int, start: int, stop: int) -> None:
        super().__init__((number, start, stop))
        self.number, self.start, self.stop = number, start, stop


class KafkaReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Says in the driver which messages come next, and reads them in tasks."""

    def __init__(self, given: dict[str, str]) -> None:
        self._topic = given["topic"]
        self._log = Path(given["log"])
        self._most = int(given.get("messages") or _AT_ONCE)
        self._patience = float(given.get("patience") or _PATIENCE)
        own = {name.removeprefix(_HEAD): value for name, value in given.items() if name.startswith(_HEAD)}
        self._settings = {
            "bootstrap.servers": given["bootstrap"],
            "group.id": "neomodel",
            "enable.auto.commit": "false",
            "auto.offset.reset": "error",
            "log_level": "0",
            **own,
        }
        self._last: dict[str, tuple[int, int]] | None = None
        self._consumer: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_consumer": None}

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  Spark's name, as those below
        return {}

    @one_sentence()
    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """A broker that does not answer is one that has nothing new, for now: that is put down. One that answers that
        this is not allowed is `StoreUnavailable`."""
        try:
            last = self._last or self._bounds()
        except KafkaException as exc:
            self._check_allowed(exc.args[0])
            self._put_down(exc.args[0].str())
            return start
        self._check(start, last)
        most = 2**62 if isinstance(limit, ReadAllAvailable) else self._most
        share = max(1, most // max(1, len(last)))
        found = {number: min(end, start.get(number, low) + share) for number, (low, end) in last.items()}
        left = sum(end - found[number] for number, (_, end) in last.items())
        write_state(self._log, {"left": left, "unit": "messages"})
        return found

    def _check(self, start: dict[str, int], last: dict[str, tuple[int, int]]) -> None:
        """Refuse a topic that ends before what was read of it: it is another one, of which nothing was read yet."""
        for number, read in start.items():
            _, end = last.get(number, (0, 0))
            if read > end:
                expected = f"those up to {read}, as before; if the topic was made anew, read it with a new checkpoint"
                raise InvalidValue(f"the messages of {self._topic}/{number}", f"up to {end}", expected)

    def _bounds(self) -> dict[str, tuple[int, int]]:
        """Of each partition the first offset that is kept, and where it ends; messages before that are all there."""
        if self._consumer is None:
            self._consumer = Consumer(self._settings)
        topic = self._consumer.list_topics(self._topic, timeout=_ANSWER).topics[self._topic]
        if topic.error is not None:
            if topic.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise InvalidValue("a topic", self._topic, f"one that {self._where()} has")
            raise KafkaException(topic.error)
        found = {}
        for number in sorted(topic.partitions):
            partition = TopicPartition(self._topic, number)
            found[str(number)] = self._consumer.get_watermark_offsets(partition, timeout=_ANSWER)
        return found

    def _check_allowed(self, error: Any) -> None:
        """Refuse to wait for what a broker does not allow."""
        if error.code() in _NOT_ALLOWED:
            remedy = "have its administrator allow that, or name another user by the options kafka.sasl.…"
            raise StoreUnavailable(f"reading topic {self._topic}", self._where(), f"{error.str()}; {remedy}")

    def _put_down(self, why: str) -> None:
        """That the broker does not answer: until the driver has an answer again."""
        write_state(self._log, {"unit": "messages", "down": f"{self._where()} does not answer: {why}"})

    def _where(self) -> str:
        return f"Kafka at {self._settings['bootstrap.servers']}"

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._most)

    @one_sentence()
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """What is there in this moment is all there is."""
        try:
            self._last = self._bounds()
        except KafkaException as exc:
            raise StoreUnavailable("reading offsets", self._where(), exc.args[0].str()) from exc

    @one_sentence()
    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """A partition that is new begins with its first message."""
        return [
            Stretch(int(number), start.get(number, 0), stop)
            for number, stop in end.items()
            if start.get(number, 0) < stop
        ]

    def read(self, partition: Stretch) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        with one_sentence():
            yield from self._batches(partition)

    def _batches(self, stretch: Stretch) -> Iterator[pa.RecordBatch]:
        queue, rows, size = f"{self._topic}/{stretch.number}", [], 0
        for message in self._messages(stretch):
            rows.append((f"{message.offset():020}", message.key(), message.value()))
            size += len(message.value() or b"")
            if len(rows) == _ROWS or size > _BYTES:
                yield _batch(queue, rows)
                rows, size = [], 0
        if rows:
            yield _batch(queue, rows)

    def _messages(self, stretch: Stretch) -> Iterator[Any]:
        """Those of a stretch that are there: of a topic that is compacted, some are not."""
        consumer = Consumer({**self._settings, "enable.partition.eof": "true"})
        try:
            low, _ = self._asked(consumer, stretch)
            consumer.assign([TopicPartition(self._topic, stretch.number, max(low, stretch.start))])
            heard = told = time.monotonic()
            while True:
                for message in consumer.consume(1000, _POLL):
                    error = message.error()
                    if error is not None and error.code() == KafkaError._PARTITION_EOF:
                        if (message.offset() or 0) >= stretch.stop:
                            return
                        continue
                    if error is not None:
                        if not error.retriable() and error.code() == KafkaError._AUTO_OFFSET_RESET:
                            raise InvalidValue(
                                f"offset {stretch.start} of {self._topic}/{stretch.number}", "gone", "kept"
                            )
                        self._check_allowed(error)
                        continue  # the client goes on trying
                    at = message.offset() or 0
                    if at >= stretch.stop:
                        return
                    yield message
                    heard = told = time.monotonic()
                    if at == stretch.stop - 1:
                        return
                now = time.monotonic()
                if now > heard + self._patience:
                    raise StoreUnavailable("reading", self._where(), f"no answer for {self._patience:.0f} s")
                if now > told + _ANSWER:
                    self._put_down(f"no message for {now - heard:.0f} s")
                    told = now
        finally:
            consumer.close()

    def _asked(self, consumer: Any, stretch: Stretch) -> tuple[int, int]:
        """First offset and end of a partition, as soon as the broker answers."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                low, high = consumer.get_watermark_offsets(TopicPartition(self._topic, stretch.number), timeout=_ANSWER)
            except KafkaException as exc:
                self._check_allowed(exc.args[0])
                if time.monotonic() > deadline:
                    raise StoreUnavailable("reading", self._where(), exc.args[0].str()) from exc
                self._put_down(exc.args[0].str())
                time.sleep(_POLL)  # some are told at once
                continue
            if low > stretch.start > 0:
                expected = f"kept until they are read; those up to {low} are gone, read the topic with a new checkpoint"
                raise InvalidValue(
                    f"the messages of {self._topic}/{stretch.number}", f"from {stretch.start} on", expected
                )
            return low, high


def _batch(queue: str, rows: list[tuple[str, bytes | None, bytes | None]]) -> pa.RecordBatch:
    places, keys, values = zip(*rows, strict=True)
    arrays = [pa.array([queue] * len(rows), pa.string()), pa.array(places, pa.string())]
    return pa.RecordBatch.from_arrays(
        [*arrays, pa.array(keys, pa.binary()), pa.array(values, pa.binary())], schema=ARROW
    )
