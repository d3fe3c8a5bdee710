"""Packages as the elements of an `.ecore` file that stand for them, in the form in which `ecore_kept` keeps some."""

from collections.abc import Iterable
from typing import Any

from neomodel.ecore_package import ECORE_DATA_TYPES
from neomodel.errors import InvalidModel
from neomodel.metamodel import (
    ECORE,
    Annotation,
    Attribute,
    Class,
    Classifier,
    DataType,
    Enum,
    Feature,
    Literal,
    Package,
    Reference,
    Timeline,
    TypeName,
)
from neomodel.scope import Scope
from neomodel.xmi.ecore_kept import (
    KEY,
    KIND,
    MARKS,
    SOURCE,
    TIMELINE,
    Kept,
    Packed,
    dumped,
    unkept,
    without,
)
from neomodel.xmi.ecore_links import segment

_MARKS = ("changeable", "volatile", "transient", "unsettable", "derived")
_KINDS: dict[type, str] = {Class: "EClass", DataType: "EDataType", Enum: "EEnum"}
_APPENDED = ("eSuperTypes", "eKeys", "references")


class Packer:
    """Packs packages that may refer to one another."""

    def __init__(self, packages: Iterable[Package]) -> None:
        self._addresses: dict[tuple[TypeName, str | None], str] = {}
        """Of classifiers, and of their features, where they are in their packages."""
        self._kinds: dict[TypeName, str] = {}
        roots = list(packages)
        self._scope = Scope(roots)
        for root in roots:
            for package in root.with_subpackages():
                self._locate(package)

    def _locate(self, package: Package) -> None:
        for number, found in enumerate(package.classifiers):
            type_ = TypeName(package.ns_uri, found.name)
            self._kinds[type_] = _KINDS[type(found)]
            kind = _KINDS[type(found)]
            here = _step(found, kind, f"@eClassifiers.{number}")
            self._addresses[type_, None] = here
            for position, feature in enumerate(found.features if isinstance(found, Class) else ()):
                below = _step(feature, _kind(feature), f"@eStructuralFeatures.{position}")
                self._addresses[type_, feature.name] = f"{here}/{below}"

    def has(self, ns_uri: str, fragment: str) -> bool:
        """Whether a package has the classifier that the path of a reference begins with."""
        return any(
            type_.ns_uri == ns_uri and f"{fragment}/".startswith(f"//{here}/")
            for (type_, _), here in self._addresses.items()
        )

    # packages and classifiers

    def package(self, package: Package) -> Packed:
        made = {
            "name": package.name,
            "nsURI": package.ns_uri,
            "nsPrefix": package.ns_prefix,
            "eClassifiers": [self._classifier(found, package) for found in package.classifiers],
            "eSubpackages": [self.package(below) for below in package.packages],
        }
        return _finished(made, package.annotations, package.name, "EPackage")

    def _classifier(self, found: Classifier, package: Package) -> Packed:
        where = f"{package.name}.{found.name}"
        made: Packed = {KIND: _KINDS[type(found)], "name": found.name}
        if found.instance_class is not None:
            made["instanceClassName"] = found.instance_class
        match found:
            case Class():
                made |= _flags(found, abstract=False, interface=False)
                made["eSuperTypes"] = [self._type(name, "EClass") for name in found.supers]
                made["eStructuralFeatures"] = [self._feature(feature, found, package) for feature in found.features]
            case DataType():
                made |= _flags(found, serializable=True)
            case Enum():
                made["eLiterals"] = [_literal(literal, where) for literal in found.literals]
        own = {KEY: dumped(list(found.key))} if isinstance(found, Class) and found.key else {}
        return _finished(made, found.annotations, where, made[KIND], own)

    def _feature(self, feature: Feature, class_: Class, package: Package) -> Packed:
        where = f"{package.name}.{class_.name}.{feature.name}"
        kind = _kind(feature)
        made: Packed = {KIND: kind, "name": feature.name}
        made |= _flags(feature, ordered=True, unique=True)
        made |= {name: str(value) for name, value, usual in _bounds(feature) if value != usual}
        made |= _flags(feature, **{mark: mark == "changeable" for mark in _MARKS})
        made["eType"] = [self._type(feature.type, "EClass" if kind == "EReference" else "EDataType")]
        if feature.default is not None:
            made["defaultValueLiteral"] = feature.default
        if isinstance(feature, Attribute) and feature.id:
            made["iD"] = "true"
        if isinstance(feature, Reference):
            made |= _flags(feature, containment=False)
            if not feature.resolve_proxies:
                made["resolveProxies"] = "false"
            if feature.opposite is not None:
                made["eOpposite"] = [self._of_type(feature, feature.opposite, "EReference")]
            made["eKeys"] = [self._of_type(feature, name, "EAttribute") for name in feature.keys]
        own = {TIMELINE: "true"} if isinstance(feature, Timeline) else {}
        return _finished(made, feature.annotations, where, kind, own)

    # references

    def _type(self, name: TypeName, kind: str) -> str:
        kind = self._kinds.get(name, kind)
        if name.ns_uri == ECORE:
            kind = "EDataType" if name.name in ECORE_DATA_TYPES else "EClass"
        return f"ecore:{kind} {name.ns_uri}#//{self._addresses.get((name, None)) or segment(name.name)}"

    def _of_type(self, reference: Reference, name: str, kind: str) -> str:
        """A feature of the class that a reference is to, in the class that declares it: files know no other place."""
        type_ = self._declaring(reference.type, name)
        found = self._addresses.get((type_, name)) or f"{segment(type_.name)}/{segment(name)}"
        return f"ecore:{kind} {type_.ns_uri}#//{found}"

    def _declaring(self, type_: TypeName, name: str) -> TypeName:
        """Where a class has a feature from; if that is in none of the packages, its first super type outside them."""
        found = self._scope.feature(type_, name)
        if found is not None:
            return found[0]
        above = (super_ for _, class_ in self._scope.lineage(type_) for super_ in class_.supers)
        return next((super_ for super_ in above if self._scope.classifier(super_) is None), type_)


