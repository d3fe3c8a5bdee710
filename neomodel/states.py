"""What a stored object holds: its row. Those that have none are in `unstored.py`, and answer the same questions.

A *token* is what a reference holds: the object itself in memory, a text in a row (`ids.ref`). The rules of containment
and opposites are not here but in `changes.py`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self
from weakref import ref

from neomodel import codecs, ids, layout, trees
from neomodel.cohorts import PAGE, Cohort, Page
from neomodel.edits import Edit, More
from neomodel.errors import Conflict, CorruptRow, ObjectNotFound
from neomodel.kinds import EClass, EFeature
from neomodel.live import Block
from neomodel.long_cells import is_long, new_cells
from neomodel.long_lists import LongList
from neomodel.packed import FORM, Kept, PackedRow, cell, compact, expanded
from neomodel.stores import VERSION, Row, successor
from neomodel.unstored import UNSET, Gone, Place

if TYPE_CHECKING:
    from neomodel.amendments import Amendment
    from neomodel.model import Model
    from neomodel.objects import Element


_ROOT = ids.ROOT.encode()
_LATELY = 200  # collections


class Nobody:
    """Whose state it is that no object has."""

    __slots__ = ("__weakref__",)


class Stored(ref["Element"]):
    """An object that has a row. Holds no other object; its row is read again when it may be outdated.

    It is the weak reference to its object as well, by which `Live` knows that.
    """

    __slots__ = ("block", "kept", "more", "name", "page")
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    block: Block
    name: str
    page: Page
    kept: Kept | None
    """The row, if it is known; compact unless it was read lately."""
    more: More | None

    @classmethod
    def entered(cls, element: "Element", oid: str, page: Page) -> Self:
        """The state of an object that is found by this id from now on. The row is not known yet."""
        state = cls(element)
        state.page = page
        state.kept = state.more = None
        state.block, state.name = page.model.live.enter(oid, state)
        return state

    @classmethod
    def alone(cls, model: "Model", oid: str) -> Self:
        """A state that no object has, to look at a row with."""
        state = cls(Nobody())  # type: ignore[arg-type]
        state.block, state.name = Block(""), oid
        state.page = Page(model)
        state.kept = state.more = None
        return state

    @property
    def oid(self) -> str:
        return self.block.head + self.name

    @property
    def model(self) -> "Model":
        return self.page.model

    @property
    def row(self) -> PackedRow | None:
        """As it is known, be it outdated."""
        return None if self.kept is None else expanded(self.kept)

    @property
    def edit(self) -> Edit | None:
        return None if self.more is None else self.more.edit

    @property
    def is_firm(self) -> bool:
        """Whether the row is not to be read again: it is being edited, or stays as it was read."""
        return self.more is not None and (self.more.edit is not None or self.more.held)

    def having_more(self) -> More:
        if self.more is None:
            self.more = More()
        return self.more

    def tidy(self) -> None:
        """Have no more than the row, if there is nothing in it."""
        self.more = self.more or None

    # reading

    def read(self) -> PackedRow:
        """The row, as it is now. No call if it was read since anybody wrote; else one get."""
        return expanded(self.known())

    def known(self) -> Kept:
        """As `read`, in the form in which it is kept."""
        page, more = self.page, self.more
        if more is not None and more.edit is not None:
            return more.edit.row
        if self.kept is None or not (page.epoch == page.model.epoch() or (more is not None and more.held)):
            page.model.want([self], page.met)
            if self.kept is None:
                raise ObjectNotFound(self.where(), self._missing(), "mend or remove what refers to it")
        return self.kept

    def renew(self) -> None:
        """Have the row read again when it is needed next, unless nobody can have changed it since it was read."""
        if self.edit is None and (self.model.table.mark() is None or self.page.epoch != self.model.epoch()):
            self.kept = None

    def take(self, row: PackedRow | None, epoch: int) -> None:
        """Know this row, which was read in that epoch; None: there is none."""
        if row is not None and (layout.ECLASS in row or self.oid == ids.ROOT):
            self.kept = at_rest(row)
            self.page = self.page.at(epoch)
        else:
            self.kept = None
            self.page = Page(self.page.model, epoch, self.page.cohort, self.page.met)

    @property
    def kind(self) -> EClass:
        """Its class, which stays what it is: asking for it must not renew the row, or the next write would be compared
        with what the application has not seen."""
        row: Any = self.kept if self.kept is not None else self.known()
        kinds = self.page.model.kinds
        try:
            return kinds[row[FORM] if type(row) is bytes else (row.get(layout.ECLASS), row.get(layout.NSURI))]
        except KeyError:
            return self.page.model.kind_of(row)

    def raw(self, feature: EFeature) -> Any:
        """As of a transient object; of a timeline that has entries, the life they are of (see `layout`)."""
        if not feature.kept:
            aside = self.more.aside if self.more is not None else None
            return (aside or {}).get(feature.name, [] if feature.many else UNSET)
        row = self.known()
        found = row.get(feature.column) if type(row) is dict else cell(row, feature.column)
        if found is None:
            return [] if feature.many else UNSET
        try:
            if feature.many:
                return self._long_list(feature, found) if is_long(found) else _entries(feature, found)
            if feature.reference:
                return None if found == codecs.NULL else found.decode()
            if feature.timeline:
                return found.decode()
            return codecs.decode_single(feature.codec, found)
        except ValueError as exc:
            expected = "a reference" if feature.reference else feature.codec.expected
            raise CorruptRow(self.where(), str(feature), found, expected) from exc

    def _long_list(self, feature: EFeature, root: bytes) -> LongList:
        more = self.having_more()
        more.long = more.long or {}
        known = more.long.get(feature.column)
        if known is None or known[0] is not root or known[1].epoch != self.page.epoch:
            due = known[1].due if known is not None else None
            known = more.long[feature.column] = root, LongList(self, feature, root, due)
        return known[1]

    def _long(self, feature: EFeature) -> LongList | None:
        """What a collection holds by the row that a swap will be compared with, if it is long."""
        row = self.edit.row if self.edit is not None else self.kept if self.kept is not None else self.known()
        found = cell(row, feature.column) or b""
        return self._long_list(feature, found) if is_long(found) else None

    @property
    def place(self) -> "Place | None":
        """Container and feature; of a root, the model's root row and its contents."""
        if self.edit is not None and self.edit.bound_for is not UNSET:
            return self.edit.bound_for
        found = layout.place_of(self.known())
        if found is None:
            return None
        parent = self._object(found[0])
        return parent, parent._neo.kind.feature(found[1])

    @property
    def container(self) -> "Element | None":
        """The object that `place` names; None of a root."""
        if self.more is not None and self.more.edit is not None:
            return self.place[0] if self.place is not None and self.place[0]._neo.oid != ids.ROOT else None
        row, page = self.kept, self.page
        if row is None or page.epoch != page.model.epoch():
            row = self.known()
        container = row.get(layout.CONTAINER) if type(row) is dict else cell(row, layout.CONTAINER)
        if container is None or container == _ROOT:
            return None
        oid = container.decode()
        found = page.model.live.get(oid)
        return found if found is not None and type(found._neo) is not Gone else self._object(oid)

    def _object(self, container: str) -> "Element":
        return self.model.element(container, page=self.leading(None))

    def target(self, token: Any, feature: EFeature) -> "Element":
        if not feature.kept:
            return token  # type: ignore[no-any-return]
        model = self.page.model
        target = model.live.get(token)
        if target is None or type(target._neo) is Gone:
            return (model.resolve if token[0] == "@" else model.meet)(token, self.leading(feature))
        return target

    def targets(self, tokens: Iterable[Any], feature: EFeature) -> "list[Element]":
        """The objects that tokens of a feature stand for."""
        if not feature.kept:
            return list(tokens)
        model = self.page.model
        page, found = None, []
        for token, target in model.live.those(tokens):
            if target is None or type(target._neo) is Gone:
                page = page or self.leading(feature)
                target = (model.resolve if token[0] == "@" else model.meet)(token, page)
            found.append(target)
        return found

    def leading(self, feature: EFeature | None) -> Page:
        """What is known of objects that are met on the way from here by a feature, or to the container."""
        return Page(self.page.model, met=(self.page.cohort, self.oid, feature))

    def token(self, target: "Element", feature: EFeature) -> Any:
        if not feature.kept:
            return target
        return self.model.token(target, feature, beside=self.oid)

    # writing

    def write(self, changes: Mapping[EFeature, Any]) -> None:
        """Write these features, in one compare-and-swap against what was read last; within an edit, at its end."""
        cells: dict[bytes, bytes | None] = {}
        for feature, raw in changes.items():
            if not feature.kept:
                self._put_aside(feature, raw)
            elif feature.many and (before := self._long(feature)) is not None:
                cells |= before.cells_after([before.replacing(raw)])
            else:
                cells |= encode(feature, raw)
        if cells:
            self.swap(cells)

    def amend(self, feature: EFeature, change: "Amendment") -> None:
        """Change what a collection holds. Nothing is written if it is so already."""
        before = self.raw(feature)
        if isinstance(before, LongList):
            change.on(before)
        elif (after := change(before)) != before:
            self.write({feature: after})

    def _put_aside(self, feature: EFeature, raw: Any) -> None:
        more = self.having_more()
        more.aside = {**(more.aside or {}), feature.name: raw}
        if raw is UNSET:
            del more.aside[feature.name]

    def swap(self, cells: Mapping[bytes, bytes | None]) -> None:
        """Write these cells if nobody has changed the row since it was read, else raise `Conflict`."""
        self.model.writable()
        if self.edit is not None:
            self.edit.stage(cells)
        else:
            self.swap_row(expanded(self.kept) if self.kept is not None else self.read(), cells)

    def swap_row(self, seen: PackedRow, cells: Mapping[bytes, bytes | None]) -> None:
        self.model.writable()
        version = seen.get(VERSION)
        cells = {VERSION: successor(version), **cells}
        self.kept = None  # known again only if all goes well
        self.model.forget_row(self.oid)
        if not self.model.table.swap(self.oid.encode(), version, cells):
            self.model.reload(self)
            raise Conflict(self.where(), _text(version), self.version)
        self.take(layout.changed(seen, cells), self.model.written())

    @property
    def version(self) -> str:
        """The version of the row that was read last, for messages."""
        return _text(None if self.kept is None else cell(self.kept, VERSION))

    def where(self) -> str:
        return f"{self.model.name}/{self.oid}"

    def _missing(self) -> str:
        if self.page.met is None:
            return "there is none"
        _, who, feature = self.page.met
        return f"{feature.name if feature else 'its container'} of {who} refers to it, but there is none"


