"""Files that are added to a model: what waited for them leads there from now on, and what they refer to is in it."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import attrs

from neomodel import ids, layout
from neomodel.amendments import Put
from neomodel.kinds import EFeature
from neomodel.long_lists import LongList, Splice
from neomodel.mirrors import adjust, drop_tokens, mirror, persist
from neomodel.model import Model
from neomodel.roots import ROOTS
from neomodel.stores import Mutation
from neomodel.xmi.completing import Completing
from neomodel.xmi.earlier import matching, waiting, waiting_cell
from neomodel.xmi.frames import Work
from neomodel.xmi.links import named
from neomodel.xmi.shapes import Slot
from neomodel.xmi.spool import Spool

_PAGE = 250


@attrs.frozen
class Exchange:
    """Let a collection hold another token in the place of one, wherever it has that; if it is unique, once."""

    feature: EFeature
    token: str
    other: str

    def __call__(self, raw: list[Any]) -> list[Any]:
        if self.feature.unique and self.other in raw:
            return [one for one in raw if one != self.token]
        return [self.other if one == self.token else one for one in raw]

    def on(self, long: LongList) -> None:
        values = [] if self.feature.unique and self.other in long else [self.other]
        places = [at for some in long.where([self.token]).values() for at in some]
        if places:
            long.apply([Splice(at, 1, values) for at in sorted(places, reverse=True)])


@attrs.frozen
class _Found:
    """A reference that waited: whose, by what, what it held, and what that is."""

    oid: str
    feature: EFeature
    token: str
    target: str


@attrs.frozen
class _Waiting:
    """A reference that waits: whose, by what, what it holds, and the text for that if it may be in these files."""

    oid: str
    slot: Slot
    token: str
    text: str | None


class Adding:
    """What has to be done beside reading the files, before their rows are written and after."""

    def __init__(self, model: Model, work: Work, completing: Completing) -> None:
        self._model = model
        self._work = work
        self._completing = completing
        self._found: list[_Found] = []
        self._settled: set[str] = set()
        self.listing = False
        """Whether the model may have some of the roots by now."""
        self._began = 0
        self._changed: dict[str, set[bytes]] = {}
        """What `settle` may have changed: the columns of each row, and what its extents begin with."""

    def prepare(self) -> None:
        """Find what waited for these files, and which of their roots lie in objects of the model."""
        asked: list[_Waiting] = []
        for oid in waiting(self._model):
            held = list(self._waiting(self._model[oid])) if oid in self._model else []
            asked += (one for one in held if one.text is not None)
            if all(one.text is not None for one in held):
                self._settled.add(oid)
        self._completing.asked.update(one.text for one in asked if one.text is not None)
        for one in asked:
            if not self._answer(one):
                self._settled.discard(one.oid)

    def _waiting(self, obj: Any) -> Iterator["_Waiting"]:
        """The references of an object that wait."""
        state = obj._neo
        for slot in self._work.shapes.of(state.kind).slots:
            if not slot.feature.reference or not slot.feature.stored:
                continue
            raw = state.raw(slot.feature)
            for token in raw if slot.many else [raw]:
                if isinstance(token, str) and token.startswith(ids.ELSEWHERE):
                    yield _Waiting(state.oid, slot, token, self._text(token))

    def _text(self, token: str) -> str | None:
        """What a reference names, in the text for it; None if that is not in these files."""
        uri, fragment, _ = ids.split_elsewhere(token)
        number = matching(uri, "", self._work.files.paths)
        return None if number is None else self._work.files.prefix(number) + named(fragment)

    def _answer(self, one: "_Waiting") -> bool:
        """Whether there is by now what a reference waits for."""
        found = self._completing.target(one.text or "")
        if found is None:
            return False
        slot, kind, where = one.slot, self._work.shapes.marked(found).kind, f"{one.oid} of {self._model.name}"
        if not slot.takes(kind):
            reason = f"{slot.feature} of {where} refers to objects of {slot.feature.eType}; this is one of {kind}"
            self._work.notices.add(self._work.files.paths[0], 1, f"{reason}, and what waits for it goes on to")
            return False
        self._found.append(_Found(one.oid, slot.feature, one.token, found[1:]))
        if slot.feature.containment:
            holder = self._model[one.oid]
            self._work.tops[found[1:]] = _top(holder)
            self._work.adopted[found[1:]] = one.oid, self._work.shapes.of(holder.eClass).number, slot.number, where
        return True

    def list_roots(self, oids: Iterator[str]) -> None:
        """Let the model have these roots."""
        self.listing = True
        root = self._model.element(ids.ROOT)
        while page := list(islice(oids, _PAGE)):
            adjust(root, ROOTS, Put(ROOTS, page))

    def settle(self) -> None:
        """Let what waited lead to the objects that are there by now, and what was a root lie where it does by now."""
        model = self._model
        self._began = model.table.now()
        for found in self._found:
            obj = model[found.oid]
            self._note(found.oid, found.feature)
            if found.feature.many:
                adjust(obj, found.feature, Exchange(found.feature, found.token, found.target))
            else:
                _let_hold(obj, found)
            if found.feature.eOpposite is not None and not found.feature.containment:
                self._mirror(obj, found.feature, model[found.target])
        for oid, name, target in self._work.outward:
            obj = model[oid]
            self._mirror(obj, obj.eClass.features[name], model[target])
        for oid, (container, name) in self._work.taken.items():
            self._changed.setdefault(oid, set()).update((layout.CONTAINER, layout.FEATURE, layout.ASIDE))
            self._note(ids.ROOT, ROOTS)
            _place(model[oid], container, model[container].eClass.features[name])
            drop_tokens(model.element(ids.ROOT), ROOTS, {oid})
        if self._work.kept:
            self._changed.setdefault(ids.ROOT, set()).add(layout.ASIDE)
            _keep(model.element(ids.ROOT), self._work.kept)
        if self._settled:
            gone: dict[bytes, bytes | None] = {waiting_cell(oid): None for oid in self._settled}
            self._changed.setdefault(ids.ROOT, set()).update(gone)
            model.put([Mutation(ids.ROOT.encode(), gone)])

    def unsettle(self) -> None:
        """Let the rows that `settle` has changed hold what they held before it."""
        for oid, columns in self._changed.items():
            _restore(self._model.element(oid), columns, self._began)

    def _mirror(self, obj: Any, feature: EFeature, target: Any) -> None:
        opposite: Any = feature.eOpposite
        self._note(target._neo.oid, opposite)
        partner = None if opposite.many else target._neo.raw(opposite)
        if isinstance(partner, str):
            self._note(partner, feature)
        mirror(obj, feature, gone=(), come=[target])

    def _note(self, oid: str, feature: EFeature) -> None:
        """Note that what a feature of an object holds will change."""
        columns = feature.column, layout.extent(layout.collection(feature.name))
        self._changed.setdefault(oid, set()).update(columns)


def _top(obj: Any) -> str:
    """The id of the root in which an object is."""
    while (above := obj.eContainer()) is not None:
        obj = above
    return str(obj._neo.oid)


def _restore(obj: Any, columns: set[bytes], at: int) -> None:
    """Let a row hold what it held at a time, in these columns, and in the extents that begin as some of them."""
    table, key = obj._neo.model.table, obj._neo.oid.encode()

    def change() -> None:
        now, then = table.get(key) or {}, table.get(key, at=at) or {}
        changed = {one for one in {*now, *then} if now.get(one) != then.get(one)}
        found = {one for one in changed if (one in columns or one[: one.find(b"\0") + 1] in columns)}
        if found:
            obj._neo.swap({one: then.get(one) for one in found})

    persist(change)


def _let_hold(obj: Any, found: _Found) -> None:
    persist(lambda: obj._neo.write({found.feature: found.target}))


def _place(obj: Any, container: str, feature: EFeature) -> None:
    """Put what was a root into a container; that it had named that, which was kept aside, goes without saying now."""
    up = f"<{feature.eOpposite.name} href=" if feature.eOpposite is not None else None

    def change() -> None:
        cells = layout.placed(container, feature.name)
        kept = obj._neo.read().get(layout.ASIDE)
        if kept is not None and up is not None:
            left = [one for one in json.loads(kept) if not one.get("element", "").startswith(up)]
            cells[layout.ASIDE] = layout.aside(left) if left else None
        obj._neo.swap(cells)

    persist(change)


def _keep(root: Any, kept: list[dict[str, str]]) -> None:
    """Keep aside what belongs to no object, after what was kept before."""

    def change() -> None:
        before = root._neo.read().get(layout.ASIDE)
        root._neo.swap({layout.ASIDE: layout.aside([*(json.loads(before) if before else []), *kept])})

    persist(change)


def take_back(model: Model, written: Spool, roots: Iterator[str], began: int) -> None:
    """Remove rows that were written, as `RowWriting` has told, and these roots; and let the row of the roots hold in
    the columns that were written what it held at a time."""
    records = iter(written)
    while page := list(islice(records, _PAGE)):
        rows = model.table.get_many([oid.encode() for oid, columns in page if not columns])
        model.put(Mutation(key, layout.erased(row)) for key, row in rows.items())
        for oid, columns in page:
            if columns:
                before = model.table.get(oid.encode(), at=began, columns=columns) or {}
                model.put([Mutation(oid.encode(), {column: before.get(column) for column in columns})])
    while some := set(islice(roots, _PAGE)):
        drop_tokens(model.element(ids.ROOT), ROOTS, some)
