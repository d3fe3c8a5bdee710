"""The rules of EMF: every change of a feature, with all that follows from it for containers and opposites.

A change has one *decisive* write, a compare-and-swap of one row: if somebody else was first it raises `Conflict` and
nothing has changed. The writes that follow in other rows (the other end of a reference, the list of a former
container) don't depend on what else those rows hold: they are done again on a newer row if they lose a race. Within
`nm.edit` they wait until the edit has been written.

A transient object is in no model, so no stored object mirrors its references: far ends are written when it is stored.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from neomodel import ids
from neomodel.amendments import Amendment, Put, Replace, Take, held
from neomodel.checks import check_bound, checked, or_default, same, several
from neomodel.errors import InvalidValue
from neomodel.garbage import undisturbed
from neomodel.kinds import EFeature
from neomodel.leaving import leave
from neomodel.mirrors import adjust, current, drop_tokens, holds, lies_in, may_hold, mirror_after
from neomodel.naming import give_ids
from neomodel.states import Stored
from neomodel.storing import prepare, settle
from neomodel.subtrees import check_free, in_circle
from neomodel.unstored import UNSET, Transient

if TYPE_CHECKING:
    from neomodel.objects import Element

Arrange = Callable[[list[Any]], Amendment]
"""The change that new tokens of a collection make."""


# single values


def assign(obj: "Element", feature: EFeature, value: Any) -> None:
    """Let a single-valued feature hold `value`."""
    value = checked(feature, value)
    if not feature.reference:
        obj._neo.write({feature: or_default(feature, value)})
    elif feature.container:
        _assign_container(obj, feature, value)
    elif value is not None and value is current(obj, feature):
        return
    elif feature.containment:
        _assign_child(obj, feature, value)
    else:
        _assign_target(obj, feature, value)


def furnish(obj: "Element", feature: EFeature, value: Any) -> bool:
    """Let a new object, which holds nothing in this feature, contain what nothing contains yet; False, and nothing is
    changed, if it is not so simple. What most models are built by."""
    children = value if feature.many else [value]
    if not feature.containment or not children:
        return False
    for child in children:
        if child is None or type(child._neo) is not Transient or child._neo.place is not None or child is obj:
            return False
    if feature.many:
        if len(set(map(id, children))) < len(children):
            return False
        check_bound(feature, len(children))
    obj._neo.values[feature.name] = value
    place = obj, feature
    for child in children:
        child._neo.place = place
    return True


def unset(obj: "Element", feature: EFeature) -> None:
    """Let a feature hold nothing, so that it reads as its default."""
    if feature.many:
        rearrange(obj, feature, [])
    elif feature.reference:
        assign(obj, feature, None)
        if feature.unsettable:
            obj._neo.write({feature: UNSET})
    else:
        obj._neo.write({feature: UNSET})


def _assign_target(obj: "Element", feature: EFeature, target: "Element | None") -> None:
    state, before = obj._neo, current(obj, feature)
    nothing = None if feature.unsettable else UNSET
    state.write({feature: nothing if target is None else state.token(target, feature)})
    gone = [*([before] if before else []), *_bound_to_hold(obj, feature, [target])]
    mirror_after(obj, feature, gone=gone, come=[target] if target else [])


def _bound_to_hold(obj: "Element", feature: EFeature, new: "list[Any]") -> "list[Element]":
    """Of what an edit has put into an object, what refers to it, so that it would come into this reference once it is
    stored; but for what is there by now."""
    opposite = feature.eOpposite
    edit = obj._neo.edit if isinstance(obj._neo, Stored) else None
    if edit is None or opposite is None:
        return []
    come = [child for children in edit.children.values() for child in children if isinstance(child._neo, Transient)]
    found = [
        one for child in come for one in (child, *child.eAllContents()) if opposite in one.eClass.features.values()
    ]
    return [one for one in found if holds(one, opposite, obj) and not any(one is target for target in new)]


def _assign_child(obj: "Element", feature: EFeature, child: "Element | None") -> None:
    before = current(obj, feature)
    if child is not None:
        adopt(obj, feature, [child], partial(Replace, feature))
    elif before is not None:
        release(obj, feature, [before])
    elif feature.unsettable:
        obj._neo.write({feature: None})


def _assign_container(obj: "Element", feature: EFeature, parent: "Element | None") -> None:
    """The child's side of a containment: the same change, seen from the other end. It follows an edit of the child."""
    holding = feature.eOpposite
    assert holding is not None
    if isinstance(obj._neo, Stored) and obj._neo.edit is not None:
        if parent is not None:
            _check_place(parent, obj)
        obj._neo.edit.bound_for = (parent, holding) if parent is not None else None
        obj._neo.edit.following.append(lambda: _assign_container(obj, feature, parent))
        return
    place = obj._neo.place
    inside = place if place is not None and place[1] is holding else None
    if parent is None:
        if inside is not None:
            release(inside[0], holding, [obj])
    elif inside is None or inside[0] is not parent:
        if holding.many:
            insert(parent, holding, [obj])
        else:
            assign(parent, holding, obj)


