"""What the elements of an `.ecore` file may have: Ecore's own classes, as far as files show them.

Ecore also computes much (`required`, `eAllAttributes` and so on): that is in no file.
"""

from collections.abc import Mapping

_NAMED = {"name": str}
_TYPED = {**_NAMED, "ordered": bool, "unique": bool, "lowerBound": int, "upperBound": int}
_MARKS = dict.fromkeys(["changeable", "volatile", "transient", "unsettable", "derived"], bool)
_CLASSIFIER = {**_NAMED, "instanceClassName": str, "instanceTypeName": str}
_FEATURE: dict[str, type] = {**_TYPED, **_MARKS, "defaultValueLiteral": str}

ATTRIBUTES: Mapping[str, Mapping[str, type]] = {
    "EPackage": {**_NAMED, "nsURI": str, "nsPrefix": str},
    "EClass": {**_CLASSIFIER, "abstract": bool, "interface": bool},
    "EDataType": {**_CLASSIFIER, "serializable": bool},
    "EEnum": {**_CLASSIFIER, "serializable": bool},
    "EEnumLiteral": {**_NAMED, "value": int, "literal": str},
    "EAttribute": {**_FEATURE, "iD": bool},
    "EReference": {**_FEATURE, "containment": bool, "resolveProxies": bool},
    "EOperation": _TYPED,
    "EParameter": _TYPED,
    "ETypeParameter": _NAMED,
    "EGenericType": {},
    "EAnnotation": {"source": str},
    "EStringToStringMapEntry": {"key": str, "value": str},
}
"""The values of each, and what they are."""

REFERENCES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "EClass": {"eSuperTypes": ("EClass",)},
    "EAttribute": {"eType": ("EDataType", "EEnum", "EClass")},
    "EReference": {"eType": ("EClass", "EDataType", "EEnum"), "eOpposite": ("EReference",), "eKeys": ("EAttribute",)},
    "EOperation": {"eType": ("EClass", "EDataType", "EEnum"), "eExceptions": ("EClass", "EDataType", "EEnum")},
    "EParameter": {"eType": ("EClass", "EDataType", "EEnum")},
    "EGenericType": {"eClassifier": ("EClass", "EDataType", "EEnum"), "eTypeParameter": ("ETypeParameter",)},
    "EAnnotation": {"references": ()},
}
"""What each refers to: the kinds that are meant where several elements have the name; none if any is."""

_ANNOTATED = {"eAnnotations": ("EAnnotation",)}
_GENERIC = {**_ANNOTATED, "eGenericType": ("EGenericType",)}
_PARAMETERS = {**_ANNOTATED, "eTypeParameters": ("ETypeParameter",)}

CHILDREN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "EPackage": {**_ANNOTATED, "eClassifiers": ("", "EClass", "EDataType", "EEnum"), "eSubpackages": ("EPackage",)},
    "EClass": {
        **_PARAMETERS,
        "eOperations": ("EOperation",),
        "eStructuralFeatures": ("", "EAttribute", "EReference"),
        "eGenericSuperTypes": ("EGenericType",),
    },
    "EDataType": _PARAMETERS,
    "EEnum": {**_PARAMETERS, "eLiterals": ("EEnumLiteral",)},
    "EEnumLiteral": _ANNOTATED,
    "EAttribute": _GENERIC,
    "EReference": _GENERIC,
    "EOperation": {
        **_GENERIC,
        **_PARAMETERS,
        "eParameters": ("EParameter",),
        "eGenericExceptions": ("EGenericType",),
    },
    "EParameter": _GENERIC,
    "ETypeParameter": {**_ANNOTATED, "eBounds": ("EGenericType",)},
    "EGenericType": dict.fromkeys(["eUpperBound", "eTypeArguments", "eLowerBound"], ("EGenericType",)),
    "EAnnotation": {**_ANNOTATED, "details": ("EStringToStringMapEntry",), "contents": ("", *ATTRIBUTES)},
}
"""What lies in each, and of which kind that may be. The first is meant if an element names none; empty: it must."""


def references_of(kind: str) -> Mapping[str, tuple[str, ...]]:
    return REFERENCES.get(kind, {})


def children_of(kind: str) -> Mapping[str, tuple[str, ...]]:
    return CHILDREN.get(kind, {})
