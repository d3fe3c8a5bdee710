"""ELSA stores of every kind."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import neomodel as nm
from metamodels import elsa
from neomodel.repository import Repository
from tests.objects.conftest import connect  # noqa: F401  a fixture

Connect = Callable[[str], Repository]


def url_of(kind: str, folder: Path, request: pytest.FixtureRequest) -> str:
    urls = {"memory": f"memory:{folder}", "lmdb": f"lmdb:{folder / 'store'}"}
    return urls.get(kind) or request.getfixturevalue("hbase").url  # type: ignore[no-any-return]


@pytest.fixture(params=["memory", "lmdb", "hbase"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request.param, tmp_path, request)


@pytest.fixture
def repo(url: str, connect: Connect) -> Repository:  # noqa: F811  the fixture
    return connect(url)


@pytest.fixture
def store(repo: Repository) -> Iterator[elsa.ElsaStore]:
    name = f"e{uuid.uuid4().hex[:12]}"
    yield elsa.open(repo, name)
    for model in repo.models():
        if model.startswith(name):
            repo.drop(model)


@pytest.fixture
def crm(store: elsa.ElsaStore) -> elsa.ExternalSystem:
    return store.system("crm")


def settled(store: elsa.ElsaStore) -> int:
    """An ingest time at which all that was written is known, and stable, since nobody else writes."""
    inner = store.repository.store
    settling, inner.settling = inner.settling, 0
    now = store.catalogue.table.now()
    store.check_stable(now)
    inner.settling = settling
    return now


def count(model: nm.Model) -> int:
    return sum(1 for _ in model.table.history())