def _step(found: Classifier | Feature, kind: str, position: str) -> str:
    """How a reference names it below what it is in: by its position if a file has another name for it."""
    return position if "name" in unkept(found.annotations, found.name, kind).attributes else segment(found.name)


def _kind(feature: Feature) -> str:
    if not isinstance(feature, Attribute | Reference | Timeline):
        raise InvalidModel(feature.name, "it is neither an attribute nor a reference nor a timeline")
    return "EReference" if isinstance(feature, Reference) else "EAttribute"


def _bounds(feature: Feature) -> list[tuple[str, int, int]]:
    return [("lowerBound", feature.lower, 0), ("upperBound", feature.upper, 1)]


def _flags(found: Any, **usual: bool) -> Packed:
    """Those that are not as usual."""
    return {
        name: "true" if getattr(found, name) else "false"
        for name, value in usual.items()
        if getattr(found, name) != value
    }


def _literal(literal: Literal, where: str) -> Packed:
    made: Packed = {"name": literal.name}
    if literal.value:
        made["value"] = str(literal.value)
    if literal.text != literal.name:
        made["literal"] = literal.text
    return _finished(made, literal.annotations, f"{where}.{literal.name}", "EEnumLiteral")


# annotations, and what they keep


def _finished(
    made: Packed, annotations: Iterable[Annotation], where: str, kind: str, own: dict[str, str] | None = None
) -> Packed:
    """An element with its annotations, and with what they keep of it put where it belongs."""
    found = unkept(annotations, where, kind)
    written = [_annotation(one, where) for one in without(annotations)]
    if own:
        written.append({"source": SOURCE, "details": [{"key": key, "value": text} for key, text in own.items()]})
    made["eAnnotations"] = written
    _restore(made, found)
    return {name: value for name, value in made.items() if value not in ([], None)}


def _restore(made: Packed, found: Kept) -> None:
    for name, text in found.attributes.items():
        made[name] = text or None
    for name, texts in found.references.items():
        made[name] = [*(made.get(name, []) if name in _APPENDED else []), *texts]
    for mark in found.own.get(MARKS, "").split():
        made[mark] = "true"
    for name, element in found.elements:
        made.setdefault(name, []).append(element)
    if made.get("eGenericType"):
        made.pop("eType", None)
    if made.get("eGenericSuperTypes"):
        made["eGenericSuperTypes"] = _generic_supers(made.pop("eSuperTypes", []), made["eGenericSuperTypes"])


def _generic_supers(supers: list[str], generic: list[Packed]) -> list[Packed]:
    """All super types as generic ones, in order."""
    if {*supers} <= {text for one in generic for text in one.get("eClassifier", [])}:
        return generic
    given: dict[str, Packed] = {}
    for one in generic:
        for text in one.get("eClassifier", []):
            given.setdefault(text, one)
    rest = [one for one in generic if not any(given.get(text) is one for text in supers)]
    return [*(given.get(text) or {"eClassifier": [text]} for text in supers), *rest]


def _annotation(found: Annotation, where: str) -> Packed:
    made: Packed = {
        "source": found.source,
        "details": [{"key": key, "value": text} for key, text in found.details],
    }
    return _finished(made, found.annotations, f"{where}, annotation {found.source}", "EAnnotation")
