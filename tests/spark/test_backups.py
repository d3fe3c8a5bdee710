"""Backups and restores in the tasks of a Spark."""

import gc
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from metamodels import elsa
from neomodel.backups.writing import Done
from neomodel.cluster import Cluster
from neomodel.repository import Repository
from spark.backups import SparkParts
from tests.backups.shelves import cells, changed, filled, told
from tests.spark.killing_backups import CELLS

HERE = Path(__file__).parent.parent.parent
RECORDS = 20_000  # enough for two regions of an LMDB
MODELS = ["elsa", "elsa.crm", "elsa.erp"]


@pytest.fixture
def store(tmp_path: Path) -> elsa.ElsaStore:
    opened = elsa.open(nm.connect(f"lmdb:{tmp_path}/db"))
    told(opened)
    opened.system("crm").ingest((f"c{number:06}", 10, "insert", number) for number in range(RECORDS))
    return opened


def test_regions_are_copied_and_files_restored_in_tasks(
    session: SparkSession, store: elsa.ElsaStore, tmp_path: Path
) -> None:
    repo, other = store.repository, nm.connect(f"lmdb:{tmp_path}/other")
    shares: list[float] = []

    made = spark.backup(session, repo, tmp_path / "b", "elsa", progress=lambda _, share: shares.append(share))
    store.system("crm").insert("late", 1, "x")
    spark.backup(session, repo, tmp_path / "b", since="last", file_cells=CELLS)
    done = spark.restore(session, other, tmp_path / "b", progress=lambda cells, _: shares.append(cells))

    assert {file.path for model in made.models for file in model.files if model.name == "elsa.crm"} == {
        "elsa.crm/00000-0000.parquet",
        "elsa.crm/00001-0000.parquet",
    }
    assert cells(other.store, *MODELS) == cells(repo.store, *MODELS)
    assert 1.0 in shares
    assert shares[-1] == done.cells


def test_workers_do_not_search_what_they_imported_for_garbage(session: SparkSession, tmp_path: Path) -> None:
    class Counted:
        def run(self, _store: object) -> Done:
            return Done(gc.get_freeze_count())

    store = nm.connect(f"lmdb:{tmp_path}/db").store

    found = SparkParts(session)(store, [Counted()] * 16)  # more than there are workers

    assert max(one.cells for one in found) > 10_000


def test_what_fails_in_a_task_is_raised_as_what_it_is(
    session: SparkSession, store: elsa.ElsaStore, tmp_path: Path
) -> None:
    spark.backup(session, store.repository, tmp_path / "b", "elsa")
    path = tmp_path / "b" / "00001" / "elsa.crm" / "00001-0000.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    other = nm.connect(f"lmdb:{tmp_path}/other")

    with pytest.raises(nm.DamagedBackup, match=str(path)):
        spark.restore(session, other, tmp_path / "b")

    assert other.store.tables() == []
    with pytest.raises(nm.InvalidValue, match="one that other processes reach"):
        spark.backup(session, filled(nm.connect("memory:")).repository, tmp_path / "c")


def test_every_region_of_a_cluster_is_a_part(session: SparkSession, hbase3: Cluster, tmp_path: Path) -> None:
    name = f"m-{uuid.uuid4().hex[:12]}"
    repo, third = nm.connect(f"lmdb:{tmp_path}/db"), nm.connect(f"lmdb:{tmp_path}/third")
    model = filled(repo, name, boxes=200)
    with nm.connect(f"{hbase3.url}&regions=3") as cluster:
        nm.backup(repo, tmp_path / "there", file_cells=200)
        spark.restore(session, cluster, tmp_path / "there")
        changed(model, 2)
        cluster.batches.vouch(repo.stable(name))  # what was restored is stable, whatever this clock says
        made = spark.backup(session, cluster, tmp_path / "back", name)
        spark.restore(session, third, tmp_path / "back")

        assert len(cluster.store.table(name).regions()) == 3
        assert {file.path[: len(name) + 6] for file in made.files if file.path.startswith(name)} == {
            f"{name}/{number:05}" for number in range(3)
        }
        before = cells(cluster.store, name)
        cluster.drop(name)
    assert cells(third.store, name) == before


def killed(what: str, url: str, folder: Path, marks: Path) -> None:
    """Have a driver do that, which is killed in the midst of it."""
    marks.mkdir()
    changes = {"PYTHONPATH": str(HERE), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-m", "tests.spark.killing_backups", what, url, str(folder), str(marks)]
    ended = subprocess.run(
        command, cwd=marks, env={**os.environ, **changes}, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == -9, ended.stderr[-2000:]
    assert {mark.name for mark in marks.iterdir()} == {"part", "driver"}


def test_what_a_killed_driver_has_begun_is_gone_on_with(
    session: SparkSession, store: elsa.ElsaStore, tmp_path: Path
) -> None:
    repo: Repository = store.repository
    killed("backup", repo.store.url, tmp_path / "b", tmp_path / "first")
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "b").rglob("[!.]*.parquet")}
    assert written
    assert nm.verify(tmp_path / "b").unfinished
    store.system("crm").insert("late", 1, "x")

    spark.backup(session, repo, tmp_path / "b", "elsa", file_cells=CELLS)
    assert {path: path.stat().st_mtime_ns for path in written} == written
    spark.backup(session, repo, tmp_path / "b", since="last")

    url = f"lmdb:{tmp_path}/other"
    killed("restore", url, tmp_path / "b", tmp_path / "second")
    with nm.connect(url) as other:
        assert other.models() == []
        assert any(other.imports.noted(model) for model in MODELS)
        with pytest.raises(nm.UnfinishedImport, match="restore it again, or drop it"):
            other.open("elsa")
        spark.restore(session, other, tmp_path / "b")
        assert cells(other.store, *MODELS) == cells(repo.store, *MODELS)
