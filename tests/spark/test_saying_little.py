"""Commands on Spark say what they have to say, and the JVM beside them next to nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import neomodel as nm
from spark.session import prepare
from tests.spark.things import Thing

RULES = """
import neomodel as nm
from tests.spark.things import Thing

rules = nm.Transformation("rules")

@rules.rule
def copy(thing: Thing, made: Thing) -> None:
    made.name = thing.name[5]
"""
OF_THE_JVM = "WARNING: Using incubator modules"  # said before anything can be configured


def test_a_rule_that_fails_in_a_task_is_one_sentence_and_no_stack(model: nm.Model, tmp_path: Path) -> None:
    model.roots.append(Thing(name="a", price=None))
    (tmp_path / "failing.py").write_text(RULES)
    command = [sys.executable, "-m", "neomodel", "transform", "failing:rules", "m", "made", "--engine", "spark"]
    root = Path(__file__).parent.parent.parent
    given = {**os.environ, "NEOMODEL_STORE": model.repository.store.url, "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=300, check=False)

    said = [line for line in done.stderr.splitlines() if not line.startswith(OF_THE_JVM)]
    assert done.returncode == 2
    assert [line.partition(" on ")[0] for line in said] == ["neomodel: rule copy failed"], done.stderr


@pytest.mark.parametrize(
    ("java", "said"),
    [
        ("", "bin, which JAVA_HOME names; install a JDK"),
        ("#!/bin/sh\nexit 1\n", "it ended at once, and said above why; install a JDK"),
    ],
)
def test_a_machine_without_a_java_for_spark_is_told_to_install_one(java: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    if java:
        (tmp_path / "bin" / "java").write_text(java)
        (tmp_path / "bin" / "java").chmod(0o755)
    nm.connect(f"lmdb:{tmp_path}/db").create("m")
    command = [sys.executable, "-m", "neomodel", "backup", "saved", "--store", f"lmdb:{tmp_path}/db"]
    root = Path(__file__).parent.parent.parent
    given = {**os.environ, "JAVA_HOME": str(tmp_path), "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=300, check=False)

    last = done.stderr.splitlines()[-1]
    assert done.returncode == 2, done.stderr
    assert last.startswith("neomodel: cannot ")
    assert said in last
    assert java or len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "saved").exists()


def test_who_interrupts_the_start_of_spark_leaves_no_java_behind(tmp_path: Path) -> None:
    nm.connect(f"lmdb:{tmp_path}/db").create("m")
    command = [sys.executable, "-m", "neomodel", "backup", "saved", "--store", f"lmdb:{tmp_path}/db"]
    given = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    ) as running:
        assert _within(60, lambda: _javas(running.pid))
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=120)

    assert running.returncode == 130
    assert "Exception" not in said
    assert _within(30, lambda: not _javas(running.pid))
    assert not (tmp_path / "saved").exists()


def _javas(group: int) -> list[str]:
    """The processes of Java that a command of that process group has started."""
    listed = subprocess.run(["ps", "-eo", "pgid=,comm="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.split() == [str(group), "java"]]


def _within(seconds: float, holds: Callable[[], object]) -> bool:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize(("kept", "ours"), [("log4j2.properties", False), ("log4j2.properties.template", True)])
def test_who_has_configured_what_spark_logs_keeps_that(
    kept: str, ours: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / kept).touch()
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("LOG4J_CONFIGURATION_FILE", "")
    monkeypatch.delenv("LOG4J_CONFIGURATION_FILE")

    prepare()

    assert ("LOG4J_CONFIGURATION_FILE" in os.environ) == ours
