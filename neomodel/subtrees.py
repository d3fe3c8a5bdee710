"""Whole containment subtrees: stored at once, moved, taken out of the model, deleted."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import attrs

from neomodel import layout
from neomodel.errors import Conflict, InvalidValue
from neomodel.kinds import EClass, EFeature
from neomodel.mirrors import adjust, drop_tokens, lies_in, mirror
from neomodel.packages import ANYTHING, EPackage
from neomodel.states import UNSET, Gone, Stored, Transient, encode
from neomodel.stores import VERSION, Mutation, Row, successor

if TYPE_CHECKING:
    from neomodel.model import Model
    from neomodel.objects import Element


_FEW = 100  # children of one object: then those of others are read with them


def subtree(top: "Element") -> "Iterator[Element]":
    """The object and all it contains, level by level. One read for each level and 500 objects."""
    level = [top]
    while level:
        yield from level
        level = [child for parent, found in children_of(level) for child in found]


def children_of(parents: "list[Element]") -> "list[tuple[Element, list[Element]]]":
    """Each object with its children, those alone that say so themselves. One read for 500 of them."""
    listed: list[tuple[Element, EFeature, list[Element]]] = []
    for parent in parents:
        state = parent._neo
        for feature in state.kind.containments:
            raw = state.raw(feature)
            tokens = raw if feature.many else [] if raw is UNSET or raw is None else [raw]
            listed.append((parent, feature, [state.target(token, feature) for token in tokens]))
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
        first = next((state.leading(feature) for state, feature, children in listed if children), None)
        model.want(states, first if len(listed) == 1 or len(states) < _FEW else None)


# in


def check_free(elements: "Iterable[Element]") -> None:
    """Raise `InvalidValue` if one of them is being edited: an edit writes its row, which can't go away meanwhile."""
    for element in elements:
        if isinstance(element._neo, Stored) and element._neo.edit is not None:
            raise InvalidValue("an object to move or remove", element, "one that is not being edited")


Ready = list[tuple["Element", dict[bytes, bytes | None]]]
"""New objects, each before what it contains, with their rows."""


def prepare(parent: "Element", feature: EFeature, children: "list[Element]") -> Ready:
    """The rows of those children that are new, with all they contain. Whatever can't be stored is refused here, before
    anything is written."""
    model = parent._neo.model
    _check_ids(model, children)
    tops = [child for child in children if isinstance(child._neo, Transient)]
    elements = list(dict.fromkeys(element for top in tops for element in _transient(top)))  # one top may lie in another
    above = {id(top): (parent._neo.oid, feature.name) for top in tops}
    for element in elements:  # ids first: rows refer to one another
        state = element._neo
        if id(element) not in above:
            holder, held = state.place
            above[id(element)] = holder._neo.oid, held.name
        state.oid = state.oid or model.new_oid(element, beside=above[id(element)][0])
    leaving = set(tops)
    return [(element, _cells(model, element, *above[id(element)], leaving)) for element in elements]


def _check_ids(model: "Model", children: "Iterable[Element]") -> None:
    """Raise `InvalidValue` if an object that comes from another model would take the place of one that is here. An id
    made from a key is meant to."""
    coming = [child for child in children if isinstance(child._neo, Stored) and child._neo.model is not model]
    states = [element._neo for child in coming for element in subtree(child)]
    keys = [state.oid.encode() for state in states if not state.kind.key]
    taken = model.table.get_many(keys, columns=layout.TYPE) if keys else {}
    for key in taken:
        raise InvalidValue(f"the id of an object that comes to {model!r}", key.decode(), "one that is free there")


def settle(parent: "Element", feature: EFeature, children: "list[Element]", ready: Ready) -> None:
    """Make the children's own rows say that they lie here, after the container's list does."""
    home = parent._neo
    leave([child for child in children if isinstance(child._neo, Transient) and child._neo.place is not None])
    _store(home.model, ready)
    for child in children:
        if not lies_in(child, parent, feature):
            if child._neo.model is home.model:
                _move(child, parent, feature)
            else:
                _transfer(child, parent, feature)


def _move(child: "Element", parent: "Element", feature: EFeature) -> None:
    state, home = child._neo, parent._neo
    place = state.place
    while True:
        try:
            state.swap(layout.placed(home.oid, feature.name))
            break
        except Conflict:
            if lies_in(child, parent, feature):
                break  # somebody else has moved it here
            if state.place != place:  # elsewhere
                _unlist(child, parent, feature)
                raise

    if _lies_below(home, state):  # while it was moved here, somebody moved this into it: the later one gives way
        state.swap(layout.placed(place[0]._neo.oid, place[1].name) if place else layout.placed(None, None))
        _unlist(child, parent, feature)
        raise Conflict(home.where(), "one outside", f"one inside {state.where()}")
    if place is not None:
        _unlist(child, *place)
    _list(child, parent, feature)


# Those who move one child at a time change its row, which decides, and lists, which don't. Whoever takes it off a list
# looks at the row afterwards, and whoever has changed the row looks at the list: one of them sees the other.


