"""What timelines hold: entries, in cells of their object's row (see `layout`), or in memory until the object is stored.

A stored object's entry is written by a compare-and-swap of its row. So the store gives the entries of an object times
that grow, whoever writes them, and none is written over; nor can one be written to an object that is gone.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import attrs

from neomodel import codecs, layout
from neomodel.errors import CorruptRow, InvalidValue
from neomodel.kinds import EClass, EFeature
from neomodel.packed import PackedRow
from neomodel.states import Stored
from neomodel.stores import Mutation
from neomodel.unstored import UNSET, Gone, Transient

if TYPE_CHECKING:
    from neomodel.model import Model
    from neomodel.objects import Element

_PAGE = 500  # events whose versions are read in one call
_INSERT, _RETRACT = b"+", b"-"

Record = tuple[int, int | None, bytes]
"""Event time, ingest time and cell of an entry; an ingest time of None: it is not stored yet."""


@attrs.frozen
class Entry:
    """What was recorded for an event time. Times are in microseconds since the epoch."""

    event: int
    ingest: int | None
    """When the store took it; None until then."""
    value: Any
    retracted: bool = False
    """That from the event on there is no value, until a later one."""


def inserted(feature: EFeature, value: Any) -> bytes:
    """The cell of an entry with a value, which must have been checked."""
    return _INSERT + codecs.encode_single(feature.codec, value)


def retracted() -> bytes:
    """The cell of a retraction."""
    return _RETRACT


def decoded(state: Any, feature: EFeature, record: Record) -> Entry:
    """The entry that a cell holds, or `CorruptRow`."""
    event, ingest, cell = record
    if cell == _RETRACT:
        return Entry(event, ingest, None, retracted=True)
    try:
        return Entry(event, ingest, _value(feature, cell))
    except ValueError as exc:
        expected = f"-, or + and {feature.codec.expected}"
        raise CorruptRow(state.where(), f"{feature} at {event}", cell, expected) from exc


def _value(feature: EFeature, cell: bytes) -> Any:
    if not cell.startswith(_INSERT):
        raise ValueError("neither a value nor a retraction")
    return codecs.decode_single(feature.codec, cell[1:])


# where they are


@attrs.frozen
class Kept:
    """The timeline of a transient object: entries that wait to be stored with it, and, if it was stored before, whose
    row the others are in."""

    life: str = attrs.field(factory=layout.new_life)
    left: Stored | None = None
    waiting: dict[int, bytes] = attrs.field(factory=dict)
    """Cells by event."""

    def cells(self, feature: EFeature) -> dict[bytes, bytes | None]:
        """What a new row holds of it."""
        head = layout.timeline(feature.name, self.life)
        entries = {layout.extent(layout.entry(head, event)): cell for event, cell in self.waiting.items()}
        return {feature.column: self.life.encode(), **entries}


@attrs.frozen
class Source:
    """Where the entries of a timeline are: in a row, if it has any there, and in memory."""

    row: Stored | None
    head: bytes
    waiting: Mapping[int, bytes]

    def bound(self, ingest: int | None) -> int | None:
        """The last ingest time that is seen: not after that of a snapshot."""
        bounds = [time for time in (ingest, self.row.model.as_of if self.row else None) if time is not None]
        return min(bounds, default=None)

    def newest(
        self, since: int, until: int, ingest: int | None, *, reverse: bool, limit: int | None = None
    ) -> Iterator[Record]:
        """The newest version of each event from `since` to `until`, in order; `reverse`: from the latest event on, as
        they are stored. One call; a stream."""
        stored = self._stored(since, until, ingest, reverse=reverse, limit=limit)
        if ingest is not None or not self.waiting:
            yield from stored
            return
        inside = ((event, None, cell) for event, cell in self.waiting.items() if since <= event <= until)
        ordered = sorted(inside, key=itemgetter(0), reverse=reverse)
        merged = heapq.merge(ordered, stored, key=itemgetter(0), reverse=reverse)
        for _, versions in groupby(merged, key=itemgetter(0)):
            yield next(versions)  # what waits comes before what is stored

    def _stored(
        self, since: int, until: int, ingest: int | None, *, reverse: bool, limit: int | None
    ) -> Iterator[Record]:
        if self.row is None or since > until:
            return
        start, stop = layout.entry(self.head, until), layout.entry(self.head, since) + b"\0"
        cells = self.row.model.table.cells(
            self.row.oid.encode(), layout.EXTENT, start, stop, at=self.bound(ingest), limit=limit, reverse=not reverse
        )
        for qualifier, time, value in cells:
            yield layout.event_of(qualifier), time, value

    def versions(self, since: int, until: int, ingest: int | None, *, reverse: bool) -> Iterator[Record]:
        """Every version of each event, in order of event and ingest time, or from the end. Two calls for each 500
        events, of which as many are in memory."""
        while page := list(islice(self.newest(since, until, ingest, reverse=reverse, limit=_PAGE), _PAGE)):
            found = self._history([event for event, _, _ in page], ingest)
            for event, time, cell in page:
                ordered = [*([(event, None, cell)] if time is None else []), *found[event]]
                yield from ordered if reverse else ordered[::-1]
            last = page[-1][0]
            since, until = (since, last - 1) if reverse else (last + 1, until)

    def _history(self, events: Iterable[int], ingest: int | None) -> dict[int, list[Record]]:
        """All versions of these events, the newest first."""
        found: dict[int, list[Record]] = defaultdict(list)
        if self.row is not None:
            columns = [layout.extent(layout.entry(self.head, event)) for event in events]
            key = self.row.oid.encode()
            for _, column, time, value in self.row.model.table.history(
                key, key + b"\0", columns=columns, until=self.bound(ingest)
            ):
                if value is not None:
                    found[layout.event_of(column)].append((layout.event_of(column), time, value))
        return found


def source(state: Any, feature: EFeature) -> Source:
    """Where the entries of an object's timeline are. Costs what reading an attribute does."""
    if isinstance(state, Transient):
        kept = state.values.get(feature.name, Kept())
        return Source(kept.left, layout.timeline(feature.name, kept.life), kept.waiting)
    life = state.raw(feature)
    if life is UNSET:
        return Source(None, b"", {})
    head = layout.timeline(feature.name, life)
    staged = state.edit.cells if state.edit is not None else {}
    start = layout.extent(head)
    waiting = {layout.event_of(column): cell for column, cell in staged.items() if column.startswith(start)}
    return Source(state, head, waiting)


