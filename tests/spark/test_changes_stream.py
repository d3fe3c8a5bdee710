"""Streams of changes by Spark itself: stopped and restarted, killed, refused."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from neomodel.cluster import Cluster
from tests.spark.driver import kept, started
from tests.spark.following import Busybody, Told, expected, told
from tests.spark.things import Thing, things

COLUMNS = "_id, name, number, _container"
ROOT = Path(__file__).parents[2]


def url(model: nm.Model) -> str:
    return model.repository.store.url


def wanted(model: nm.Model, oids: list[str]) -> list[Told]:
    """What there should be, with the columns that are asked for."""
    names = [name.strip() for name in COLUMNS.split(",")]
    found = expected(model, oids, Thing.eClass)
    return [(*head, None if row is None else {name: row[name] for name in names}) for *head, row in found]  # type: ignore[misc]


def got(folder: Path) -> list[Told]:
    return told({"_class": "Thing", **row} if row["_change"] == "deleted" else row for row in kept(folder))


def test_a_stream_that_is_restarted_gives_every_change_once_and_in_order(
    session: SparkSession, model: nm.Model, tmp_path: Path
) -> None:
    busy, folder = Busybody(model, 1), tmp_path / "stream"
    for span in ("0.05", "10", "0.3"):
        frame = spark.follow(session, url(model), "m", type="Thing", columns=COLUMNS, span=span)
        query = started(frame, folder)
        try:
            for _ in range(5):
                busy.work(10)
                time.sleep(0.1)
        finally:
            query.stop()
        assert query.exception() is None
    query = started(frame, folder, availableNow=True)

    assert query.awaitTermination(60)
    assert got(folder) == wanted(model, busy.oids)


def test_available_now_ends_when_all_has_come_that_was_there(
    session: SparkSession, model: nm.Model, tmp_path: Path
) -> None:
    busy, folder = Busybody(model, 2), tmp_path / "stream"
    busy.work(40)
    frame = spark.follow(session, url(model), "m", type="Thing", columns=COLUMNS, ordered="false")

    for _ in range(2):
        assert started(frame, folder, availableNow=True).awaitTermination(60)
        assert sorted(got(folder), key=lambda one: one[:2]) == wanted(model, busy.oids)
        busy.work(10)


@contextlib.contextmanager
def driver(store: str, folder: Path) -> Iterator[None]:
    """A driver in a process of its own, with all that it starts, that follows the model; in the end it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.spark.driver", store, str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("times", [1, pytest.param(8, marks=pytest.mark.soak)])
def test_a_driver_that_is_killed_loses_nothing_and_gives_nothing_twice(
    session: SparkSession, model: nm.Model, tmp_path: Path, times: int
) -> None:
    busy, folder = Busybody(model, 3), tmp_path / "stream"
    for number in range(times):
        with driver(url(model), folder):
            seen = len(kept(folder))
            while len(kept(folder)) == seen:
                busy.work(2)
                time.sleep(0.1)
            busy.work(10)
            time.sleep(0.2 * (number % 5))
    busy.work(5)
    frame = spark.follow(session, url(model), "m", type="Thing", columns=COLUMNS, span="60")

    assert started(frame, folder, availableNow=True).awaitTermination(60)
    assert got(folder) == wanted(model, busy.oids)


def test_a_stream_on_hbase_gives_every_change_once_and_in_order(
    session: SparkSession, hbase3: Cluster, tmp_path: Path
) -> None:
    with nm.connect(f"{hbase3.url}&prefix=changes{uuid.uuid4().hex[:8]}_&settling=2&regions=3") as repo:
        repo.register(things)
        model = repo.create("m")
        busy, folder = Busybody(model, 4), tmp_path / "stream"
        busy.work(5)
        time.sleep(2.1)  # until the metamodel is stable
        frame = spark.follow(session, repo.store.url, "m", type="Thing", columns=COLUMNS)
        for _ in range(2):
            query = started(frame, folder)
            busy.work(15)
            time.sleep(1)
            query.stop()
            assert query.exception() is None
        time.sleep(2.1)
        assert started(frame, folder, availableNow=True).awaitTermination(60)

        assert got(folder) == wanted(model, busy.oids)
        for name in repo.store.tables():
            repo.store.table(name).drop()


def failed(frame: Any, folder: Path) -> str:
    query = started(frame, folder, availableNow=True)
    with pytest.raises(StreamingQueryException) as caught:
        query.awaitTermination(60)
    return str(caught.value)


def test_what_fails_is_told_in_one_sentence(session: SparkSession, model: nm.Model, tmp_path: Path) -> None:
    one = Thing(name="a")
    model.roots.append(one)
    one.name = "b"
    nm.purge(model, before=model.repository.stable("m"))

    message = failed(spark.follow(session, url(model), "m", type="Thing"), tmp_path / "purged")
    assert "was purged; ask for a later time" in message
    assert "Traceback" not in message
    stream = session.readStream.format("neomodel").options(store=url(model), model="m", type="Thing").load()
    assert "option since of a stream is None" in failed(stream, tmp_path / "unasked")
    with pytest.raises(Exception, match=r"option since is .*expected a time that is past"):
        spark.follow(session, url(model), "m", since="2999-01-01T00:00:00Z")
    with pytest.raises(Exception, match="has no 'Thng'"):
        spark.follow(session, url(model), "m", type="Thng")
    with pytest.raises(Exception, match="expected readStream"):
        session.read.format("neomodel").options(store=url(model), model="m", since="creation").load().count()
