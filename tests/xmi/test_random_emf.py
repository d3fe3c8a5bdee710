"""Random models of random metamodels through Eclipse's own EMF: what it writes of what we write is what we had."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, reject, settings

import neomodel as nm
from neomodel.xmi.ecore_writing import write_ecore
from tests.xmi.emf import Emf, emf  # noqa: F401  a fixture
from tests.xmi.pyecore_peer import exactly
from tests.xmi.random_models import Filled, fill, filled

_UNHURRIED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]

_NO_TEXT = {
    "EDate",
    *("EDiagnosticChain", "EEList", "EEnumerator", "EFeatureMap", "EFeatureMapEntry", "EInvocationTargetException"),
    *("EJavaClass", "EJavaObject", "EMap", "EResource", "EResourceSet", "ETreeIterator"),
}
"""Data types whose values EMF does not read from files, or reads as classes of Java; and dates, of which it keeps the
instant, to the millisecond, and no more."""


def beyond_emf(model: nm.Model) -> bool:
    """Whether a model has what EMF does not keep: objects that are their own partners by a reference with an opposite,
    references that hold an object twice, and values that it has no text for."""
    for root in model.roots:
        for obj in (root, *root.eAllContents()):
            for feature in obj.eClass.features.values():
                if not feature.kept or not obj.eIsSet(feature):
                    continue
                held = list(obj.eGet(feature)) if feature.many else [obj.eGet(feature)]
                if feature.reference and (len(set(held)) < len(held) or (feature.eOpposite and obj in held)):
                    return True
                if not feature.reference and feature.eType.name in _NO_TEXT:
                    return True
    return False


def check(given: Filled, peer: Emf) -> None:
    shape = given.shape
    with tempfile.TemporaryDirectory() as name, nm.connect("memory:") as repo:
        folder = Path(name)
        package = repo.register(shape.package)
        model = repo.create("m")
        fill(model, package, given)
        assume(not beyond_emf(model))
        try:
            write_ecore(shape.package, folder / "m.ecore")
        except nm.InvalidModel:
            reject()  # a default has characters that XML has not
        model.export_xmi(folder / "m.xmi")

        repo.import_xmi(peer.saved(folder / "m.xmi", [folder / "m.ecore"], folder / "emf.xmi"), model="again")

        assert exactly(repo.open("again")) == exactly(model)


@settings(max_examples=15, derandomize=True, suppress_health_check=_UNHURRIED)
@given(given=filled)
def test_emf_keeps_what_we_write(emf: Emf, given: Any) -> None:  # noqa: F811
    check(given, emf)


@pytest.mark.soak
@settings(max_examples=2000, suppress_health_check=_UNHURRIED)
@given(given=filled)
def test_emf_keeps_what_we_write_at_length(emf: Emf, given: Any) -> None:  # noqa: F811
    check(given, emf)
