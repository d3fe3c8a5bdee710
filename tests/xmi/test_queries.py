"""Queries over imported models give the published answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import neomodel as nm
from neomodel.cluster import Cluster
from spark.examples import railway
from spark.examples.railway import RAILWAY
from spark.examples.social import SOCIAL, best_comments, best_posts
from tests.data import data_folder, needs_data

pytestmark = needs_data

NAMES = ("ConnectedSegments", "PosLength", "RouteSensor", "SemaphoreNeighbor", "SwitchMonitored", "SwitchSet")
MATCHES = {
    "batch-1": (0, 0, 0, 0, 0, 0),
    "inject-1": (4, 12, 7, 0, 0, 1),
    "repair-1": (4, 52, 12, 8, 0, 1),
}
POSTS = {1: "404236|167197|404315", 2: "167197|723178|404286", 4: "723221|167197|571529"}
COMMENTS = {1: "725662|406944|1378985", 2: "406915|725662|406503", 4: "406915|406503|406944"}


@contextmanager
def imported(url: str, file: Path, metamodel: Path) -> Iterator[nm.Repository]:
    """A repository with the file as a model `m`, which is dropped in the end."""
    with nm.connect(url) as repo:
        repo.import_xmi(file, model="m", metamodel=[metamodel])
        try:
            yield repo
        finally:
            repo.drop("m")


def railway_matches(url: str, size: str) -> tuple[int, ...]:
    folder = data_folder() / "trainbenchmark"
    with imported(url, folder / f"railway-{size}.xmi", folder / "railway.ecore") as repo:
        model, package = repo.open("m"), repo.metamodel(RAILWAY)
        return tuple(len(railway.matches(name, model, package)) for name in NAMES)


def social_answers(url: str, size: int) -> tuple[str, str]:
    folder = data_folder() / "ttc2018_social"
    with imported(url, folder / str(size) / "initial.xmi", folder / "social_network.ecore") as repo:
        model, package = repo.open("m"), repo.metamodel(SOCIAL)
        return best_posts(model, package), best_comments(model, package)


@pytest.mark.parametrize("size", MATCHES)
def test_the_train_benchmark_has_the_published_matches(size: str, tmp_path: Path) -> None:
    assert railway_matches(f"lmdb:{tmp_path}", size) == MATCHES[size]


@pytest.mark.parametrize("size", POSTS)
def test_the_social_network_has_the_published_answers(size: int, tmp_path: Path) -> None:
    assert social_answers(f"lmdb:{tmp_path}", size) == (POSTS[size], COMMENTS[size])


def test_the_queries_give_the_same_on_what_was_exported(tmp_path: Path) -> None:
    folder = data_folder() / "trainbenchmark"
    with imported(f"lmdb:{tmp_path}", folder / "railway-repair-1.xmi", folder / "railway.ecore") as repo:
        repo.open("m").export_xmi(tmp_path / "again.zxmi")
        repo.import_xmi(tmp_path / "again.zxmi", model="again")
        model, package = repo.open("again"), repo.metamodel(RAILWAY)
        matches = tuple(len(railway.matches(name, model, package)) for name in NAMES)

    assert matches == MATCHES["repair-1"]


def test_hbase_gives_the_published_answers(hbase: Cluster) -> None:
    assert railway_matches(hbase.url, "repair-1") == MATCHES["repair-1"]
    assert social_answers(hbase.url, 1) == (POSTS[1], COMMENTS[1])
