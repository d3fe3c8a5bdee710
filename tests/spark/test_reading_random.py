"""Random models of random metamodels: a DataFrame holds what the objects hold."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neomodel as nm
from neomodel import repository, trees
from neomodel.kinds import EClass
from tests.objects.machine_metamodels import shapes
from tests.spark.frames import expected, fits, read
from tests.xmi.random_models import URI, fill, fillings

filled = shapes(URI).flatmap(lambda shape: st.tuples(st.just(shape), fillings(shape)))


@contextmanager
def connected(url: str) -> Iterator[nm.Repository]:
    """A new store, which is closed afterwards by all who have it: a process has room for a hundred or so."""
    with nm.connect(url) as repo:
        try:
            yield repo
        finally:
            if found := repository._shared.pop(url, None):
                found.close()


def check(given: Any) -> None:
    shape, filling = given
    with tempfile.TemporaryDirectory() as folder, connected(f"lmdb:{folder}/db") as repo:
        package = repo.register(shape.package)
        model = repo.create("m")
        fill(model, package, shape, filling)
        for kind in (kind for kind in package.eClassifiers if isinstance(kind, EClass)):
            options = {"store": f"lmdb:{folder}/db", "model": "m", "type": kind.name}
            assert read(**options, exact=True) == expected(model, kind, exact=True)
            kept = [feature for feature in kind.features.values() if feature.kept and not feature.timeline]
            if all(fits(_held(obj, feature), feature) for obj in model.all(kind) for feature in kept):
                assert read(**options) == expected(model, kind)
            else:
                with pytest.raises(nm.InvalidValue, match="exact=true"):
                    read(**options)


def _held(obj: Any, feature: Any) -> Any:
    value = obj.eGet(feature.name)
    return list(value) if feature.many else value


@given(filled)
def test_a_data_frame_holds_what_the_objects_hold(given: Any) -> None:
    check(given)


@settings(max_examples=30)
@given(filled)
def test_where_collections_are_long_it_does_too(given: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "LIMITS", trees.Limits(2, 4, 3))
        check(given)


@pytest.mark.soak
@settings(max_examples=3000)
@given(filled)
def test_a_data_frame_holds_what_the_objects_hold_at_length(given: Any) -> None:
    check(given)