def _unlist(child: "Element", parent: "Element", feature: EFeature) -> None:
    """Take a child off the list of a container that it does not lie in."""
    drop_tokens(parent, feature, {child._neo.oid})
    child._neo.renew()
    if lies_in(child, parent, feature):
        _list(child, parent, feature)


def _list(child: "Element", parent: "Element", feature: EFeature) -> None:
    """Make sure that a container lists a child that lies in it. Costs nothing if nobody else has written."""
    if feature.many and not isinstance(parent._neo, Gone):
        token = child._neo.oid
        parent._neo.renew()
        adjust(parent, feature, lambda raw: raw if token in raw else [*raw, token])


def _lies_below(below: Stored, above: Stored) -> bool:
    """Whether an object lies in another now, as their rows say. A get for each ancestor, if there is anything in it."""
    model = above.model
    if not any(feature.column in above.read() for feature in above.kind.containments):
        return False
    oid: str | None = below.oid
    while oid is not None and oid != above.oid:
        row = model.table.get(oid.encode(), columns=layout.PLACE)
        found = layout.place_of(row or {})
        oid = found[0] if found else None
    return oid is not None


def _transfer(child: "Element", parent: "Element", feature: EFeature) -> None:
    """Into another model: copied there first, then erased here, so that at no time it is nowhere."""
    home = parent._neo
    parts = _gather([child])
    for part in parts:
        part.element._neo = part.as_transient()
    _store(home.model, prepare(parent, feature, [child]))
    try:
        _erase(parts, 1)
    except Conflict:
        _erase(_gather([child]), 1)
        for part in parts:
            part.element._neo = part.state
        raise
    for part in parts:
        part.state.model.live.pop(part.state.oid, None)


def _store(model: "Model", ready: Ready) -> None:
    """Write new objects, all rows in as few batches as there can be, then the far ends of their references."""
    elements = [element for element, _ in ready]
    far = [(element, held, _targets(element, held)) for element in elements for held in element._neo.kind.mirrored]
    aside = [{f.name: e._neo.values[f.name] for f in _unkept(e)} for e in elements]
    if ready:
        model.add(ready)
    for element, values in zip(elements, aside, strict=True):
        element._neo.aside = values or None
    inside = set(map(id, elements))
    for element, held, targets in far:
        mirror(element, held, gone=[], come=[target for target in targets if id(target) not in inside])


def _cells(
    model: "Model", element: "Element", container: str, feature: str, leaving: "set[Element]"
) -> dict[bytes, bytes | None]:
    """The row of a transient object, without those of its children that leave it."""
    state = element._neo
    cells = {**layout.placed(container, feature), **state.kind.cells, VERSION: successor(None)}
    for name, raw in state.values.items():
        held = state.kind.features[name]
        if held.containment:
            raw = [child for child in raw if child not in leaving] if held.many else UNSET if raw in leaving else raw
        if held.stored:
            cells[held.column] = encode(held, _tokens(model, state.oid, held, raw))
    return cells


def _tokens(model: "Model", oid: str, feature: EFeature, raw: Any) -> Any:
    if not feature.reference or raw is None or raw is UNSET:
        return raw
    if feature.many:
        return [model.token(target, feature, beside=oid) for target in raw]
    return model.token(raw, feature, beside=oid)


def _transient(top: "Element") -> "Iterator[Element]":
    waiting = [top]
    while waiting:
        element = waiting.pop()
        yield element
        children = [child for feature in element._neo.kind.containments for child in _targets(element, feature)]
        waiting += reversed(children)


def _targets(element: "Element", feature: EFeature) -> "list[Element]":
    state = element._neo
    raw = state.raw(feature)
    tokens = raw if feature.many else [] if raw is UNSET or raw is None else [raw]
    return [state.target(token, feature) for token in tokens]


def _unkept(element: "Element") -> list[EFeature]:
    state = element._neo
    return [f for f in state.kind.features.values() if not f.kept and f.name in state.values]


# out


@attrs.frozen
class _Part:
    """A stored object that is about to leave: all that is known of it."""

    element: "Element"
    state: Stored
    kind: EClass
    row: Row
    values: dict[str, Any]
    place: Any
    far: "list[tuple[Element, EFeature, str]]"
    """Who mirrors it: object, feature, and what it holds there."""

    def as_transient(self) -> Transient:
        state = Transient(self.kind, self.state.oid)
        state.values = self.values
        state.place = self.place
        return state


def leave(tops: "list[Element]") -> None:
    """Take subtrees out of wherever they are. Stored ones become transient; they keep their ids."""
    for top in tops:
        if isinstance(top._neo, Transient) and top._neo.place is not None:
            parent, feature = top._neo.place
            top._neo.place = None
            drop_tokens(parent, feature, {top})
    stored = [top for top in tops if isinstance(top._neo, Stored)]
    if stored:
        parts = _gather(stored)
        _erase(parts, len(stored))
        for part in parts:
            part.element._neo = part.as_transient()


