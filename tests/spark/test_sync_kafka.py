"""Messages of a topic into a system, through a broker that is killed and started again."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

import neomodel as nm
from metamodels import elsa
from metamodels.elsa.intake import Intake
from neomodel.cli import main
from neomodel.errors import SyncFailed
from spark.kafka_queue import KafkaSource
from spark.queues import read_state
from spark.synchronizing import Batch, Target, synchronize, wait
from tests.kafka.broker import Broker
from tests.metamodels.conftest import settled
from tests.metamodels.queue_oracle import Told, check, delivered, random_source
from tests.spark.syncing import finished

# A broker that dies while a task reads is not put down as such, and then the first of these waits in vain.
pytestmark = pytest.mark.soak
PARTITIONS = 3


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    started = Broker(tmp_path_factory.mktemp("kafka")).start()
    yield started
    started.kill()


def stream(session: SparkSession, broker: Broker, topic: str, log: Path, **options: str) -> Any:
    session.dataSource.register(KafkaSource)
    given = {"bootstrap": broker.address, "topic": topic, "log": str(log / "queue"), **options}
    return session.readStream.format("elsa-kafka").options(**given).load()


def until(query: Any, reached: Callable[[], bool], seconds: float = 120) -> None:
    for _ in range(int(seconds * 5)):
        if reached():
            return
        assert not wait(query, 0.2)
    raise AssertionError("it did not come to that")


def test_a_broker_that_is_killed_in_mid_stream_loses_and_doubles_nothing(
    session: SparkSession,
    broker: Broker,
    tmp_path: Path,
    figures: Callable[[str], None],
) -> None:
    random = Random(31)
    told = random_source(random, 900, keys=60)
    queue = delivered(random, told)
    broker.create("orders", PARTITIONS)
    target, checkpoint = Target(f"lmdb:{tmp_path}/db", "crm", lease=2.0), tmp_path / "checkpoint"
    done: list[Batch] = []

    def messages(some: list[Told]) -> list[tuple[bytes | None, bytes | None]]:
        return [(one.key.encode(), one.line()) for one in some]

    broker.produce("orders", [*messages(queue[:400]), (b"bad", b"{bad"), (b"bad", b"")])
    frame = stream(session, broker, "orders", checkpoint, messages="150", patience="120")
    query = synchronize(frame, target, checkpoint, every=0.1, told=done.append)
    until(query, lambda: sum(batch.messages for batch in done) >= 100)
    broker.kill()
    until(query, lambda: "down" in read_state(checkpoint / "queue"))
    assert "does not answer" in read_state(checkpoint / "queue")["down"]
    broker.start()
    broker.produce("orders", messages(queue[400:]))
    until(query, lambda: sum(batch.messages for batch in done) >= len(queue) + 2)
    query.stop()

    store = elsa.open(nm.connect(target.store))
    crm = store.system("crm")
    asked = check(store, crm, told, settled(store))
    assert sorted((one.size, one.queue.partition("/")[0]) for one in Intake(crm).dead_letters.find()) == [
        (0, "orders"),
        (4, "orders"),
    ]
    assert read_state(checkpoint / "queue") == {"left": 0, "unit": "messages"}
    figures(f"Kafka: {len(queue)} messages, broker killed once, {asked} questions as the oracle answers")


def test_change_events_and_tombstones_come_through(
    session: SparkSession,
    broker: Broker,
    tmp_path: Path,
) -> None:
    broker.create("changes", 1)

    def event(op: str, lsn: int, after: Any) -> bytes:
        source = {"connector": "postgresql", "lsn": lsn, "ts_ms": lsn}
        return json.dumps({"schema": {}, "payload": {"op": op, "source": source, "after": after}}).encode()

    key = json.dumps({"schema": {}, "payload": {"id": 7}}).encode()
    events = [(key, event("r", 1, {"n": 1})), (key, event("u", 2, {"n": 2})), (key, event("d", 3, None)), (key, None)]
    broker.produce("changes", [*events, *events[:2]])
    target = Target(f"lmdb:{tmp_path}/db", "crm", form="debezium")
    done: list[Batch] = []
    frame = stream(session, broker, "changes", tmp_path / "checkpoint")
    finished(lambda: synchronize(frame, target, tmp_path / "checkpoint", once=True, told=done.append))

    store = elsa.open(nm.connect(target.store))
    crm = store.system("crm")
    now = settled(store)
    assert [(one.operation, one.value) for one in crm.history("7", ingest=now)] == [
        ("insert", {"n": 1}),
        ("insert", {"n": 2}),
        ("delete", None),
    ]
    assert crm.get("7", ingest=now) is None
    assert (done[0].messages, done[0].written, done[0].doubled, done[0].dead) == (6, 3, 2, 0)


def test_a_topic_that_is_not_there_and_a_broker_that_is_not_are_told(
    session: SparkSession,
    broker: Broker,
    tmp_path: Path,
) -> None:
    target = Target(f"lmdb:{tmp_path}/db", "crm")
    frame = stream(session, broker, "nothing", tmp_path / "a")
    with pytest.raises(SyncFailed, match="a topic is 'nothing', expected one that Kafka at 127"):
        finished(lambda: synchronize(frame, target, tmp_path / "a", once=True))
    frame = stream(session, broker, "changes", tmp_path / "b", bootstrap="127.0.0.1:1")
    with pytest.raises(SyncFailed, match=r"Kafka at 127\.0\.0\.1:1"):
        finished(lambda: synchronize(frame, target, tmp_path / "b", once=True))


def test_the_command_takes_a_topic_and_goes_on_where_it_ended(
    session: SparkSession,
    broker: Broker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    broker.create("told", 2)
    sync = ["elsa", "sync", "--system", "crm", "--from", f"kafka://{broker.address}/told", "--once"]

    def synced(first: int, last: int) -> dict[str, str]:
        told = [Told(number, f"k{number}", 1, "insert", number) for number in range(first, last)]
        broker.produce("told", [(one.key.encode(), one.line()) for one in told])
        assert main([*sync, "--store", f"lmdb:{tmp_path}/db"]) == 0
        printed = capsys.readouterr().out.replace("dead letters", "dead")
        return dict(line.strip().split(maxsplit=1) for line in printed.splitlines() if line.strip())

    found = synced(0, 50)
    assert (found["state"], found["messages"], found["written"], found["lag"]) == ("done", "50", "50", "0 messages")
    assert (synced(50, 60)["messages"], synced(60, 60)["messages"]) == ("10", "0")
    crm = elsa.open(nm.connect(f"lmdb:{tmp_path}/db")).system("crm")
    assert dict(crm.scan()) == {f"k{number}": number for number in range(60)}
