"""The Python classes of Ecore's own classes. What EMF computes of classes and features is computed by them, too.

Generic types count as what is left when their arguments are taken away, as in EMF.
"""

from collections.abc import Callable, Iterator
from typing import Any

from neomodel.kinds import EClass
from neomodel.objects import build
from neomodel.packages import EPackage, ecore


def raw_type(generic: Any) -> Any:
    """The classifier that a generic type is of; of a type parameter that of its first bound; None if there is none."""
    seen = []
    while generic is not None and generic not in seen:
        if generic.eClassifier is not None:
            return generic.eClassifier
        seen.append(generic)
        bounds = [] if generic.eTypeParameter is None else list(generic.eTypeParameter.eBounds)
        generic = bounds[0] if bounds else generic.eUpperBound
    return None


def type_of(typed: Any) -> Any:
    """The classifier that a typed element has, generic or not; None if there is none."""
    return typed.eType if typed.eType is not None else raw_type(typed.eGenericType)


def _supers(kind: Any) -> Iterator[Any]:
    yield from kind.eSuperTypes
    yield from (found for found in map(raw_type, kind.eGenericSuperTypes) if found is not None)


def _all_supers(kind: Any) -> list[Any]:
    """Each after its own super types, and once; a circle is walked once, too."""
    found: dict[Any, None] = {}
    ahead = [(kind, _supers(kind))]
    met = {kind}
    while ahead:
        current, above = ahead[-1]
        following = next((one for one in above if one not in met), None)
        if following is not None:
            met.add(following)
            ahead.append((following, _supers(following)))
        else:
            found[current] = None
            ahead.pop()
    return list(found)[:-1]


def _inherited(name: str, keep: Callable[[Any], bool] = bool) -> property:
    """What a class and its super types hold by a feature, inherited ones first."""

    def found(kind: Any) -> list[Any]:
        return [one for owner in (*_all_supers(kind), kind) for one in owner.eGet(name) if keep(one)]

    return property(found)


def _own(keep: Callable[[Any], bool]) -> property:
    return property(lambda kind: [one for one in kind.eStructuralFeatures if keep(one)])


def _is_attribute(feature: Any) -> bool:
    return bool(feature.eClass.name == "EAttribute")


def _is_reference(feature: Any) -> bool:
    return bool(feature.eClass.name == "EReference")


def _identity(kind: Any) -> Any:
    return next((one for one in kind.eAllAttributes if one.iD), None)


_COMPUTED: dict[str, dict[str, property]] = {
    "ETypedElement": {
        "many": property(lambda typed: typed.upperBound > 1 or typed.upperBound < 0),
        "required": property(lambda typed: typed.lowerBound >= 1),
    },
    "EAttribute": {"eAttributeType": property(type_of)},
    "EReference": {
        "eReferenceType": property(type_of),
        "container": property(lambda one: one.eOpposite is not None and one.eOpposite.containment),
    },
    "EGenericType": {"eRawType": property(raw_type)},
    "EClass": {
        "eAttributes": _own(_is_attribute),
        "eReferences": _own(_is_reference),
        "eAllSuperTypes": property(_all_supers),
        "eAllStructuralFeatures": _inherited("eStructuralFeatures"),
        "eAllAttributes": _inherited("eStructuralFeatures", _is_attribute),
        "eAllReferences": _inherited("eStructuralFeatures", _is_reference),
        "eAllContainments": _inherited("eStructuralFeatures", lambda one: _is_reference(one) and one.containment),
        "eAllOperations": _inherited("eOperations"),
        "eAllGenericSuperTypes": _inherited("eGenericSuperTypes"),
        "eIDAttribute": property(_identity),
    },
}


def _built(kind: EClass) -> type[Any]:
    return build(kind, _COMPUTED.get(kind.name, {}))


def ecore_with_objects() -> EPackage:
    """Ecore's own package, whose classes have objects."""
    return _ECORE


_ECORE = ecore()
_ECORE.build = _built
