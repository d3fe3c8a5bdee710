"""The rows of a model: read in as few calls as can be, believed for as long as nobody can have written, and written."""

import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from neomodel import ids, layout
from neomodel.cohorts import BELIEVED, PAGE, Answer, Cohort, Origin, Page, Rows, likely, outdated
from neomodel.errors import ReadOnly
from neomodel.live import Live
from neomodel.packed import Kept, pack
from neomodel.states import Stored, at_rest
from neomodel.stores import Mutation, Row

if TYPE_CHECKING:
    from neomodel.prefetching import Hint
    from neomodel.repository import Repository

AS_READ = 20_000  # rows to stay that are kept as they were read: quicker, some 20 MB of small ones
LATELY = 1000  # objects whose rows are kept as they were read
WRITTEN = 5000  # rows written in one call


class RowAccess:
    """What a `Model` knows of its rows. `live` has the objects that somebody holds, by id."""

    def __init__(self, repository: "Repository", name: str, as_of: int | None, *, unstable: bool) -> None:
        self.repository = repository
        self.name = name
        self.as_of = as_of
        self.unstable = unstable
        """Whether others may still write under that time."""
        self.table = (repository.store if as_of is None or unstable else repository.snapshots).table(name)
        self.live = Live()
        self._mark: Any = None
        self._epoch = 0
        self._writes = _writes_of(repository.store.url, name)
        self._rows = Rows()
        self._lately: list[Stored] = []
        """Those whose rows were needed last."""
        self._gathered = Cohort()
        self._gathering = self._page(-1, self._gathered)
        self.hint: Hint | None = None
        self._watched = as_of is not None
        self._rivals = 0
        """How often others in this process were seen to have written, where the store can't tell of writes."""

    # reading

    def epoch(self) -> int:
        """A number that tells whether somebody may have written since. No round trip."""
        if self.as_of is None:
            mark: Any = self.table.mark()
            if mark is not None and mark == self._mark:
                return self._epoch
            self._watched = mark is not None
            if mark is None:
                mark = self._writes[0], int(time.monotonic() / BELIEVED)
                if self._mark is not None and mark[0] != self._mark[0]:
                    self._rivals += 1
            if mark != self._mark:
                self._mark = mark
                self._epoch += 1
        return self._epoch

    def reload(self, state: Stored) -> None:
        """Read the row of an object again. One get."""
        epoch = self.epoch()
        self.forget_row(state.oid)
        row = self.table.get(state.oid.encode(), at=self.as_of, columns=layout.OBJECT)
        state.take(None if row is None else pack(row), epoch)

    def want(self, states: list[Stored], origin: Origin | None, epoch: int | None = None) -> None:
        """Have the rows of these objects, as they are now, which is in that epoch if it is known. What has to be read
        is read 500 at a time, and an answer that has room is filled with what may be wanted next: see `cohorts`."""
        if epoch is None:
            epoch = self.epoch()
        self.lately(states)
        missing = self._rows.supply(states, epoch, self._rivals, self._watched)
        if not missing:
            return
        new = all(state.kept is None for state in missing)
        if len(missing) == 1 and not (missing[0].page.cohort or (new and ((origin and origin[0]) or self.hint))):
            self.reload(missing[0])
            return
        remaining = iter(missing)
        while page := list(islice(remaining, PAGE)):
            oids = dict.fromkeys(state.oid for state in page)
            for oid in self._guessed(page[0], origin, epoch) if new else outdated(self, page[0], epoch):
                if len(oids) >= PAGE:
                    break
                oids.setdefault(oid)
            found = self._read(list(oids), {state.oid: state for state in page}, epoch)
            if new and self.hint:
                self.hint.follow(self, found)  # type: ignore[arg-type]  # it is a Model

    def read_ahead(self, oids: Iterable[str], room: int) -> dict[str, Row]:
        """Have rows that may be wanted later; returns those that had to be read, at most so many, 500 in a call."""
        epoch = self.epoch()
        found: dict[str, Row] = {}
        known = self._rows.believes
        missing = (oid for oid in oids if known(oid, epoch, self._rivals, self._watched) is None)
        ahead = islice(missing, room)
        while page := list(islice(ahead, PAGE)):
            found |= self._read(page, {}, epoch)
        return found

    def expect(self, hint: "Hint | None") -> None:
        """Read ahead by a hint from now on, or by none. What was read ahead before is forgotten, but for what stays."""
        self.hint = hint
        self._rows = Rows(hint.rows if hint else 0, lasting=hint is not None, staying=self._rows.staying)

    def bring(self, rows: dict[str, Row], together: Cohort, epoch: int, *, staying: bool) -> None:
        """Know rows that were scanned since that epoch, as members of a cohort: as rows that were read ahead, or, if
        `staying`, until they are outdated."""
        answer = Answer(self._page(epoch, together), self._rivals, self._rows.until(asked=False))
        if staying:
            few = len(self._rows.staying.rows) < AS_READ
            self._rows.keep(rows if few else {oid: at_rest(row) for oid, row in rows.items()}, answer)
        else:
            self._rows.put(rows, answer)

    def gather(self, states: Iterable[Stored]) -> None:
        """Have objects read together with others that came just before, handed in or new, up to 500 of them."""
        remaining = (state for state in states if state.page.cohort is None)
        while page := list(islice(remaining, PAGE - self._gathered.count)):
            self._gathered.add([state.oid for state in page])
            for state in page:
                state.page = self._gathering.at(state.page.epoch)
            if self._gathered.count >= PAGE:
                self._gathered = Cohort()
                self._gathering = self._page(-1, self._gathered)

    def _page(self, epoch: int, cohort: Cohort) -> Page:
        return Page(self, epoch, cohort)  # type: ignore[arg-type]  # it is a Model

    def _read(self, oids: list[str], wanted: dict[str, Stored], epoch: int) -> dict[str, Row]:
        """Read rows, for objects that want them and ahead."""
        rows = self.table.get_many([oid.encode() for oid in oids], at=self.as_of, columns=layout.OBJECT)
        there = zip(map(bytes.decode, rows), rows.values(), strict=True)
        found = {oid: row for oid, row in there if layout.ECLASS in row or oid == ids.ROOT}
        together = self._page(epoch, Cohort(oids))
        self._rows.put(found, Answer(together, self._rivals, self._rows.until(asked=False)))
        for oid, state in wanted.items():
            row, before = found.get(oid), state.page
            page = before.at(epoch) if state.kept is not None and before.cohort else together  # once met, always so
            if row is None:
                state.page = Page(before.model, epoch, page.cohort, before.met)
                state.take(None, epoch)
                continue
            if page is not together or len(wanted) == 1:  # of several, the others come later
                until = self._rows.until(asked=len(wanted) == 1)
                self._rows.put({oid: row}, Answer(page, self._rivals, until))
            state.kept, state.page = row, page
        return found

    def lately(self, states: Iterable[Stored]) -> None:
        """Know that the rows of these are kept as they were read, or written, until others were."""
        if len(self._lately) > 2 * LATELY:
            self._settle()
        self._lately += states

    def _settle(self) -> None:
        """Let rows that are held and have not been needed lately take less memory."""
        for state in self._lately[:-LATELY]:
            if type(state.kept) is dict and state() is not None:
                state.kept = at_rest(state.kept)
        del self._lately[:-LATELY]

    def forget_row(self, oid: str) -> None:
        """Before a row is written."""
        self._rows.forget(oid)

    def _guessed(self, state: Stored, origin: Origin | None, epoch: int) -> Iterator[str]:
        """What may be wanted next: those that were met together with an object, and where those it came by lead to."""
        believes, rivals, watched = self._rows.believes, self._rivals, self._watched
        cohort = state.page.cohort
        for oid, held in self.live.those(chain(cohort.after(state.oid) if cohort else (), likely(self, origin))):
            if held is not None and isinstance(held._neo, Stored) and held._neo.kept is not None:
                continue  # it is read again, with others, when it is touched
            if believes(oid, epoch, rivals, watched) is None:
                yield oid

    def known_row(self, oid: str) -> Kept | None:
        """A row that is known, be it outdated."""
        row = self._rows.peek(oid)
        if row is None:
            found = self.live.get(oid)
            row = found._neo.kept if found is not None and isinstance(found._neo, Stored) else None
        return row

    # writing

    def writable(self) -> None:
        """Before every write: refuse it in a snapshot, and in a batch that has expired."""
        if self.as_of is not None:
            raise ReadOnly("a change", f"model {self.name!r} as of {self.as_of}")
        if self.repository.batch is not None:
            self.repository.batch.check()

    def written(self) -> int:
        """After a write of our own: the epoch of what is known of it. If nobody else has written, all stays known."""
        self._writes[0] += 1
        mark: Any = self.table.mark()
        alone: Any = None
        if self._mark is not None:
            alone = (self._mark[0] + 1, self._mark[1]) if mark is None else self._mark + 1
        if mark is None:
            mark = self._writes[0], self._mark[1] if self._mark else 0
        if mark != alone:
            return -1
        self._mark = mark
        return self._epoch

    def outdated(self) -> None:
        """After a write of this process past the objects: let all rows be read again when they are needed."""
        self._writes[0] += 1

    def put(self, mutations: Iterable[Mutation]) -> int:
        """Write rows nobody else can know, or that may be written again; 5,000 in a batch. As `written`."""
        epochs = {self.epoch()}
        remaining = iter(mutations)
        while page := list(islice(remaining, WRITTEN)):
            self.writable()
            if self._rows:
                for key, _, _ in page:
                    self.forget_row(key.decode())
            self.table.put_many(page)
            epochs.add(self.written())
        return min(epochs)


_all_writes: dict[tuple[str, str], list[int]] = {}


def _writes_of(url: str, name: str) -> list[int]:
    """How often this process has written to a model: the same list for all who ask."""
    return _all_writes.setdefault((url, name), [0])
