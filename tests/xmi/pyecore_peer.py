"""PyEcore as the reader of what we write: metamodels of ours as PyEcore has them, and models in a form that compares.

PyEcore does not know all data types (it makes no bytes of text, and its enums go by names): where that is so the peer's
attribute is text, and texts are compared.
"""

from pathlib import Path
from typing import Any

from pyecore import ecore
from pyecore.resources import URI, ResourceSet
from pyecore.resources.json import JsonResource

from neomodel.metamodel import ECORE, Attribute, Class, Enum, Package, Reference, Timeline
from neomodel.model import Model

_NATIVE = {"EString", "EInt", "EIntegerObject", "ELong", "ELongObject", "EBoolean", "EDouble", "EDoubleObject"}
Content = list[tuple[Any, ...]]
"""Objects in document order: class, container, features that are set. Objects stand for their numbers in that order."""


class Peer:
    """Packages as PyEcore has them."""

    def __init__(self, *packages: Package) -> None:
        self.resources = ResourceSet()
        self.resources.resource_factory["json"] = JsonResource
        self._kinds: dict[tuple[str, str], Any] = {}
        self._values: dict[tuple[str, str], Class] = {}
        parts = [part for package in packages for part in package.with_subpackages()]
        made = {part.ns_uri: ecore.EPackage(part.name, nsURI=part.ns_uri, nsPrefix=part.ns_prefix) for part in parts}
        for part in parts:
            self.resources.metamodel_registry[part.ns_uri] = made[part.ns_uri]
            for found in part.classifiers:
                self._add(made[part.ns_uri], part.ns_uri, found)
            made[part.ns_uri].eSubpackages.extend(made[sub.ns_uri] for sub in part.packages)
        for (uri, name), value in self._values.items():
            kind = self._kinds[uri, name]
            # most derived first: Python can't line up every order of super types that Ecore takes
            for above in sorted(value.supers, key=lambda above: above.name, reverse=True):
                kind.eSuperTypes.append(self._kinds[above.ns_uri, above.name])
            for feature in value.features:
                if not isinstance(feature, Timeline):
                    kind.eStructuralFeatures.append(self._feature(feature))
        for (uri, name), value in self._values.items():
            for feature in value.features:
                if isinstance(feature, Reference) and feature.opposite:
                    far = self._kinds[feature.type.ns_uri, feature.type.name]
                    near = self._kinds[uri, name].findEStructuralFeature(feature.name)
                    near.eOpposite = far.findEStructuralFeature(feature.opposite)

    def _add(self, package: Any, uri: str, found: Any) -> None:
        if isinstance(found, Class):
            self._kinds[uri, found.name] = ecore.EClass(found.name, abstract=found.abstract)
            self._values[uri, found.name] = found
        elif isinstance(found, Enum):
            self._kinds[uri, found.name] = ecore.EEnum(found.name, literals=[one.text for one in found.literals])
        else:
            self._kinds[uri, found.name] = ecore.EDataType(found.name, str)
        package.eClassifiers.append(self._kinds[uri, found.name])

    def _feature(self, feature: Any) -> Any:
        shared = {"upper": feature.upper, "transient": feature.transient, "volatile": feature.volatile}
        if isinstance(feature, Attribute):
            native = feature.type.ns_uri == ECORE and feature.type.name in _NATIVE
            type_ = getattr(ecore, feature.type.name if native else "EString")
            if feature.type.ns_uri != ECORE:
                type_ = self._kinds[feature.type.ns_uri, feature.type.name]
            return ecore.EAttribute(feature.name, type_, unique=False, iD=feature.id, **shared)
        type_ = ecore.EObject.eClass
        if feature.type.ns_uri != ECORE:
            type_ = self._kinds[feature.type.ns_uri, feature.type.name]
        unique = feature.unique or feature.containment or feature.opposite is not None
        return ecore.EReference(feature.name, type_, containment=feature.containment, unique=unique, **shared)

    def load(self, path: Path) -> Any:
        """The file as PyEcore reads it."""
        self.resources.resources.clear()
        return self.resources.get_resource(URI(str(path)))

    def content(self, path: Path) -> Content:
        """What PyEcore finds in a file."""
        return content_of_peer(self.load(path).contents)


def content_of_peer(roots: Any) -> Content:
    objects = [one for root in roots for one in _peers(root)]
    numbers = {id(one): number for number, one in enumerate(objects)}
    found: Content = []
    for one in objects:
        held: dict[str, Any] = {}
        for feature in one._isset:
            if feature.transient or feature.volatile or (feature.is_reference and feature.container):
                continue
            values = list(getattr(one, feature.name)) if feature.many else [getattr(one, feature.name)]
            if feature.is_reference:
                values = [None if value is None else numbers[id(_real(value))] for value in values]
                if feature.eOpposite and not feature.containment:  # of JSON it has objects twice, once as proxies
                    values = sorted(set(values), key=str)
                values = [] if values == [None] else values
            else:
                values = [_peer_text(value) for value in values]
            if values:
                held[feature.name] = values
        container = one.eContainer()
        place = None if container is None else (numbers[id(container)], one.eContainmentFeature().name)
        found.append((one.eClass.name, place, held))
    return found


def _peers(top: Any) -> list[Any]:
    """An object and all in it, by features in the order of their names: PyEcore's order follows Python's classes."""
    found = [top]
    for feature in sorted(top.eClass.eAllStructuralFeatures(), key=lambda feature: feature.name):
        if feature.is_reference and feature.containment and not feature.transient:
            held = getattr(top, feature.name)
            for child in list(held) if feature.many else [held] if held is not None else []:
                found += _peers(_real(child))
    return found


def _real(value: Any) -> Any:
    if isinstance(value, ecore.EProxy):
        value.force_resolve()
        return value._wrapped
    return value


def _peer_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(float(value))
    return str(getattr(value, "name", value))


def exactly(model: Model) -> Content:
    """As `content_of`, with the order of what mirrors something else, which PyEcore does not keep."""
    return content_of(model, ordered=True)


def content_of(model: Model, *, ordered: bool = False) -> Content:
    """The same of a model of ours, by its objects."""
    objects: list[Any] = []
    for root in model.roots:
        objects += _ours(root)
    numbers = {one: number for number, one in enumerate(objects)}
    found: Content = []
    for one in objects:
        held: dict[str, Any] = {}
        for feature in one.eClass.eAllStructuralFeatures():
            if not feature.kept or feature.container or feature.timeline or not one.eIsSet(feature.name):
                continue
            values = list(one.eGet(feature.name)) if feature.many else [one.eGet(feature.name)]
            if feature.reference:
                values = [numbers[value] for value in values if value is not None]
                mirrored = feature.eOpposite is not None and not feature.containment and not ordered
                values = sorted(values, key=str) if mirrored else values
            else:
                values = [None if value is None else _our_text(feature, value) for value in values]
            if values:
                held[feature.name] = values
        container = one.eContainer()
        place = None if container is None else (numbers[container], one.eContainmentFeature().name)
        found.append((one.eClass.name, place, held))
    return found


def _ours(top: Any) -> list[Any]:
    found = [top]
    for feature in sorted(top.eClass.eAllReferences(), key=lambda feature: feature.name):
        if feature.containment and feature.kept:
            held = top.eGet(feature.name)
            for child in list(held) if feature.many else [held] if held is not None else []:
                found += _ours(child)
    return found


def _our_text(feature: Any, value: Any) -> str:
    if isinstance(value, float) and feature.value.type.name in _NATIVE:
        return repr(value)
    return str(feature.codec.to_text(value))
