"""A repository of each kind that is there at once, that knows both metamodels."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import neomodel as nm
from tests.rules.shapes import family, new_repository


@pytest.fixture(params=["memory", "lmdb"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[nm.Repository]:
    url = f"memory:{tmp_path}" if request.param == "memory" else f"lmdb:{tmp_path / 'store'}"
    with new_repository(url) as repository:
        yield repository


@pytest.fixture
def source(repo: nm.Repository) -> nm.Model:
    return family(repo)
