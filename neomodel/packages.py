"""Packages at work: `link` makes them of the values of `metamodel.py`. Ecore's own is always there."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from neomodel.ecore_package import ecore_package
from neomodel.errors import FeatureNotFound, InvalidModel, near
from neomodel.kinds import EClass, EClassifier, EDataType, EEnum
from neomodel.metamodel import ECORE, Class, Classifier, DataType, Enum, Package, TypeName

Find = Callable[[str], "EPackage"]
Build = Callable[[EClass], type[Any]]


class EPackage:
    """A package. Its classes and enums are attributes, as Python classes: ``java.Package(name="p1")``."""

    def __init__(
        self, value: Package, find: Find, build: Build, *, parent: "EPackage | None" = None, python: dict[str, Any]
    ) -> None:
        self.value = value
        self.name = value.name
        self.nsURI = value.ns_uri
        self.nsPrefix = value.ns_prefix
        self.eSuperPackage = parent
        self.find = find
        self.build = build
        self.python = python
        """The Python classes that declare its classifiers; the rest is made."""
        self.classifiers: dict[str, EClassifier] = {found.name: _classifier(found, self) for found in value.classifiers}
        self.eSubpackages = [EPackage(sub, find, build, parent=self, python={}) for sub in value.packages]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.classifiers.get(name)
        if found is not None:
            return found if isinstance(found, EDataType) else found.python  # type: ignore[attr-defined]
        for package in self.eSubpackages:
            if package.name == name:
                return package
        names = [*self.classifiers, *(package.name for package in self.eSubpackages)]
        raise FeatureNotFound(f"package {self.name}", name, near(name, names))

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self.classifiers, *(package.name for package in self.eSubpackages)]

    def __repr__(self) -> str:
        return f"<package {self.name}: {self.nsURI}>"

    def check(self) -> None:
        """Raise `InvalidModel` if it makes no sense. What comes from a store was checked before it went there."""

    @property
    def eClassifiers(self) -> list[EClassifier]:
        return list(self.classifiers.values())

    def getEClassifier(self, name: str) -> EClassifier | None:
        return self.classifiers.get(name)

    def with_subpackages(self) -> "Iterator[EPackage]":
        yield self
        for package in self.eSubpackages:
            yield from package.with_subpackages()

    def resolve(self, name: TypeName) -> EClassifier:
        """The classifier of that name, in this package or another."""
        package = self if name.ns_uri == self.nsURI else self.find(name.ns_uri)
        found = package.classifiers.get(name.name)
        if found is None:
            raise InvalidModel(self.name, f"it refers to {name}, which is not there")
        return found


def link(value: Package, find: Find, build: Build, python: dict[str, Any] | None = None) -> EPackage:
    """The package at work. Others are asked of `find` when one of their types is needed for the first time."""
    inner: dict[str, EPackage] = {}

    def found(ns_uri: str) -> EPackage:
        return ecore() if ns_uri == ECORE else inner.get(ns_uri) or find(ns_uri)

    package = EPackage(value, found, build, python=python or {})
    inner |= {sub.nsURI: sub for sub in package.with_subpackages()}
    return package


def ecore() -> EPackage:
    """Ecore's own package. Its classes have objects as others have: `objects` lets it build Python classes for them."""
    return _ECORE


def _not_yet(kind: EClass) -> type[Any]:
    raise InvalidModel(str(kind), "it has no objects until neomodel is imported")


def _no_other(ns_uri: str) -> EPackage:
    raise InvalidModel("ecore", f"it does not know {ns_uri}")


def _classifier(value: Classifier, package: EPackage) -> EClassifier:
    made = {Class: EClass, Enum: EEnum, DataType: EDataType}[type(value)]
    return made(value, package)


_ECORE = EPackage(ecore_package(), _no_other, _not_yet, python={})
