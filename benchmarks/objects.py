"""Objects beside PyEcore's, and beside raw happybase: the paper's Java model, made, opened, walked, held.

One package, so many classes, four bodies in each with a modifier: nine objects for a class, and one.
"""

import gc
import itertools
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import happybase
from pyecore import ecore
from pyecore.resources import URI, ResourceSet
from pyecore.resources.xmi import XMIResource

import neomodel as nm
from benchmarks.measure import Case, Comparison, Figure, Figures, Measured, measure, sized
from benchmarks.places import hbase
from metamodels import java
from neomodel import ids, layout
from neomodel.stores import Row
from neomodel.stores.hbase_url import parse

BODIES = 4
CLASSES, HBASE_CLASSES = sized((20_000, 1_000), (1_000, 300))
OBJECTS, HBASE_OBJECTS = ((2 * BODIES + 1) * classes + 1 for classes in (CLASSES, HBASE_CLASSES))
ROUNDS, HBASE_ROUNDS = sized((5, 3), (1, 1))
BATCH = 500  # rows that raw happybase writes at once, as neomodel does


# PyEcore


class Peer:
    """The metamodel as PyEcore has it, and models of it."""

    def __init__(self) -> None:
        self.package = ecore.EPackage("java", nsURI="http://java", nsPrefix="java")
        visibility = ecore.EEnum("VisibilityKind", literals=[kind.name for kind in java.VisibilityKind])
        named = self._class("NamedElement", ecore.EAttribute("name", ecore.EString))
        self.Modifier = self._class("Modifier", ecore.EAttribute("visibility", visibility))
        modifier = ecore.EReference("modifier", self.Modifier, containment=True)
        self.Body = self._class("BodyDeclaration", modifier, above=named)
        bodies = ecore.EReference("bodyDeclarations", self.Body, upper=-1, containment=True)
        self.Class = self._class("ClassDeclaration", bodies, above=named)
        owned = ecore.EReference("ownedElements", self.Class, upper=-1, containment=True)
        self.Package = self._class("Package", owned, above=named)
        self.package.eClassifiers.extend([visibility, named, self.Modifier, self.Body, self.Class, self.Package])
        self._public = visibility.getEEnumLiteral("public")

    def _class(self, name: str, *features: Any, above: Any = None) -> Any:
        made = ecore.EClass(name, superclass=(above,) if above else None)
        made.eStructuralFeatures.extend(features)
        return made

    def create(self) -> Any:
        top = self.Package(name="p")
        for number in range(CLASSES):
            one = self.Class(name=f"c{number}")
            for body in range(BODIES):
                member = self.Body(name=f"b{body}")
                member.modifier = self.Modifier(visibility=self._public)
                one.bodyDeclarations.append(member)
            top.ownedElements.append(one)
        return top

    def save(self, path: Path) -> None:
        resource = XMIResource(URI(str(path)))
        resource.append(self.create())
        resource.save()

    def load(self, path: Path) -> Any:
        resources = ResourceSet()
        resources.metamodel_registry["http://java"] = self.package
        return resources.get_resource(URI(str(path))).contents[0]


# neomodel


def _create(classes: int = CLASSES) -> Any:
    return java.Package(name="p", ownedElements=[_class(number) for number in range(classes)])


def _class(number: int) -> Any:
    members = [
        java.BodyDeclaration(name=f"b{body}", modifier=java.Modifier(visibility=java.VisibilityKind.public))
        for body in range(BODIES)
    ]
    return java.ClassDeclaration(name=f"c{number}", bodyDeclarations=members)


def _walk(top: Any) -> int:
    """The number of objects, each of which was asked for something."""
    return 1 + sum(1 for one in top.eAllContents() if one.eContainer() is not None)


def _open(url: str, model: str) -> Any:
    """The root of a model, by a client that knew nothing of it."""
    return nm.connect(url).open(model).roots[0]


# what is measured


@contextmanager
def _made() -> Iterator[tuple[Peer, Path, str]]:
    """PyEcore's metamodel, its file, and the URL of an LMDB store with the same model, called `jdt`."""
    with tempfile.TemporaryDirectory() as folder:
        peer, url = Peer(), f"lmdb:{folder}/store"
        peer.save(Path(folder) / "jdt.xmi")
        with nm.connect(url) as repo:
            repo.register(java.java)
            repo.create("jdt").roots.append(_create())
        yield peer, Path(folder) / "jdt.xmi", url


