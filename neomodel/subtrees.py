"""Whole containment subtrees: how they are walked."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from neomodel.errors import CorruptRow, InvalidValue
from neomodel.kinds import EFeature
from neomodel.mirrors import lies_in
from neomodel.states import Stored
from neomodel.unstored import UNSET

if TYPE_CHECKING:
    from neomodel.model import Model
    from neomodel.objects import Element

_FEW = 100  # children of one object: then those of others are read with them


def subtree(top: "Element") -> "Iterator[Element]":
    """The object and all it contains, level by level. One read for each level and 500 objects. What lies in itself, as
    rows say that are damaged, is walked once: nothing lies in two places, so the top alone can be met again."""
    level = [top]
    while level:
        yield from level
        level = [child for parent, found in children_of(level) for child in found if child is not top]


def children_of(parents: "list[Element]") -> "list[tuple[Element, list[Element]]]":
    """Each object with its children, those alone that say so themselves. One read for 500 of them."""
    listed: list[tuple[Element, EFeature, list[Element]]] = []
    for parent in parents:
        state = parent._neo
        for feature in state.kind.containments:
            listed.append((parent, feature, targets_of(parent, feature)))
    _load([(parent._neo, feature, children) for parent, feature, children in listed])
    found: dict[int, list[Element]] = {id(parent): [] for parent in parents}
    for parent, feature, children in listed:
        found[id(parent)] += [child for child in children if lies_in(child, parent, feature)]
    return [(parent, found[id(parent)]) for parent in parents]


def _load(listed: "list[tuple[Any, EFeature, list[Element]]]") -> None:
    """Have the rows of all children."""
    by_model: dict[Model, list[Stored]] = defaultdict(list)
    for _, _, children in listed:
        for child in children:
            if isinstance(child._neo, Stored):
                by_model[child._neo.model].append(child._neo)
    for model, states in by_model.items():
        first = next((state.leading(feature).met for state, feature, children in listed if children), None)
        model.want(states, first if len(listed) == 1 or len(states) < _FEW else None)


def transient(top: "Element") -> "Iterator[Element]":
    """A transient object and all it contains, each before what it contains itself."""
    waiting = [top]
    while waiting:
        element = waiting.pop()
        yield element
        children = [child for feature in element._neo.kind.containments for child in targets_of(element, feature)]
        waiting += reversed(children)


def targets_of(element: "Element", feature: EFeature) -> "list[Element]":
    """What a reference holds, be it one or many. Costs nothing if the row is known."""
    state = element._neo
    raw = state.raw(feature)
    tokens = raw if feature.many else [] if raw is UNSET or raw is None else [raw]
    return state.targets(tokens, feature)  # type: ignore[no-any-return]


def in_circle(model: "Model", oid: str) -> CorruptRow:
    """That an object lies in itself, as rows say."""
    mend = f"run `neomodel check {model.name} --repair`"
    return CorruptRow(f"{model.name}/{oid}", "the container", oid.encode(), f"outside of the object: {mend}")


def check_free(elements: "Iterable[Element]") -> None:
    """Raise `InvalidValue` if one of them is being edited: an edit writes its row, which can't go away meanwhile."""
    for element in elements:
        if isinstance(element._neo, Stored) and element._neo.edit is not None:
            raise InvalidValue("an object to move or remove", element, "one that is not being edited")
