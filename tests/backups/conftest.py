"""Repositories of this and of another kind, and one on a cluster."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neomodel.cluster import Cluster
from neomodel.repository import Repository
from tests.objects.conftest import connect as connect

Connect = Callable[[str], Repository]


@pytest.fixture
def name() -> str:
    """A name that no other test has models of on the cluster."""
    return f"e{uuid.uuid4().hex[:12]}"


@pytest.fixture
def cluster(hbase: Cluster, name: str, connect: Connect) -> Iterator[Repository]:
    """A repository on HBase, where what is restored in the test is dropped after it."""
    repository = connect(f"{hbase.url}&regions=3")
    repository.store.settling = 0  # nobody else writes there
    yield repository
    for model in repository.models():
        if model.startswith(name):
            repository.drop(model)


@pytest.fixture
def repo(connect: Connect, tmp_path: Path) -> Repository:
    return connect(f"lmdb:{tmp_path}/first")


@pytest.fixture
def other(connect: Connect, tmp_path: Path) -> Repository:
    return connect(f"lmdb:{tmp_path}/other")
