"""What references hold, and how their other ends are kept true, whatever row those are in.

These writes follow a decisive one (see `changes.py`). They don't depend on what else a row holds, so they are done
again on a newer row if they lose a race; within `nm.edit` they wait until the edit has been written.
"""

import random
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from neomodel import layout
from neomodel.amendments import Amendment, Drop, Include
from neomodel.errors import Conflict, ObjectNotFound
from neomodel.kinds import EFeature
from neomodel.states import Stored
from neomodel.unstored import UNSET, Gone, InMemory, Transient

if TYPE_CHECKING:
    from neomodel.objects import Element

_ATTEMPTS = 20


# what is held


def current(obj: "Element", feature: EFeature) -> "Element | None":
    """What a single-valued reference holds, verified if it contains it."""
    state = obj._neo
    token = state.raw(feature)
    if token is UNSET or token is None:
        return None
    target: Element = state.target(token, feature)
    if not feature.containment:
        return target
    child = target._neo
    if type(state) is not Stored or type(child) is not Stored or state.more is not None or child.more is not None:
        return target if lies_in(target, obj, feature) else None
    page = state.page
    if child.kept is None or child.page.epoch != page.epoch:
        child.page.model.want([child], child.page.met or state.leading(feature).met, page.epoch)
    row = child.kept
    if row is None or child.page.model is not page.model or not layout.lies_in(row, state.oid.encode(), feature.tag):
        return None
    return target


def lies_in(child: "Element", parent: "Element", feature: EFeature) -> bool:
    """Whether the child says so itself. One get if its row is not known. In an edit, whether the list will say so."""
    state, home = child._neo, parent._neo
    if isinstance(home, Stored) and home.edit is not None and feature.column in home.edit.cells:
        return may_hold(home, child) and holds(parent, feature, child)
    if isinstance(state, InMemory):
        return state.place == (parent, feature)
    if not isinstance(state, Stored) or not isinstance(home, Stored) or state.model is not home.model:
        return False
    try:
        return layout.lies_in(state.known(), home.oid.encode(), feature.tag)
    except ObjectNotFound:
        return False  # a row that is not there lies nowhere


def lying_in(children: "list[Element]", parent: "Element", feature: EFeature, epoch: int) -> "list[Element]":
    """Those children that say so themselves, all as of one moment: rows that are not known since `epoch` are read
    together."""
    home = parent._neo
    if not isinstance(home, Stored) or home.edit is not None:
        return [child for child in children if lies_in(child, parent, feature)]
    model, oid, tag = home.model, home.oid.encode(), feature.tag
    stored = [state for child in children if isinstance(state := child._neo, Stored)]
    missing = [state for state in stored if state.kept is None or state.page.epoch != epoch or epoch < 0]
    if missing:
        model.want(missing, missing[0].page.met or home.leading(feature).met, epoch if epoch >= 0 else None)
    if len(stored) < len(children) or any(state.more is not None and state.more.edit is not None for state in stored):
        return [child for child in children if lies_in(child, parent, feature)]
    return [
        child
        for child, state in zip(children, stored, strict=True)
        if (row := state.kept) is not None and layout.lies_in(row, oid, tag) and state.page.model is model
    ]


def holds(obj: "Element", feature: EFeature, target: "Element") -> bool:
    raw = obj._neo.raw(feature)
    token = obj._neo.token(target, feature)
    return token in raw if feature.many else token == raw


def may_hold(state: Any, target: Any) -> bool:
    """Whether the object may hold `target`: a row can't hold what has no id, nor what is in another repository."""
    if isinstance(state, Transient):
        return True
    if isinstance(target._neo, Gone) or not target._neo.oid:
        return False
    home = target._neo.model
    return home is None or home.repository is state.model.repository


# other ends


def mirror_after(obj: "Element", feature: EFeature, *, gone: "Iterable[Element]", come: "Iterable[Element]") -> None:
    """As `mirror`, after the edit if there is one; but an end that is in the edited row itself belongs to the edit."""
    gone, come = list(gone), list(come)
    mirror(obj, feature, gone=[one for one in gone if one is obj], come=[one for one in come if one is obj])
    others = [one for one in gone if one is not obj], [one for one in come if one is not obj]
    _follow(obj._neo, lambda: mirror(obj, feature, gone=others[0], come=others[1]))


def mirror(obj: "Element", feature: EFeature, *, gone: "Iterable[Element]", come: "Iterable[Element]") -> None:
    """Keep the other end of a reference true, after `obj` has let go of some objects and taken others."""
    opposite = feature.eOpposite
    if opposite is None:
        return
    for target in gone:
        unmirror(target, opposite, obj)
    for target in come:
        if isinstance(obj._neo, Transient) and isinstance(target._neo, Stored):
            continue  # when it is stored
        if isinstance(target._neo, Gone):
            continue  # of a file that was not imported: when it is
        if not holds(obj, feature, target):
            continue  # no more: what was mirrored before took it away
        if not opposite.many:
            partner = current(target, opposite)
            if partner is not None and partner is not obj:
                _follow(target._neo, partial(unmirror, partner, feature, target))
        token = target._neo.token(obj, opposite)
        if opposite.many:
            adjust(target, opposite, Include(token))
        else:
            _let_hold(target, opposite, token)


def _let_hold(obj: "Element", feature: EFeature, token: Any) -> None:
    def change() -> None:
        if obj._neo.raw(feature) != token:
            obj._neo.write({feature: token})

    persist(change)


def unmirror(obj: "Element", feature: EFeature, target: "Element") -> None:
    """Let `obj` hold `target` no more. If it doesn't, or is not there, nothing happens."""
    state = obj._neo
    if not isinstance(state, Gone) and may_hold(state, target):
        drop_tokens(obj, feature, {state.token(target, feature)})


def drop_tokens(obj: "Element", feature: EFeature, tokens: set[Any]) -> None:
    try:
        if feature.many:
            adjust(obj, feature, Drop(tokens))
        else:
            persist(lambda: _let_go(obj, feature, tokens))
    except ObjectNotFound:
        return  # what is not there holds nothing


def _let_go(obj: "Element", feature: EFeature, tokens: set[Any]) -> None:
    if obj._neo.raw(feature) in tokens:
        obj._neo.write({feature: None if feature.unsettable else UNSET})


def adjust(obj: "Element", feature: EFeature, change: Amendment) -> None:
    """Change what a collection holds, whatever else the object is; on a newer row if somebody else was first."""
    persist(lambda: obj._neo.amend(feature, change))


def persist(write: Callable[[], None]) -> None:
    """Write, and again if somebody else was first: `write` looks at what is there each time."""
    for attempt in range(_ATTEMPTS):
        try:
            write()
        except Conflict:
            if attempt == _ATTEMPTS - 1:
                raise
            time.sleep(random.uniform(0, 0.002 * 2 ** min(attempt, 6)))
        else:
            return


def _follow(state: Any, action: Callable[[], Any]) -> None:
    if isinstance(state, Stored) and state.edit is not None:
        state.edit.mirroring.append(action)
    else:
        action()
