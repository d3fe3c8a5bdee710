"""Rows read ahead: what the application will ask next, guessed from what it has asked.

Objects whose rows came in one answer are a *cohort*. When one of them leads somewhere, the others are likely to lead
there next: so when the target of a reference, a child or a container of one has to be read, those of the members after
it are read in the same call, 500 at most; and when one is outdated, those after it that are held. A walk over n
objects takes n / 500 calls for each step, whatever it does.

`Rows` has room for a few thousand rows, those that nobody has asked for yet and those that were asked for lately, and
for those that are to stay (see `prefilling`). They make no objects: what the application holds, and that alone, decides
which objects stay in memory.
"""

import math
import time
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from neomodel import codecs, ids, layout
from neomodel.kinds import EFeature
from neomodel.long_cells import is_long
from neomodel.packed import Kept, cell
from neomodel.stores import Row

if TYPE_CHECKING:
    from neomodel.model import Model
    from neomodel.row_access import RowAccess
    from neomodel.states import Stored

PAGE = 500  # rows read in one call
_ROOM = 5000  # rows
_AHEAD = 1.0  # seconds for which a row that was read ahead is believed, where a store can't tell what others write
BELIEVED = 0.05  # and one that was asked for


class Cohort:
    """The ids of objects whose rows were read together, in the order in which they were met."""

    __slots__ = ("_text", "count")

    def __init__(self, oids: Collection[str] = ()) -> None:
        self.count = 0
        self._text = ","  # one text takes a third of what so many do, and no id has a comma
        self.add(oids)

    def add(self, oids: Collection[str]) -> None:
        if oids:
            self._text += ",".join(oids) + ","
            self.count += len(oids)

    def after(self, oid: str) -> list[str]:
        """The members that come after one of them."""
        at = self._text.find(f",{oid},")
        left = self._text[1 if at < 0 else at + len(oid) + 2 : -1]
        return left.split(",") if left else []


Origin = tuple[Cohort | None, str, EFeature | None]
"""How an object was met: the cohort of the one that led to it, if it has one, that one's id, and the feature by which
it did; None: as its container."""


class Page:
    """What objects have in common that were met or read together: their model and cohort, in which epoch their rows
    were read, or, until they are known, how they were met."""

    __slots__ = ("__weakref__", "_next", "cohort", "epoch", "met", "model")

    def __init__(
        self, model: "Model", epoch: int = -1, cohort: Cohort | None = None, met: Origin | None = None
    ) -> None:
        self.model = model
        self.epoch = epoch
        self.cohort = cohort
        self.met = met
        self._next: ref[Page] | None = None  # or one that is held on would hold all that came after it

    def at(self, epoch: int) -> "Page":
        """That of the same objects once their rows are known as of an epoch: the same for all of them."""
        if epoch == self.epoch and self.met is None:
            return self
        found = self._next() if self._next is not None else None
        if found is None or found.epoch != epoch:
            found = Page(self.model, epoch, self.cohort)
            self._next = ref(found)
        return found


class Answer(NamedTuple):
    """What is known of the rows that came in one answer: whose they are and in which epoch they were read, after how
    many writes of others in this process, and until when they are believed where a store can't tell of writes."""

    page: Page
    rivals: int
    until: float


class Staying(NamedTuple):
    """Rows that no others take the place of, by id, and what is known of them."""

    rows: dict[str, Kept]
    answers: dict[str, Answer]


