"""Python workers, executors and drivers that are killed in the midst of a transformation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import neomodel as nm
from tests.rules.nodes import Node, boxes, nodes
from tests.spark.killing_rules import NODES, deadly

HERE = Path(__file__).parent.parent.parent


@pytest.fixture
def model(tmp_path: Path) -> nm.Model:
    repo = nm.connect(f"lmdb:{tmp_path}/db")
    repo.register(nodes)
    repo.register(boxes)
    model = repo.create("m")
    made = [Node(name=f"n{number}") for number in range(NODES)]
    model.roots.extend(made)
    for number, node in enumerate(made):
        node.others = [made[(7 * number + 1) % NODES]]
    return model


def run(master: str, model: nm.Model, victims: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A driver in a process of its own."""
    (folder / "marks").mkdir()
    changes = {"PYTHONPATH": str(HERE), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-m", "tests.spark.killing_rules", master, model.repository.store.url, victims]
    return subprocess.run(
        [*command, str(folder / "marks")],
        cwd=folder,
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def marks(folder: Path) -> set[str]:
    return {mark.name for mark in (folder / "marks").iterdir()}


def test_what_is_killed_is_done_again_and_nothing_is_doubled_or_half(model: nm.Model, tmp_path: Path) -> None:
    """A Python worker, and then an executor with the JVM it is."""
    ended = run("local-cluster[2,1,1024]", model, "worker,executor", tmp_path)

    assert ended.returncode == 0, ended.stderr[-2000:]
    assert marks(tmp_path) == {"worker", "executor", "finished"}
    (done,) = nm.runs(model.repository.open("t"))
    nm.transform(deadly(), model, "whole", token=done.token)
    store = model.repository.store
    assert dict(store.table("t").scan()) == dict(store.table("whole").scan())
    assert done.applications == {"boxed": NODES}


def test_a_run_whose_driver_was_killed_is_not_there_until_it_is_run_again(model: nm.Model, tmp_path: Path) -> None:
    ended = run("local[2]", model, "driver", tmp_path)

    assert ended.returncode == -9, ended.stderr[-2000:]
    assert marks(tmp_path) == {"driver"}
    assert "t" not in model.repository.models()
    with pytest.raises(nm.UnfinishedImport):
        model.repository.open("t")

    nm.transform(deadly(), model, "t")

    made = model.repository.open("t")
    assert len(made.roots) == NODES
    assert nm.check(made).findings == ()
