"""The rules applied to one part of the source model, and the rows of what they make written.

A part is a range of ids. What its results contribute to one another is folded before they are written; what concerns
results of other parts is handed on in messages, to be settled when all parts are written (`settling`).
"""

import time
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

import attrs

from neomodel import ids, layout
from neomodel.errors import RuleFailed
from neomodel.garbage import undisturbed
from neomodel.long_cells import MANY, in_parts
from neomodel.metamodel import ANYTHING
from neomodel.model import Model
from neomodel.prefilling import prefilled
from neomodel.rules.applying import Application, Applying
from neomodel.rules.circles import Held, circles
from neomodel.rules.current import applied_by
from neomodel.rules.folding import MAKER, Contribution, Result, drafted
from neomodel.rules.origins import GROUP, group, trace_cell, traced
from neomodel.rules.plan import BoundRule, Plan
from neomodel.rules.reads import EXISTENCE, NOTHING, Noted, Reading, Watched, WatchedModel, reading
from neomodel.stores import Mutation

WINDOW = 20_000
"""Results that are held in memory until they are written."""
ROWS = 200_000
"""Rows of the source that are kept in memory."""


class Unplaced(NamedTuple):
    """A result that lies in no other one, as far as its part tells; and its order among such."""

    target: str
    order: str


class Nested(NamedTuple):
    """A result in which one lies that was written at another time, and which could lie in that itself."""

    target: str


class Member(NamedTuple):
    """An object that a grouped rule matches, and the key it has there."""

    rule: str
    key: str
    source: str


Said = Contribution | Unplaced | Nested
"""What a part says of a result, which has to be settled."""
Message = Said | Member


@attrs.define
class Tally:
    """What was done in a part."""

    start: str = ""
    stop: str | None = None
    host: str | None = None
    elements: int = 0
    results: int = 0
    """Those that no other part makes."""
    applications: dict[str, int] = attrs.field(factory=dict)
    local: int = 0
    remote: int = 0
    seconds: float = 0.0
    failures: list[RuleFailed] = attrs.field(factory=list)


