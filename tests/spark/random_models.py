"""Random models in new stores, and the forms in which a check of them is run: short, with long lists, at length."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import hypothesis
import pytest
from hypothesis import strategies as st

import neomodel as nm
from neomodel import sharing, trees
from tests.xmi.random_models import Filled, fill


@contextmanager
def new_repository() -> Iterator[nm.Repository]:
    """In a store that is closed afterwards by all who have it: a process has room for a hundred or so."""
    with tempfile.TemporaryDirectory() as folder, nm.connect(url := f"lmdb:{folder}/db") as repo:
        try:
            yield repo
        finally:
            if found := sharing._shared.pop(url, None):
                found.close()


@contextmanager
def new_model(filled: Filled, name: str = "m") -> Iterator[nm.Model]:
    """A model of its own metamodel, filled."""
    with new_repository() as repo:
        package = repo.register(filled.shape.package)
        model = repo.create(name)
        fill(model, package, filled)
        yield model


@contextmanager
def long_lists() -> Iterator[None]:
    """Lists of three are long ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "LIMITS", trees.Limits(2, 4, 3))
        yield


@attrs.frozen
class Form:
    examples: int
    long_lists: bool = False

    def run(self, check: Callable[..., None], *given: st.SearchStrategy[Any]) -> None:
        """Run a check of random values as often as the form says."""
        random_check = hypothesis.settings(max_examples=self.examples)(hypothesis.given(*given)(check))
        if not self.long_lists:
            random_check()
            return
        with long_lists():
            random_check()


def forms(*, short: int, with_long_lists: int, at_length: int) -> pytest.MarkDecorator:
    """A test is given a `form` and runs in each, with so many examples; at length only in the long forms."""
    return pytest.mark.parametrize(
        "form",
        [
            pytest.param(Form(short), id="short"),
            pytest.param(Form(with_long_lists, long_lists=True), id="long lists"),
            pytest.param(Form(at_length), id="at length", marks=pytest.mark.soak),
        ],
    )