@contextmanager
def holding(obj: "Element") -> Iterator[None]:
    """Look at an object's row once for all that is done here: a write is compared with what was seen at its start."""
    state = obj._neo
    if not isinstance(state, Stored) or state.is_firm:
        yield
        return
    state.known()
    more = state.having_more()
    more.held = True
    try:
        yield
    finally:
        more.held = False
        state.tidy()


def together(elements: "Sequence[Element]") -> None:
    """Let these objects be read together once one of them is: those that are read for the first time, and those that
    have to be read again, unless more of them are read in one call with those they were met with before."""
    by_model: dict[Model, list[Stored]] = {}
    for element in elements:
        state = element._neo
        if isinstance(state, Stored) and _joins(state, len(elements)):
            by_model.setdefault(state.page.model, []).append(state)
    for model, states in by_model.items():
        cohort = Cohort([state.oid for state in states])
        pages: dict[Page, Page] = {}
        for state in states:
            page = pages.get(state.page)
            if page is None:
                page = pages[state.page] = Page(model, state.page.epoch, cohort, state.page.met)
            state.page = page


def _joins(state: Stored, count: int) -> bool:
    page = state.page
    if state.kept is None or page.cohort is None:
        return state.kept is None and page.cohort is None
    return min(page.cohort.count, PAGE) <= count and not state.is_firm and page.epoch != page.model.epoch()


