"""Which values a feature takes."""

from types import MemberDescriptorType
from typing import Any

from neomodel.errors import InvalidValue
from neomodel.kinds import EClass, EFeature
from neomodel.unstored import UNSET


def checked(feature: EFeature, value: Any) -> Any:
    """The value as the feature keeps it, or `InvalidValue` naming the feature, what was expected and what was given."""
    if feature.reference:
        if value is None and not feature.many:
            return None
        kind = feature.eType
        if not conforms(value, kind):
            made = ", made by calling the class" if isinstance(value, type) else ""
            raise InvalidValue(str(feature), value, f"an object of class {kind}{made}")
        return value
    codec = feature.codec
    if value is None and not codec.primitive:
        return None
    try:
        return codec.check(value)
    except (ValueError, TypeError) as exc:
        raise InvalidValue(str(feature), value, codec.expected) from exc


def several(feature: EFeature, values: Any) -> Any:
    """What a collection is given, or `InvalidValue` if that is a single value; text is one."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InvalidValue(str(feature), values, "several values, such as a list")
    return values


def conforms(value: Any, kind: Any) -> bool:
    """Whether `value` is an object of that class. Of one whose row is not known: one get."""
    state = getattr(value, "_neo", None)
    if state is None or not isinstance(kind, EClass) or type(state) is MemberDescriptorType:
        return False
    return state.kind is kind or kind.takes(state.kind)


def or_default(feature: EFeature, value: Any) -> Any:
    """As EMF has it, a feature that can't be unset is set when it differs from its default."""
    if feature.unsettable or value is None:
        return UNSET if value is None and feature.default is None and not feature.unsettable else value
    default = feature.default
    if default is None or (value != default and value == value):  # NaN is not equal to itself
        return value
    return UNSET if feature.codec.encode(value) == feature.codec.encode(default) else value


def same(feature: EFeature, value: Any) -> Any:
    """Equal for values that a unique collection takes for the same: objects, and values equal to the last bit."""
    return value if feature.reference or value is None else feature.codec.encode(value)


def check_bound(feature: EFeature, count: int) -> None:
    if feature.upperBound > 1 and count > feature.upperBound:
        raise InvalidValue(f"the number of values of {feature}", count, f"at most {feature.upperBound}")
