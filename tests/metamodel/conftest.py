"""A store of each kind that holds metamodels in a way of its own, with no metamodel in it."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from neomodel.stores import Store
from tests.stores.kinds import KINDS


@pytest.fixture(params=["memory", "lmdb", "hbase"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    kind = KINDS[request.param]
    if kind.cluster:
        (tmp_path / "url").write_text(f"{request.getfixturevalue('hbase').url}&prefix=r{uuid.uuid4().hex[:8]}_")
    with kind.open(tmp_path) as store:
        yield store
        for name in store.tables():
            store.table(name).drop()


@pytest.fixture
def lmdb(tmp_path: Path) -> Iterator[Store]:
    """The one that other processes can open and that is there at once."""
    with KINDS["lmdb"].open(tmp_path) as store:
        yield store
