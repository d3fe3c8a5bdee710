"""What PyEcore, and what neomodel, make of an `.ecore` file: as lines that can be compared, one for each fact."""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyecore.type  # noqa: F401  registers the types of XML
from pyecore import ecore as py
from pyecore.resources import URI, ResourceSet

from neomodel.metamodel import Attribute, Class, Classifier, DataType, Enum, Feature, Package, Reference, TypeName
from neomodel.scope import Scope
from neomodel.xmi.ecore_kept import MARKS, SOURCE

Fact = tuple[str, str, Any]
"""Where, which aspect, and what it is."""

_FLAGS = ["ordered", "unique", "changeable", "volatile", "transient", "unsettable", "derived"]


class _InMemory(URI):  # type: ignore[misc]
    """A file that PyEcore can't forget to close."""

    def create_instream(self) -> Any:
        return io.BytesIO(Path(self.plain).read_bytes())

    def close_stream(self) -> None:
        pass


def pyecore_roots(path: str) -> list[Any]:
    """The root packages of a file as PyEcore loads them; whatever it raises."""
    return list(ResourceSet().get_resource(_InMemory(path)).contents)


# PyEcore's view


def pyecore_facts(roots: Iterable[Any]) -> Iterator[Fact]:
    for number, root in enumerate(roots):
        yield from _py_package(root, f"{number}")


def _py_package(package: Any, path: str) -> Iterator[Fact]:
    yield path, "name", package.name
    yield path, "nsURI", package.nsURI or None
    yield path, "nsPrefix", package.nsPrefix or ""
    for number, found in enumerate(package.eClassifiers):
        yield from _py_classifier(found, f"{path}/{number}")
    for number, below in enumerate(package.eSubpackages):
        yield from _py_package(below, f"{path}/p{number}")


def _py_classifier(found: Any, path: str) -> Iterator[Fact]:
    kind = "enum" if isinstance(found, py.EEnum) else "class" if isinstance(found, py.EClass) else "data type"
    yield path, "classifier", (kind, found.name)
    if kind == "enum":
        yield path, "literals", [(one.name, one.value, _py_text(one)) for one in found.eLiterals]
    if kind == "class":
        yield path, "abstract", (bool(found.abstract), bool(found.interface))
        yield path, "super types", [_py_type(one) for one in found.eSuperTypes]
        for number, feature in enumerate(found.eStructuralFeatures):
            yield from _py_feature(feature, f"{path}/{number}")


def _py_text(literal: Any) -> str:
    return getattr(literal, "literal", None) or literal.name


def _py_feature(feature: Any, path: str) -> Iterator[Fact]:
    reference = isinstance(feature, py.EReference)
    yield path, "feature", ("reference" if reference else "attribute", feature.name)
    yield path, "type", _py_type(feature.eType)
    yield path, "bounds", (feature.lowerBound, feature.upperBound)
    yield path, "default", feature.defaultValueLiteral
    for flag in _FLAGS:
        yield path, flag, bool(getattr(feature, flag))
    if reference:
        yield path, "containment", bool(feature.containment)
        opposite = feature.eOpposite
        yield path, "opposite", None if opposite is None else (_py_type(opposite.eContainingClass), opposite.name)
    else:
        yield path, "id", bool(feature.iD)


def _py_type(found: Any) -> tuple[str, str] | None:
    """Name of the package and of the type; of one that is not found, nothing."""
    if found is None:
        return None
    if isinstance(found, py.EProxy):
        try:
            found.force_resolve()
        except Exception:  # noqa: BLE001  whatever it is that it can't resolve it by
            return None
        found = found._wrapped
    found = getattr(found, "eClass", found) if isinstance(found, type) else found
    package = found.ePackage
    return (package.name if package is not None else "ecore", found.name)


# neomodel's view


def neomodel_facts(roots: list[Package], others: Iterable[Package] = ()) -> Iterator[Fact]:
    scope = Scope([*roots, *others])
    names = {part.ns_uri: part.name for root in (*roots, *others) for part in root.with_subpackages()}
    names |= {"http://www.eclipse.org/emf/2002/Ecore": "ecore", "http://www.eclipse.org/emf/2003/XMLType": "type"}
    for number, root in enumerate(roots):
        yield from _package(root, f"{number}", scope, names)


def _package(package: Package, path: str, scope: Scope, names: dict[str, str]) -> Iterator[Fact]:
    yield path, "name", package.name
    yield path, "nsURI", package.ns_uri
    yield path, "nsPrefix", package.ns_prefix
    for number, found in enumerate(package.classifiers):
        yield from _classifier(found, f"{path}/{number}", scope, names, package)
    for number, below in enumerate(package.packages):
        yield from _package(below, f"{path}/p{number}", scope, names)


def _classifier(found: Classifier, path: str, scope: Scope, names: dict[str, str], package: Package) -> Iterator[Fact]:
    kind = {Enum: "enum", Class: "class", DataType: "data type"}[type(found)]
    yield path, "classifier", (kind, found.name)
    if isinstance(found, Enum):
        yield path, "literals", [(one.name, one.value, one.text) for one in found.literals]
    if isinstance(found, Class):
        yield path, "abstract", (found.abstract, found.interface)
        yield path, "super types", [(names[one.ns_uri], one.name) for one in found.supers]
        for number, feature in enumerate(found.features):
            yield from _feature(feature, f"{path}/{number}", scope, names)


def _feature(feature: Feature, path: str, scope: Scope, names: dict[str, str]) -> Iterator[Fact]:
    reference = isinstance(feature, Reference)
    yield path, "feature", ("reference" if reference else "attribute", feature.name)
    yield path, "type", (names[feature.type.ns_uri], feature.type.name)
    yield path, "bounds", (feature.lower, feature.upper)
    yield path, "default", feature.default
    marks = {name: text for one in feature.annotations if one.source == SOURCE for name, text in one.details}
    for flag in _FLAGS:
        yield path, flag, getattr(feature, flag) or flag in marks.get(MARKS, "").split()
    if isinstance(feature, Reference):
        yield path, "containment", feature.containment
        yield path, "opposite", _opposite(feature, scope, names)
    if isinstance(feature, Attribute):
        yield path, "id", feature.id


def _opposite(feature: Reference, scope: Scope, names: dict[str, str]) -> tuple[tuple[str, str], str] | None:
    if feature.opposite is None:
        return None
    found = scope.feature(feature.type, feature.opposite)
    declaring = found[0] if found else TypeName("?", "?")
    return (names.get(declaring.ns_uri, "?"), declaring.name), feature.opposite
