"""A repository of each kind that is there at once, with the library's metamodel, and models in it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import neomodel as nm
from neomodel import long_lists
from neomodel.repository import Repository
from neomodel.stores import open_store
from neomodel.stores.wrappers import Counting
from tests.objects.library import library


@pytest.fixture(params=["memory", "lmdb"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store of this kind is, for all who connect within this process."""
    return f"memory:{tmp_path}" if request.param == "memory" else f"lmdb:{tmp_path / 'store'}"


@pytest.fixture(params=["memory", "lmdb", "hbase"])
def any_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store of this kind is, for all who connect within this process. One on a cluster is shared, so drop what
    you made; models there begin with one region, which is there soonest."""
    if request.param == "hbase":
        return f"{request.getfixturevalue('hbase').url}&regions=1"
    return f"memory:{tmp_path}" if request.param == "memory" else f"lmdb:{tmp_path / 'store'}"


@pytest.fixture
def lmdb_url(tmp_path: Path) -> str:
    """Where a store is that other processes can open."""
    return f"lmdb:{tmp_path / 'store'}"


@pytest.fixture
def connect() -> Iterator[Callable[[str], Repository]]:
    """Connects, as often as wanted, for as long as the test lasts."""
    repositories = []

    def connected(url: str) -> Repository:
        repositories.append(nm.connect(url))
        return repositories[-1]

    yield connected
    for repository in repositories:
        repository.close()


@pytest.fixture
def repo(url: str, connect: Callable[[str], Repository]) -> Repository:
    repository = connect(url)
    repository.register(library)
    return repository


@pytest.fixture
def model(repo: Repository) -> nm.Model:
    return repo.create("m")


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    """A store that counts what is asked of it; `Repository(counting)` works on it. Chance, which decides when the tail
    of a long collection is looked at first, is told to choose the latest moment."""
    monkeypatch.setattr(long_lists.secrets, "randbelow", lambda bound: bound - 1)
    with Counting(open_store("memory:")) as store:
        Repository(store).register(library)
        yield store
