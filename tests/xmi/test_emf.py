"""Our files in Eclipse's own EMF, and its files in neomodel."""

import datetime
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import neomodel as nm
from neomodel.metamodel import Attribute, Class
from neomodel.xmi.ecore_writing import write_ecore
from tests.data import needs_data
from tests.objects.machine_metamodels import shapes
from tests.xmi.emf import Emf, emf  # noqa: F401  a fixture
from tests.xmi.files import told
from tests.xmi.random_models import URI, fill, fillings
from tests.xmi.test_import_data import CASES, DATA
from tests.xmi.test_import_data import with_the_large_one_as_soak as large_as_soak

_ATL = "atl/Class2Relational"
_CORE = "eclipse_emf/tests/org.eclipse.emf.test.core/data"
_XML = "eclipse_emf/tests/org.eclipse.emf.test.xml/data/xmi"
_SIMPLE = (
    "text that is the value of an object: EMF reads it only if told of extended metadata, and the attribute always"
)
_NO_CLASS = "its data types name no Java class, so EMF drops their values"

DIFFERS_OUT = {
    "neoemf/xmi/proxy-container.xmi": "it says something of an object that lies in another file; we leave that out",
    f"{_CORE}/extmetadata.xmi": "it has its own metamodel in it, which we keep aside",
    f"{_XML}/profile.xmi": _SIMPLE,
    f"{_XML}/profileNested.xmi": _SIMPLE,
    f"{_XML}/proxy.xmi": "a reference to nothing is one with an empty fragment in what we write",
}
DIFFERS_IN = {
    f"{_ATL}/Class2Relational/inClass.xmi": _NO_CLASS,
    f"{_ATL}/expected/outSample.xmi": _NO_CLASS,
    f"{_ATL}/expected/outRelational.xmi": _NO_CLASS,
    "atl/Families2Persons/sample-Families.xmi": _NO_CLASS,
    f"{_XML}/profile.xmi": _SIMPLE,
    f"{_XML}/profileNested.xmi": _SIMPLE,
}

SERIALIZABLE = {
    "EString",
    "EInt",
    "EIntegerObject",
    "ELong",
    "EShort",
    "EBoolean",
    "EBooleanObject",
    "EDouble",
    "EBigInteger",
}

SELDOM = [HealthCheck.filter_too_much, HealthCheck.too_slow]
"""Most metamodels at random have a type that EMF does not write."""

filled = shapes(URI).flatmap(lambda shape: st.tuples(st.just(shape), fillings(shape)))


def copied(file: str, folder: Path) -> Path:
    """The file in a folder of its own, beside all that it may refer to."""
    for one in (DATA / file).parent.iterdir():
        (folder / one.name).symlink_to(one)
    return folder / Path(file).name


def instants(found: dict[str, Any]) -> dict[str, Any]:
    """EMF takes times without an offset to be local, which is UTC here, and writes offsets."""
    return {
        path: {
            name: value.astimezone(datetime.UTC) if isinstance(value, datetime.datetime) else value
            for name, value in features.items()
        }
        for path, features in found.items()
    }


@needs_data
@pytest.mark.parametrize("file", large_as_soak(file for file in CASES if file not in DIFFERS_OUT))
def test_emf_reads_what_we_write_as_it_reads_the_original(file: str, emf: Emf, tmp_path: Path) -> None:  # noqa: F811
    metamodels, original = [DATA / one for one in CASES[file]], copied(file, tmp_path)
    expected = emf.told(original, metamodels)
    with nm.connect("memory:") as repo:
        repo.import_xmi(original, model="m", metamodel=metamodels, lenient=True)
        out = original.with_stem("exported")
        repo.open("m").export_xmi(out)

    assert emf.told(out, metamodels) == expected


@needs_data
@pytest.mark.parametrize("file", large_as_soak(file for file in CASES if file not in DIFFERS_IN))
def test_we_read_what_emf_writes_as_we_read_the_original(file: str, emf: Emf, tmp_path: Path) -> None:  # noqa: F811
    metamodels, original = [DATA / one for one in CASES[file]], copied(file, tmp_path)
    again = emf.saved(original, metamodels, tmp_path / "saved.xmi")
    with nm.connect("memory:") as repo:
        repo.import_xmi(original, model="m", metamodel=metamodels, lenient=True)
        repo.import_xmi(again, model="again", lenient=True)

        assert instants(told(repo.open("again"))) == instants(told(repo.open("m")))


def check(given: Any, emf: Emf) -> None:  # noqa: F811
    shape, filling = given
    features = [feature for kind in shape.package.classifiers if isinstance(kind, Class) for feature in kind.features]
    assume(not any(getattr(feature, "opposite", None) == feature.name for feature in features))  # EMF loses the loop
    attributes = [feature for feature in features if isinstance(feature, Attribute)]
    assume(all(one.type.name in SERIALIZABLE and (one.default or "").isprintable() for one in attributes))
    with tempfile.TemporaryDirectory() as name, nm.connect("memory:") as repo:
        folder = Path(name)
        package = repo.register(shape.package)
        model = repo.create("m")
        fill(model, package, shape, filling)
        write_ecore(shape.package, folder / "m.ecore")
        model.export_xmi(folder / "m.xmi")

        again = emf.saved(folder / "m.xmi", [folder / "m.ecore"], folder / "saved.xmi")

        assert len(emf.told(folder / "m.xmi", [folder / "m.ecore"])) == len(told(model))
        repo.import_xmi(again, model="again")
        assert instants(told(repo.open("again"))) == instants(told(model))


@settings(max_examples=50, suppress_health_check=SELDOM)
@given(filled)
def test_a_model_comes_back_from_emf(emf: Emf, given: Any) -> None:  # noqa: F811
    check(given, emf)


@pytest.mark.soak
@settings(max_examples=2000, suppress_health_check=SELDOM)
@given(filled)
def test_many_models_come_back_from_emf(emf: Emf, given: Any) -> None:  # noqa: F811
    check(given, emf)
