"""One external system: what it told, and what it was like."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import neomodel as nm
from metamodels.elsa.records import Record, System, elsa
from metamodels.elsa.tokens import Token
from metamodels.elsa.values import decoded, encoded
from metamodels.elsa.versions import DELETE, INSERT, Version, event_time, is_deletion
from neomodel import layout
from neomodel.ledgers import EARLIEST
from neomodel.operations import Applied, Operation, apply
from neomodel.times import LAST, Time, micros

if TYPE_CHECKING:
    from metamodels.elsa.store import ElsaStore

LEAD = 2**24
"""Microseconds by which an event may be later than its ingest time before that has to be written down."""
_RECENT = 3_600_000_000
_MARGIN = 10_000_000  # by which a clock may be set back between looking and stamping


class ExternalSystem:
    """The mirror of one system; made by `ElsaStore.system`. Nothing in it is overwritten: an operation for a key and an
    event time that has one already is a newer version.

    Every read is as of two times, or a token that has both: `event`, up to which what happened counts, by default all
    that did; and `ingest`, up to which it was known, by default the stable time. Both are included. Times are aware
    datetimes or microseconds since the epoch. A later ingest time than the stable one raises `NotStable`, or is waited
    for with `wait`: True, or seconds. One before what is kept raises `Purged`.
    """

    def __init__(self, store: "ElsaStore", name: str, splits: list[str]) -> None:
        self.name = name
        self.model_name = f"{store.name}.{name}"
        self._store = store
        self._splits = splits
        self._lead = 0
        self._lead_until = -1
        self._promised: int | None = None

    def __repr__(self) -> str:
        return f"<system {self.name!r} of {self._store!r}>"

    # writing

    def insert(self, key: str, event: Time, value: Any, *, operation: str | None = None) -> bool:
        """From `event` on the record of `key` has this value: bytes, text, what JSON has, or an element of a registered
        class. A compare-and-swap of one row. With the id of an `operation`, which one that is tried again has too, it
        is applied once: False if it was before."""
        return self._apply(key, event, False, value, operation)

    def delete(self, key: str, event: Time, *, operation: str | None = None) -> bool:
        """From `event` on there is no record of `key`. Costs what `insert` does."""
        return self._apply(key, event, True, None, operation)

    def _apply(self, key: str, event: Time, deletion: bool, value: Any, operation: str | None) -> bool:
        fact = self._fact(key, event, deletion, value)
        ledger = self.writable(fact.event)
        return ledger.write(fact, operation=operation)

    def ingest(self, rows: Iterable[Sequence[Any]]) -> int:
        """Apply many operations, rows of (key, event, "insert" | "delete", value): an ingest batch, seen as stable all
        at once. They are written in parts, in the order given; if it fails, some may have been, and done again all are
        written once more. Returns how many."""
        facts = self._facts(rows)
        first = next(facts, None)
        if first is None:
            return 0
        ledger = self.writable(first.event)
        return ledger.write_many(self._ahead(first, facts))

    def apply(
        self, operations: list[Operation], *, written: Mapping[bytes, bytes] | None = None, after: int = 0
    ) -> Applied:
        """Apply operations that have positions, each once and in the order of these: see `neomodel.operations`, which
        makes them (`prepared`), and says what the options are. One ingest batch, or in that which is open."""
        if not operations:
            return Applied()
        latest = min(operation.column for operation in operations)  # later events lie before others
        ledger = self.writable(layout.event_of(latest))
        return apply(ledger, operations, written=written, after=after)

    def _ahead(self, first: nm.Fact, others: Iterator[nm.Fact]) -> Iterator[nm.Fact]:
        yield first
        safe = self._safe()
        for fact in others:
            if fact.event > safe:
                self._promise(fact.event)
                safe = self._safe()
            yield fact

    def load(self, rows: Iterable[Sequence[Any]]) -> int:
        """Bring in an old history with its own ingest times: rows of (key, event, ingest, "insert" | "delete", value)
        in any order. Only into a system that has no records yet, since of one that has, the past may have been read.
        It is there when all is written, and if it fails nothing is left. Returns how many."""
        lead = -LAST

        def facts() -> Iterator[nm.Fact]:
            nonlocal lead
            for row in rows:
                key, event, ingest, operation, value = _columns(row, 5, "key, event, ingest, operation, value")
                known = micros(f"the ingest time of {key!r}", ingest)
                fact = self._fact(key, event, is_deletion(operation, value), value)
                lead = max(lead, fact.event - known)
                yield fact._replace(ingest=known)

        try:
            with self._repository.importing(self.model_name, splits=self._split_rows()) as model:
                count = nm.Ledger(model, Record, "value").load(facts())
                self._enter(lead if count else 0)
        except nm.ModelExists as exc:
            expected = "one without records: its past may have been read; take another name"
            raise nm.InvalidValue("the system to load into", self.name, expected) from exc
        return count

    def retain(self, since: Time, *, by: str | None = None) -> nm.Purge:
        """Forget what only reads as of ingest times before `since` could see; those are refused from now on. It is on
        record who did that: see `nm.purge`."""
        return nm.purge(self._ledger.model, before=since, by=by)

    def erase(self, key: str, *, by: str | None = None) -> int:
        """Forget all that was known of a key until now: reads of it as of earlier are refused, later ones find what
        came since. It is on record who did that. Returns how many versions went."""
        return self._ledger.erase(key, by=by)

    def audit(self) -> list[nm.Purge]:
        """What was forgotten, by whom and when, the oldest first; `key` is set where it was one key."""
        return nm.purges(self._ledger.model)

    # reading

    def get(self, key: str, **as_of: Any) -> Any:
        """The value of a record, None where there is none or it was deleted. One seek, however many versions there are;
        without `ingest` or `token` after two reads, or fewer (`ElsaStore.stable`)."""
        found = self.version(key, **as_of)
        return None if found is None or found.operation == DELETE else found.value

    def version(self, key: str, **as_of: Any) -> Version | None:
        """What `get` goes by, with its times, also if it is a deletion; None if there is nothing. Costs the same."""
        event, ingest = self.as_of(**as_of)
        found = self._ledger.at(key, event=event, ingest=ingest)
        return None if found is None else self._version(key, found)

    def get_many(self, keys: Iterable[str], **as_of: Any) -> dict[str, Any]:
        """The values of those records that have one, by key. One call per region for up to 1,000 keys."""
        found = self.entries_of(keys, **as_of)
        return {key: decoded(one.value, self._repository) for key, one in found.items() if not one.retracted}

    def scan(
        self, keys: str | tuple[str | None, str | None] = "", *, without_erased: bool = False, **as_of: Any
    ) -> Iterator[tuple[str, Any]]:
        """Keys and values of the records whose keys begin with a text, or lie in a range, from the first of two to
        before the second; in order. Streams. `Purged` where a key was erased since, unless these are left out."""
        found = self.entries(self.rows(keys), without_erased=without_erased, **as_of)
        return ((key, decoded(one.value, self._repository)) for key, one in found if not one.retracted)

    def history(self, key: str, **as_of: Any) -> list[Version]:
        """All versions of a record, in order of event and then ingest time, deletions too. One call for a thousand."""
        event, ingest = self.as_of(**as_of)
        row = self._ledger.row(key)
        found = self._ledger.versions((row, row + b"\0"), ingest=ingest)
        versions = [self._version(key, one) for _, one in found if one.event <= event]
        return versions[::-1]

    def rows(self, keys: str | tuple[str | None, str | None] = "") -> tuple[bytes, bytes]:
        """The range of rows, in the table of the model `model_name`, of the keys that `scan` would go through."""
        if isinstance(keys, str):
            return self._ledger.bounds(keys)
        if not isinstance(keys, tuple) or len(keys) != 2 or not all(isinstance(one, str | None) for one in keys):
            raise nm.InvalidValue("the keys to scan", keys, "what they begin with, or a pair of the first and the end")
        return self._ledger.bounds("", *keys)

    def entries(
        self, rows: tuple[bytes, bytes | None], *, without_erased: bool = False, **as_of: Any
    ) -> Iterator[tuple[str, nm.Entry]]:
        """As `scan`, of a range of rows, with values as they are stored (`values.told`), and deletions: for who makes
        something else of many of them."""
        event, ingest = self.as_of(**as_of)
        return self._ledger.scan(rows, event=event, ingest=ingest, without_erased=without_erased)

    def entries_of(self, keys: Iterable[str], **as_of: Any) -> dict[str, nm.Entry]:
        """As `get_many`, with values as they are stored, and deletions."""
        event, ingest = self.as_of(**as_of)
        return self._ledger.at_many(keys, event=event, ingest=ingest)

    def versions(self, **as_of: Any) -> Iterator[tuple[str, nm.Entry]]:
        """Everything of all keys, as it is stored: for who counts. Streams."""
        _, ingest = self.as_of(**as_of)
        return self._ledger.versions(self.rows(), ingest=ingest)

    def as_of(
        self,
        *,
        event: Time | None = None,
        ingest: Time | None = None,
        token: Token | str | None = None,
        wait: bool | float = False,
    ) -> tuple[int, int]:
        """The times to read at, in microseconds; the ingest time is stable. Nothing known by then lies later than that
        and the lead of the system: so of an old time there is no need to begin any later, which passes all that came
        in since; of a recent one all events are asked for, which servers find quickest."""
        store = self._store
        if token is not None:
            if event is not None or ingest is not None:
                raise nm.InvalidValue("the times of a read", event or ingest, "none beside a token, which has both")
            given = store.parsed(token)
            until, known = given.event, given.ingest_of(self.name)
        else:
            until = LAST if event is None else micros("event", event, first=-LAST)
            known = store.stable() if ingest is None else micros("ingest", ingest)
        store.check_stable(known, wait=wait, where=repr(self))
        if known > self._lead_until:
            covered = store.stable()  # first: what is written under it has its lead written down by now
            self._lead, self._lead_until = self._system().lead, covered
        if until < known + self._lead:
            return max(until, EARLIEST), known
        return LAST if known > store.stable_so_far - _RECENT else max(known + self._lead, EARLIEST), known

    # how

    @property
    def _repository(self) -> nm.Repository:
        return self._store.repository

    @cached_property
    def _ledger(self) -> nm.Ledger:
        """The records, of a system that is there."""
        try:
            return nm.Ledger(self._repository.open(self.model_name), Record, "value")
        except nm.ModelNotFound:
            raise self._store.unknown(self.name) from None

    def writable(self, event: int = 0) -> nm.Ledger:
        """The records, to write of an event: the system is made if it is not there, and its lead is written down."""
        if self._promised is None:
            self._enter(LEAD)
            try:
                self._repository.open(self.model_name)
            except nm.ModelNotFound:
                with suppress(nm.ModelExists):
                    self._repository.create(self.model_name, splits=self._split_rows())
        if event > self._safe():
            self._promise(event)
        return self._ledger

    @property
    def store(self) -> "ElsaStore":
        """The store it is in."""
        return self._store

    def _split_rows(self) -> list[bytes] | None:
        if not self._splits:
            return None
        rows = nm.Ledger(self._store.catalogue, Record, "value")
        return [rows.bounds(split)[0] for split in self._splits]

    def _safe(self) -> int:
        """The latest event that may be written without more ado."""
        return time.time_ns() // 1000 - _MARGIN + (self._promised or 0)

    def _promise(self, event: int) -> None:
        """Have it on record by how much an event is ahead of its ingest time, with some to spare."""
        ahead = event - time.time_ns() // 1000 + _MARGIN
        self._enter(max(LEAD, 1 << max(ahead, 0).bit_length()))

    def _enter(self, lead: int) -> None:
        """Have the system on record, with at least this lead."""
        there = self._system_or_none()
        if there is None:
            self._store.catalogue.roots.append(elsa.System(name=self.name, lead=lead))
            there = self._system()

        def raised() -> None:
            with nm.edit(there):
                if there.lead < lead:
                    there.lead = lead

        nm.redo(raised, attempts=20)
        self._promised = there.lead

    def _system_or_none(self) -> Any:
        return next(self._store.catalogue.find(System, name=self.name), None)

    def _system(self) -> Any:
        found = self._system_or_none()
        if found is None:
            raise self._store.unknown(self.name)
        return found

    def _fact(self, key: str, event: Time, deletion: bool, value: Any) -> nm.Fact:
        stored = None if deletion else encoded(value, self._repository)
        return nm.Fact(key, event_time(key, event), stored, deletion)

    def _facts(self, rows: Iterable[Sequence[Any]]) -> Iterator[nm.Fact]:
        for row in rows:
            key, event, operation, value = _columns(row, 4, "key, event, operation, value")
            yield self._fact(key, event, is_deletion(operation, value), value)

    def _version(self, key: str, found: nm.Entry) -> Version:
        assert found.ingest is not None
        if found.retracted:
            return Version(key, found.event, found.ingest, DELETE, None)
        return Version(key, found.event, found.ingest, INSERT, decoded(found.value, self._repository))


def _columns(row: Sequence[Any], count: int, names: str) -> Sequence[Any]:
    sequence = isinstance(row, tuple | list) or (isinstance(row, Sequence) and not isinstance(row, str | bytes))
    if not sequence or len(row) != count:
        raise nm.InvalidValue("a row", row, f"{count} columns: {names}")
    return row
