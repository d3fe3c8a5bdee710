"""A folder of messages into a system: once in effect, whatever is killed, doubled, shuffled or malformed."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest
from pyspark.sql import SparkSession

import neomodel as nm
from metamodels import elsa
from metamodels.elsa.intake import Intake
from metamodels.elsa.messages import Reader, plain
from neomodel.errors import InvalidValue, SyncFailed
from spark.queues import read_state
from spark.synchronizing import Batch, Target, synchronize
from tests.metamodels.conftest import settled
from tests.metamodels.queue_oracle import Told, check, delivered, random_source
from tests.spark.deadly import STAGES, DeadlyTarget
from tests.spark.syncing import finished

HERE = Path(__file__).parent.parent.parent


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    (tmp_path / "queue").mkdir()
    (tmp_path / "marks").mkdir()
    return tmp_path / "queue"


@pytest.fixture(params=["lmdb", "hbase3"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    if request.param == "lmdb":
        yield Target(f"lmdb:{tmp_path}/db", "crm", lease=1.5)
        return
    name = f"s{uuid.uuid4().hex[:12]}"
    url = request.getfixturevalue("hbase3").url
    yield Target(url, "crm", name, lease=4.0)
    with nm.connect(url) as repository:
        for table in repository.store.tables():
            if name in table:
                repository.store.table(table).drop()


@pytest.fixture
def lmdb(tmp_path: Path) -> Target:
    return Target(f"lmdb:{tmp_path}/db", "crm", lease=1.5)


def put(queue: Path, name: str, lines: list[bytes]) -> None:
    (queue / f"_{name}").write_bytes(b"\n".join(lines) + b"\n")
    (queue / f"_{name}").rename(queue / name)


def run(session: SparkSession, queue: Path, target: Target, **how: Any) -> list[Batch]:
    """Until all is done that is there."""
    from spark import register

    register(session)
    done: list[Batch] = []
    checkpoint = queue.parent / "checkpoint"
    options = {"folder": str(queue), "log": f"{checkpoint}/queue", **how.pop("options", {})}
    frame = session.readStream.format("elsa-folder").options(**options).load()
    finished(lambda: synchronize(frame, target, checkpoint, once=True, told=done.append, **how))
    return done


def opened(target: Target) -> elsa.ElsaStore:
    return elsa.open(nm.connect(target.store), target.name)


def total(batches: list[Batch]) -> dict[str, int]:
    names = ("messages", "written", "doubled", "superseded", "dead")
    return {name: sum(getattr(batch, name) for batch in batches) for name in names}


@pytest.mark.parametrize(("size", "times"), [(300, 1), pytest.param(20_000, 4, marks=pytest.mark.soak)])
def test_whatever_stage_a_task_is_killed_at_the_outcome_is_the_oracles(
    session: SparkSession, queue: Path, target: Target, size: int, times: int, figures: Callable[[str], None]
) -> None:
    """Doubled and shuffled, with malformed ones in between, in several files and micro-batches."""
    random = Random(23)
    told = random_source(random, size, keys=size // 15)
    lines = [one.line() for one in delivered(random, told)]
    each = len(lines) // 4
    files = [lines[number * each : number * each + each] for number in range(4)]
    for number, some in enumerate(files):
        put(queue, f"{number}.jsonl", [*some, b"{bad %d" % number])
    stages = STAGES if target.store.startswith("lmdb") else ("kept", "half", "written")
    how = {"marks": str(queue.parent / "marks"), "stages": stages, "times": times}
    deadly = DeadlyTarget(**attrs.asdict(target), **how)

    killed = 0
    while True:
        try:
            run(session, queue, deadly, options={"bytes": str(len(b"".join(lines)) // 3)})
            break
        except SyncFailed:
            killed += 1
            assert killed <= len(stages) * times
    marks = len(list((queue.parent / "marks").iterdir()))
    assert marks == len(stages) * times  # at every stage; two tasks may be killed in one attempt
    assert 0 < killed <= marks
    with nm.connect(target.store) as repository:
        store = elsa.open(repository, target.name)
        crm = store.system("crm")
        asked = check(store, crm, told, settled(store))
        assert sorted(one.place for one in Intake(crm).dead_letters.find()) == [
            f"{number}.jsonl/{sum(map(len, some)) + len(some):015}" for number, some in enumerate(files)
        ]
    figures(f"sync on {target.store.partition(':')[0]}: {killed} kills, {asked} questions as the oracle answers")


def test_a_killed_driver_leaves_nothing_half_done_that_the_next_does_not_finish(
    session: SparkSession, queue: Path, lmdb: Target
) -> None:
    """After its round has ended, before Spark knows: so the micro-batch comes again."""
    told = random_source(Random(4), 300)
    put(queue, "a.jsonl", [one.line() for one in told])
    changes = {"PYTHONPATH": str(HERE), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    marks = queue.parent / "marks"
    command = [sys.executable, "-m", "tests.spark.deadly", lmdb.store, "crm", str(queue.parent), str(marks), "ended"]
    ended = subprocess.run(
        command, env={**os.environ, **changes}, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == -9, ended.stderr[-2000:]
    assert {mark.name for mark in marks.iterdir()} == {"ended"}

    done = run(session, queue, lmdb, options={"bytes": "4000"})
    assert done[0].doubled == done[0].messages > 0
    assert total(done)["written"] == len(told) - done[0].messages
    store = opened(lmdb)
    check(store, store.system("crm"), told, settled(store))


def test_malformed_messages_stop_nothing_and_can_be_replayed(session: SparkSession, queue: Path, lmdb: Target) -> None:
    """Ten thousand of them, and some good ones; a class of them is mended."""
    count = 10_000
    good = [Told(number, f"k{number}", 1, "insert", number) for number in range(50)]
    bad = [b'{"key": "m%d", "event": 1, "value": %d' % (number, number) for number in range(count)]
    put(queue, "bad.jsonl", bad)
    put(queue, "good.jsonl", [one.line() for one in good])

    assert total(run(session, queue, lmdb)) == {
        "messages": count + 50, "written": 50, "doubled": 0, "superseded": 0, "dead": count,
    }  # fmt: skip
    store = opened(lmdb)
    crm = store.system("crm")
    intake = Intake(crm)
    found = [message.value for page in intake.dead_letters.messages(intake.dead_letters.find()) for _, message in page]
    assert sorted(found) == sorted(bad)
    mended = {(one.queue, one.place): b"" for one in intake.dead_letters.find()}
    for page in intake.dead_letters.messages(intake.dead_letters.find()):
        mended.update({(one.queue, one.place): (message.value or b"") + b"}" for one, message in page})
    assert intake.replay(Reader(crm.writable(), plain), mended) == (count, 0)
    assert list(intake.dead_letters.find()) == []
    now = settled(store)
    assert dict(crm.scan("m", ingest=now)) == {f"m{number}": number for number in range(count)}


@pytest.mark.soak  # takes much of the memory of a Spark that others use too
def test_a_hundred_megabytes_in_one_message_are_kept_and_the_others_come_in(
    session: SparkSession, queue: Path, lmdb: Target
) -> None:
    size = 100 * 2**20
    huge = b'{"key": "huge", "event": 1, "value": "%b"}' % (b"x" * size)
    small = Told(1, "small", 1, "insert", 1)
    put(queue, "a.jsonl", [small.line(), huge, small._replace(sequence=2, event=2, value=2).line()])

    assert total(run(session, queue, lmdb))["dead"] == 1
    store = opened(lmdb)
    crm = store.system("crm")
    (letter,) = Intake(crm).dead_letters.find()
    assert letter.size == len(huge)
    assert "expected at most" in letter.reason
    assert crm.get("small", ingest=settled(store)) == 2
    assert Intake(crm).replay(Reader(crm.writable(), plain, largest=2 * size)) == (1, 0)
    assert len(crm.get("huge", ingest=settled(store))) == size


def test_files_that_come_late_or_grow_are_not_missed_and_others_not_taken(
    session: SparkSession, queue: Path, lmdb: Target
) -> None:
    def line(number: int) -> bytes:
        return Told(number, f"k{number}", 1, "insert", number).line()

    put(queue, "b.jsonl", [line(1), b"", line(2)])
    (queue / "c.jsonl.tmp").write_bytes(line(9) + b"\n")
    (queue / ".d.jsonl").write_bytes(line(9) + b"\n")
    assert total(run(session, queue, lmdb))["written"] == 2
    put(queue, "a.jsonl", [line(3)])
    with (queue / "b.jsonl").open("ab") as stream:
        stream.write(line(4))  # without an end of line
    assert total(run(session, queue, lmdb))["written"] == 2
    assert run(session, queue, lmdb) == []
    store = opened(lmdb)
    assert dict(store.system("crm").scan(ingest=settled(store))) == {f"k{number}": number for number in range(1, 5)}


def test_a_file_that_is_taken_away_is_told_and_nothing_is_lost(
    session: SparkSession, queue: Path, lmdb: Target
) -> None:
    put(queue, "a.jsonl", [Told(1, "k", 1, "insert", 1).line()] * 2000)
    marks = str(queue.parent / "marks")
    with pytest.raises(SyncFailed):
        run(session, queue, DeadlyTarget(**attrs.asdict(lmdb), marks=marks, stages=("joined",)))
    (queue / "a.jsonl").rename(queue / "a.away")

    with pytest.raises(SyncFailed, match="it was taken away before it was read; put it back"):
        run(session, queue, lmdb)
    (queue / "a.away").rename(queue / "a.jsonl")
    assert total(run(session, queue, lmdb))["messages"] == 2000


def test_a_rate_is_kept_and_a_folder_that_is_away_is_a_state(session: SparkSession, queue: Path, lmdb: Target) -> None:
    lines = [Told(number, f"k{number}", 1, "insert", number).line() for number in range(40)]
    put(queue, "a.jsonl", lines)

    done = run(session, queue, lmdb, options={"messages": "20"}, rate=20)
    assert [batch.messages for batch in done] == [20, 20]
    assert read_state(queue.parent / "checkpoint" / "queue") == {"left": 0, "unit": "bytes"}
    queue.rename(queue.parent / "away")
    assert run(session, queue, lmdb) == []
    (queue.parent / "away").rename(queue)


def test_any_frame_with_the_columns_will_do_and_others_are_refused(
    session: SparkSession, queue: Path, lmdb: Target
) -> None:
    rows = [
        json.dumps({"n": number, "line": Told(number, "k", number, "insert", number).line().decode()})
        for number in range(9)
    ]
    (queue / "rows.json").write_text("\n".join(rows))
    text = session.readStream.text(str(queue))
    frame = text.selectExpr(
        "'orders/0' queue",
        "lpad(get_json_object(value, '$.n'), 20, '0') place",
        "cast(null as binary) key",
        "cast(get_json_object(value, '$.line') as binary) value",
    )
    finished(lambda: synchronize(frame, lmdb, queue.parent / "checkpoint", once=True))
    store = opened(lmdb)
    assert len(store.system("crm").history("k", ingest=settled(store))) == 9
    with pytest.raises(InvalidValue, match="the columns of a frame of messages"):
        synchronize(text, lmdb, queue.parent / "other")
    with pytest.raises(InvalidValue, match="the format of messages is 'xml'"):
        synchronize(frame, attrs.evolve(lmdb, form="xml"), queue.parent / "other")