def _lmdb_cases(peer: Peer, file: Path, url: str) -> Iterator[Case]:
    repo = nm.connect(url)
    names = (f"made{number}" for number in itertools.count())

    def bulk() -> int:
        repo.create(next(names)).roots.append(_create())
        return OBJECTS

    def created() -> int:
        return OBJECTS if peer.create() else 0

    yield Case("bulk creation", "objects", OBJECTS, created, bulk, 1.0)
    yield Case(
        "cold open and full walk (PyEcore: load XMI and walk)",
        "objects",
        OBJECTS,
        lambda: _walk(peer.load(file)),
        lambda: _walk(_open(url, "jdt")),
        3.0,
    )
    theirs, ours = peer.create(), _open(url, "jdt")
    held = [ours, *ours.eAllContents()]
    yield Case("warm walk, all objects held", "objects", len(held), lambda: _walk(theirs), lambda: _walk(ours), 0.5)


def _one_feature(url: str) -> Figure:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        if _open(url, "jdt").name != "p":
            raise AssertionError("the root has another name")
        times.append(1000 * (time.perf_counter() - start))
    return Figure("open and read one feature", f"{median(times):.1f} ms", "under 50 ms", median(times) < 50)


def _memory(peer: Peer, url: str) -> Figure:
    theirs = _bytes_held(lambda: [peer.create()])
    ours = _bytes_held(lambda: [top := _open(url, "jdt"), *top.eAllContents()])
    found = f"{ours:,.0f} bytes, PyEcore's {theirs:,.0f}: {ours / theirs:.2f}"
    return Figure("memory for a live object", found, "at most 0.3 of PyEcore's", ours <= 0.3 * theirs)


def _bytes_held(make: Callable[[], Iterable[Any]]) -> float:
    """Bytes for each object, of all that stays as long as they are held."""
    make()  # what is made once for all of them
    gc.collect()
    tracemalloc.start()
    held = make()
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del held
    return size / OBJECTS


@contextmanager
def on_hbase() -> Iterator[tuple[happybase.Connection, nm.Repository]]:
    """An empty HBase by happybase, and as a repository that knows the metamodel."""
    with hbase() as url, nm.connect(url) as repo:
        address = parse(url).gateways[0]
        repo.register(java.java)
        yield happybase.Connection(address.host, address.port1), repo


def _hbase_cases(raw: happybase.Connection, repo: nm.Repository) -> Iterator[Case]:
    """Tables are made beforehand: HBase takes a second for each."""
    models = [repo.create(f"made{number}") for number in range(HBASE_ROUNDS + 1)]
    tables = [f"raw{number}" for number in range(HBASE_ROUNDS + 1)]
    for name in tables:
        repo.store.table(name).create(layout.FAMILIES, splits=ids.splits(repo.store.breadth))
    model = repo.create("jdt")
    model.roots.append(_create(HBASE_CLASSES))
    rows: list[tuple[bytes, Row]] = list(model.table.scan())
    url, to_fill, to_write = repo.store.url, iter(models), iter(tables)

    def written() -> int:
        with raw.table(next(to_write)).batch(batch_size=BATCH * len(rows[0][1])) as batch:
            for key, cells in rows:
                batch.put(key, cells)
        return HBASE_OBJECTS

    def bulk() -> int:
        next(to_fill).roots.append(_create(HBASE_CLASSES))
        return HBASE_OBJECTS

    def scanned() -> int:
        return sum(1 for key, _ in raw.table("jdt").scan(batch_size=1000) if key != ids.ROOT.encode())

    yield Case("bulk creation", "objects", HBASE_OBJECTS, written, bulk, 0.6)
    yield Case("cold open and full walk (happybase: scan)", "objects", HBASE_OBJECTS, scanned, lambda: _cold(url), 0.4)


def _cold(url: str) -> int:
    with nm.connect(url) as repo:
        return _walk(repo.open("jdt").roots[0])


def report() -> list[Measured]:
    with _made() as (peer, file, url):
        results = [measure(case, rounds=ROUNDS) for case in _lmdb_cases(peer, file, url)]
        figures = [_one_feature(url), _memory(peer, url)]
    with on_hbase() as (raw, repo):
        beside = [measure(case, rounds=HBASE_ROUNDS) for case in _hbase_cases(raw, repo)]
    return [
        Comparison(f"Objects on LMDB, {OBJECTS:,} of them", "PyEcore", results),
        Figures("Objects on LMDB, one at a time", figures),
        Comparison(f"Objects on HBase, one server, {HBASE_OBJECTS:,} of them", "raw happybase", beside),
    ]
