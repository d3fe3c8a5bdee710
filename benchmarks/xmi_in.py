"""Files of XMI into LMDB, beside PyEcore's loading into memory: a generated model, and a public one if there is any.
And into HBase, beside raw happybase, which writes the same rows.
"""

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import happybase
from pyecore.resources import URI, ResourceSet

import neomodel as nm
from benchmarks import xmi_files
from benchmarks.measure import QUICK, Case, Comparison, Measured, measure, sized
from benchmarks.objects import BATCH, on_hbase
from neomodel import ids, layout
from neomodel.stores import Row
from tests.data import data_folder

ELEMENTS = sized(1_000_000, 10_000)
HBASE_ELEMENTS = sized(45_000, 4_500)
ROUNDS = sized(3, 1)  # of the large one, which takes PyEcore minutes, one
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
    if (public / KYANOS[0]).is_file() and not QUICK:
        xmi, ecore, elements = public / KYANOS[0], public / KYANOS[1], KYANOS[2]
        yield _case("import of a MoDisco model", xmi, ecore, elements, folder / "2")


def _hbase_case(raw: happybase.Connection, repository: nm.Repository, folder: Path) -> Case:
    """Tables are made beforehand for happybase; an import makes its own, which is part of it: about a second."""
    (folder / "code.ecore").write_text(xmi_files.ECORE)
    elements = xmi_files.write(folder / "code.xmi", HBASE_ELEMENTS)
    repository.register(str(folder / "code.ecore"))
    repository.import_xmi(folder / "code.xmi", model="rows")
    rows: list[tuple[bytes, Row]] = list(repository.store.table("rows").scan())
    tables = [f"raw{number}" for number in range(ROUNDS + 1)]
    for name in tables:
        repository.store.table(name).create(layout.FAMILIES, splits=ids.splits(repository.store.breadth))
    to_write, numbers = iter(tables), count()

    def written() -> int:
        with raw.table(next(to_write)).batch(batch_size=BATCH * len(rows[0][1])) as batch:
            for key, cells in rows:
                batch.put(key, cells)
        return elements

    def imported() -> int:
        return repository.import_xmi(folder / "code.xmi", model=f"m{next(numbers)}").elements

    return Case("import of a generated model", "elements", elements, written, imported, 0.6)


def report() -> list[Measured]:
    with tempfile.TemporaryDirectory() as name:
        results = [measure(case, rounds=1 if case.count > ELEMENTS // 2 else ROUNDS) for case in _cases(Path(name))]
    with tempfile.TemporaryDirectory() as name, on_hbase() as (raw, repository):
        beside = [measure(_hbase_case(raw, repository, Path(name)), rounds=ROUNDS)]
    return [
        Comparison("XMI into LMDB", "PyEcore (into memory)", results),
        Comparison(f"XMI into HBase, one server, {HBASE_ELEMENTS:,} elements", "raw happybase", beside),
    ]
