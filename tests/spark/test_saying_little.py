"""Commands on Spark say what they have to say, and the JVM beside them next to nothing."""

import os
import subprocess
import sys
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
        ("", "there is no java; install a JDK"),
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
