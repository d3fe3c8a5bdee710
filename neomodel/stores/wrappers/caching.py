"""A snapshot never changes, so what was read of it once need not be read again."""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from neomodel.stores.base import Columns, Mutation, Row, Store, Table
from neomodel.stores.checks import check_key
from neomodel.stores.wrappers.base import WrappedStore, WrappedTable

# What Python itself takes for a row, and for a cell or a column of a selection, in bytes: rounded up.
ROW_OVERHEAD = 550
CELL_OVERHEAD = 120


class Caching(WrappedStore):
    """Keeps rows that `get` and `get_many` read as of a complete time, absent ones too; least recently used go first.

    Reads of the present, of a time that is not complete yet, and streams pass through. Whether a time is complete is
    asked of the table (`Table.now` less `Store.settling`) only if it is later than every time known to be.
    `limit_bytes` bounds keys, columns and values plus `ROW_OVERHEAD` and `CELL_OVERHEAD`.

    `drop`, `purge`, `erase` and history written through this store are seen at once. If another client drops, purges or
    erases, or brings history into a table's past, rows that are cached may go on being served as they were.
    """

    def __init__(self, inner: Store, *, limit_bytes: int = 64 * 2**20) -> None:
        super().__init__(inner)
        self._limit_bytes = limit_bytes
        self._cache = _Cache(limit_bytes)

    @property
    def cache(self) -> "_Cache":
        """This process's. A new one after a fork: the old one's lock may be held by a thread that is gone."""
        if self._cache.process != os.getpid():
            self._cache = _Cache(self._limit_bytes)
        return self._cache

    def table(self, name: str) -> Table:
        return _CachingTable(self, self.inner.table(name))


class _CachingTable(WrappedTable):
    _store: Caching

    def get(self, key: bytes, *, at: int | None = None, columns: Columns = None) -> Row | None:
        cache = self._store.cache
        snapshot = self._snapshot(cache, at, columns)
        if snapshot is None:
            return super().get(key, at=at, columns=columns)
        row = cache.find(snapshot, check_key(key))
        if row is None:
            row = super().get(key, at=at, columns=columns) or {}
            cache.keep(snapshot, key, row)
        return row or None

    def get_many(self, keys: Iterable[bytes], *, at: int | None = None, columns: Columns = None) -> dict[bytes, Row]:
        cache = self._store.cache
        snapshot = self._snapshot(cache, at, columns)
        if snapshot is None:
            return super().get_many(keys, at=at, columns=columns)
        found = {key: cache.find(snapshot, check_key(key)) for key in keys}
        missing = [key for key, row in found.items() if row is None]
        read = super().get_many(missing, at=at, columns=columns) if missing or not found else {}
        for key in missing:
            found[key] = read.get(key, {})
            cache.keep(snapshot, key, read.get(key, {}))
        return {key: row for key, row in found.items() if row}

    def drop(self) -> None:
        try:
            super().drop()
        finally:
            self._store.cache.forget(self.name)

    def purge(self, before: int) -> int:
        try:
            return super().purge(before)
        finally:
            self._store.cache.forget(self.name)

    def erase(self, key: bytes, family: str, start: bytes, stop: bytes, until: int, instead: Row) -> int:
        try:
            return super().erase(key, family, start, stop, until, instead)
        finally:
            self._store.cache.forget(self.name)

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        history = False

        def watched() -> Iterator[Mutation]:
            nonlocal history
            for mutation in mutations:
                history |= mutation.time is not None
                yield mutation

        try:
            super().put_many(watched())
        finally:
            if history:
                self._store.cache.forget(self.name)

    def _snapshot(self, cache: "_Cache", at: int | None, columns: Columns) -> "_Snapshot | None":
        """What rows are cached under, or None if they must not be. Taken before the row is read: what a write
        meanwhile forgets stays forgotten."""
        if at is None:
            return None
        past = cache.past(self.name)
        if at > past.complete:
            past.complete = max(past.complete, self.now() - self._store.settling)
        if at > past.complete:
            return None
        return _Snapshot(past, at, None if columns is None else frozenset(columns))


class _Past:
    """One table's past, until it is rewritten: then there is a new one, and nothing is found under the old."""

    complete = -1


class _Snapshot(NamedTuple):
    past: _Past
    at: int
    columns: frozenset[bytes] | None


class _Cache:
    """Rows by snapshot and key, up to a number of bytes. Thread-safe; rows are copied in and out."""

    def __init__(self, limit_bytes: int) -> None:
        self.process = os.getpid()
        self._limit_bytes = limit_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._pasts: dict[str, _Past] = {}
        self._rows: OrderedDict[tuple[_Snapshot, bytes], Row] = OrderedDict()

    def past(self, table: str) -> _Past:
        with self._lock:
            return self._pasts.setdefault(table, _Past())

    def forget(self, table: str) -> None:
        """Find nothing of this table any more. Its rows go as the least recently used."""
        with self._lock:
            self._pasts.pop(table, None)

    def find(self, snapshot: _Snapshot, key: bytes) -> Row | None:
        """The row, empty if it is known to be absent; None if it is not cached."""
        with self._lock:
            row = self._rows.get((snapshot, key))
            if row is None:
                return None
            self._rows.move_to_end((snapshot, key))
            return dict(row)

    def keep(self, snapshot: _Snapshot, key: bytes, row: Row) -> None:
        if _size(snapshot, key, row) > self._limit_bytes:
            return
        with self._lock:
            if (snapshot, key) not in self._rows:
                self._rows[snapshot, key] = dict(row)
                self._bytes += _size(snapshot, key, row)
            while self._bytes > self._limit_bytes:
                (old_snapshot, old_key), old_row = self._rows.popitem(last=False)
                self._bytes -= _size(old_snapshot, old_key, old_row)


def _size(snapshot: _Snapshot, key: bytes, row: Row) -> int:
    selection = sum(len(column) + CELL_OVERHEAD for column in snapshot.columns or ())
    cells = sum(len(column) + len(value) + CELL_OVERHEAD for column, value in row.items())
    return ROW_OVERHEAD + len(key) + selection + cells
