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


class Adding:
    """What has to be done beside reading the files, before their rows are written and after."""

    def __init__(self, model: Model, work: Work, completing: Completing) -> None:
        self._model = model
        self._work = work
        self._completing = completing
        self._found: list[_Found] = []
        self._settled: list[str] = []

    def prepare(self) -> None:
        """Find what waited for these files, and which of their roots lie in objects of the model."""
        oids = waiting(self._model)
        while page := list(islice(oids, _PAGE)):
            for oid in page:
                obj = self._model[oid]
                left = list(self._look(obj)) if oid in self._model else []
                if not any(left):
                    self._settled.append(oid)

    def _look(self, obj: Any) -> Iterator[bool]:
        """Of each reference that waits, whether it goes on to."""
        state = obj._neo
        shape = self._work.shapes.of(state.kind)
        for slot in shape.slots:
            if not slot.feature.reference or not slot.feature.stored:
                continue
            raw = state.raw(slot.feature)
            for token in raw if slot.many else [raw]:
                if isinstance(token, str) and token.startswith(ids.ELSEWHERE):
                    found = self._target(token)
                    yield found is None
                    if found is None or not slot.takes(self._work.shapes.marked(found).kind):
                        continue
                    self._found.append(_Found(state.oid, slot.feature, token, found[1:]))
                    if slot.feature.containment:
                        where = f"{state.oid} of {self._model.name}"
                        self._work.adopted[found[1:]] = state.oid, shape.number, slot.number, where

    def _target(self, token: str) -> str | None:
        uri, fragment, _ = ids.split_elsewhere(token)
        number = matching(uri, "", self._work.files.paths)
        if number is None:
            return None
        return self._completing.target(self._work.files.prefix(number) + named(fragment))

    def list_roots(self, oids: Iterator[str]) -> None:
        """Let the model have these roots."""
        root = self._model.element(ids.ROOT)
        while page := list(islice(oids, _PAGE)):
            adjust(root, ROOTS, Put(ROOTS, page))

    def settle(self) -> None:
        """Let what waited lead to the objects that are there by now, and what was a root lie where it does by now."""
        model = self._model
        for found in self._found:
            obj = model[found.oid]
            if found.feature.many:
                adjust(obj, found.feature, Exchange(found.feature, found.token, found.target))
            else:
                _let_hold(obj, found)
            if found.feature.eOpposite is not None and not found.feature.containment:
                mirror(obj, found.feature, gone=(), come=[model[found.target]])
        for oid, name, target in self._work.outward:
            obj = model[oid]
            mirror(obj, obj.eClass.features[name], gone=(), come=[model[target]])
        for oid, (container, name) in self._work.taken.items():
            _place(model[oid], container, model[container].eClass.features[name])
            drop_tokens(model.element(ids.ROOT), ROOTS, {oid})
        if self._work.kept:
            _keep(model.element(ids.ROOT), self._work.kept)
        if self._settled:
            model.put([Mutation(ids.ROOT.encode(), {waiting_cell(oid): None for oid in self._settled})])


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
