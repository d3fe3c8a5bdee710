"""Models out into files, beside PyEcore: groups of objects, and the same where every object refers to another.

PyEcore has its model in memory, and saves it; neomodel reads its own from LMDB. Both files are read by PyEcore, and
must have the same objects and references.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyecore import ecore
from pyecore.resources import URI, ResourceSet
from pyecore.resources.xmi import XMIResource

import neomodel as nm
from benchmarks.measure import Case, Comparison, Measured, measure, sized
from neomodel.metamodel import ECORE, MANY, Attribute, Class, Package, Reference, TypeName

GROUPS, MEMBERS = sized(2000, 300), 9
OBJECTS = GROUPS * (MEMBERS + 1) + 1
LINKED_GROUPS = sized(300, 100)  # PyEcore looks through lists for each path it writes
ROUNDS = sized(5, 2)
NS_URI = "http://benchmarks/out"

_TEXT, _ITEM = TypeName(ECORE, "EString"), TypeName(NS_URI, "Item")
PACKAGE = Package(
    "out",
    NS_URI,
    classifiers=[
        Class(
            "Item",
            features=[
                Attribute("name", _TEXT),
                Attribute("size", TypeName(ECORE, "EInt")),
                Reference("items", _ITEM, containment=True, upper=MANY),
                Reference("next", _ITEM),
            ],
        )
    ],
)


class Peer:
    """The same metamodel, and models of it, as PyEcore has them."""

    def __init__(self) -> None:
        self.package = ecore.EPackage("out", nsURI=NS_URI, nsPrefix="out")
        self.Item = ecore.EClass("Item")
        self.package.eClassifiers.append(self.Item)
        self.Item.eStructuralFeatures.extend(
            [
                ecore.EAttribute("name", ecore.EString),
                ecore.EAttribute("size", ecore.EInt),
                ecore.EReference("items", self.Item, upper=-1, containment=True),
                ecore.EReference("next", self.Item),
            ]
        )

    def contents(self, path: Path) -> tuple[int, int]:
        """How many objects there are in a file, and how many refer to another."""
        resources = ResourceSet()
        resources.metamodel_registry[NS_URI] = self.package
        (top,) = resources.get_resource(URI(str(path))).contents
        found = [top, *top.eAllContents()]
        return len(found), sum(one.next is not None for one in found)


def _filled(make: Callable[..., Any], groups: int, *, linked: bool) -> Any:
    top, last = make(name="top"), None
    for number in range(groups):
        group = make(name=f"group {number}", size=number + 1)
        for member in range(MEMBERS):
            item = make(name=f"item {member}", size=member + 1)
            if linked:
                item.next, last = last, item
            group.items.append(item)
        top.items.append(group)
    return top


def _cases(folder: Path, repo: nm.Repository) -> Iterator[Case]:
    peer, ours = Peer(), repo.register(PACKAGE)
    for name, groups, linked in (("export", GROUPS, False), ("export, all refer", LINKED_GROUPS, True)):
        resource = XMIResource(URI(str(folder / "theirs.xmi")))
        resource.append(_filled(peer.Item, groups, linked=linked))
        model = repo.create(f"groups{groups}")
        model.roots.append(_filled(ours.Item, groups, linked=linked))
        objects = groups * (MEMBERS + 1) + 1

        def save(resource: XMIResource = resource, objects: int = objects) -> int:
            resource.save()
            return objects

        def export(model: nm.Model = model) -> int:
            return model.export_xmi(folder / "ours.xmi").elements

        yield Case(name, "objects", objects, save, export, 0.5)
        if peer.contents(folder / "theirs.xmi") != peer.contents(folder / "ours.xmi"):
            raise AssertionError(f"{name}: PyEcore reads two different models")


def report() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder, nm.connect(f"lmdb:{folder}/store") as repo:
        results = [measure(case, rounds=ROUNDS) for case in _cases(Path(folder), repo)]
    return [Comparison(f"Files out of LMDB, {OBJECTS:,} objects", "PyEcore", results)]
