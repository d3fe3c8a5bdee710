"""Ecore's own package, and that of XML's types, as objects: what references of models of Ecore lead to.

They are in no model, and made when first asked for. Rows refer to them by the URIs that files have for them.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import attrs

from neomodel import ids
from neomodel.ecore_classes import ecore_with_objects
from neomodel.ecore_package import ecore_package
from neomodel.metamodel import ECORE, Attribute, Class, Classifier, DataType, Feature, Package, Reference, TypeName
from neomodel.objects import Element
from neomodel.unstored import Known
from neomodel.xmltype import XML_TYPE, xml_type

_PACKAGES = {ECORE: ecore_package, XML_TYPE: xml_type}
_FILES = {"Ecore.ecore": ECORE, "XMLType.ecore": XML_TYPE}
_NAMES = {
    "lower": "lowerBound",
    "upper": "upperBound",
    "id": "iD",
    "default": "defaultValueLiteral",
    "resolve_proxies": "resolveProxies",
}


def always_there(uri: str) -> str | None:
    """The namespace of the package that is always there, by that or by the name of its file; None for other URIs."""
    return uri if uri in _PACKAGES else _FILES.get(uri.rpartition("/")[2])


def known(token: str) -> Element | None:
    """What a token refers to that leads out of all models, if it is always there."""
    uri, fragment, _ = ids.split_elsewhere(token)
    ns_uri = always_there(uri)
    return None if ns_uri is None else _objects(ns_uri).get(fragment.rstrip("/"))


@cache
def _objects(ns_uri: str) -> dict[str, Element]:
    """The objects of a package by their fragments."""
    package = _PACKAGES[ns_uri]()
    values = dict(_described(package))
    found = {path: _element(kind, ids.elsewhere(ns_uri, path or "/")) for path, (kind, _) in values.items()}

    def resolved(value: Any) -> Any:
        if isinstance(value, list):
            return [resolved(one) for one in value]
        if isinstance(value, TypeName):
            path = f"//{value.name}"
            return found[path] if value.ns_uri == ns_uri else _objects(value.ns_uri)[path]
        return found[value.path] if isinstance(value, _Path) else value

    for path, (_, features) in values.items():
        element = found[path]
        state: Known = element._neo
        for name, value in features.items():
            state.values[name] = resolved(value)
            feature = state.kind.features[name]
            for child in state.values[name] if feature.containment else ():
                child._neo.place = element, feature
    return found


@attrs.frozen
class _Path:
    """What is to be found by its path in the same package."""

    path: str


def _described(package: Package) -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
    """Path, class and features of all that is in a package."""
    names = [found.name for found in package.classifiers]
    told = {"name": package.name, "nsURI": package.ns_uri, "nsPrefix": package.ns_prefix}
    yield "", ("EPackage", {**told, "eClassifiers": [_Path(f"//{name}") for name in names]})
    for found in package.classifiers:
        yield f"//{found.name}", _classifier(found)
        for feature in found.features if isinstance(found, Class) else ():
            yield f"//{found.name}/{feature.name}", _feature(feature)


def _classifier(found: Classifier) -> tuple[str, dict[str, Any]]:
    told: dict[str, Any] = {"name": found.name}
    if found.instance_class is not None:
        told["instanceClassName"] = found.instance_class
    if isinstance(found, DataType):
        return "EDataType", {**told, "serializable": found.serializable}
    assert isinstance(found, Class)
    paths = [_Path(f"//{found.name}/{feature.name}") for feature in found.features]
    return "EClass", {
        **told,
        "abstract": found.abstract,
        "eSuperTypes": list(found.supers),
        "eStructuralFeatures": paths,
    }


def _feature(feature: Feature) -> tuple[str, dict[str, Any]]:
    told: dict[str, Any] = {"eType": feature.type}
    for field in attrs.fields(type(feature)):
        value = getattr(feature, field.name)
        name = _NAMES.get(field.name, field.name)
        if value != field.default and name not in ("type", "annotations", "opposite"):
            told[name] = value
    if isinstance(feature, Reference) and feature.opposite is not None:
        told["eOpposite"] = _Path(f"//{feature.type.name}/{feature.opposite}")
    return "EAttribute" if isinstance(feature, Attribute) else "EReference", told


def _element(name: str, token: str) -> Element:
    kind: Any = ecore_with_objects().classifiers[name]
    made: Element = object.__new__(kind.python)
    made._neo = Known(token, kind)
    return made
