"""Public models, imported, exported and imported again: equal each time, and PyEcore reads the same."""

from pathlib import Path

import pytest

import neomodel as nm
from neomodel import layout
from tests.data import needs_data
from tests.xmi import peer
from tests.xmi.files import told
from tests.xmi.test_import_data import CASES, DATA, KYANOS

pytestmark = needs_data


def exported(file: str, folder: Path) -> Path:
    """The file as we write it, beside all that it may refer to."""
    with nm.connect("memory:") as repo:
        repo.import_xmi(DATA / file, model="m", metamodel=[DATA / one for one in CASES[file]], lenient=True)
        model = repo.open("m")
        out = folder / Path(file).name
        done = model.export_xmi(out)
        repo.import_xmi(out, model="again", lenient=True)
        again = repo.open("again")

        assert done.elements == len(told(model))
        assert done.notices == ()
        assert told(again) == told(model)
        assert _xmi_ids(again) == _xmi_ids(model)
        again.export_xmi(folder / "again.xmi")
        assert (folder / "again.xmi").read_bytes() == out.read_bytes()
    for other in (DATA / file).parent.iterdir():
        if other.name != out.name:
            (folder / other.name).symlink_to(other)
    return out


def _xmi_ids(model: nm.Model) -> list[bytes]:
    return sorted(row[layout.XMI_ID] for _, row in model.table.scan(columns=[layout.XMI_ID]))


def check(file: str, folder: Path) -> None:
    out, metamodels = exported(file, folder), [DATA / one for one in CASES[file]]
    if peer.loads(DATA / file, metamodels):
        assert peer.told(peer.load(out, metamodels)) == peer.told(peer.load(DATA / file, metamodels))


@pytest.mark.parametrize("file", [file for file in CASES if file != KYANOS])
def test_what_is_imported_and_exported_is_the_same(file: str, tmp_path: Path) -> None:
    check(file, tmp_path)


@pytest.mark.soak
def test_a_large_model_is_the_same_too(tmp_path: Path) -> None:
    check(KYANOS, tmp_path)


@pytest.mark.parametrize("name", ["sampleStandard.xmi", "sampleStandard.zxmi", "sampleWithId.xmi", "sampleWithId.zxmi"])
def test_one_model_in_four_files_stays_one(name: str, tmp_path: Path) -> None:
    with nm.connect("memory:") as repo:
        for number, one in enumerate(["sampleStandard.xmi", name]):
            metamodel = [DATA / "neoemf/model/Java.ecore"]
            repo.import_xmi(DATA / "neoemf/xmi" / one, model=f"m{number}", metamodel=metamodel)
        done = repo.open("m1").export_xmi(tmp_path / name)
        repo.import_xmi(tmp_path / name, model="again")

        assert (done.elements, done.references) == (659, 852)
        assert told(repo.open("again")) == told(repo.open("m0"))
