"""Ids for objects that get stored: made of a key, or random, in the shard that their place gives them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from neomodel import ids
from neomodel.codecs import key_text
from neomodel.errors import InvalidValue
from neomodel.kinds import EFeature
from neomodel.long_lists import LongList
from neomodel.unstored import UNSET, Transient

if TYPE_CHECKING:
    from neomodel.objects import Element


def new_oid(element: "Element", model: str, *, beside: str, number: int = 0) -> str:
    """An id for an object of that model: made of its key, else one that nobody has, in the shard of its container
    unless `number` others or more are there already; roots have a shard each."""
    state = element._neo
    if not state.kind.key:
        return ids.oid_in(ids.spread(model, number) if beside == ids.ROOT else ids.shard_for(beside, number))
    parts = []
    for feature in state.kind.key:
        raw = state.raw(feature)
        parts.append(key_part(feature, feature.default if raw is UNSET else raw, element))
    return ids.natural(state.kind.ePackage.nsPrefix, state.kind.name, parts)


def key_part(feature: EFeature, value: Any, whose: Any) -> str:
    """The text of a value in a key."""
    try:
        return key_text(feature.codec, value)
    except ValueError as exc:
        raise InvalidValue(f"{feature} of {whose!r}", value, "a value with a place in an order: it is a key") from exc


def give_ids(parent: "Element", feature: EFeature, children: "Iterable[Element]") -> None:
    """Give ids to those children that have none, by how many the stored container holds already."""
    home = parent._neo
    raw = home.raw(feature) if feature.many else []
    held = raw.about if isinstance(raw, LongList) else len(raw)
    for number, child in enumerate(children, held):
        state = child._neo
        if isinstance(state, Transient) and state.oid is None:
            state.oid = new_oid(child, home.model.name, beside=home.oid, number=number)