class Part:
    """Applies a plan to parts of a source model, and writes rows of a target model."""

    def __init__(
        self,
        plan: Plan,
        source: WatchedModel,
        target: Model,
        constants: dict[str, Any],
        version: bytes,
        *,
        patience: int = 0,
        recording: bool = True,
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        """`version` is that of all rows. So many failures are told in the tally, before it ends without having done
        all; with no `patience` the first one is raised. `recording`, it writes what each application has read.
        `may_write` is asked before each write, and if it says no, nothing is written."""
        self._plan = plan
        self._source = source
        self._target = target
        self._version = version
        self._patience = patience
        self._recording = recording
        self._may_write = may_write
        self._applying = Applying(
            plan, source.reads, {name: carried(value, source) for name, value in constants.items()}
        )
        self._results: dict[str, Result] = {}
        self._pending: dict[str, list[Contribution]] = {}
        self._shared: set[str] = set()
        self._readers: dict[str, dict[bytes, bytes | None]] = {}
        self._guarded = NOTHING
        """What was read to find out which rules match the object at hand."""
        self.tally = Tally()

    def apply(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        rows: int = ROWS,
        progress: Callable[[int], Any] | None = None,
    ) -> Iterator[Message]:
        """Apply the rules that match to all objects in a range; what is left to settle."""
        began = time.monotonic()
        tally = self.tally
        with undisturbed():
            for element in prefilled(self._source, ANYTHING, start, stop, rows=rows):
                tally.elements += 1
                if progress is not None and tally.elements % 1000 == 0:
                    progress(1000)
                try:
                    for bound, source in self.matched(element):
                        if bound.rule.mode == "grouped":  # that is done for several objects at once
                            yield Member(bound.name, source[len(GROUP) :], element._neo.oid)
                        else:
                            self.take(bound, element, source)
                except RuleFailed as failure:
                    if self._failed(failure):
                        return
                if len(self._results) >= WINDOW:
                    yield from self._flush()
            if progress is not None:
                progress(tally.elements % 1000)
            yield from self._end()
        tally.seconds = time.monotonic() - began

    def apply_groups(self, groups: Iterable[tuple[str, str, list[str]]]) -> Iterator[Message]:
        """Apply grouped rules: each to the objects of one key, given by rule, key and ids."""
        for rule, key, oids in groups:
            elements = [self._source.element(oid) for oid in sorted(oids)]
            try:
                self.take(self._plan.rules[rule], elements, group(key))
            except RuleFailed as failure:
                if self._failed(failure):
                    return
            if len(self._results) >= WINDOW:
                yield from self._flush()
        yield from self._end()

    # one after another

    def matched(self, element: Any) -> list[tuple[BoundRule, str]]:
        """The rules that match an object, each with the source that it is, or belongs to. What was read to find that
        out is noted as read for the object itself."""
        noted: Noted = set()
        own = element._neo
        oid = own.oid
        with self._source.reads.into(noted), applied_by(self._applying):
            found = [
                (bound, group(self._applying.key(bound, element)) if bound.rule.mode == "grouped" else oid)
                for bound in self._applying.matches(element)
            ]
        self._guarded = reads = reading(noted, own)
        if self._recording and reads is not NOTHING:
            self._note(b"\0" + MATCHING + oid.encode(), oid, reads)
        return found

    def take(self, bound: BoundRule, element: Any, source: str) -> None:
        """Apply a rule, and hold what it makes."""
        application = self._applying.apply(bound, element, source)
        made = self.tally.applications
        made[bound.name] = made.get(bound.name, 0) + 1
        for draft, (maker, output, of) in zip(application.drafts, application.origins, strict=True):
            order = maker.order(of, output)
            trace = trace_cell(maker.name, output, of)
            result, contributions = drafted(draft, self._version, trace, order, self._refer)
            self._results[result.oid] = result
            if result.oid in application.shared:
                self._shared.add(result.oid)
                contributions.append(Contribution(result.oid, MAKER, f"{bound.name}/{source}", ""))
            for one in contributions:
                self._pending.setdefault(one.target, []).append(one)
        if self._recording:
            self._note_reads(application, None if bound.rule.mode == "grouped" else element._neo)

    def taken(self) -> tuple[dict[str, Result], list[Contribution]]:
        """What is held: results by id, and what they contribute, to one another as well."""
        return self._results, [one for some in self._pending.values() for one in some]

    def notes(self) -> "dict[str, dict[bytes, bytes | None]]":
        """What applications have read: cells beside the objects that were, by id."""
        return self._readers

    # how

    def _failed(self, failure: RuleFailed) -> bool:
        """Tell of a failure; whether that was enough."""
        if not self._patience:
            raise failure
        self.tally.failures.append(failure)
        return len(self.tally.failures) >= self._patience

    def _note_reads(self, application: Application, element: Watched | None) -> None:
        own = application.source
        reads = reading(application.reads, element)
        if element is not None:
            reads = reads.beyond(self._guarded)  # which is noted already
        if reads is not NOTHING:
            self._note(f"{application.bound.name}\0{own}".encode(), own, reads)
        if len(application.drafts) > len(application.bound.outputs):
            origins = zip(application.drafts, application.origins, strict=True)
            lazy = [draft._oid for draft, origin in origins if origin[0] is not application.bound]
            made = MADE + application.bound.name.encode()
            self._readers.setdefault(own, {})[made] = ",".join(lazy).encode()

    def _note(self, reader: bytes, own: str, reads: Reading) -> None:
        """Note what was read beside the objects that were; of what lies in the source itself, beside that, once for
        all: these are many, and would each need a row."""
        column = READER + reader
        for oid, names in reads.others.items():
            if oid != own:
                self._readers.setdefault(oid, {})[column] = _told(names)
        if reads.inside:
            self._readers.setdefault(own, {})[column] = _told(reads.inside)

    def _refer(self, element: Any) -> str:
        state = element._neo
        return ids.ref(state.oid, state.model.name)

    def _flush(self) -> Iterator[Message]:
        """Write the results that wait; those that others make as well without what is contributed to them here."""
        mutations: list[Mutation] = []
        held: dict[str, Held] = {}
        nesting = self._plan.nesting
        for oid, result in self._results.items():
            if oid not in self._shared:
                result.take(self._pending.pop(oid, ()))
            try:
                mutations += written(result)
            except ValueError as exc:
                self._failed(RuleFailed(*told_of(result), str(exc)))
                continue
            container = mutations[-1].cells[layout.CONTAINER]
            if container == _ROOT:
                yield Unplaced(oid, result.order)
            elif nesting and container is not None and result.kind.type_name in nesting:
                held[oid] = Held(container.decode(), result.trace)
        for failure in circles(held, lambda oids: {oid: held[oid] for oid in oids if oid in held}):
            self._failed(failure)
        yield from (Nested(one) for one in {one.container for one in held.values()} if one not in self._results)
        mutations += (Mutation(oid.encode(), cells) for oid, cells in self._readers.items())
        mutations.sort(key=_KEY)
        if mutations and self._may_write():
            self._target.put(mutations)
        self.tally.results += sum(oid not in self._shared for oid in self._results)
        self._results = {}
        self._readers = {}

    def _end(self) -> Iterator[Message]:
        yield from self._flush()
        for contributions in self._pending.values():
            yield from contributions
        self._pending = {}
        self._shared = set()


_KEY = attrgetter("key")
_ROOT = ids.ROOT.encode()

MATCHING = b"@"
"""Before the id of an object for which something was read to find out what matches it."""
READER = layout.extent(b"\1")
"""What columns of objects that were read begin with, in the target's table: then rule and source of who read it. In the
row of the source itself, it is about what lies in that."""
MADE = layout.extent(b"\2")
"""What columns of sources begin with that say what lazy rules made for a rule that was applied to them."""


def reader_of(column: bytes) -> tuple[str, str] | None:
    """Rule and source of who has read what a cell is beside; of what was read to find out what matches, no rule. None
    if the cell says something else."""
    if not column.startswith(READER):
        return None
    rule, _, source = column[len(READER) :].decode().partition("\0")
    return rule, source if rule else source[len(MATCHING) :]


def _told(names: set[str]) -> bytes:
    return b"" if names == EXISTENCE else ",".join(sorted(names - EXISTENCE)).encode()


def written(result: Result) -> list[Mutation]:
    """What stores a result: one write, or if it is much several, what lies beside it first."""
    key = result.oid.encode()
    cells, beside = result.row()
    if len(beside) > MANY:
        return [*in_parts(key, beside), Mutation(key, cells)]
    return [Mutation(key, {**beside, **cells} if beside else cells)]


def told_of(result: Result) -> tuple[str, str, str]:
    """Rule, source and output of a result, as failures have them."""
    rule, output, source = traced(result.trace)
    return rule, f"source {source}", f"output {output}"


def carried(value: Any, model: Model) -> Any:
    """A constant as rules have it: an object is one of this model."""
    return model.element(value.oid) if isinstance(value, Carried) else value


class Carried(NamedTuple):
    """An object of the source model, on its way."""

    oid: str
