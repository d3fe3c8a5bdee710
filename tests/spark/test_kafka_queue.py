"""What is read of a topic in a micro-batch, by what a broker says of it; `test_sync_kafka` has a real one."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from pyspark.sql.streaming.datasource import ReadMaxRows

from neomodel.errors import InvalidValue, StoreUnavailable
from spark import kafka_queue
from spark.kafka_queue import KafkaReader, KafkaSource, Stretch
from spark.queues import read_state

LIMIT = ReadMaxRows(100)


class Asked:
    """A consumer that is asked for offsets, and answers with these: of each partition its first one and its end."""

    def __init__(self, bounds: dict[int, tuple[int, int]]) -> None:
        self._bounds = bounds

    def list_topics(self, topic: str, timeout: float) -> Any:  # noqa: ARG002
        return SimpleNamespace(topics={topic: SimpleNamespace(error=None, partitions=self._bounds)})

    def get_watermark_offsets(self, partition: Any, timeout: float) -> tuple[int, int]:  # noqa: ARG002
        return self._bounds[partition.partition]


def reader(log: Path, bounds: dict[int, tuple[int, int]]) -> KafkaReader:
    made = KafkaReader({"bootstrap": "nowhere:1", "topic": "t", "log": str(log), "messages": "100"})
    made._consumer = Asked(bounds)
    return made


def test_partitions_whose_first_messages_are_gone_begin_with_the_first_that_is_kept(tmp_path: Path) -> None:
    """Not with what is not there any more: that would be an empty micro-batch, and then an error."""
    one = reader(tmp_path, {0: (1_000_000, 1_000_070), 1: (0, 30), 2: (9, 9)})

    first = one.latestOffset(one.initialOffset(), LIMIT)
    second = one.latestOffset(first, LIMIT)
    third = one.latestOffset(second, LIMIT)

    assert first == {"0": 1_000_033, "1": 30, "2": 9}
    assert second == {"0": 1_000_066, "1": 30, "2": 9}
    assert third == {"0": 1_000_070, "1": 30, "2": 9}
    assert read_state(tmp_path) == {"left": 0, "unit": "messages"}
    assert [(part.number, part.start, part.stop) for part in one.partitions(first, second)] == [  # type: ignore[attr-defined]
        (0, 1_000_033, 1_000_066)
    ]


def test_what_is_there_when_a_stream_is_to_end_is_all_that_comes(tmp_path: Path) -> None:
    one = reader(tmp_path, {0: (5, 10)})
    one.prepareForTriggerAvailableNow()
    one._consumer = Asked({0: (5, 20)})

    assert one.latestOffset({}, LIMIT) == {"0": 10}


@pytest.mark.parametrize("bounds", [{0: (0, 9), 1: (0, 5)}, {0: (0, 10)}])
def test_a_topic_that_ends_before_what_was_read_is_refused(tmp_path: Path, bounds: dict[int, tuple[int, int]]) -> None:
    """It was made anew: to go on from its end would pass over all that is in it."""
    with pytest.raises(InvalidValue, match=r"the messages of t/\d.*read it with a new checkpoint"):
        reader(tmp_path, bounds).latestOffset({"0": 10, "1": 5}, LIMIT)


class Refusing(Asked):
    """A consumer of a user who may see a topic, and may not do something."""

    def __init__(self, step: str, code: int) -> None:
        super().__init__({0: (0, 10)})
        self._step, self._error = step, KafkaError(code)

    def list_topics(self, topic: str, timeout: float) -> Any:
        found = super().list_topics(topic, timeout)
        if self._step == "topic":
            found.topics[topic].error = self._error
        return found

    def get_watermark_offsets(self, partition: Any, timeout: float) -> tuple[int, int]:
        if self._step == "offsets":
            raise KafkaException(self._error)
        return super().get_watermark_offsets(partition, timeout)

    def consume(self, *_: Any) -> list[Any]:
        return [SimpleNamespace(error=lambda: self._error)]

    def assign(self, _: Any) -> None:
        pass

    close = list


REFUSALS = [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED]


@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("step", ["topic", "offsets"])
def test_what_a_broker_does_not_allow_is_not_taken_for_silence(tmp_path: Path, step: str, code: int) -> None:
    one = reader(tmp_path, {})
    one._consumer = Refusing(step, code)

    with pytest.raises(StoreUnavailable, match=r"reading topic t .*nowhere:1.*authorization failed; have its admin"):
        one.latestOffset({}, LIMIT)
    assert read_state(tmp_path) == {}


@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("step", ["offsets", "messages"])
def test_a_task_does_not_wait_for_what_a_broker_does_not_allow(
    tmp_path: Path, step: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_queue, "Consumer", lambda _: Refusing(step, code))
    one = KafkaReader({"bootstrap": "nowhere:1", "topic": "t", "log": str(tmp_path), "patience": "0.1"})

    with pytest.raises(StoreUnavailable, match="authorization failed; have its administrator allow that"):
        list(one.read(Stretch(0, 0, 10)))


@pytest.mark.parametrize("option", [{"messages": "many"}, {"messages": "0"}, {"patience": "-1"}])
def test_an_option_that_is_no_number_is_refused(option: dict[str, str]) -> None:
    with pytest.raises(InvalidValue, match="expected a number above 0"):
        KafkaSource({"bootstrap": "nowhere:1", "topic": "t", "log": "x", **option}).schema()
