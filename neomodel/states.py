"""What a stored object holds: its row. Those that have none are in `unstored.py`, and answer the same questions.

A *token* is what a reference holds: the object itself in memory, a text in a row (`ids.ref`). The rules of containment
and opposites are not here but in `changes.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from neomodel import codecs, ids, layout, trees
from neomodel.cohorts import Cohort, Origin
from neomodel.errors import Conflict, CorruptRow, ObjectNotFound
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import is_long, new_cells
from neomodel.long_lists import LongList
from neomodel.packed import PackedRow
from neomodel.stores import VERSION, successor
from neomodel.unstored import UNSET, Gone, Place, Unset

if TYPE_CHECKING:
    from neomodel.amendments import Amendment
    from neomodel.model import Model
    from neomodel.objects import Element


_ROOT = ids.ROOT.encode()


class Edit:
    """Changes of one object that wait to be written at once, and what has to follow them."""

    def __init__(self, row: PackedRow) -> None:
        self.seen = row
        self.row = row
        self.cells: dict[bytes, bytes | None] = {}
        self.mirroring: list[Callable[[], None]] = []
        """What follows first: the other ends of references, so that children that get stored then have them right."""
        self.following: list[Callable[[], None]] = []
        """What follows then: children's rows, and a move of the object itself."""
        self.bound_for: Place | Unset | None = UNSET
        """Where the object goes after the edit, if it moves."""
        self.children: dict[EFeature, list[Element]] = {}
        """Those that came or went, by the feature that contains them."""

    def stage(self, cells: Mapping[bytes, bytes | None]) -> None:
        self.cells |= cells
        self.row = layout.changed(self.row, cells)


