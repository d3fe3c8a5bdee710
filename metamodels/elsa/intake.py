"""How the messages of queues come into a system: in rounds, each an ingest batch, one at a time, applied once.

Who begins a *round* opens a batch; tasks, in whatever processes, write in it, each a *part*: operations of rows that
are no other part's. When all have, the round ends and the batch is closed: all of it is stable at once.

A table beside the system (`TABLE` and the name of its model) has on record what makes it safe to do a round again. Row
``state``: the batch of the last round. As long as somebody renews its lease nobody else begins one; if its process has
died, the next one goes on in the same batch, so that nothing half done is seen as stable. Rows ``note`` + part: before
a part writes it puts down up to which position of each lane it will have written. So what was not put down was not
written, and need not be looked for (see `operations`); a part that finds the note of its own round was tried before,
and looks at everything. The other rows are `dead_letters`."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import attrs

import neomodel as nm
from metamodels.elsa.dead_letters import DeadLetters
from metamodels.elsa.messages import Message, Reader
from metamodels.elsa.systems import ExternalSystem
from neomodel.errors import TableNotFound
from neomodel.operations import Applied, Operation, spans
from neomodel.stores import VERSION, Mutation, Row, ensured, successor

TABLE = "_intake."
FAMILIES = "pt"
LEASE = 30.0
"""Seconds that others wait for a round of which nobody hears."""
_STATE, _NOTE = b"state", b"note"
_CELL = b"p:json"
_PAUSE = 0.1


@attrs.frozen
class Round:
    """A round that was begun, as it goes to its tasks: its batch, by lane the last positions that were put down before
    it, and the last time that was given."""

    batch: str
    lease: float
    written: dict[bytes, bytes]
    after: int


class Intake:
    """That of one system. For one thread at a time."""

    def __init__(self, system: ExternalSystem, *, lease: float = LEASE) -> None:
        if not isinstance(lease, int | float) or lease <= 0:
            raise nm.InvalidValue("the lease of a round", lease, "a number of seconds")
        self._system = system
        self._lease = lease
        self._repository = system.store.repository
        self._table = self._repository.store.table(f"{TABLE}{system.model_name}")
        self._batch: nm.Batch | None = None
        self.dead_letters = DeadLetters(self._table)

    # rounds

    def begin(self, waiting: Callable[[str], None] = lambda _: None) -> Round:
        """Begin a round, once no other is at work; `waiting` is told in a sentence what is waited for. The system and
        the tables are made if they are not there. Some reads and two swaps."""
        self._system.writable()
        while True:
            row = self._state()
            state = _loaded(row)
            left = state.get("batch")
            if left is not None and self._repository.batches.is_open(left):
                waiting(f"another sync of {self._system.name} is at work, or was until a moment ago; waiting for it")
                time.sleep(_PAUSE)
                continue
            try:
                batch = self._batch = self._entered(left)
                cells = _stored({"batch": batch.token, "after": state.get("after", 0)})
                version = row.get(VERSION)
                if self._table.swap(_STATE, version, {VERSION: successor(version), **cells}):
                    return self._begun(batch, state)
            except BaseException:
                self.leave()  # or our own process would keep it open
                raise
            self.leave()  # somebody was first; if it is another batch, nothing was written in ours
            if batch.token != left:
                self._repository.batches.close(batch.token)

    def _state(self) -> Row:
        try:
            return self._table.get(_STATE) or {}
        except TableNotFound:
            ensured(self._table, FAMILIES)
            return {}

    def _begun(self, batch: nm.Batch, state: dict[str, Any]) -> Round:
        notes = [_loaded(note) for _, note in self._table.scan(_NOTE, _NOTE + b"\xff")]
        after = max([state.get("after", 0), *(note["after"] for note in notes)])
        return Round(batch.token, self._lease, _greatest(note["written"] for note in notes), after)

    def _entered(self, left: str | None) -> nm.Batch:
        if left is not None:
            with suppress(nm.BatchExpired):
                return self._repository.batches.join(left, self._lease)
        return self._repository.batches.open(self._lease)

    def write(self, round_: Round, part: int, operations: list[Operation]) -> Applied:
        """Apply the operations of a part: those of rows that no other part has. In the process that began the round or
        in another; done again, it writes what is missing. Two reads and two swaps, and what `operations.apply`
        costs."""
        if not operations:
            return Applied()
        key = _NOTE + b"%06d" % part
        row = self._table.get(key) or {}
        note = _loaded(row)
        again = note.get("batch") == round_.batch
        batch = self._repository.batches.join(round_.batch, round_.lease)
        before, self._repository.batch = self._repository.batch, batch
        try:
            greatest = _greatest([note.get("written", {}), _lanes(operations)])
            told = {name.hex(): position.hex() for name, position in greatest.items()}
            cells = _stored({"batch": round_.batch, "written": told, "after": note.get("after", 0)})
            version = row.get(VERSION)
            if not self._table.swap(key, version, {VERSION: successor(version), **cells}):
                raise nm.Conflict(f"part {part} of a round of {self._system!r}", str(version), "another")
            done = self._system.apply(operations, written=None if again else round_.written, after=round_.after)
            after = max(note.get("after", 0), done.stamped)
            cells = _stored({"batch": round_.batch, "written": told, "after": after})
            self._table.put_many([Mutation(key, cells)])
        finally:
            self._repository.batch = before
            batch.abandon()  # it goes on, without us
        return done

    def end(self) -> None:
        """All parts of the round are written: let them be stable. A read and a swap."""
        assert self._batch is not None
        self._batch.close()
        self._batch = None

    def leave(self) -> None:
        """Leave the round as it is, since something failed: whoever begins the next one goes on in its batch."""
        if self._batch is not None:
            self._batch.abandon()
            self._batch = None

    # dead letters

    def replay(
        self, reader: Reader, corrected: dict[tuple[str, str], bytes] | None = None, advance: Any = lambda _: None
    ) -> tuple[int, int]:
        """Try those messages again that wait, or where they are given these corrected ones, in the places they had.
        Those that still can't be applied get the new reason. Returns how many were applied, and how many were not."""
        done = left = 0
        waiting = self.dead_letters.find()
        if corrected is not None:
            waiting = (letter for letter in waiting if (letter.queue, letter.place) in corrected)
        for page in self.dead_letters.messages(waiting):
            operations, applied, rejected = [], [], []
            for letter, message in page:
                value = message.value if corrected is None else corrected[letter.queue, letter.place]
                found = reader.read(message._replace(value=value))
                if isinstance(found, str):
                    rejected.append((message, found))
                else:
                    applied.append(letter)
                    operations += [found] if found is not None else []
            self._apply(operations)
            self.dead_letters.end(applied, "replayed")
            left += self.dead_letters.put(rejected)
            done += len(applied)
            advance(len(page))
        return done, left

    def _apply(self, operations: list[Operation]) -> None:
        if operations:
            begun = self.begin()
            try:
                self.write(begun, 0, operations)
                self.end()
            finally:
                self.leave()


def _lanes(operations: list[Operation]) -> dict[str, str]:
    """The last position of each lane."""
    return {name.hex(): last.hex() for name, (_, last) in spans(operations).items()}


def _greatest(some: Any) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for one in some:
        for name, position in one.items():
            key, value = bytes.fromhex(name), bytes.fromhex(position)
            found[key] = max(found.get(key, b""), value)
    return found


def _loaded(row: Row) -> dict[str, Any]:
    return json.loads(row[_CELL]) if _CELL in row else {}


def _stored(state: dict[str, Any]) -> dict[bytes, bytes | None]:
    return {_CELL: json.dumps(state).encode()}


__all__ = ["LEASE", "Intake", "Message", "Round"]
