"""Rows read ahead: what the application will ask next, guessed from what it has asked.

Objects whose rows came in one answer are a *cohort*. When one of them leads somewhere, the others are likely to lead
there next: so when the target of a reference, a child or a container of one has to be read, those of the members after
it are read in the same call, 500 at most; and when one is outdated, those after it that are held. A walk over n
objects takes n / 500 calls for each step, whatever it does.

`Rows` has room for a few thousand rows, those that nobody has asked for yet and those that were asked for lately. They
make no objects: what the application holds, and that alone, decides which objects stay in memory.
"""

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from neomodel import codecs, ids, layout
from neomodel.kinds import EFeature
from neomodel.long_cells import is_long
from neomodel.stores import Row

if TYPE_CHECKING:
    from neomodel.row_access import RowAccess
    from neomodel.states import Stored

_ROOM = 5000  # rows
_AHEAD = 1.0  # seconds for which a row that was read ahead is believed, where a store can't tell what others write
BELIEVED = 0.05  # and one that was asked for


class Cohort:
    """The ids of objects whose rows were read together, in the order in which they were met."""

    __slots__ = ("oids",)

    def __init__(self, oids: list[str]) -> None:
        self.oids = oids

    def after(self, oid: str) -> Iterator[str]:
        """The members that come after one of them."""
        at = self.oids.index(oid) + 1 if oid in self.oids else 0
        yield from self.oids[at:]


class Origin(NamedTuple):
    """How an object was met: by a feature of a member of a cohort; None: as its container."""

    cohort: Cohort
    oid: str
    feature: EFeature | None


class Entry(NamedTuple):
    row: Row
    cohort: Cohort
    epoch: int
    rivals: int
    until: float


class Rows:
    """Rows that were read, by id, with their cohorts: the last ones, as many as there is room for. Those of a store
    that can't tell what others write are believed for a while, or, if `lasting`, as long as they are here."""

    def __init__(self, more: int = 0, *, lasting: bool = False) -> None:
        self._room = _ROOM + more
        self._lasting = lasting
        self._entries: dict[str, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, oid: str, row: Row, cohort: Cohort, epoch: int, rivals: int, now: float, *, asked: bool) -> None:
        """Keep a row that was read in this epoch, after so many writes of others in this process."""
        self._entries.pop(oid, None)
        until = math.inf if self._lasting else now + (BELIEVED if asked else _AHEAD)
        self._entries[oid] = Entry(row, cohort, epoch, rivals, until)
        while len(self._entries) > self._room:
            del self._entries[next(iter(self._entries))]

    def ask(self, oid: str, epoch: int, rivals: int, watched: bool) -> Entry | None:
        """A row that may still be believed. Where the store can't tell of writes, not for much longer."""
        entry = self.believes(oid, epoch, rivals, watched)
        if entry is None:
            self.forget(oid)
        elif not watched and not self._lasting:
            self._entries[oid] = entry._replace(until=min(entry.until, time.monotonic() + BELIEVED))
        return entry

    def believes(self, oid: str, epoch: int, rivals: int, watched: bool) -> Entry | None:
        """A row that may still be believed: where the store tells of every write, in the epoch in which it was read,
        elsewhere for a while, unless others in this process have written."""
        entry = self._entries.get(oid)
        if entry is None:
            return None
        sound = entry.epoch == epoch if watched else entry.rivals == rivals and time.monotonic() < entry.until
        return entry if sound else None

    def peek(self, oid: str) -> Row | None:
        """A row to guess by, believed or not."""
        entry = self._entries.get(oid)
        return entry.row if entry else None

    def forget(self, oid: str) -> None:
        self._entries.pop(oid, None)


def likely(model: "RowAccess", origin: Origin | None) -> Iterator[str]:
    """The ids that members of a cohort lead to by the same way as one of them, from that one on."""
    if origin is None:
        return
    for oid in origin.cohort.after(origin.oid):
        row = model.known_row(oid)
        if row is not None:
            yield from led_to(row, origin.feature)


def outdated(model: "RowAccess", state: "Stored", epoch: int) -> Iterator[str]:
    """The ids of objects that are held, met together with one that is outdated, and so themselves."""
    for oid in state.cohort.after(state.oid) if state.cohort else ():
        held = model.live.get(oid)
        if held is not None and held._neo.model is model and held._neo.epoch != epoch:
            yield oid


def led_to(row: Row, feature: EFeature | None) -> list[str]:
    """The ids in this model that a row leads to."""
    if feature is None:
        place = layout.place_of(row)
        return [place[0]] if place and place[0] != ids.ROOT else []
    cell: Any = row.get(feature.column)
    if cell is None or cell == codecs.NULL or is_long(cell):
        return []
    tokens = codecs.decode_refs(cell) if feature.many else [cell.decode()]
    return ids.local(tokens)
