"""How objects leave a model: taken out with all they contain, to be transient again, or deleted."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import attrs

from neomodel import layout
from neomodel.entries import Kept
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import MANY, is_long
from neomodel.metamodel import ANYTHING
from neomodel.mirrors import drop_tokens, mirror
from neomodel.packages import EPackage
from neomodel.packed import PackedRow
from neomodel.states import Stored
from neomodel.stores import Mutation
from neomodel.subtrees import check_free, subtree, targets_of, transient
from neomodel.unstored import UNSET, Gone, Transient, state_of

if TYPE_CHECKING:
    from neomodel.model import Model
    from neomodel.objects import Element


@attrs.frozen
class Part:
    """A stored object that is about to leave: all that is known of it."""

    element: "Element"
    state: Stored
    kind: EClass
    row: PackedRow
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
        parts = gather(stored)
        erase(parts, len(stored))
        for part in parts:
            part.element._neo = part.as_transient()


def gather(tops: "list[Element]") -> list[Part]:
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
            for target in targets_of(element, mirrored)
            if id(target) not in inside and mirrored.eOpposite and not isinstance(target._neo, Gone)
        ]
        values = {name: value for name, value in values.items() if value is not UNSET and value != []}
        place = None if number < len(tops) else state.place
        parts.append(Part(element, state, state.kind, state.read(), values, place, far))
    return parts


def _value(element: "Element", feature: EFeature, leaving: "set[Element]") -> Any:
    """What the object will hold in memory, without those of its children that leave it."""
    if feature.computed:
        return UNSET
    raw = element._neo.raw(feature)
    if feature.timeline and raw is not UNSET:
        return Kept(raw, element._neo)
    if not feature.reference or raw is UNSET or raw is None:
        return list(raw) if feature.many else raw
    targets = [one for one in targets_of(element, feature) if not feature.containment or one not in leaving]
    return targets if feature.many else targets[0] if targets else UNSET


def erase(parts: list[Part], tops: int, *, for_good: bool = False) -> None:
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
        part.state.model.put(_extents_erased(part))
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


def _extents_erased(part: Part) -> Iterator[Mutation]:
    """What removes the long collections of a row that is erased. They don't count any more, but they are much."""
    key = part.state.oid.encode()
    for feature in part.kind.features.values():
        if feature.many and is_long(part.row.get(feature.column, b"")):
            head = layout.collection(feature.name)
            cells = part.state.model.table.cells(key, layout.EXTENT, head, head[:-1] + b"\1")
            columns = (layout.extent(cell.qualifier) for cell in cells)
            while some := list(islice(columns, MANY)):
                yield Mutation(key, dict.fromkeys(some))


@attrs.frozen
class Deleted:
    """What `delete` did: how many objects it removed, which features of others it cleared of them, and which
    references, of the metamodels in use, may still point at them, since nothing there says where to look for those."""

    objects: int
    cleared: tuple[str, ...]
    left: tuple[str, ...]


def delete(top: "Element") -> Deleted:
    """Remove an object and all it contains, and every reference to them that has an opposite."""
    state = state_of(top)
    if isinstance(state, Transient):
        leave([top])
        elements = list(transient(top))
        kinds = {element._neo.kind for element in elements}
        cleared = []
        for element in elements:
            for feature in element._neo.kind.mirrored:
                targets = targets_of(element, feature)
                mirror(element, feature, gone=targets, come=[])
                cleared += [
                    f"{target._neo.where()}.{feature.eOpposite.name}" for target in targets if feature.eOpposite
                ]
        for element in elements:
            element._neo = Gone(element._neo.where())
        return Deleted(len(elements), tuple(cleared), _unfindable(kinds, ()))
    parts = gather([top])
    in_use = state.model.repository.packages()
    erase(parts, 1, for_good=True)
    cleared = [f"{target._neo.where()}.{feature.name}" for part in parts for target, feature, _ in part.far]
    for part in parts:
        part.state.model.live.drop(part.state.oid)
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
