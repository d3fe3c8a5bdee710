"""Our files in Eclipse's own EMF, and its files in neomodel."""

import datetime
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from tests.data import needs_data
from tests.xmi.emf import Emf, emf  # noqa: F401  a fixture
from tests.xmi.files import told
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
