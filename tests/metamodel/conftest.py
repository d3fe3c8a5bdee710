"""A store of each kind that holds metamodels in a way of its own, with no metamodel in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from neomodel.registry import TABLE
from neomodel.stores import Store
from tests.stores.kinds import KINDS


@pytest.fixture(params=["memory", "lmdb", "hbase"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    kind = KINDS[request.param]
    if kind.cluster:
        (tmp_path / "url").write_text(request.getfixturevalue("hbase").url)
    with kind.open(tmp_path) as store:
        yield store
        if TABLE in store.tables():
            store.table(TABLE).drop()


@pytest.fixture
def lmdb(tmp_path: Path) -> Iterator[Store]:
    """The one that other processes can open and that is there at once."""
    with KINDS["lmdb"].open(tmp_path) as store:
        yield store
