"""Random models of random metamodels: what PyEcore reads of a file is what the model has, and so is what we read."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neomodel as nm
from tests.xmi.pyecore_peer import Peer, content_of, exactly
from tests.xmi.random_models import Filled, fill, filled


def check_xmi(given: Filled, *, ids: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, nm.connect("memory:") as repo:
        package = repo.register(given.shape.package)
        model = repo.create("m")
        fill(model, package, given)

        done = model.export_xmi(f"{folder}/m.xmi", ids=ids)

        expected = content_of(model)
        assert Peer(given.shape.package).content(Path(folder) / "m.xmi") == expected
        assert done.elements == len(expected)
        assert done.notices == ()
        repo.import_xmi(f"{folder}/m.xmi", model="again")
        assert exactly(repo.open("again")) == exactly(model)
        repo.open("again").export_xmi(f"{folder}/again.xmi")
        if not ids:
            assert Path(f"{folder}/again.xmi").read_bytes() == Path(f"{folder}/m.xmi").read_bytes()


@settings(max_examples=50)
@given(filled, st.booleans())
def test_pyecore_reads_what_the_model_has(given: Filled, ids: bool) -> None:
    check_xmi(given, ids=ids)


@pytest.mark.soak
@settings(max_examples=5000)
@given(filled, st.booleans())
def test_pyecore_reads_what_the_model_has_at_length(given: Filled, ids: bool) -> None:
    check_xmi(given, ids=ids)
