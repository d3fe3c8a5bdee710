"""A repository that knows the garden, a model in it, and what is written of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import neomodel as nm
from tests.xmi.garden import garden

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


@pytest.fixture(params=["memory", "lmdb"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[nm.Repository]:
    url = f"memory:{tmp_path}" if request.param == "memory" else f"lmdb:{tmp_path / 'store'}"
    with nm.connect(url) as repository:
        repository.register(garden)
        yield repository


@pytest.fixture
def model(repo: nm.Repository) -> nm.Model:
    return repo.create("m")


@pytest.fixture
def written(model: nm.Model, tmp_path: Path) -> Callable[..., str]:
    """Exports the model; returns the text of the file, without its first line."""

    def written(**options: bool) -> str:
        model.export_xmi(tmp_path / "m.xmi", **options)
        text = (tmp_path / "m.xmi").read_bytes().decode()
        assert text.startswith(HEAD)
        return text.removeprefix(HEAD)

    return written
