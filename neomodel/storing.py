"""How objects come into a model: new ones with all they contain, those of elsewhere in it, those of other models."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from neomodel import ids, layout
from neomodel.amendments import Include
from neomodel.entries import carry, check_room
from neomodel.errors import Conflict, InvalidValue, ObjectNotFound
from neomodel.kinds import EFeature
from neomodel.leaving import erase, gather, leave
from neomodel.mirrors import adjust, drop_tokens, lies_in, mirror
from neomodel.newcomers import Newcomer, newcomers
from neomodel.states import Stored
from neomodel.subtrees import in_circle, subtree, targets_of
from neomodel.unstored import Gone, Transient

if TYPE_CHECKING:
    from neomodel.model import Model
    from neomodel.objects import Element


def prepare(parent: "Element", feature: EFeature, children: "list[Element]") -> list[Newcomer]:
    """The rows of those children that are new, with all they contain. Whatever can't be stored is refused here, before
    anything is written. The children have ids already; what they contain gets them here."""
    model = parent._neo.model
    _check_ids(model, children)
    tops = [child for child in children if isinstance(child._neo, Transient)]
    leaving = {top for top in tops if top._neo.place is not None}  # one top may lie in another
    found = newcomers(parent, feature, tops, leaving)
    check_room(model, [new.element._neo for new in found if not new.element._neo.kind.simple])
    return found


def _check_ids(model: "Model", children: "Iterable[Element]") -> None:
    """Raise `InvalidValue` if an object that comes from another model would take the place of one that is here. An id
    made from a key is meant to."""
    coming = [child for child in children if isinstance(child._neo, Stored) and child._neo.model is not model]
    states = [element._neo for child in coming for element in subtree(child)]
    check_room(model, states)
    keys = [state.oid.encode() for state in states if not state.kind.key]
    taken = model.table.get_many(keys, columns=layout.TYPE) if keys else {}
    for key in taken:
        raise InvalidValue(f"the id of an object that comes to {model!r}", key.decode(), "one that is free there")


def settle(parent: "Element", feature: EFeature, children: "list[Element]", ready: list[Newcomer]) -> None:
    """Make the children's own rows say that they lie here, after the container's list does."""
    home = parent._neo
    leave([child for child in children if isinstance(child._neo, Transient) and child._neo.place is not None])
    _store(home.model, ready)
    new = {id(one.element) for one in ready}  # these lie here, whatever became of them since
    for child in children:
        if id(child) not in new and not lies_in(child, parent, feature):
            if child._neo.model is home.model:
                _move(child, parent, feature)
            else:
                _transfer(child, parent, feature)


def _move(child: "Element", parent: "Element", feature: EFeature) -> None:
    state, home = child._neo, parent._neo
    place, version = state.place, state.version
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
        raise Conflict(state.where(), version, state.version)
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
        parent._neo.renew()
        adjust(parent, feature, Include(child._neo.oid))


def _lies_below(below: Stored, above: Stored) -> bool:
    """Whether an object lies in another now, as their rows say. A get for each ancestor, if there is anything in it."""
    model = above.model
    if not any(feature.column in above.read() for feature in above.kind.containments):
        return False
    oid: str | None = below.oid
    passed: set[str] = set()
    while oid is not None and oid != above.oid:
        if oid in passed:
            raise in_circle(model, oid)
        passed.add(oid)
        row = model.table.get(oid.encode(), columns=layout.PLACE)
        found = layout.place_of(row or {})
        oid = found[0] if found else None
    return oid is not None


def _transfer(child: "Element", parent: "Element", feature: EFeature) -> None:
    """Into another model: copied there first, then erased here, so that at no time it is nowhere. The copy says what it
    was copied from: as long as that is there, it is the original that counts, and a repair removes the copy."""
    home = parent._neo
    parts = gather([child])
    for part in parts:
        part.element._neo = part.as_transient()
    try:
        ready = prepare(parent, feature, [child])
        ready[0].cells[layout.FROM] = ids.ref(parts[0].state.version, parts[0].state.model.name).encode()
        _store(home.model, ready)
    except Exception:  # it is where it was; of what was written of the copy a check tells, and repairs it
        for part in parts:
            part.element._neo = part.state
            if home.model.live.get(part.state.oid) is part.element:
                home.model.live.drop(part.state.oid)
        _unlist(child, parent, feature)
        raise
    try:
        erase(parts, 1)
    except Conflict:
        with suppress(Conflict, ObjectNotFound):  # a repair has removed the copy: it took us for dead
            erase(gather([child]), 1)
        for part in parts:
            part.element._neo = part.state
        raise
    for part in parts:
        part.state.model.live.drop(part.state.oid)


def _store(model: "Model", ready: list[Newcomer]) -> None:
    """Write new objects, all rows in as few batches as there can be, then the far ends of their references."""
    special = [new.element for new in ready if not new.element._neo.kind.simple]
    far = list(_one_sided(special, {id(new.element) for new in ready})) if special else []
    aside = {e: values for e in special if (values := _unkept(e._neo))}
    carry(model, special)
    if ready:
        model.add(ready)
    for element, values in aside.items():
        element._neo.having_more().aside = values
    for element, held, targets in far:
        mirror(element, held, gone=[], come=targets)


def _one_sided(elements: "list[Element]", inside: set[int]) -> "Iterator[tuple[Element, EFeature, list[Element]]]":
    """What new objects refer to and may not be referred to by in turn: stored objects, and others that were stored when
    the reference was made. `inside` are the new ones."""
    known: dict[tuple[int, str], set[int]] = {}

    def refers(target: "Element", feature: EFeature, element: "Element") -> bool:
        place = id(target), feature.name
        if place not in known:
            known[place] = set(map(id, targets_of(target, feature)))
        return id(element) in known[place]

    for element in elements:
        for held in element._neo.kind.mirrored:
            back = held.eOpposite
            targets = [
                target
                for target in targets_of(element, held)
                if id(target) not in inside or (back is not None and not refers(target, back, element))
            ]
            if targets:
                yield element, held, targets


def _unkept(state: Transient) -> dict[str, Any]:
    """What stays in memory when the object is stored."""
    return {f.name: state.values[f.name] for f in state.kind.unkept if f.name in state.values}
