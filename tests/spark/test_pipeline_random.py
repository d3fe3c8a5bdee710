"""Random processes, data, actions and tokens: what a run gives, and gives again, bit for bit."""

import os
import random
import subprocess
import sys
import uuid
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from metamodels import anna
from metamodels.elsa import ElsaStore, Token
from neomodel.cluster import Cluster
from tests.spark.products import files
from tests.spark.random_products import LAYOUT, Rows, computed, drawn, filled, ingested, merged, process, told

HERE = Path(__file__).parent.parent.parent


def tables(run: anna.Run) -> dict[str, Rows]:
    found: dict[str, Rows] = {}
    for step in run.steps:
        folder = Path(run.folder or "") / f"{run.number:06}" / step.step
        rows = [row for one in step.written for row in pq.read_table(folder / one["name"]).to_pylist()]
        assert [row["id"] for row in rows] == sorted((row["id"] for row in rows), key=str.encode)
        found[step.step] = {row["id"]: row for row in rows}
    return found


def play(seed: int, url: str, folder: Path, session: SparkSession) -> None:
    """One random process, from its first run to its third."""
    chance = random.Random(seed)
    kinds = drawn(chance)
    name = f"random {seed}"
    with nm.connect(url) as repo:
        store, batches = filled(chance, repo, kinds, name)
        token, known = _times(store, repo)
        made = spark.Pipeline(process(kinds, name), repo, folder, session=session, block=chance.choice([4, 100]))
        actions = anna.open(repo).actions(name).as_of(ingest=known)

        LAYOUT.seed = seed
        first = made.run(token=token, actions=(None, known))

        rows, outcomes = computed(kinds, {system: merged(given) for system, given in batches.items()}, actions)
        assert tables(first) == rows
        assert {one.action: one.outcome for one in first.outcomes()} == outcomes
        assert sum(first.counts().values()) == len(actions)

        more: dict[str, Rows] = {system: told(chance) for system in batches}
        for system, records in more.items():  # both systems learn something; later only one of it is asked for
            ingested(store, system, records, 20)
        later, _ = _times(store, repo)
        LAYOUT.seed = seed + 1
        again = made.recompute(first)
        assert again.same, str(again)
        assert files(again.run) == files(first)

        renewed = made.recompute(first, ingest={"one": later.ingest}).run
        by_hand = {"one": merged([*batches["one"], more["one"]]), "two": merged(batches["two"])}
        rows, outcomes = computed(kinds, by_hand, actions)
        assert tables(renewed) == rows
        assert {one.action: one.outcome for one in renewed.outcomes()} == outcomes

        for change in made.diff(first, renewed).steps:
            before, after = tables(first)[change.step], tables(renewed)[change.step]
            differing = {key for key in {*before, *after} if before.get(key) != after.get(key)}
            assert {row.row for row in change.rows} == differing
            assert all(cause.kind in ("record", "action") for row in change.rows for cause in row.causes)
            assert all(row.causes for row in change.rows)


def _times(store: ElsaStore, repo: nm.Repository) -> tuple[Token, int]:
    """A token for all that was told, and the time at which actions are known; waited for, where that takes a while."""
    now = store.catalogue.table.now()
    store.check_stable(now, wait=True)
    anna.open(repo).check_stable(now, wait=True)
    return store.token(ingest=now), now


@pytest.mark.parametrize("seed", [1, 2])
def test_a_random_process_gives_what_it_should_and_gives_it_again(
    seed: int, session: SparkSession, tmp_path: Path
) -> None:
    play(seed, f"lmdb:{tmp_path}/db", tmp_path / "products", session)


def test_so_it_does_on_hbase(session: SparkSession, hbase3: Cluster, tmp_path: Path) -> None:
    play(3, settling(hbase3), tmp_path / "products", session)


@pytest.mark.parametrize("count", [1, pytest.param(12, marks=pytest.mark.soak)])
def test_it_gives_the_same_bytes_on_one_core(count: int, session: SparkSession, tmp_path: Path) -> None:
    assert session.sparkContext.defaultParallelism == 2
    seeds = range(300, 300 + count)
    for seed in seeds:
        play(seed, f"lmdb:{tmp_path}/db{seed}", tmp_path / "products", session)
    changes = {"PYTHONPATH": str(HERE), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

    ended = subprocess.run(
        [sys.executable, "-m", "tests.spark.one_core", str(tmp_path), *map(str, seeds)],
        cwd=tmp_path,
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stdout.count("is the same") == count


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 140))
def test_random_processes_at_length(seed: int, session: SparkSession, tmp_path: Path) -> None:
    play(seed, f"lmdb:{tmp_path}/db", tmp_path / "products", session)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(200, 206))
def test_random_processes_on_hbase_at_length(seed: int, session: SparkSession, hbase3: Cluster, tmp_path: Path) -> None:
    play(seed, settling(hbase3), tmp_path / "products", session)


def settling(cluster: Cluster) -> str:
    """A store of its own on a cluster."""
    return f"{cluster.url}&prefix=anna{uuid.uuid4().hex[:8]}_&regions=1&settling=1"