def put(state: Any, feature: EFeature, event: int, cell: bytes) -> None:
    """Write an entry, in one compare-and-swap against what was read last; within an edit, at its end; of a transient
    object, when that is stored. `Conflict` if somebody else was first."""
    if isinstance(state, Transient):
        state.values.setdefault(feature.name, Kept()).waiting[event] = cell
        return
    life = state.raw(feature)
    kept = Kept(waiting={event: cell}) if life is UNSET else Kept(life, waiting={event: cell})
    cells = kept.cells(feature)
    if life is not UNSET:
        del cells[feature.column]
    state.swap(cells)


# objects that come into a model


def joined(kind: EClass, row: PackedRow, cells: dict[bytes, bytes | None]) -> dict[bytes, bytes | None]:
    """What a new object says, with its entries in the timelines that the object of its key has already."""
    for feature in kind.timelines:
        ours, there = cells.get(feature.column), row.get(feature.column)
        if ours and there:
            was, now = (layout.extent(layout.timeline(feature.name, life.decode())) for life in (ours, there))
            moved = {now + c[len(was) :] if c.startswith(was) else c: value for c, value in cells.items()}
            cells = {**moved, feature.column: there}
    return cells


def check_room(model: "Model", states: Iterable[Any]) -> None:
    """Raise `InvalidValue` if one of the objects that come to the model has a timeline elsewhere, and the object of its
    key that is here has one too: nobody could say which entries were known here at a past time."""
    coming = {state.oid: state for state in states if state.kind.key and _elsewhere(state, model)}
    if not coming:
        return
    columns = {feature.column for state in coming.values() for feature in state.kind.timelines}
    for key in model.table.get_many([oid.encode() for oid in coming], columns=columns):
        raise InvalidValue(
            f"the key of an object that comes to {model!r}", key.decode(), "one without a timeline in both models"
        )


def carry(model: "Model", elements: "Iterable[Element]") -> None:
    """Copy the entries of objects that were in other models to where they are about to be stored, all versions at their
    own times. Nobody sees them before the objects are there. A read for each timeline, a write for 5,000 entries."""
    for element in elements:
        for feature, left in _elsewhere(element._neo, model).items() if element._neo.kind.timelines else ():
            model.put(_copied(element._neo, feature, left))


def _copied(state: Transient, feature: EFeature, left: Stored) -> Iterator[Mutation]:
    start = layout.extent(layout.timeline(feature.name, state.values[feature.name].life))
    key = left.oid.encode()
    for _, column, time, value in left.model.table.history(key, key + b"\0", columns=[layout.extent(b"")]):
        if column.startswith(start):
            yield Mutation(key, {column: value}, time)


def _elsewhere(state: Any, model: "Model") -> dict[EFeature, Stored]:
    """The timelines of an object that have entries in another model, and the row those are in."""
    if isinstance(state, Gone):
        return {}
    found = {}
    for feature in state.kind.timelines:
        raw = state.raw(feature)
        left = state if isinstance(state, Stored) else raw.left if raw is not UNSET else None
        if raw is not UNSET and left is not None and left.model is not model:
            found[feature] = left
    return found
