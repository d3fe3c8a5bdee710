"""The shipped examples: the two ways give the same answers, and those are the right ones."""

import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import neomodel as nm
from neomodel.cluster import Cluster
from spark.examples import railway, social
from spark.examples.railway import JOBS, QUERIES, RAILWAY, matches, matches_by_spark
from spark.examples.social import SOCIAL
from spark.examples.tables import Tables
from tests.data import data_folder, needs_data
from tests.spark import example_models as models
from tests.xmi.test_queries import COMMENTS, MATCHES, NAMES, POSTS


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[nm.Repository]:
    with nm.connect(f"lmdb:{tmp_path}/db") as repo:
        repo.register(models.railway, models.social)
        yield repo


def tables(session: SparkSession, repo: nm.Repository, model: str, package: str) -> Tables:
    return Tables(session, repo.store.url, model, package)


def test_each_query_finds_what_was_planted(session: SparkSession, repo: nm.Repository) -> None:
    model = repo.create("m")
    planted = {name: {tuple(map(nm.oid, match)) for match in found} for name, found in models.planted(model).items()}
    assert {name: matches(name, model, models.railway) for name in QUERIES} == planted

    models.railways(model, 4)  # without rhyme or reason, beside it
    by_objects = {name: matches(name, model, models.railway) for name in QUERIES}
    by_spark = {name: matches_by_spark(name, tables(session, repo, "m", RAILWAY)) for name in JOBS}

    assert by_spark == by_objects
    assert all(planted[name] <= by_spark[name] for name in JOBS)


def test_the_best_of_a_social_network_are_found(session: SparkSession, repo: nm.Repository) -> None:
    model = repo.create("m")
    answers = models.network(model)
    assert {name: query(model, models.social) for name, query in social.QUERIES.items()} == answers
    read = tables(session, repo, "m", SOCIAL)
    assert {name: job(read) for name, job in social.JOBS.items()} == answers

    model = repo.create("n")
    models.networks(model, 1)
    by_objects = {name: query(model, models.social) for name, query in social.QUERIES.items()}
    read = tables(session, repo, "n", SOCIAL)
    assert {name: job(read) for name, job in social.JOBS.items()} == by_objects


def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, module: object, *given: str) -> str:
    monkeypatch.setattr(sys, "argv", ["example", *given])
    module.main()  # type: ignore[attr-defined]
    return capsys.readouterr().out


def test_the_commands_print_the_same_either_way(
    session: SparkSession, repo: nm.Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    models.planted(repo.create("r"))
    answers = models.network(repo.create("s"))
    store = repo.store.url
    trains = "".join(f"{name}: 1\n" for name in ("PosLength", "SwitchSet"))

    for way in ([], ["--spark"]):
        given = ["--store", store, "--model", "r", "PosLength", "SwitchSet", *way]
        assert printed(capsys, monkeypatch, railway, *given) == trains
        given = ["--store", store, "--model", "s", *way]
        assert printed(capsys, monkeypatch, social, *given) == "".join(
            f"{name}: {best}\n" for name, best in answers.items()
        )


@pytest.mark.parametrize("way", [[], ["--spark"]])
def test_a_command_says_in_one_sentence_what_is_wrong(
    session: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    way: list[str],
) -> None:
    url = f"lmdb:{tmp_path}/db"
    with nm.connect(url) as repo:
        repo.create("other")
    for model, told in (("nobody", "nobody"), ("other", RAILWAY)):
        with pytest.raises(SystemExit) as ended:
            printed(capsys, monkeypatch, railway, "--store", url, "--model", model, *way)

        assert ended.value.code == 2
        assert told in (said := capsys.readouterr().err)
        assert len(said.splitlines()) == 1


# the published answers


def railway_matches(session: SparkSession, repo: nm.Repository, size: str, *, wait: float = 0) -> None:
    folder = data_folder() / "trainbenchmark"
    repo.import_xmi(folder / f"railway-{size}.xmi", model=size, metamodel=[folder / "railway.ecore"])
    time.sleep(wait)  # until it is stable
    read = tables(session, repo, size, RAILWAY)
    by_spark = [matches_by_spark(name, read) for name in NAMES]
    by_objects = [matches(name, repo.open(size), repo.metamodel(RAILWAY)) for name in NAMES]

    assert tuple(map(len, by_spark)) == MATCHES[size]
    assert by_spark == by_objects


def social_answers(session: SparkSession, repo: nm.Repository, size: int, *, wait: float = 0) -> None:
    folder = data_folder() / "ttc2018_social"
    file, metamodel = folder / str(size) / "initial.xmi", folder / "social_network.ecore"
    repo.import_xmi(file, model=f"s{size}", metamodel=[metamodel])
    time.sleep(wait)
    read = tables(session, repo, f"s{size}", SOCIAL)
    by_objects = [query(repo.open(f"s{size}"), repo.metamodel(SOCIAL)) for query in social.QUERIES.values()]

    assert [job(read) for job in social.JOBS.values()] == by_objects == [POSTS[size], COMMENTS[size]]


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[nm.Repository]:
    with nm.connect(f"lmdb:{tmp_path}/db") as repo:
        yield repo


@needs_data
@pytest.mark.parametrize("size", ["repair-1", pytest.param("inject-1", marks=pytest.mark.soak)])
def test_the_train_benchmark_has_the_published_matches(session: SparkSession, empty: nm.Repository, size: str) -> None:
    railway_matches(session, empty, size)


@needs_data
@pytest.mark.parametrize("size", [1, pytest.param(2, marks=pytest.mark.soak), pytest.param(4, marks=pytest.mark.soak)])
def test_the_social_network_has_the_published_answers(session: SparkSession, empty: nm.Repository, size: int) -> None:
    social_answers(session, empty, size)


@needs_data
@pytest.mark.parametrize("asked", ["social", pytest.param("railway", marks=pytest.mark.soak)])
def test_hbase_gives_the_published_answers(session: SparkSession, hbase3: Cluster, asked: str) -> None:
    with nm.connect(f"{hbase3.url}&prefix=examples{uuid.uuid4().hex[:8]}_&settling=2&regions=2") as repo:
        if asked == "social":
            social_answers(session, repo, 1, wait=2.1)
        else:
            railway_matches(session, repo, "repair-1", wait=2.1)
        for name in repo.store.tables():
            repo.store.table(name).drop()
