"""Python workers, executors and drivers that are killed in the midst of a bulk write."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import neomodel as nm
from spark import undo, unfinished_jobs
from tests.spark.killing import ROWS
from tests.spark.things import Thing
from tests.spark.writing import everything, sound

HERE = Path(__file__).parent.parent.parent
CLUSTER = "local-cluster[2,1,1024]"


@pytest.fixture
def model(model: nm.Model) -> nm.Model:
    """With every second of the objects that are written."""
    old = [Thing(name=f"o{number}", tags=["kept"]) for number in range(0, ROWS, 2)]
    for number, thing in enumerate(old):
        nm.identify(thing, f"old{2 * number:05}")
    model.roots.extend(old)
    return model


def run(master: str, model: nm.Model, victims: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A driver in a process of its own, with all it starts in its process group, that ends with this test."""
    marks = folder / "marks"
    marks.mkdir()
    changes = {"PYTHONPATH": str(HERE), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-m", "tests.spark.killing", master, model.repository.store.url, victims, str(marks)]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **changes}, capture_output=True, text=True, timeout=300, check=False
    )


def test_what_is_killed_is_done_again_and_nothing_is_doubled(model: nm.Model, tmp_path: Path) -> None:
    """A Python worker, and then an executor with the JVM it is."""
    ended = run(CLUSTER, model, "worker,executor", tmp_path)

    assert ended.returncode == 0, ended.stderr[-2000:]
    assert {mark.name for mark in (tmp_path / "marks").iterdir()} == {"worker", "executor", "finished"}
    found = {thing.number: thing for thing in model.roots}
    assert len(model.roots) == len(list(model.all(Thing))) == ROWS
    assert {number: thing.name for number, thing in found.items()} == {n: f"n{n}" for n in range(ROWS)}
    assert [nm.oid(found[n]) for n in range(0, ROWS, 2)] == [f"old{n:05}" for n in range(0, ROWS, 2)]
    assert all(list(found[n].tags) == ([] if n % 2 else ["kept"]) for n in range(ROWS))
    assert sound(model)
    assert unfinished_jobs(model.repository) == []


def test_a_killed_driver_leaves_a_job_that_is_told_and_can_be_undone(model: nm.Model, tmp_path: Path) -> None:
    before = everything(model)
    stable = model.repository.stable("m")

    ended = run("local[2]", model, "driver", tmp_path)

    assert ended.returncode == -9, ended.stderr[-2000:]
    assert {mark.name for mark in (tmp_path / "marks").iterdir()} == {"driver"}
    assert everything(model) != before
    (job,) = unfinished_jobs(model.repository)
    assert (job.model, job.type) == ("m", "things.Thing")
    assert job.since is not None
    assert stable <= model.repository.stable("m") < job.since
    assert undo(model.repository, job.token) > 0
    assert everything(model) == before
    assert unfinished_jobs(model.repository) == []
    assert sound(model)
