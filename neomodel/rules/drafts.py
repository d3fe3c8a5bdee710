"""What rules make, while they make it: objects of the target model before they have rows.

A `Target` is known by its id and class: what another application of a rule makes, or made. A `Draft` is one that the
body of a rule is filling. Neither reads anything.
"""

from typing import Any

from neomodel.checks import check_bound, checked, or_default, same, several
from neomodel.errors import InvalidValue
from neomodel.kinds import EClass, EFeature
from neomodel.metamodel import ANYTHING, ECORE
from neomodel.objects import Element
from neomodel.states import Stored
from neomodel.unstored import UNSET


class Target:
    """An object that a run makes, to refer to."""

    __slots__ = ("_kind", "_oid")
    _oid: str
    _kind: EClass

    def __init__(self, oid: str, kind: EClass) -> None:
        _set_oid(self, oid)
        _set_kind(self, kind)

    def __repr__(self) -> str:
        return f"<{self._kind} {self._oid}, made by a rule>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and other._oid == self._oid

    def __hash__(self) -> int:
        return hash(self._oid)

    @property
    def eClass(self) -> EClass:  # noqa: N802  EMF's name
        return self._kind

    def __getattr__(self, name: str) -> Any:
        """Only called for what a target does not have."""
        raise InvalidValue(f"{name} of {self!r}", "read", "what the rule reads of its source: results can't be read")

    def __setattr__(self, name: str, value: Any) -> None:
        raise InvalidValue(f"{name} of {self!r}", "assigned", "an output of this rule: each rule fills its own")


class Draft(Target):
    """An output of the rule that is being applied. Features are assigned, and can be read once they are; collections as
    tuples, since nothing is added to them one by one."""

    __slots__ = ("_values",)
    _values: dict[str, Any]

    def __init__(self, oid: str, kind: EClass) -> None:
        _set_oid(self, oid)
        _set_kind(self, kind)
        _set_values(self, {})

    def __getattr__(self, name: str) -> Any:
        feature = self._kind.feature(name)
        if feature.many:
            return tuple(self._values.get(name, ()))
        return self._values.get(name, feature.default)

    def __setattr__(self, name: str, value: Any) -> None:
        feature = self._kind.features.get(name) or self._kind.feature(name)
        if feature.timeline or feature.computed or not feature.kept:
            raise InvalidValue(str(feature), value, "a feature that is kept in the store, and no timeline")
        self._values[name] = _collected(feature, value) if feature.many else _taken(feature, value)


# past `__setattr__`, which is for features
_set_oid = Target.__dict__["_oid"].__set__
_set_kind = Target.__dict__["_kind"].__set__
_set_values = Draft.__dict__["_values"].__set__


def _collected(feature: EFeature, values: Any) -> list[Any]:
    found = [_taken(feature, value) for value in several(feature, values)]
    if feature.unique:
        distinct = list({same(feature, value): value for value in found}.values())
        if len(distinct) < len(found):
            raise InvalidValue(str(feature), found, "no value twice")
    check_bound(feature, len(found))
    return found


def _taken(feature: EFeature, value: Any) -> Any:
    if not feature.reference:
        return checked(feature, value)
    if value is None and not feature.many:
        return None
    if isinstance(value, Target):
        if not takes(feature, value._kind):
            raise InvalidValue(str(feature), value, f"an object of class {feature.eType}")
        return value
    if not isinstance(value, Element) or not isinstance(value._neo, Stored):
        raise InvalidValue(str(feature), value, "what a rule makes, or an object of a model")
    if feature.containment or feature.eOpposite is not None:
        raise InvalidValue(str(feature), value, "what a rule makes, since it has to refer back; trace() leads there")
    return checked(feature, value)


def takes(feature: EFeature, kind: EClass) -> bool:
    """Whether a reference may hold an object of that class."""
    expected = feature.eType
    if expected is kind:  # as mostly it is
        return True
    return expected.type_name == ANYTHING or expected.ePackage.nsURI == ECORE or expected.type_name in kind.names


def raw(feature: EFeature, value: Any, refer: Any) -> Any:
    """What a row holds of the value of a draft; `refer` makes a reference of an object of a model."""
    if not feature.reference:
        return value if feature.many else or_default(feature, value)
    if feature.many:
        return [one._oid if isinstance(one, Target) else refer(one) for one in value]
    if value is None:
        return None if feature.unsettable else UNSET
    return value._oid if isinstance(value, Target) else refer(value)
