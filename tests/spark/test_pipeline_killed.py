"""Drivers and workers that are killed in the midst of a run: resumed, it gives the same bytes."""

import contextlib
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from metamodels import anna
from metamodels.anna.runs import Claim
from spark import outputs, pipeline, steps
from tests.spark.killing_products import BLOCK
from tests.spark.products import files, mirrored, turnover

HERE = Path(__file__).parent.parent.parent


def check(victims: str, died: set[str], master: str, session: SparkSession, folder: Path) -> list[str]:
    """Have a run die, resume it, and compare it with one that lived; the steps that were done when it died."""
    url = f"lmdb:{folder}/db"
    store = mirrored(url)
    token = store.token()
    (folder / "marks").mkdir()
    given = [master, url, str(folder / "products"), str(folder / "marks"), victims, str(token), str(token.ingest)]
    changes = {"PYTHONPATH": str(HERE), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    ended = subprocess.run(
        [sys.executable, "-m", "tests.spark.killing_products", *given],
        cwd=folder,
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert ended.returncode == -9, ended.stderr[-2000:]
    assert {mark.name for mark in (folder / "marks").iterdir()} == died
    made = spark.Pipeline(turnover(), store.repository, folder / "products", session=session, block=BLOCK)
    (dead,) = made.runs.of("turnover")
    assert dead.state is anna.State.RUNNING
    done = [step.step for step in dead.steps]

    resumed = made.resume(dead)

    assert (resumed.number, resumed.state) == (1, anna.State.DONE)
    whole = made.run(token=token, actions=(None, token.ingest))
    assert files(resumed) == files(whole)
    assert len(files(whole)) == 32
    assert resumed.hashes() == whole.hashes()
    return done


def test_a_worker_and_then_the_driver_are_killed_while_they_write(session: SparkSession, tmp_path: Path) -> None:
    """On one core there, on two here."""
    victims = "worker:placed,driver:by_city"
    assert check(victims, {"worker", "driver"}, "local[1,4]", session, tmp_path) == ["placed"]


MOMENTS = [
    (steps, "write"),
    (outputs, "_kept"),
    (outputs, "_check_whole"),
    (outputs, "_tidied"),
    (Claim, "commit"),
    (pipeline, "failures_of"),
]
"""What a run calls: before a step's output, before a file, after all files, before the record, at the end."""


def test_a_run_that_breaks_off_anywhere_is_resumed_to_the_same_bytes(session: SparkSession, tmp_path: Path) -> None:
    """Small: in this process, by an error; at each moment the first time that it comes, and the second."""
    store = mirrored(f"lmdb:{tmp_path}/db")
    token = store.token()
    made = spark.Pipeline(turnover(), store.repository, tmp_path / "products", session=session)
    given: dict[str, Any] = {"token": token, "actions": (None, token.ingest)}
    whole = files(made.run(**given))
    broken = []
    for at, (place, name) in enumerate(MOMENTS * 2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(place, name, _breaking(getattr(place, name), at // len(MOMENTS)))
            with contextlib.suppress(Broken, nm.StepFailed):
                made.run(**given)
                continue
        broken.append(name)
        run = made.runs.of("turnover")[-1]
        assert (run.state, files(made.resume(run))) == (anna.State.FAILED, whole), name

    assert broken == [name for _, name in MOMENTS] + ["write", "_kept", "_check_whole", "_tidied", "commit"]


class Broken(Exception):
    pass


def _breaking(function: Any, spared: int) -> Any:
    """The function, that fails once it was called so often."""
    calls = itertools.count()

    def breaking(*args: Any, **more: Any) -> Any:
        if next(calls) == spared:
            raise Broken(function.__name__)
        return function(*args, **more)

    return breaking


@pytest.mark.soak
@pytest.mark.parametrize(
    ("moment", "done"),
    [
        ("begun", []),
        ("computing", ["placed"]),
        ("tidying", ["placed"]),
        ("unlisted", ["placed"]),
        ("listed", ["placed"]),
        ("ending", ["placed", "by_city"]),
    ],
)
def test_the_driver_is_killed_between_two_writes(
    moment: str, done: list[str], session: SparkSession, tmp_path: Path
) -> None:
    assert check(moment, {moment}, "local[2]", session, tmp_path) == done


@pytest.mark.soak
@pytest.mark.parametrize(
    ("victims", "done"),
    [("driver:placed", []), ("worker:placed,driver:placed", []), ("worker:by_city,driver:by_city", ["placed"])],
)
def test_both_are_killed_in_the_midst_of_the_files_of_a_step(
    victims: str, done: list[str], session: SparkSession, tmp_path: Path
) -> None:
    died = {one.partition(":")[0] for one in victims.split(",")}
    assert check(victims, died, "local[1,4]", session, tmp_path) == done
