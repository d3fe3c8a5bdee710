"""The rows of objects that are about to be stored, with all they contain: first their ids, then their cells."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from neomodel import codecs, ids, layout
from neomodel.kinds import EFeature
from neomodel.naming import new_oid
from neomodel.states import encode
from neomodel.stores import VERSION, successor

if TYPE_CHECKING:
    from neomodel.model import Model
    from neomodel.objects import Element

Cells = dict[bytes, bytes | None]
_NONE: Cells = {}
_Waiting = tuple["Element", Cells, str, str | None, int]
"""An object, the cells that say where it lies, id and shard of its container, and which child of that it is."""


class Newcomer(NamedTuple):
    """A new object, its key, the cells that are read with it, and its extents."""

    element: "Element"
    key: bytes
    cells: Cells
    extents: Cells


def newcomers(
    parent: "Element", feature: EFeature, tops: "list[Element]", leaving: "Collection[Element]"
) -> list[Newcomer]:
    """Transient objects that come to lie in a stored one, with all they contain but for those that leave it, each
    before what it contains. All have ids then. Those whose classes are not registered are refused."""
    model = parent._neo.model
    placed = list(_placed(parent, feature, tops, leaving))  # ids first: rows refer to one another
    model.check_registered({element._neo.kind for element, _, _ in placed})
    return [Newcomer(element, key, *_cells(model, element, place, leaving)) for element, key, place in placed]


def _placed(
    parent: "Element", feature: EFeature, tops: "list[Element]", leaving: "Collection[Element]"
) -> "Iterator[tuple[Element, bytes, Cells]]":
    """The objects, their keys, and the cells that say where they lie."""
    home = parent._neo
    place = layout.placed(home.oid, feature.name)
    waiting: list[_Waiting] = [(top, place, home.oid, ids.shard_of(home.oid), at) for at, top in enumerate(tops)][::-1]
    while waiting:
        element, place, container, shard, number = waiting.pop()
        state = element._neo
        oid = state.oid
        if oid is None:
            if shard is not None and number < ids.FANOUT and not state.kind.key:
                oid = ids.oid_in(shard)  # as `new_oid` does, which would have to look for the shard
            else:
                oid = new_oid(element, home.model.name, beside=container, number=number)
            state.oid = oid
        key = oid.encode()
        yield element, key, place
        children: list[_Waiting] = []
        for held in state.kind.containments:
            raw = state.values.get(held.name)
            if raw is not None:
                own = ids.shard_of(oid) if not children else children[0][3]
                inside = {layout.CONTAINER: key, layout.FEATURE: held.tag}
                kept = [child for child in (raw if held.many else [raw]) if not leaving or child not in leaving]
                children += [(child, inside, oid, own, at) for at, child in enumerate(kept)]
        waiting += children[::-1]


def _cells(model: "Model", element: "Element", place: Cells, leaving: "Collection[Element]") -> tuple[Cells, Cells]:
    """The row of a transient object, without those of its children that leave it."""
    state = element._neo
    kind = state.kind
    cells: Cells = {**place, **kind.cells, VERSION: successor(None)}
    extents = _NONE
    for name, raw in state.values.items():
        held = kind.features[name]
        if held.timeline:
            own, entries = layout.split(raw.cells(held))
        elif not held.stored:
            continue
        elif not held.many and not held.reference:
            cells[held.column] = codecs.encode_single(held.codec, raw)
            continue
        else:
            if held.containment and leaving:
                left = [child for child in (raw if held.many else [raw]) if child not in leaving]
                if not left:
                    continue
                raw = left if held.many else raw
            own, entries = layout.split(encode(held, _tokens(model, state.oid, held, raw)))
        cells |= own
        if entries:
            extents = {**extents, **entries}
    return cells, extents


def _tokens(model: "Model", oid: str, feature: EFeature, raw: Any) -> Any:
    if not feature.reference or raw is None:
        return raw
    if feature.containment:
        return [child._neo.oid for child in raw] if feature.many else raw._neo.oid
    if feature.many:
        return [model.token(target, feature, beside=oid) for target in raw]
    return model.token(raw, feature, beside=oid)