class Rows:
    """Rows that were read, by id: the last ones, as many as there is room for, and those that stay. Those of a store
    that can't tell what others write are believed for a while, or, if `lasting`, as long as they are here."""

    def __init__(self, more: int = 0, *, lasting: bool = False, staying: Staying | None = None) -> None:
        self._room = _ROOM + more
        self._lasting = lasting
        self._rows: dict[str, Row] = {}
        self._answers: dict[str, Answer] = {}
        self.staying = staying or Staying({}, {})

    def __len__(self) -> int:
        return len(self._rows) + len(self.staying.rows)

    def until(self, *, asked: bool) -> float:
        """How long rows that are read now will be believed: those that were asked for themselves, or others."""
        return math.inf if self._lasting else time.monotonic() + (BELIEVED if asked else _AHEAD)

    def put(self, rows: dict[str, Row], answer: Answer) -> None:
        """Keep rows that were read."""
        if len(self._rows) + len(rows) > self._room:
            for oid in rows:
                self._rows.pop(oid, None)  # or it would keep its place, and be the next to go
        self._rows |= rows
        self._answers |= dict.fromkeys(rows, answer)
        for oid in list(islice(self._rows, max(0, len(self._rows) - self._room))):
            del self._rows[oid], self._answers[oid]

    def keep(self, rows: Mapping[str, Kept], answer: Answer) -> None:
        """Keep rows that were read for as long as they may be believed, however many others come."""
        self.staying.rows.update(rows)
        self.staying.answers.update(dict.fromkeys(rows, answer))

    def supply(self, states: "list[Stored]", epoch: int, rivals: int, watched: bool) -> "list[Stored]":
        """Give those objects that are outdated the rows that may still be believed; returns those for which there is
        none. Where the store can't tell of writes, what was asked for is not believed for much longer."""
        missing = []
        for state in states:
            if state.kept is not None and (state.page.epoch == epoch or state.is_firm):
                continue
            oid = state.block.head + state.name
            answer = self.believes(oid, epoch, rivals, watched)
            if answer is None:
                self.forget(oid)
                missing.append(state)
                continue
            row = self._rows.get(oid)
            state.kept = self.staying.rows[oid] if row is None else row  # as `take` does: what is here are objects
            page = answer.page
            state.page = page if page.epoch == epoch else page.at(epoch)
            if not watched and not self._lasting:
                self._answers[oid] = answer._replace(until=min(answer.until, self.until(asked=True)))
        return missing

    def believes(self, oid: str, epoch: int, rivals: int, watched: bool) -> Answer | None:
        """What is known of a row that may still be believed: where the store tells of every write, in the epoch in
        which it was read, elsewhere for a while, unless others in this process have written."""
        answer = self._answers.get(oid) or self.staying.answers.get(oid)
        if answer is None:
            return None
        if watched:
            return answer if answer.page.epoch == epoch else None
        return answer if answer.rivals == rivals and time.monotonic() < answer.until else None

    def peek(self, oid: str) -> Kept | None:
        """A row to guess by, believed or not."""
        row = self._rows.get(oid)
        return self.staying.rows.get(oid) if row is None else row

    def forget(self, oid: str) -> None:
        """Before it is read again, or written."""
        self._rows.pop(oid, None)
        self._answers.pop(oid, None)
        if self.staying.rows:
            self.staying.rows.pop(oid, None)
            self.staying.answers.pop(oid, None)


def likely(model: "RowAccess", origin: Origin | None) -> Iterator[str]:
    """The ids that members of a cohort lead to by the same way as one of them, from that one on."""
    cohort, start, feature = origin or (None, "", None)
    known = model.known_row
    for oid in cohort.after(start) if cohort else ():
        row = known(oid)
        if row is not None:
            yield from led_to(row, feature)


def outdated(model: "RowAccess", state: "Stored", epoch: int) -> Iterator[str]:
    """The ids of objects that are held, met together with one that is outdated, and so themselves."""
    cohort = state.page.cohort
    for oid in cohort.after(state.oid) if cohort else ():
        held = model.live.get(oid)
        if held is not None and held._neo.model is model and held._neo.page.epoch != epoch:
            yield oid


def led_to(row: Kept, feature: EFeature | None) -> list[str]:
    """The ids in this model that a row leads to."""
    if feature is None:
        place = layout.place_of(row)
        return [place[0]] if place and place[0] != ids.ROOT else []
    found = cell(row, feature.column)
    if found is None or found == codecs.NULL or is_long(found):
        return []
    if feature.many:
        return ids.local(codecs.decode_refs(found))
    token = found.decode()
    return [] if token[0] == "@" else [token]
