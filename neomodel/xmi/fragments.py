"""Where each object is in the document: what a reference to it says. In memory while there are few, else on disk."""

import json
import re
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

ROOM = 100_000
"""How many objects are known in memory."""

_USABLE = re.compile(rb"[^/#:\s][^#:\s]*")


class Place(NamedTuple):
    """The path of an object from its root, whose number comes first; and what it is called by, if that is so."""

    path: bytes
    name: bytes | None


class Fragments:
    """Paths and names of objects, by the tokens that refer to them.

    A name counts if no other object has it, and if every reader takes it for one: EMF takes what has a colon for a
    type, and what has a # for another file.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self.paths: dict[bytes, bytes] = {}
        """Those in memory. Whoever adds to it himself calls `settle` now and then."""
        self._names: dict[bytes, bytes] = {}
        self._owners: dict[bytes, bytes] = {}
        self._shared: set[bytes] = set()
        self._disk: sqlite3.Connection | None = None

    def add(self, token: bytes, path: bytes, name: bytes | None = None) -> None:
        """Know an object. Each is added once, before any is asked for."""
        self.paths[token] = path
        if name is not None and _USABLE.fullmatch(name):
            self._names[token] = name
            if self._owners.setdefault(name, token) != token:
                self._shared.add(name)

    def settle(self) -> None:
        """Make room in memory if there are too many."""
        if len(self.paths) >= self._room:
            self._spill()

    def find(self, tokens: Iterable[bytes]) -> dict[bytes, Place]:
        """Those of the objects that are known. One query if there are many."""
        if self._disk is None:
            paths, names = self.paths, self._names
            return {token: Place(paths[token], names.get(token)) for token in tokens if token in paths}
        self._spill()
        asked = json.dumps([token.decode() for token in tokens])
        query = "SELECT token, path, name FROM places WHERE token IN (SELECT value FROM json_each(?))"
        return {token.encode(): Place(path, name) for token, path, name in self._disk.execute(query, [asked])}

    def unique(self, name: bytes) -> bool:
        """Whether only one object has that name."""
        return name not in self._shared

    def close(self) -> None:
        if self._disk is not None:
            self._disk.close()

    def _spill(self) -> None:
        """Put what is in memory on disk: into a file of SQLite's own, which is gone when it is closed."""
        if self._disk is None:
            self._disk = sqlite3.connect("", isolation_level=None)
            self._disk.execute("PRAGMA journal_mode = OFF")
            self._disk.execute("PRAGMA cache_size = -16000")  # kilobytes
            self._disk.execute("CREATE TABLE places (token TEXT PRIMARY KEY, path BLOB, name BLOB) WITHOUT ROWID")
            self._disk.execute("CREATE TABLE names (name BLOB PRIMARY KEY) WITHOUT ROWID")
        names = self._names
        rows = ((token.decode(), path, names.get(token)) for token, path in sorted(self.paths.items()))
        self._disk.execute("BEGIN")
        self._disk.executemany("INSERT OR REPLACE INTO places VALUES (?, ?, ?)", rows)
        asked = json.dumps([name.decode() for name in self._owners])
        query = "SELECT name FROM names WHERE name IN (SELECT CAST(value AS BLOB) FROM json_each(?))"
        self._shared.update(name for (name,) in self._disk.execute(query, [asked]))
        self._disk.executemany("INSERT OR IGNORE INTO names VALUES (?)", ((name,) for name in sorted(self._owners)))
        self._disk.execute("COMMIT")
        self.paths.clear()
        names.clear()
        self._owners.clear()
