"""Files of XMI into LMDB, beside PyEcore's loading into memory: a generated model, and a public one if there is any."""

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from pyecore.resources import URI, ResourceSet

import neomodel as nm
from benchmarks import xmi_files
from benchmarks.measure import Case, Result, measure, table
from tests.data import data_folder

ELEMENTS = 1_000_000
ROUNDS = 3  # of the large one, which takes PyEcore minutes, one
KYANOS = "neoemf/models/org.eclipse.gmt.modisco.java.kyanos.xmi", "neoemf/model/Java.ecore", 80_665


def _case(name: str, xmi: Path, ecore: Path, elements: int, folder: Path) -> Case:
    resources = ResourceSet()
    for package in resources.get_resource(URI(str(ecore))).contents:
        resources.metamodel_registry[package.nsURI] = package
    repository = nm.connect(f"lmdb:{folder}/store")
    repository.register(str(ecore))
    numbers = count()
    counted: list[int] = []

    def loaded() -> int:
        others = ResourceSet()
        others.metamodel_registry.update(resources.metamodel_registry)
        (root,) = others.get_resource(URI(str(xmi))).contents
        if not counted:  # the first time, when answers are compared; loading is what is measured then
            counted.append(1 + sum(1 for _ in root.eAllContents()))
        return counted[0]

    def imported() -> int:
        name = f"m{next(numbers)}"
        done = repository.import_xmi(xmi, model=name)
        repository.drop(name)
        return done.elements

    return Case(name, "elements", elements, loaded, imported, 1.5)


def _cases(folder: Path) -> Iterator[Case]:
    (folder / "code.ecore").write_text(xmi_files.ECORE)
    elements = xmi_files.write(folder / "code.xmi", ELEMENTS)
    yield _case("import of a generated model", folder / "code.xmi", folder / "code.ecore", elements, folder / "1")
    public = data_folder()
    if (public / KYANOS[0]).is_file():
        xmi, ecore, elements = public / KYANOS[0], public / KYANOS[1], KYANOS[2]
        yield _case("import of a MoDisco model", xmi, ecore, elements, folder / "2")


def report() -> str:
    with tempfile.TemporaryDirectory() as name:
        results: list[Result] = [
            measure(case, rounds=1 if case.count > ELEMENTS // 2 else ROUNDS) for case in _cases(Path(name))
        ]
    return table("XMI into LMDB", "PyEcore (into memory)", results)