class Stored:
    """An object that has a row. Holds no other object; its row is read again when it may be outdated."""

    __slots__ = ("aside", "cohort", "decoded", "edit", "epoch", "held", "met", "model", "oid", "row")

    def __init__(
        self,
        model: "Model",
        oid: str,
        met: Origin | None = None,
        row: PackedRow | None = None,
        epoch: int = -1,
    ) -> None:
        self.model = model
        self.oid = oid
        self.row = row
        self.epoch = epoch
        self.decoded: dict[bytes, tuple[bytes, Any]] | None = None
        self.edit: Edit | None = None
        self.held = False
        """Whether the row stays as it was read, while something is changed that depends on it: see `holding`."""
        self.aside: dict[str, Any] | None = None
        """Values of transient features: they live as long as the Python object."""
        self.cohort: Cohort | None = None
        """Those whose rows were read, or will be, with this one's."""
        self.met = met
        """How, until its row is known."""

    # reading

    def read(self) -> PackedRow:
        """The row, as it is now. No call if it was read since anybody wrote; else one get."""
        if self.edit is not None:
            return self.edit.row
        if self.row is None or not (self.held or self.epoch == self.model.epoch()):
            self.model.want([self], self.met)
        if self.row is None:
            raise ObjectNotFound(self.where(), self._missing(), "mend or remove what refers to it")
        return self.row

    def renew(self) -> None:
        """Have the row read again when it is needed next, unless nobody can have changed it since it was read."""
        if self.edit is None and (self.model.table.mark() is None or self.epoch != self.model.epoch()):
            self.row = None

    def take(self, row: PackedRow | None, epoch: int) -> None:
        """Know this row, which was read in that epoch; None: there is none."""
        self.row = row if row is not None and (layout.ECLASS in row or self.oid == ids.ROOT) else None
        self.epoch = epoch
        if self.row is not None:
            self.met = None

    @property
    def kind(self) -> EClass:
        """Its class, which stays what it is: asking for it must not renew the row, or the next write would be compared
        with what the application has not seen."""
        row = self.row if self.row is not None else self.read()
        try:
            return self.model.kinds[row[row[0][layout.ECLASS]], row[row[0][layout.NSURI]]]
        except KeyError:
            return self.model.kind_of(row)

    def raw(self, feature: EFeature) -> Any:
        """As of a transient object; of a timeline that has entries, the life they are of (see `layout`)."""
        if not feature.kept:
            return (self.aside or {}).get(feature.name, [] if feature.many else UNSET)
        row = self.read()
        at = row[0].get(feature.column)
        if at is None:
            return [] if feature.many else UNSET
        cell = row[at]
        try:
            if feature.many:
                return self._decoded(feature, cell)
            if feature.reference:
                return None if cell == codecs.NULL else cell.decode()
            if feature.timeline:
                return cell.decode()
            return codecs.decode_single(feature.codec, cell)
        except ValueError as exc:
            expected = "a reference" if feature.reference else feature.codec.expected
            raise CorruptRow(self.where(), str(feature), cell, expected) from exc

    def _decoded(self, feature: EFeature, cell: bytes) -> Any:
        if self.decoded is None:
            self.decoded = {}
        known = self.decoded.get(feature.column)
        if known is None or known[0] is not cell or (isinstance(known[1], LongList) and known[1].epoch != self.epoch):
            entries: Any
            if is_long(cell):
                due = known[1].due if known is not None and isinstance(known[1], LongList) else None
                entries = LongList(self, feature, cell, due)
            else:
                entries = codecs.decode_refs(cell) if feature.reference else codecs.decode_many(feature.codec, cell)
            known = self.decoded[feature.column] = cell, entries
        return known[1]

    def _long(self, feature: EFeature) -> LongList | None:
        """What a collection holds by the row that a swap will be compared with, if it is long."""
        row = self.edit.row if self.edit is not None else self.row if self.row is not None else self.read()
        cell = row.get(feature.column, b"")
        return self._decoded(feature, cell) if is_long(cell) else None

    @property
    def place(self) -> "Place | None":
        """Container and feature; of a root, the model's root row and its contents."""
        if self.edit is not None and self.edit.bound_for is not UNSET:
            return self.edit.bound_for
        found = layout.place_of(self.read())
        if found is None:
            return None
        parent = self._object(found[0])
        return parent, parent._neo.kind.feature(found[1])

    @property
    def container(self) -> "Element | None":
        """The object that `place` names; None of a root."""
        if self.edit is not None:
            return self.place[0] if self.place is not None and self.place[0]._neo.oid != ids.ROOT else None
        row = self.row
        if row is None or self.epoch != self.model.epoch():
            row = self.read()
        at = row[0].get(layout.CONTAINER)
        if at is None or row[at] == _ROOT:
            return None
        oid = row[at].decode()
        held = self.model.live.refs.get(oid)
        found = held() if held is not None else None
        return found if found is not None and type(found._neo) is not Gone else self._object(oid)

    def _object(self, container: str) -> "Element":
        return self.model.element(container, met=self.leading(None))

    def target(self, token: Any, feature: EFeature) -> "Element":
        if not feature.kept:
            return token  # type: ignore[no-any-return]
        held = self.model.live.refs.get(token)
        target = held() if held is not None else None
        if target is None or type(target._neo) is Gone:
            return (self.model.resolve if token[0] == "@" else self.model.meet)(token, self.leading(feature))
        return target

    def targets(self, tokens: Iterable[Any], feature: EFeature) -> "list[Element]":
        """The objects that tokens of a feature stand for."""
        if not feature.kept:
            return list(tokens)
        model, live = self.model, self.model.live
        met = self.leading(feature)
        known, found = live.refs, []
        for token in tokens:
            target = held() if (held := known.get(token)) is not None else None
            if target is None or type(target._neo) is Gone:
                target = (model.resolve if token[0] == "@" else model.meet)(token, met)
            found.append(target)
        return found

    def leading(self, feature: EFeature | None) -> Origin:
        """The way from here by a feature, or to the container."""
        return self.cohort, self.oid, feature

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
        self.aside = {**(self.aside or {}), feature.name: raw}
        if raw is UNSET:
            del self.aside[feature.name]

    def swap(self, cells: Mapping[bytes, bytes | None]) -> None:
        """Write these cells if nobody has changed the row since it was read, else raise `Conflict`."""
        self.model.writable()
        if self.edit is not None:
            self.edit.stage(cells)
        else:
            self.swap_row(self.row if self.row is not None else self.read(), cells)

    def swap_row(self, seen: PackedRow, cells: Mapping[bytes, bytes | None]) -> None:
        self.model.writable()
        version = seen.get(VERSION)
        cells = {VERSION: successor(version), **cells}
        self.row = None  # known again only if all goes well
        self.model.forget_row(self.oid)
        if not self.model.table.swap(self.oid.encode(), version, cells):
            self.model.reload(self)
            raise Conflict(self.where(), _text(version), self.version)
        self.take(layout.changed(seen, cells), self.model.written())

    @property
    def version(self) -> str:
        """The version of the row that was read last, for messages."""
        return _text(self.row.get(VERSION) if self.row else None)

    def where(self) -> str:
        return f"{self.model.name}/{self.oid}"

    def _missing(self) -> str:
        if self.met is None:
            return "there is none"
        _, who, feature = self.met
        return f"{feature.name if feature else 'its container'} of {who} refers to it, but there is none"


@contextmanager
def holding(obj: "Element") -> Iterator[None]:
    """Look at an object's row once for all that is done here: a write is compared with what was seen at its start."""
    state = obj._neo
    if not isinstance(state, Stored) or state.held or state.edit is not None:
        yield
        return
    state.read()
    state.held = True
    try:
        yield
    finally:
        state.held = False


def together(elements: "Iterable[Element]") -> None:
    """Let these objects be read together once one of them is."""
    by_model: dict[Model, list[Stored]] = {}
    for element in elements:
        state = element._neo
        if isinstance(state, Stored) and state.row is None and state.cohort is None:
            by_model.setdefault(state.model, []).append(state)
    for states in by_model.values():
        cohort = Cohort([state.oid for state in states])
        for state in states:
            state.cohort = cohort


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
