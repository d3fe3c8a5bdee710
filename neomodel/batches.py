"""Writers that want to be waited for, and the time up to which nothing changes any more.

A *batch* is open from before its first write until its last one was acknowledged. The **stable time** lies below the
oldest open batch, and never above now less `Store.settling`. So nothing of a batch is seen as stable before it is
closed, and no write in it that is delayed on its way comes under what was. (A batch that was closed may be seen in part
while another is open that began in the midst of it.)

All open batches are listed in one cell of one row of `TABLE`, which is changed by compare-and-swap; reading it costs
the same however many there ever were. A batch began when the cell was stamped that was the first to list it: the next
one to change the cell writes that down. Stamps bound the race with somebody who computes the stable time: he takes the
time first and reads the list then, and a batch that he does not find is stamped later than what he answers. Where
times are in order that is so by itself; elsewhere it holds if the list was changed within `Store.settling`, which who
opens a batch makes sure of afterwards, or he opens it anew. So nobody has to record what he answered.

A batch has a *lease*, which a thread renews. If that stops, since the process died or stands still, the batch expires:
`Store.settling` after its lease has ended the next one to ask for the stable time takes it off the list, and from then
on its writer, if it lives, gets `BatchExpired` instead of writing.
"""

import json
import os
import platform
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import attrs

from neomodel.errors import (
    BatchExpired,
    InvalidValue,
    OutcomeUnknown,
    StoreUnavailable,
    TableNotFound,
)
from neomodel.stores import VERSION, Store, ensured, successor
from neomodel.stores.base import MAX_TIME, ORDERED
from neomodel.stores.clock import LANES, Watch, wall
from neomodel.times import told

if TYPE_CHECKING:
    from neomodel.model import Model
    from neomodel.repository import Repository

TABLE = "_batches"
FAMILIES = "pt"
KEY = b"open"
OPEN = b"p:open"
LEASE = 60.0  # seconds
_ATTEMPTS = 5
_SECOND = 1_000_000


@attrs.frozen
class Entry:
    """One open batch as the list has it: whose, leased until when, and since when it is open."""

    token: str
    owner: str
    until: int
    since: int | None = None
    lane: int = 0
    """Which times are its own, where clients stamp: see `Batch.stamps`. No other batch that is open has the same."""


@attrs.frozen
class _List:
    """The list as it was read."""

    version: bytes | None
    entries: tuple[Entry, ...]


