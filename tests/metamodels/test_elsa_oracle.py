"""Systems answer as the definition does, whatever was told in whatever order."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from metamodels import elsa
from neomodel.cluster import Cluster
from neomodel.repository import Repository
from tests.metamodels.conftest import url_of
from tests.metamodels.elsa_oracle import Row, answer, random_history

KEYS = ["a", "a b", "b", "c#1"]


def disagreements(system: elsa.ExternalSystem, rows: list[Row], random: Random, span: int, queries: int) -> int:
    """How many of so many questions are answered wrongly: asked one by one, together and by scans, in turns."""
    wrong = asked = 0
    while asked < queries:
        event, ingest = random.randrange(-1, span + 1), random.randrange(span + 1)
        expected = {key: answer(rows, key, event, ingest) for key in KEYS}
        there = {key: value for key, value in expected.items() if value is not None}
        if asked % 3:
            wrong += sum(system.get(key, event=event, ingest=ingest) != expected[key] for key in KEYS)
        else:
            wrong += system.get_many(KEYS, event=event, ingest=ingest) != there
            wrong += dict(system.scan(event=event, ingest=ingest)) != there
        asked += len(KEYS)
    return wrong


def histories(store: elsa.ElsaStore, seed: int, count: int, queries: int) -> int:
    random = Random(seed)
    wrong = 0
    for number in range(count):
        span = random.choice([4, 10, 100])
        rows = random_history(random, KEYS, random.randrange(1, 40), span)
        system = store.system(f"s{number}")
        system.load(rows)
        wrong += disagreements(system, rows, random, span, queries)
    return wrong


@pytest.mark.parametrize("kind", ["memory", "lmdb"])
def test_random_histories_are_answered_by_the_definition(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, connect: Callable[[str], Repository]
) -> None:
    store = elsa.open(connect(url_of(kind, tmp_path, request)))

    assert histories(store, seed=1, count=25, queries=120) == 0


def flushed_and_compacted(cluster: Cluster, store: elsa.ElsaStore, seed: int, queries: int) -> int:
    """How many questions about a random history were answered wrongly before, between and after."""
    random = Random(seed)
    rows = random_history(random, KEYS, 80, 30)
    system = store.system(f"s{seed}")
    system.load(rows)
    wrong = disagreements(system, rows, random, 30, queries)
    cluster.flush(system.model_name)
    wrong += disagreements(system, rows, random, 30, queries)
    cluster.compact(system.model_name)
    return wrong + disagreements(system, rows, random, 30, queries)


@pytest.mark.parametrize("url", ["hbase"], indirect=True)
def test_random_histories_are_answered_by_the_definition_on_hbase_also_after_flush_and_compaction(
    hbase: Cluster, store: elsa.ElsaStore
) -> None:
    assert flushed_and_compacted(hbase, store, seed=2, queries=40) == 0


@pytest.mark.soak
def test_a_million_questions_are_answered_by_the_definition(
    tmp_path: Path, request: pytest.FixtureRequest, connect: Callable[[str], Repository]
) -> None:
    for kind in ("memory", "lmdb"):
        store = elsa.open(connect(url_of(kind, tmp_path, request)))

        assert histories(store, seed=3, count=500, queries=1000) == 0


@pytest.mark.soak
@pytest.mark.parametrize("url", ["hbase"], indirect=True)
def test_many_questions_are_answered_by_the_definition_on_hbase(hbase: Cluster, store: elsa.ElsaStore) -> None:
    for seed in range(20):
        assert flushed_and_compacted(hbase, store, seed=seed, queries=400) == 0


def wide_disagreements(system: elsa.ExternalSystem, rows: list[Row], random: Random, span: int, times: int) -> int:
    """How many questions about all keys are answered wrongly, as of so many pairs of times: asked together, and by a
    scan of every tenth."""
    by_key: dict[str, list[Row]] = {}
    for row in rows:
        by_key.setdefault(row.key, []).append(row)
    wrong = 0
    for number in range(times):
        event, ingest = random.randrange(-1, span + 1), random.randrange(span + 1)
        expected = {key: answer(some, key, event, ingest) for key, some in by_key.items()}
        found = system.get_many(by_key, event=event, ingest=ingest)
        wrong += sum(found.get(key) != value for key, value in expected.items())
        if number % 10 == 0:
            scanned = dict(system.scan(event=event, ingest=ingest))
            wrong += sum(scanned.get(key) != value for key, value in expected.items())
    return wrong


@pytest.mark.parametrize("times", [3, pytest.param(700, marks=pytest.mark.soak)])
@pytest.mark.parametrize("url", ["hbase"], indirect=True)
def test_questions_about_many_records_are_answered_by_the_definition_on_hbase_also_after_flush_and_compaction(
    hbase: Cluster, store: elsa.ElsaStore, times: int, figures: Callable[[str], None]
) -> None:
    random = Random(4)
    keys = [f"record {number}" for number in range(500)]
    rows = random_history(random, keys, 10_000, 40)
    system = store.system("wide")
    system.load(rows)
    asked = len({row.key for row in rows}) * times * 3

    wrong = wide_disagreements(system, rows, random, 40, times)
    for settle in (hbase.flush, hbase.compact):
        settle(system.model_name)
        wrong += wide_disagreements(system, rows, random, 40, times)

    figures(f"ELSA on HBase: {asked:,} questions before and after flush and compaction, {wrong} answered wrongly")
    assert wrong == 0
