"""What an object was, version by version, and what each one changed."""

import datetime
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import attrs

from neomodel import ids, layout
from neomodel.cohorts import Page
from neomodel.errors import InvalidValue, Purged
from neomodel.kinds import EClass, EFeature
from neomodel.objects import Element
from neomodel.packed import PackedRow, pack
from neomodel.states import Stored
from neomodel.stores import VERSION
from neomodel.times import Time, instant, micros
from neomodel.unstored import UNSET, state_of

if TYPE_CHECKING:
    from neomodel.model import Model

_COLUMNS = layout.OBJECT  # what lies in `layout.EXTENT` has a history of its own


@attrs.frozen
class Change:
    """What one feature, or the container, was before and after. `UNSET` stands for no value, not even None; collections
    are tuples; objects are those of the model that was asked, whether they are still there or not."""

    before: Any
    after: Any


@attrs.frozen
class Place:
    """A container, and the feature by which it holds the object. The container of a root is None."""

    container: Element | None
    feature: str


@attrs.frozen
class Revision:
    """One version of an object: when it was written, and what it changed."""

    time: int
    """Microseconds since the epoch: ``as_of`` that time it is there, and just before it is not."""
    version: str | None
    """What the row's version became; None of an object that was deleted, or taken out of the model."""
    kind: EClass
    created: bool
    deleted: bool
    changes: dict[str, Change]
    """By feature. Of one that was created all it holds, of one that was deleted all it held."""
    moved: Change | None
    """From one `Place` to another; UNSET is outside the model. None if it stayed where it was."""

    @property
    def when(self) -> datetime.datetime:
        return instant(self.time)


def history(obj: Element, *, since: Time | None = None, until: Time | None = None) -> list[Revision]:
    """The versions of an object, the oldest first: those with `since` < time <= `until`, or all; in a snapshot, those
    up to its time.

    ``model[oid]`` does for one that was deleted. What was purged is not told, or asked for by `since` refused with
    `Purged`. One read of the history of its row, with `since` or after a purge one of the row more; none of others.
    """
    state = state_of(obj)
    if not isinstance(state, Stored):
        raise InvalidValue("an object with a history", obj, "a stored one; of one that is not any more, model[oid]")
    model, key = state.model, state.oid.encode()
    last = None if until is None else micros("until", until)
    if model.as_of is not None:
        last = model.as_of if last is None else min(last, model.as_of)
    try:
        first = 0 if since is None else micros("since", since)
        found = _mutations(model, key, first, last)
    except Purged as purged:
        if since is not None:
            raise
        first = purged.horizon
        found = _mutations(model, key, first, last)
    row = pack((model.table.get(key, at=first, columns=_COLUMNS) if first else None) or {})
    revisions = []
    for time, cells in found:
        before, row = row, layout.changed(row, cells)
        if layout.ECLASS in before or layout.ECLASS in row:
            revisions.append(_revision(model, state.oid, time, before, row))
    return revisions


def _mutations(model: "Model", key: bytes, first: int, last: int | None) -> list[tuple[int, dict[bytes, bytes | None]]]:
    """What was written to a row, each time at once, the oldest first."""
    versions = model.table.history(key, key + b"\0", columns=_COLUMNS, since=first, until=last)
    by_time = sorted(versions, key=lambda version: version.time)
    return [
        (time, {version.column: version.value for version in written})
        for time, written in groupby(by_time, key=lambda version: version.time)
    ]


def _revision(model: "Model", oid: str, time: int, before: PackedRow, after: PackedRow) -> Revision:
    created, deleted = layout.ECLASS not in before, layout.ECLASS not in after
    kind = model.kind_of(before if deleted else after)
    places = _place(model, before, oid), _place(model, after, oid)
    version = after.get(VERSION)
    return Revision(
        time,
        None if version is None else version.decode(),
        kind,
        created,
        deleted,
        dict(_changes(_Moment(model, oid, before, time - 1), _Moment(model, oid, after, time), kind)),
        Change(*places) if places[0] != places[1] else None,
    )


@attrs.frozen
class _Moment:
    """An object as its row was at a time."""

    model: "Model"
    oid: str
    row: PackedRow
    time: int

    def value(self, feature: EFeature) -> Any:
        """What a feature held, as Python has it. Of a long collection, some reads."""
        if feature.column not in self.row:
            return () if feature.many else UNSET
        state = Stored.alone(self.model.at(self.time), self.oid)
        state.take(self.row, state.model.epoch())
        raw = state.raw(feature)
        if not feature.reference or raw is None:
            return tuple(raw) if feature.many else raw
        page = Page(self.model, met=(None, self.oid, feature))
        targets = tuple(self.model.resolve(token, page) for token in (raw if feature.many else [raw]))
        return targets if feature.many else targets[0]


def _changes(before: _Moment, after: _Moment, kind: EClass) -> Iterator[tuple[str, Change]]:
    for feature in kind.features.values():
        if feature.stored and not feature.timeline and before.row.get(feature.column) != after.row.get(feature.column):
            yield feature.name, Change(before.value(feature), after.value(feature))


def _place(model: "Model", row: PackedRow, child: str) -> Any:
    found = layout.place_of(row)
    if found is None:
        return UNSET
    oid, feature = found
    return Place(None if oid == ids.ROOT else model.element(oid, page=Page(model, met=(None, child, None))), feature)
