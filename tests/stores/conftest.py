"""Fixtures over every kind of store.

Making a table is slow where a cluster does it, so tests share one and each works on keys of its own (`key`, `span`).
A test that looks at a table as a whole, purges or drops it asks for `own_table`.
"""

import itertools
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from neomodel.stores import Store, Table
from tests.stores.kinds import KINDS, Kind

FAMILIES = "cpt"
_numbers = itertools.count()


@pytest.fixture(scope="session", params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture(scope="session")
def folder(kind: Kind, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `store` was opened: ``kind.open(folder)`` opens it once more."""
    folder = tmp_path_factory.mktemp("store")
    if kind.cluster:
        (folder / "url").write_text(request.getfixturevalue("hbase").url)
    return folder


@pytest.fixture
def place(kind: Kind, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder for one more store of this kind."""
    if kind.cluster:
        (tmp_path / "url").write_text(request.getfixturevalue("hbase").url)
    return tmp_path


@pytest.fixture(scope="session")
def store(kind: Kind, folder: Path) -> Iterator[Store]:
    with kind.open(folder) as store:
        yield store


@pytest.fixture(autouse=True)
def _skip_without_capability(request: pytest.FixtureRequest) -> None:
    for mark in request.node.iter_markers("needs"):
        (capability,) = mark.args
        if capability not in request.getfixturevalue("store").capabilities:
            pytest.skip(f"the store is not {capability}")


@pytest.fixture
def name() -> str:
    """A table name that is free."""
    return f"test-{uuid.uuid4().hex}"


@pytest.fixture
def own_table(store: Store, name: str) -> Iterator[Table]:
    """A new, empty table, dropped afterwards."""
    table = store.table(name)
    table.create(FAMILIES)
    yield table
    if name in store.tables():
        table.drop()


@pytest.fixture(scope="session")
def table(store: Store) -> Iterator[Table]:
    """A table that all tests share: use `key` and `span`."""
    table = store.table(f"test-{uuid.uuid4().hex}")
    table.create(FAMILIES)
    yield table
    table.drop()


@pytest.fixture
def key() -> bytes:
    """A key that no other test uses, nor any that begins with it."""
    return b"%08d/" % next(_numbers)


@pytest.fixture
def span(key: bytes) -> tuple[bytes, bytes]:
    """Start and stop of all keys that begin with `key`."""
    return key, key[:-1] + bytes([key[-1] + 1])
