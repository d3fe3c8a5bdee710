"""Classifiers found by name across packages, and what a class has by inheritance.

Ecore's own types, and those of XML, are always there.
"""

from collections.abc import Callable, Iterable, Iterator

from neomodel.ecore_package import ecore_package
from neomodel.metamodel import ANYTHING, ECORE, Class, Classifier, Feature, Package, TypeName
from neomodel.xmltype import XML_TYPE, xml_type

_ALWAYS = {ECORE: ecore_package, XML_TYPE: xml_type}

Known = Callable[[str], Package | None]
"""Gives the package of that ns_uri, a root or a sub-package, from wherever it is kept; None if it isn't."""


def unknown(_ns_uri: str) -> None:
    """The `Known` that knows nothing."""


class Scope:
    """The packages given, sub-packages included, before what `known` gives for other namespaces.

    Makes sense of nonsense too: a type that doesn't exist is None, a cycle of super types is walked once.
    """

    def __init__(self, packages: Iterable[Package], known: Known = unknown) -> None:
        self._packages = {package.ns_uri: package for root in packages for package in root.with_subpackages()}
        self._known = known
        self._found: dict[TypeName, Classifier | None] = {}

    def classifier(self, type_: TypeName) -> Classifier | None:
        """The classifier of that name, None if there is none."""
        if type_ not in self._found:
            package = self._packages.get(type_.ns_uri) or self._known(type_.ns_uri)
            if package is None and type_.ns_uri in _ALWAYS:
                package = _ALWAYS[type_.ns_uri]()
            self._found[type_] = package.classifier(type_.name) if package is not None else None
        return self._found[type_]

    def lineage(self, type_: TypeName) -> Iterator[tuple[TypeName, Class]]:
        """The class, then all its super types there are, each once, those named first before the others."""
        seen = set()
        ahead = [type_]
        while ahead:
            current = ahead.pop()
            found = self.classifier(current)
            if current not in seen and isinstance(found, Class):
                seen.add(current)
                yield current, found
                ahead.extend(reversed(found.supers))

    def features(self, type_: TypeName) -> Iterator[tuple[TypeName, Feature]]:
        """The features of the class, inherited ones included, each with the class that declares it."""
        for declaring, found in self.lineage(type_):
            for feature in found.features:
                yield declaring, feature

    def feature(self, type_: TypeName, name: str) -> tuple[TypeName, Feature] | None:
        """The feature of that name of the class, inherited ones included, with the class that declares it."""
        return next((found for found in self.features(type_) if found[1].name == name), None)

    def visible(
        self, type_: TypeName, memo: dict[TypeName, dict[str, tuple[TypeName, Feature]]]
    ) -> dict[str, tuple[TypeName, Feature]]:
        """The features that objects of the class have, by name: its own before those of super types, the first of these
        before the others. `memo` keeps what was found for classes before."""
        if type_ not in memo:
            memo[type_] = {}  # what goes round in a circle has nothing
            found = self.classifier(type_)
            class_ = found if isinstance(found, Class) else Class(type_.name)
            seen = {feature.name: (type_, feature) for feature in class_.features}
            for above in class_.supers:
                for name, inherited in self.visible(above, memo).items():
                    seen.setdefault(name, inherited)
            memo[type_] = seen
        return memo[type_]

    def conforms(self, type_: TypeName, to: TypeName) -> bool:
        """Whether every object of the one class is one of the other."""
        if to in (ANYTHING, type_):
            return True
        return any(to in found.supers for _, found in self.lineage(type_))