def _gather(tops: "list[Element]") -> list[_Part]:
    """All that is known of subtrees, the tops first. They lie nowhere in what is told of them."""
    elements = list(dict.fromkeys([*tops, *(element for top in tops for element in subtree(top))]))
    inside = set(map(id, elements))
    leaving = set(tops)
    parts = []
    for number, element in enumerate(elements):
        state = element._neo
        values = {f.name: _value(element, f, leaving) for f in state.kind.features.values() if f.stored or not f.kept}
        far = [
            (target, mirrored.eOpposite, target._neo.token(element, mirrored.eOpposite))
            for mirrored in state.kind.mirrored
            for target in _targets(element, mirrored)
            if id(target) not in inside and mirrored.eOpposite
        ]
        values = {name: value for name, value in values.items() if value is not UNSET and value != []}
        place = None if number < len(tops) else state.place
        parts.append(_Part(element, state, state.kind, state.read(), values, place, far))
    return parts


def _value(element: "Element", feature: EFeature, leaving: "set[Element]") -> Any:
    """What the object will hold in memory, without those of its children that leave it."""
    if feature.computed:
        return UNSET
    raw = element._neo.raw(feature)
    if not feature.reference or raw is UNSET or raw is None:
        return list(raw) if feature.many else raw
    targets = [one for one in _targets(element, feature) if not feature.containment or one not in leaving]
    return targets if feature.many else targets[0] if targets else UNSET


def _erase(parts: list[_Part], tops: int, *, for_good: bool = False) -> None:
    """Remove rows: those at the top first, each by a compare-and-swap, then all below at once; then what refers to
    them: the far ends of their references, and their entries in containers' lists. Transient objects go on referring
    to them, unless it is for good."""
    check_free(part.element for part in parts)
    places = [(part, layout.place_of(part.row)) for part in parts[:tops]]
    for part in parts[:tops]:
        part.state.swap_row(part.row, layout.erased(part.row))
    below: dict[Model, list[Mutation]] = defaultdict(list)
    for part in parts[tops:]:
        below[part.state.model].append(Mutation(part.state.oid.encode(), layout.erased(part.row)))
    for model, rows in below.items():
        model.put(rows)
    for part in parts:
        for target, feature, token in part.far:
            if isinstance(target._neo, Stored) or (for_good and isinstance(target._neo, Transient)):
                drop_tokens(target, feature, {token})
    lists: dict[tuple[int, str], tuple[Element, set[str]]] = {}
    for part, place in places:
        if place is not None:
            parent = part.state.model.element(place[0])
            lists.setdefault((id(parent), place[1]), (parent, set()))[1].add(part.state.oid)
    erased = {part.element for part in parts}
    for (_, name), (parent, oids) in lists.items():
        if not isinstance(parent._neo, Gone) and parent not in erased:
            drop_tokens(parent, parent._neo.kind.feature(name), oids)


# away


@attrs.frozen
class Deleted:
    """What `delete` did: how many objects it removed, which features of others it cleared of them, and which
    references, of the metamodels in use, may still point at them, since nothing there says where to look for those."""

    objects: int
    cleared: tuple[str, ...]
    left: tuple[str, ...]


def delete(top: "Element") -> Deleted:
    """Remove an object and all it contains, and every reference to them that has an opposite."""
    if isinstance(top._neo, Transient):
        leave([top])
        elements = list(_transient(top))
        kinds = {element._neo.kind for element in elements}
        cleared = []
        for element in elements:
            for feature in element._neo.kind.mirrored:
                targets = _targets(element, feature)
                mirror(element, feature, gone=targets, come=[])
                cleared += [
                    f"{target._neo.where()}.{feature.eOpposite.name}" for target in targets if feature.eOpposite
                ]
        for element in elements:
            element._neo = Gone(element._neo.where())
        return Deleted(len(elements), tuple(cleared), _unfindable(kinds, ()))
    parts = _gather([top])
    in_use = top._neo.model.repository.packages()
    _erase(parts, 1, for_good=True)
    cleared = [f"{target._neo.where()}.{feature.name}" for part in parts for target, feature, _ in part.far]
    for part in parts:
        part.state.model.live.pop(part.state.oid, None)
        part.element._neo = Gone(part.state.where())
    return Deleted(len(parts), tuple(cleared), _unfindable({part.kind for part in parts}, in_use))


def _unfindable(kinds: set[EClass], in_use: Iterable[EPackage]) -> tuple[str, ...]:
    """The references that objects of these classes may be held by, and that have no opposite."""
    names = frozenset({ANYTHING}).union(*(kind.names for kind in kinds))
    packages = {package.nsURI: package for package in (*in_use, *(kind.ePackage for kind in kinds))}.values()
    return tuple(
        str(feature)
        for package in packages
        for kind in package.eClassifiers
        if isinstance(kind, EClass)
        for feature in kind.eReferences
        if feature.stored and not feature.containment and not feature.eOpposite and feature.value.type in names
    )
