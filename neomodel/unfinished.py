"""Models that are being imported, or were when their importer died: in a table of their own, until they are complete.

The row of a model has its name as key and the cell ``p:import``: who imports it, since when, and in which batch, whose
lease tells whether he is still at it. Who begins an import takes the row by compare-and-swap, so there is one at most.
"""

import json
import os
import platform

import attrs

from neomodel.batches import Batch, Batches
from neomodel.errors import TableNotFound, UnfinishedImport
from neomodel.stores import VERSION, Store, ensured, successor
from neomodel.stores.clock import wall
from neomodel.times import told

TABLE = "_imports"
FAMILIES = "pt"
IMPORT = b"p:import"


@attrs.frozen
class Mark:
    """One import: who does it, since when, in which batch."""

    owner: str
    since: str
    batch: str


class Unfinished:
    """The unfinished imports of a store."""

    def __init__(self, store: Store, batches: Batches) -> None:
        self._store = store
        self._batches = batches
        self._table = store.table(TABLE)

    def begin(self, name: str, batch: Batch) -> None:
        """Mark a model as being imported; `UnfinishedImport` if somebody else is at it. A read and a swap."""
        row = self._row(name)
        if IMPORT in row and self.is_running(mark := _loaded(row[IMPORT])):
            raise self._refusal(name, mark)
        mark = Mark(_owner(), told(wall()), batch.token)
        cells = {IMPORT: json.dumps(attrs.asdict(mark)).encode(), VERSION: successor(row.get(VERSION))}
        try:
            taken = self._table.swap(name.encode(), row.get(VERSION), cells)
        except TableNotFound:
            ensured(self._table, FAMILIES)
            taken = self._table.swap(name.encode(), None, cells)
        if not taken:
            raise self._refusal(name, _loaded(self._row(name)[IMPORT]))

    def end(self, name: str) -> None:
        """The model is complete, or gone. A read and a swap, if there is a mark."""
        row = self._row(name)
        if IMPORT in row:
            self._table.swap(name.encode(), row[VERSION], {IMPORT: None, VERSION: successor(row[VERSION])})

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
        remedy = "wait for it" if self.is_running(mark) else "import it again, or drop it"
        return UnfinishedImport(name, self._store.url, mark.owner, mark.since, remedy)

    def _row(self, name: str) -> dict[bytes, bytes]:
        try:
            return self._table.get(name.encode(), columns=[IMPORT, VERSION]) or {}
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
