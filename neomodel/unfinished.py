"""Models that are being imported, or were when their importer died: in a table of their own, until they are complete.

The row of a model has its name as key and the cell ``p:import``: who imports it, since when, and in which batch, whose
lease tells whether he is still at it. Who begins an import takes the row by compare-and-swap, so there is one at most.
A model that is restored is imported too, and it is said of which backup; ``p:done`` + file are those that are written.
"""

import json
import os
import platform

import attrs

from neomodel.batches import Batch, Batches
from neomodel.errors import JobEnded, TableNotFound, UnfinishedImport
from neomodel.stores import VERSION, Mutation, Store, ensured, successor
from neomodel.stores.clock import wall
from neomodel.times import told

TABLE = "_imports"
FAMILIES = "pt"
IMPORT = b"p:import"
DONE = b"p:done"


@attrs.frozen
class Mark:
    """One import: who does it, since when, in which batch; of which backup, if it is restored from one."""

    owner: str
    since: str
    batch: str
    backup: str | None = None


class Unfinished:
    """The unfinished imports of a store."""

    def __init__(self, store: Store, batches: Batches) -> None:
        self._store = store
        self._batches = batches
        self._table = store.table(TABLE)

    def begin(self, name: str, batch: Batch, *, backup: str | None = None) -> None:
        """Mark a model as being imported, or restored from a backup; `UnfinishedImport` if somebody else is at it. A
        read and a swap, again if somebody else was first. What was noted as done stays noted, if it is the same backup.
        """
        mark = Mark(_owner(), told(wall()), batch.token, backup)
        taken = False
        while not taken:
            row = self._row(name)
            before = _loaded(row[IMPORT]) if IMPORT in row else None
            if before is not None and self.is_running(before):
                raise self._refusal(name, before)
            cells: dict[bytes, bytes | None] = {}
            if before is None or backup is None or before.backup != backup:
                cells = {column: None for column in row if column.startswith(DONE)}
            cells |= {IMPORT: json.dumps(attrs.asdict(mark)).encode(), VERSION: successor(row.get(VERSION))}
            try:
                taken = self._table.swap(name.encode(), row.get(VERSION), cells)
            except TableNotFound:
                ensured(self._table, FAMILIES)

    def end(self, name: str) -> None:
        """The model is complete, or gone. A read and a swap, if there is a mark."""
        row = self._row(name)
        if IMPORT in row:
            gone = dict.fromkeys(column for column in row if column != VERSION)
            self._table.swap(name.encode(), row[VERSION], {**gone, VERSION: successor(row[VERSION])})

    # restoring

    def backup(self, name: str) -> str | None:
        """The backup that a model is being restored from; None if it is not. One read."""
        row = self._row(name)
        return _loaded(row[IMPORT]).backup if IMPORT in row else None

    def still(self, name: str, token: str) -> None:
        """Raise `JobEnded` if a model is no longer being restored in that batch. One read."""
        row = self._row(name)
        if IMPORT not in row or _loaded(row[IMPORT]).batch != token:
            raise JobEnded(token, name, self._store.url, "has ended, since the model was dropped or others restore it")

    def note(self, name: str, file: str) -> None:
        """A file of a backup is written. One write."""
        self._table.put_many([Mutation(name.encode(), {DONE + file.encode(): b"1"})])

    def noted(self, name: str) -> set[str]:
        """The files that are. One read."""
        return {column.removeprefix(DONE).decode() for column in self._row(name) if column.startswith(DONE)}

    # reading

    def names(self) -> list[str]:
        """The models that are unfinished. One scan."""
        try:
            return [key.decode() for key, _ in self._table.scan(columns=[IMPORT])]
        except TableNotFound:
            return []

    def check(self, name: str) -> None:
        """Raise `UnfinishedImport` if the model is unfinished. One read."""
        row = self._row(name)
        if IMPORT in row:
            raise self._refusal(name, _loaded(row[IMPORT]))

    def is_running(self, mark: Mark) -> bool:
        """Whether the importer lives, as far as that can be known."""
        host, _, process = mark.owner.rpartition(":")
        if host == platform.node() and not _lives(int(process)):
            return False
        return self._batches.is_open(mark.batch)

    def _refusal(self, name: str, mark: Mark) -> UnfinishedImport:
        again = "import it again" if mark.backup is None else "restore it again"
        remedy = "wait for it" if self.is_running(mark) else f"{again}, or drop it"
        return UnfinishedImport(name, self._store.url, mark.owner, mark.since, remedy)

    def _row(self, name: str) -> dict[bytes, bytes]:
        try:
            return self._table.get(name.encode()) or {}
        except TableNotFound:
            return {}


def _loaded(cell: bytes) -> Mark:
    return Mark(**json.loads(cell))


def _owner() -> str:
    return f"{platform.node()}:{os.getpid()}"


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # somebody else's
    return True