def at_rest(row: Row | PackedRow) -> Kept:
    """A row as it is kept for long. A long collection is known by its very cell: a row that has one stays as it is."""
    return compact(expanded(row), layout.ALIKE, trees.MARK)


@lru_cache(maxsize=_LATELY)
def _entries(feature: EFeature, found: bytes) -> list[Any]:
    """What a collection holds that is in one cell. It is decoded once for many that ask in a row."""
    return codecs.decode_refs(found) if feature.reference else codecs.decode_many(feature.codec, found)


def encode(feature: EFeature, raw: Any) -> dict[bytes, bytes | None]:
    """The cell of what a feature holds in a row, None for nothing; of a collection that is long, several."""
    if feature.many and len(raw) > trees.LIMITS.inline:
        return new_cells(feature, raw)
    return {feature.column: encode_inline(feature, raw)}


def encode_inline(feature: EFeature, raw: Any) -> bytes | None:
    """The one cell of what a feature holds, however much it is."""
    if raw is UNSET or (feature.many and not raw):
        return None
    if feature.many:
        return codecs.encode_refs(raw) if feature.reference else codecs.encode_many(feature.codec, raw)
    if feature.reference:
        return codecs.NULL if raw is None else raw.encode()
    return codecs.encode_single(feature.codec, raw)


def _text(version: bytes | None) -> str:
    return "none" if version is None else version.decode()