# collections


def insert(obj: "Element", feature: EFeature, values: Iterable[Any], index: int | None = None) -> None:
    """Put values into a collection: at the end, or at a place. Those a unique collection holds already stay put."""
    new = [checked(feature, value) for value in several(feature, values)]
    if feature.unique:
        new = list(_not_held(obj, feature, _once(feature, new)))
    if not new:
        return

    _put(obj, feature, new, lambda tokens: Put(feature, tokens, index), repeat=index is None)


def rearrange(obj: "Element", feature: EFeature, values: Iterable[Any]) -> None:
    """Let a collection hold exactly these values, in this order. One compare-and-swap for all of them."""
    new = [checked(feature, value) for value in several(feature, values)]
    if feature.unique and len(_once(feature, new)) < len(new):
        raise InvalidValue(str(feature), new, "no value twice, since it is unique")
    if not feature.reference:
        check_bound(feature, len(new))
        obj._neo.write({feature: new})
        return
    state = obj._neo
    raw = state.raw(feature)
    kept = set(map(id, new))
    gone = [target for token in raw if id(target := state.target(token, feature)) not in kept]
    gone += _bound_to_hold(obj, feature, new)
    if feature.containment and not new:
        release(obj, feature, gone)
    else:
        _put(obj, feature, new, partial(Replace, feature), gone=gone)


def reorder(obj: "Element", feature: EFeature, change: Amendment) -> None:
    """Let a collection hold what it holds in another order."""
    obj._neo.amend(feature, change)


def withdraw(obj: "Element", feature: EFeature, positions: set[int]) -> None:
    """Take what is at these positions out of a collection."""
    state = obj._neo
    if not feature.reference:
        state.amend(feature, Take(positions))
        return
    raw = state.raw(feature)
    targets = [state.target(raw[at], feature) for at in sorted(positions)]
    if feature.containment:
        release(obj, feature, targets)
    else:
        state.amend(feature, Take(positions))
        mirror_after(obj, feature, gone=targets, come=[])


def _put(
    obj: "Element",
    feature: EFeature,
    values: list[Any],
    arrange: Arrange,
    *,
    gone: "Iterable[Element]" = (),
    repeat: bool = False,
) -> None:
    if feature.containment:
        adopt(obj, feature, values, arrange, repeat=repeat, gone=gone)
        return
    state = obj._neo
    if feature.reference:
        tokens = [state.token(value, feature) for value in values]
        there = held(feature, state.raw(feature), tokens)
        come = [value for value, is_held in zip(values, there, strict=True) if not is_held]
    else:
        come, tokens = [], values
    _arrange(obj, feature, arrange(tokens), repeat=repeat)
    mirror_after(obj, feature, gone=gone, come=come)


def _arrange(obj: "Element", feature: EFeature, change: Amendment, *, repeat: bool) -> None:
    """The decisive write of a collection. One that does not depend on what it holds may be repeated."""
    if repeat:
        adjust(obj, feature, change)
    else:
        obj._neo.amend(feature, change)


def _not_held(obj: "Element", feature: EFeature, values: Iterable[Any]) -> Iterable[Any]:
    """Those of the values that the collection does not hold yet."""
    if feature.containment:
        return (value for value in values if not lies_in(value, obj, feature))
    state = obj._neo
    values = list(values)
    known = [value for value in values if not feature.reference or may_hold(state, value)]
    tokens = [state.token(value, feature) for value in known] if feature.reference else known
    there = {id(v) for v, is_held in zip(known, held(feature, state.raw(feature), tokens), strict=True) if is_held}
    return [value for value in values if id(value) not in there]


def _once(feature: EFeature, values: list[Any]) -> list[Any]:
    """Each value the first time it occurs."""
    found: dict[Any, Any] = {}
    for value in values:
        found.setdefault(same(feature, value), value)
    return list(found.values())


# containment