class Batches:
    """The open batches of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._table = store.table(TABLE)
        self._answered = -1

    def stable(self, now: int) -> int:
        """The latest time that nobody can write under any more. `now` was asked of a table of the store just before.

        One read; one swap more if a batch has expired. Does not go back within this object.
        """
        settling = self._store.settling
        found = self._read()
        while expired := [entry for entry in found.entries if entry.until + settling < wall()]:
            self._swap(found, [entry for entry in found.entries if entry not in expired])
            found = self._read()
        oldest = min((entry.since or 0 for entry in found.entries), default=MAX_TIME)
        self._answered = max(self._answered, min(now - settling, oldest - 1))
        return self._answered

    def vouch(self, time: int) -> None:
        """Know that this time is stable, as somebody was told whose clock may be ahead of ours."""
        self._answered = max(self._answered, time)

    def open(self, lease: float, *, awaited: bool = True) -> "Batch":
        """A batch that is on the list. Two reads and a swap, and the table, if it is the first one. One that is not to
        be `awaited` has a lease, by which others know that somebody is at work, and the stable time goes on."""
        for _ in range(_ATTEMPTS):
            began = Watch()
            token, owner = secrets.token_hex(8), f"{platform.node()}:{os.getpid()}"
            entry = Entry(token, owner, wall() + int(lease * _SECOND), None if awaited else MAX_TIME)
            self._change(partial(_with, entry))
            listed = next((one for one in self._read().entries if one.token == token), entry)
            if not awaited or ORDERED in self._store.capabilities or began.age() < self._store.settling:
                return Batch(self, listed, lease, began)
            self.close(token)  # it came too late to be seen by everybody whom it concerns
        raise StoreUnavailable("opening a batch", self._store.url, "each attempt took longer than the store settles in")

    def join(self, token: str, lease: float) -> "Batch":
        """A batch that another process has opened and left open (`Batch.abandon`), to go on with it: its lease begins
        anew. `BatchExpired` if it is not on the list any more. Two reads and a swap."""
        began = Watch()
        listed = next((entry for entry in self._read().entries if entry.token == token), None)
        if listed is None or not self.renew(token, lease):
            raise BatchExpired(listed.owner if listed else "another process", "its beginning", lease)
        return Batch(self, listed, lease, began)

    def is_open(self, token: str) -> bool:
        """Whether a batch is on the list, and its lease has not ended. One read."""
        return any(entry.token == token and entry.until >= wall() for entry in self._read().entries)

    def renew(self, token: str, lease: float) -> bool:
        """Have the lease begin anew; whether the batch was still on the list. A read and a swap."""
        until = wall() + int(lease * _SECOND)
        listed = self._change(lambda entries: [_renewed(entry, token, until) for entry in entries])
        return any(entry.token == token for entry in listed)

    def close(self, token: str) -> bool:
        """Take a batch off the list; whether it still was on it. A read and a swap."""
        before: list[Entry] = []

        def closed(entries: list[Entry]) -> list[Entry]:
            before.extend(entries)
            return _without(entries, token)

        self._change(closed)
        return any(entry.token == token for entry in before)

    # how

    def _change(self, change: Callable[[list[Entry]], list[Entry]]) -> list[Entry]:
        """Apply a change, which may be done twice, until it holds; the list after it."""
        unknown = 0
        while True:
            found = self._read()
            entries = change(list(found.entries))
            if entries == list(found.entries):
                return entries
            try:
                if self._swap(found, entries):
                    return entries
            except TableNotFound:
                ensured(self._table, FAMILIES)
            except OutcomeUnknown:
                unknown += 1
                if unknown == _ATTEMPTS:
                    raise
            time.sleep(random.uniform(0, 0.02))

    def _swap(self, found: _List, entries: list[Entry]) -> bool:
        version = successor(found.version)
        cell = {"version": version.decode(), "batches": [attrs.asdict(entry) for entry in entries]}
        return self._table.swap(KEY, found.version, {VERSION: version, OPEN: json.dumps(cell).encode()})

    def _read(self) -> _List:
        try:
            cell = next(self._table.cells(KEY, "p", OPEN[2:], OPEN[2:] + b"\0", limit=1), None)
        except TableNotFound:
            cell = None
        if cell is None:
            return _List(None, ())
        stored = json.loads(cell.value)
        entries = (Entry(**entry) for entry in stored["batches"])
        listed = tuple(entry if entry.since else attrs.evolve(entry, since=cell.time) for entry in entries)
        return _List(stored["version"].encode(), listed)


class Batch:
    """An open batch; made by `batch`. `since` is a time before all its writes; the stable time stays below it."""

    def __init__(self, batches: Batches, entry: Entry, lease: float, began: Watch) -> None:
        self.since: int = entry.since or 0
        self.token = entry.token
        self._batches = batches
        self._entry = entry
        self._lease = lease
        self._renewed = began
        self._ended = threading.Event()
        self._lost = False
        self._stamped = 0
        self._renewing = threading.Thread(target=self._renew, name="neomodel-batch", daemon=True)
        self._renewing.start()

    def __repr__(self) -> str:
        return f"<batch of {self._entry.owner} since {told(self.since)}>"

    def check(self) -> None:
        """Raise `BatchExpired` if others don't wait for it any more. Costs no call."""
        if self._lost or self._renewed.age() > self._lease * _SECOND:
            raise self._expired()

    def stamps(self, *, after: int = 0) -> Iterator[int]:
        """Times that grow, each when it is asked for, later than `since` and `after`, not later than now, and given to
        nobody else: neither to another batch, nor to a swap. For stores where clients stamp, to write with."""
        lane = self._entry.lane
        self._stamped = max(self._stamped, after)
        while True:
            self._stamped = max(self._stamped, self.since, wall() - LANES) // LANES * LANES + LANES + lane
            if (early := self._stamped - wall()) > 0:
                time.sleep(early / _SECOND + 1e-4)
            yield self._stamped

    def close(self) -> None:
        """Take it off the list: all that was written in it is acknowledged. Raises `BatchExpired` if it had expired."""
        self._end()
        if not self._batches.close(self.token):
            raise self._expired()

    def abandon(self) -> None:
        """Leave it on the list until its lease ends: something that was written in it may still be on its way."""
        self._end()

    def _end(self) -> None:
        self._ended.set()
        self._renewing.join()

    def _renew(self) -> None:
        while not self._ended.wait(self._lease / 3):
            began = Watch()
            try:
                self.check()
                self._lost = not self._batches.renew(self.token, self._lease)
                self._renewed = began
            except BatchExpired:
                self._lost = True
            except (StoreUnavailable, OutcomeUnknown):
                continue  # it is tried again; if that goes on, the lease ends, which is told to who writes
            if self._lost:
                return

    def _expired(self) -> BatchExpired:
        return BatchExpired(self._entry.owner, told(self.since), self._lease)


@contextmanager
def batch(where: "Repository | Model", *, lease: float = LEASE) -> Iterator[Batch]:
    """Have the stable time stay below all that is written in the block, until it ends: who reads as of "stable" sees
    nothing of it before.

    It is for all models of the repository, and for this `Repository` object alone. Within another one, it is that one.
    The process is waited for as long as it lives; if it dies, or stands still, for `lease` seconds and
    `Store.settling`. Then the next write in the block raises `BatchExpired`, and what was written before is there. If
    the block ends with `OutcomeUnknown`, or is interrupted, the batch stays open until its lease ends, since something
    may still arrive.
    """
    repository: Repository = getattr(where, "repository", None) or where  # type: ignore[assignment]
    if not isinstance(lease, int | float) or lease <= 0:
        raise InvalidValue("the lease of a batch", lease, "a number of seconds")
    if repository.batch is not None:
        yield repository.batch
        return
    opened = repository.batch = repository.batches.open(lease)
    try:
        yield opened
    except BaseException as exc:
        if isinstance(exc, Exception) and not isinstance(exc, OutcomeUnknown):
            opened.close()
        else:  # an interrupt may have come while a write was on its way
            opened.abandon()
        raise
    else:
        opened.close()
    finally:
        repository.batch = None


def _with(entry: Entry, entries: list[Entry]) -> list[Entry]:
    others = _without(entries, entry.token)
    free = set(range(1, LANES)) - {other.lane for other in others}
    if not free:
        raise InvalidValue("the number of open batches", len(others), f"less than {LANES - 1}; wait for some to end")
    return [*others, attrs.evolve(entry, lane=min(free))]


def _renewed(entry: Entry, token: str, until: int) -> Entry:
    return attrs.evolve(entry, until=until) if entry.token == token else entry


def _without(entries: list[Entry], token: str) -> list[Entry]:
    return [entry for entry in entries if entry.token != token]
