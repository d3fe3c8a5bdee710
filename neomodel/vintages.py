"""Metamodels as they were: the packages that were registered at a time, so that a past model has its own classes."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from neomodel.declare import DECLARED
from neomodel.errors import InvalidValue
from neomodel.kinds import EClass
from neomodel.metamodel import ECORE, Class, Package
from neomodel.objects import build
from neomodel.packages import EPackage, ecore, link

if TYPE_CHECKING:
    from neomodel.repository import Repository


class Vintage:
    """The metamodels of a repository as of one time. What is the same now, with all that it refers to, is the package
    that is used now; of the rest, packages are made."""

    def __init__(self, repository: "Repository", at: int) -> None:
        self._repository = repository
        self._at = at
        self._values: dict[str, Package] = {}
        self._packages: dict[str, EPackage] = {ECORE: ecore()}

    def kind(self, ns_uri: str, name: str) -> EClass:
        """The class that had that name, or `InvalidValue`."""
        return kind_in(self.metamodel(ns_uri), name)

    def metamodel(self, ns_uri: str) -> EPackage:
        """The package that had that namespace, or `MetamodelNotFound`. One get for each package, sub-packages two."""
        if ns_uri not in self._packages:
            value = self._value(ns_uri)
            lookups: list[Callable[[str], EPackage | None]] = [self._repository.metamodel, DECLARED.get]
            used = (find(value.ns_uri) for find in lookups if self._same(value, find))
            found = next(used, None) or link(value, self.metamodel, build)
            self._packages |= {part.nsURI: part for part in found.with_subpackages()}
        return self._packages[ns_uri]

    def _value(self, ns_uri: str) -> Package:
        if ns_uri not in self._values:
            root = self._repository.registry.load(ns_uri, at=self._at)
            self._values |= {part.ns_uri: root for part in root.with_subpackages()}
        return self._values[ns_uri]

    def _same(self, value: Package, find: Callable[[str], EPackage | None]) -> bool:
        """Whether a package, and all that it leads to, are as `find` has them."""
        seen, ahead = {value.ns_uri}, [value]
        while ahead:
            root = ahead.pop()
            used = find(root.ns_uri)
            if used is None or used.value != root:
                return False
            for ns_uri in set(referred(root)) - seen:
                seen.add(ns_uri)
                ahead.append(self._value(ns_uri))
        return True


def kind_in(package: EPackage, name: str) -> EClass:
    """The class of that name in a package, or `InvalidValue`."""
    found = package.classifiers.get(name)
    if not isinstance(found, EClass):
        raise InvalidValue(f"a class of {package.nsURI}", name, "one that its metamodel has; register a newer version")
    return found


def referred(root: Package) -> Iterator[str]:
    """The namespaces that a package, or one in it, refers to."""
    for package in root.with_subpackages():
        for found in package.classifiers:
            if isinstance(found, Class):
                names = [*found.supers, *(feature.type for feature in found.features)]
                yield from (name.ns_uri for name in names if name.ns_uri not in (ECORE, package.ns_uri))