def adopt(
    parent: "Element",
    feature: EFeature,
    children: "list[Element]",
    arrange: Arrange,
    *,
    repeat: bool = False,
    gone: "Iterable[Element]" = (),
) -> None:
    """Put children into a container, out of wherever they are. What was in their place leaves the model.

    The container's list is written first and the child's row decides, so that whatever happens in between, a reader
    finds each child in exactly one place.
    """
    state = parent._neo
    displaced = list(gone)
    if not feature.many:
        before = current(parent, feature)
        displaced = [before] if before is not None else []
    for child in children:
        _check_place(parent, child)
    check_free([*children, *displaced])
    if isinstance(state, Transient) or not feature.kept:
        if feature.many:
            arrange(children)(state.raw(feature))  # refused before anything leaves
        leave([child for child in children if not lies_in(child, parent, feature)])
        state.write({feature: arrange(children)(state.raw(feature)) if feature.many else children[0]})
        for child in displaced:
            child._neo.place = None
        for child in children:
            child._neo.place = parent, feature
        return
    with undisturbed():
        _take_in(parent, feature, children, displaced, arrange, repeat=repeat)


def _take_in(
    parent: "Element",
    feature: EFeature,
    children: "list[Element]",
    displaced: "list[Element]",
    arrange: Arrange,
    *,
    repeat: bool,
) -> None:
    """Put children into a stored container, in place of others."""
    state = parent._neo
    state.model.writable()
    give_ids(parent, feature, children)
    tokens = [ids.split_ref(state.token(child, feature))[1] for child in children]  # its model is ours then
    tokens = list(dict.fromkeys(tokens))  # two of one key are one
    ready = prepare(parent, feature, children)
    if feature.many:
        _arrange(parent, feature, arrange(tokens), repeat=repeat)
    elif state.raw(feature) != tokens[0]:
        state.write({feature: tokens[0]})
    if state.edit is not None:
        for other in state.kind.containments:
            moved = [child for child in children if other is not feature and holds(parent, other, child)]
            if moved:  # from one feature of the edited object to another
                drop_tokens(parent, other, set(tokens))
                _settle_after(parent, other, moved)
        _settle_after(parent, feature, [*children, *displaced])
    else:
        settle(parent, feature, children, ready)
        leave([child for child in displaced if lies_in(child, parent, feature)])


def release(parent: "Element", feature: EFeature, children: "list[Element]") -> None:
    """Take children out of a container, and with it out of the model: they are transient then.

    The child's row goes first; until the container's list follows, readers pass over its entry.
    """
    state = parent._neo
    if isinstance(state, Stored) and state.edit is not None:
        check_free(children)
        drop_tokens(parent, feature, {state.token(child, feature) for child in children})
        _settle_after(parent, feature, children)
    else:
        tokens = {state.token(child, feature) for child in children}
        leave([child for child in children if lies_in(child, parent, feature)])
        if isinstance(state, Stored):  # and entries that were outdated before, of objects that lie elsewhere or nowhere
            drop_tokens(parent, feature, tokens)


def _settle_after(parent: "Element", feature: EFeature, children: "list[Element]") -> None:
    """Let children's rows follow an edit of the container: once for a feature, by what it holds in the end."""
    state = parent._neo
    known = state.edit.children.get(feature)
    if known is not None:
        known += children
        return
    known = state.edit.children[feature] = list(children)

    def settled() -> None:
        held = [child for child in dict.fromkeys(known) if holds(parent, feature, child)]
        settle(parent, feature, held, prepare(parent, feature, held))
        left = [child for child in dict.fromkeys(known) if lies_in(child, parent, feature) and child not in held]
        others = parent._neo.kind.containments
        leave([child for child in left if not any(holds(parent, other, child) for other in others)])

    state.edit.following.append(settled)


def _check_place(parent: "Element", child: "Element") -> None:
    """Raise `InvalidValue` if `parent` lies in `child`, or `child` in a snapshot. Of a stored child that has children:
    a get per ancestor."""
    above: Element | None = parent
    if isinstance(child._neo, Stored) and parent is not child:
        if child._neo.model.as_of is not None and child._neo.model is not parent._neo.model:
            expected = "one of a model as it is now: that of a snapshot stays there"
            raise InvalidValue("an object to move", child, expected)
        row = child._neo.read()
        if isinstance(parent._neo, Transient) or not any(f.column in row for f in child._neo.kind.containments):
            return
    passed: set[int] = set()
    while above is not None:
        if above is child:
            raise InvalidValue(f"the container of {child!r}", parent, "no object that it contains itself")
        if id(above) in passed:
            raise in_circle(above._neo.model, above._neo.oid)
        passed.add(id(above))
        if isinstance(child._neo, Transient) and isinstance(above._neo, Stored):
            return  # nothing stored lies in a transient object
        place = above._neo.place
        above = place[0] if place else None
