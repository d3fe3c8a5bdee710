"""Which objects of a model are shown: a part of its tree that is worth looking at, whatever its shape.

Objects are taken in the order of their rank, which grows by one for each level down and by a fifth for each elder
sibling: so of a wide collection the first few come before what is deep, and of few children all.
"""

import heapq
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from neomodel import ids, layout
from neomodel.cli.text import name_text
from neomodel.cohorts import Page
from neomodel.collections import FeatureList
from neomodel.errors import CorruptRow, InvalidValue, MetamodelNotFound, ModelNotFound
from neomodel.kinds import EClass, EFeature
from neomodel.model import Model
from neomodel.objects import Element, read
from neomodel.states import Stored
from neomodel.stores import Row
from neomodel.unstored import UNSET

SIBLINGS = 5  # siblings that are as far away as one level
DEEPEST = 100  # levels
_FIRST_PAGE, _PAGE = 8, 500  # children read at a time: few first, since few may be shown


@attrs.define(eq=False)
class Branch:
    """The children that one feature holds: how many it lists, and those that are shown."""

    feature: EFeature | None
    total: int
    shown: "list[Node]" = attrs.field(factory=list)

    def nodes(self) -> "Iterator[Node]":
        """All that is shown of it, each before what is in it."""
        for node in self.shown:
            yield node
            for branch in node.branches:
                yield from branch.nodes()


@attrs.define(eq=False)
class Node:
    """An object that is shown. If it can't be read, `why` says so, and there is its row only."""

    element: Element
    oid: str
    row: Row
    kind: EClass | None = None
    why: str = ""
    attributes: dict[EFeature, Any] = attrs.field(factory=dict)
    """Those that are set; of a collection a list."""
    timelines: list[EFeature] = attrs.field(factory=list)
    """Those that have entries, which are not read."""
    references: dict[EFeature, list[str]] = attrs.field(factory=dict)
    """Those that are set, as the row holds them."""
    branches: list[Branch] = attrs.field(factory=list)

    @property
    def place(self) -> tuple[str, str] | None:
        return layout.place_of(self.row)

    @property
    def container(self) -> str:
        """The id of the object it lies in, if it says so."""
        return self.place[0] if self.place else ""


def grown(tops: Iterable[Element], total: int, *, limit: int, depth: int = DEEPEST) -> Branch:
    """The part of the tree to show: at most `limit` objects, of levels 0 to `depth`.

    Reads the rows of children a few at a time, and not many more of them than are shown.
    """
    trunk = Branch(None, total)
    serial = itertools.count()
    growing = [(0, next(serial), 0, trunk, iter(tops))]
    left = limit
    while growing and left:
        rank, _, level, branch, remaining = heapq.heappop(growing)
        element = next(remaining, None)
        if element is None:
            branch.total = len(branch.shown)  # entries that were outdated don't count
            continue
        node = _node(element)
        branch.shown.append(node)
        left -= 1
        heapq.heappush(growing, (rank + 1, next(serial), level, branch, remaining))
        if level < depth:
            for inner in node.branches:
                assert inner.feature is not None
                found = read(element, inner.feature)
                children = paged(found) if inner.feature.many else iter([] if found is None else [found])
                heapq.heappush(growing, (rank + SIBLINGS, next(serial), level + 1, inner, children))
    return trunk


def paged(children: FeatureList) -> Iterator[Element]:
    """The children, read a few at a time first, then more."""
    at, size = 0, _FIRST_PAGE
    while at < len(children):
        yield from children[at : at + size]
        at, size = at + size, min(2 * size, _PAGE)


def _node(element: Element) -> Node:
    state: Stored = element._neo
    node = Node(element, state.oid, state.read().cells())
    try:
        kind = state.kind
        node.attributes = _attributes(state, kind)
        node.timelines = [feature for feature in kind.timelines if state.raw(feature) is not UNSET]
        for feature in kind.eAllReferences():
            raw = state.raw(feature) if feature.stored else UNSET
            if raw is UNSET or raw == []:
                continue
            if feature.containment:
                node.branches.append(Branch(feature, len(raw) if feature.many else 1))
            else:
                node.references[feature] = raw if feature.many else [] if raw is None else [raw]
    except (MetamodelNotFound, CorruptRow, InvalidValue) as exc:
        return Node(element, state.oid, state.read().cells(), why=str(exc))
    node.kind = kind
    return node


def _attributes(state: Stored, kind: EClass) -> dict[EFeature, Any]:
    """Those that are set. Raises `CorruptRow` if a cell holds no value of its type."""
    held = {feature: state.raw(feature) for feature in kind.eAllAttributes() if feature.stored}
    return {feature: raw for feature, raw in held.items() if raw is not UNSET and raw != []}


# what is referred to


@attrs.frozen
class Target:
    """What a reference points at. Of an object of another model, `model` names that."""

    oid: str
    model: str | None
    row: Row | None = None
    """None if it is missing."""
    kind: EClass | None = None
    """None if it can't be read."""
    names: dict[EFeature, Any] = attrs.field(factory=dict)
    uri: str | None = None
    """Where it is, of one that is in no model."""


def targets(model: Model, tokens: Iterable[str]) -> dict[str, Target]:
    """What these references point at. One multi-get for each model and 500 of them."""
    found: dict[str, Element] = {}
    for token in tokens:
        try:
            found[token] = model.resolve(token, Page(model))
        except ModelNotFound:
            continue
    states: dict[int, list[Stored]] = defaultdict(list)
    for element in found.values():
        if isinstance(element._neo, Stored):
            states[id(element._neo.model)].append(element._neo)
    for group in states.values():
        group[0].model.want(group, None)
    return {token: _target(token, found.get(token)) for token in tokens}


def _target(token: str, element: Element | None) -> Target:
    if token.startswith(ids.ELSEWHERE):
        return Target(token, None, uri="#".join(ids.split_elsewhere(token)[:2]))
    model, oid = ids.split_ref(token)
    state: Stored | None = element._neo if element is not None and isinstance(element._neo, Stored) else None
    if state is None or state.row is None:
        return Target(oid, model)
    try:
        kind = state.kind
        return Target(oid, model, state.row.cells(), kind, naming(_attributes(state, kind)))
    except (MetamodelNotFound, CorruptRow, InvalidValue):
        return Target(oid, model, state.row.cells())


def naming(attributes: dict[EFeature, Any]) -> dict[EFeature, Any]:
    """The attributes that tell an object from others for people: its name and ids, else the first that is set."""
    single = {feature: value for feature, value in attributes.items() if not feature.many and value is not None}
    names = {f: value for f, value in single.items() if f.name == "name" or getattr(f.value, "id", False)}
    return names or dict(itertools.islice(single.items(), 1))


def class_name(row: Row) -> str:
    """The class of an object whose metamodel is not there: its namespace and name."""
    return "#".join(name_text(row.get(column, b"?")) for column in (layout.NSURI, layout.ECLASS))
