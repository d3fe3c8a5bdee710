"""The specification of a store, in plain dicts. Every other store must agree with this one.

Written to be read: a lock around everything, and sorting where order is promised. `memory:` is a store of its own each
time it is opened; `memory:NAME` is one and the same wherever this process opens it.
"""

import bisect
import itertools
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

from neomodel.errors import InvalidStore, TableExists, TableNotFound, was_closed
from neomodel.stores.base import ORDERED, VERSION, Cell, Cells, Columns, Mutation, Region, Row, Store, Table, Version
from neomodel.stores.checks import (
    check_at,
    check_cells,
    check_columns,
    check_families,
    check_family,
    check_key,
    check_name,
    check_swap,
    check_time,
)

_Versions = list[tuple[int, bytes | None]]  # oldest first
_BATCH = 5000


class _Content:
    """What a table holds. A dropped table's content is simply no longer found."""

    def __init__(self, families: frozenset[bytes], splits: list[bytes]) -> None:
        self.families = families
        self.splits = splits
        self.horizon = 0
        self.rows: dict[bytes, dict[bytes, _Versions]] = {}


class _Memory:
    """What all have that open one store."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.contents: dict[str, _Content] = {}
        self.clock = 0
        self.writes = 0

    def tick(self) -> int:
        """A time later than every one before it, and never before the wall clock's."""
        self.clock = max(time.time_ns() // 1000, self.clock + 1)
        return self.clock


class _Closed:
    """In place of the memory of a store that was closed: whatever is asked of it is refused."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __getattr__(self, name: str) -> Any:
        raise was_closed(self._url)


class MemoryStore(Store):
    """Tables in this process's memory: gone when it ends."""

    capabilities = frozenset({ORDERED})

    def __init__(self, url: str, memory: _Memory | None = None) -> None:
        self.url = url
        self.memory = memory or _Memory()

    def table(self, name: str) -> Table:
        return MemoryTable(self, check_name(name))

    def tables(self) -> list[str]:
        with self.memory.lock:
            return sorted(self.memory.contents)

    def close(self) -> None:
        if isinstance(self.memory, _Memory):
            with self.memory.lock:  # what is being written is
                self.memory = _Closed(self.url)  # type: ignore[assignment]  # refuses all that is asked of it


class MemoryTable(Table):
    def __init__(self, store: MemoryStore, name: str) -> None:
        self.name = name
        self._store = store

    # the table itself

    def create(self, families: Iterable[str], *, splits: Iterable[bytes] = ()) -> None:
        content = _Content(check_families(families), sorted({check_key(split) for split in splits}))
        with self._store.memory.lock:
            if self.name in self._store.memory.contents:
                raise TableExists(self.name, self._store.url)
            self._store.memory.contents[self.name] = content
            self._store.memory.writes += 1

    def drop(self) -> None:
        with self._store.memory.lock:
            self._content()
            del self._store.memory.contents[self.name]
            self._store.memory.writes += 1

    def families(self) -> frozenset[str]:
        return frozenset(family[:1].decode() for family in self._content().families)

    def regions(self) -> list[Region]:
        bounds = [b"", *self._content().splits, None]
        return [Region(start or b"", stop) for start, stop in itertools.pairwise(bounds)]

    def now(self) -> int:
        with self._store.memory.lock:
            self._content()
            return self._store.memory.clock

    def mark(self) -> int:
        return self._store.memory.writes

    # reading

    def get(self, key: bytes, *, at: int | None = None, columns: Columns = None) -> Row | None:
        return self.get_many([key], at=at, columns=columns).get(key)

    def get_many(self, keys: Iterable[bytes], *, at: int | None = None, columns: Columns = None) -> dict[bytes, Row]:
        with self._store.memory.lock:
            self._check_read(at, columns)
            rows = {check_key(key): self._row(key, at, columns) for key in keys}
            return {key: row for key, row in rows.items() if row}

    def cells(
        self,
        key: bytes,
        family: str,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[Cell]:
        with self._store.memory.lock:
            row = self._content().rows.get(check_key(key), {})
            live = self._live(row, at, [check_family(family, self._content().families)])
            cells = [Cell(column[2:], time, value) for column, time, value in live]
        inside = [c for c in cells if start <= c.qualifier and (stop is None or c.qualifier < stop)]
        yield from (inside[::-1] if reverse else inside)[:limit]

    def firsts(
        self,
        keys: Iterable[bytes],
        family: str,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
    ) -> dict[bytes, Cell]:
        self._check_read(at, [f"{family}:".encode()])
        return super().firsts(keys, family, start, stop, at=at)

    def scan(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
        columns: Columns = None,
    ) -> Iterator[tuple[bytes, Row]]:
        self._check_read(at, columns)
        for key in self._keys(start, stop):
            row = self.get(key, at=at, columns=columns)
            if row:
                yield key, row

    def history(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        columns: Columns = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[Version]:
        content = self._content()
        self._check_read(since, columns)
        last = check_at(until, content.horizon, self._where())
        for key in self._keys(start, stop):
            for column, versions in self._selected(content.rows.get(key, {}), columns):
                for time_, value in reversed(versions):
                    if (since is None or time_ > since) and time_ <= last:
                        yield Version(key, column, time_, value)

    # writing

    def swap(self, key: bytes, expected: bytes | None, cells: Cells) -> bool:
        with self._store.memory.lock:
            self._check(key, cells)
            check_swap(expected, cells)
            if (self._row(key, None, [VERSION]) or {}).get(VERSION) != expected:
                return False
            self._write(key, cells, self._store.memory.tick())
            self._store.memory.writes += 1
            return True

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        remaining = iter(mutations)
        while batch := list(itertools.islice(remaining, _BATCH)):
            with self._store.memory.lock:
                horizon = self._content().horizon
                for key, cells, own in batch:
                    self._check(key, cells)
                    if own is not None:
                        check_time(own, self._store.memory.tick(), horizon or -1)
                for key, cells, own in batch:
                    self._write(key, cells, self._store.memory.tick() if own is None else own)
                self._store.memory.writes += 1

    def purge(self, before: int) -> int:
        gone = 0
        with self._store.memory.lock:
            content = self._content()
            check_time(before, self._store.memory.tick())
            content.horizon = max(before, content.horizon)
            for row in content.rows.values():
                for column, versions in list(row.items()):
                    seen = _seen(versions, content.horizon)
                    useless = seen if seen and versions[seen - 1][1] is None else max(seen - 1, 0)
                    row[column] = versions[useless:]
                    gone += useless
            self._store.memory.writes += 1
        return gone

    def erase(self, key: bytes, family: str, start: bytes, stop: bytes, until: int, instead: Row) -> int:
        with self._store.memory.lock:
            self._check(key, instead)
            content = self._content()
            head = check_family(family, content.families)
            self._write(key, instead, content.horizon)
            gone = 0
            for column, versions in list(content.rows[key].items()):
                if head + start <= column < head + stop and column not in instead:
                    seen = _seen(versions, until)
                    content.rows[key][column] = versions[seen:]
                    gone += seen
            self._store.memory.writes += 1
        return gone

    # how

    def _where(self) -> str:
        return f"table {self.name!r} of {self._store.url}"

    def _content(self) -> _Content:
        try:
            return self._store.memory.contents[self.name]
        except KeyError:
            raise TableNotFound(self.name, self._store.url) from None

    def _keys(self, start: bytes, stop: bytes | None) -> list[bytes]:
        with self._store.memory.lock:
            rows = self._content().rows
            return sorted(key for key in rows if start <= key and (stop is None or key < stop))

    def _selected(self, row: dict[bytes, _Versions], columns: Columns) -> Iterator[tuple[bytes, _Versions]]:
        wanted = check_columns(columns, self._content().families)
        for column, versions in sorted(row.items()):
            if column in wanted or column[:2] in wanted:
                yield column, versions

    def _live(
        self, row: dict[bytes, _Versions], at: int | None, columns: Columns
    ) -> Iterator[tuple[bytes, int, bytes]]:
        when = check_at(at, self._content().horizon, self._where())
        for column, versions in self._selected(row, columns):
            seen = _seen(versions, when)
            if seen:
                time_, value = versions[seen - 1]
                if value is not None:
                    yield column, time_, value

    def _row(self, key: bytes, at: int | None, columns: Columns) -> Row:
        row = self._content().rows.get(key, {})
        return {column: value for column, _, value in self._live(row, at, columns)}

    def _check_read(self, at: int | None, columns: Columns) -> None:
        """Refuse what can't be read, also where there is nothing to read."""
        content = self._content()
        check_at(at, content.horizon, self._where())
        check_columns(columns, content.families)

    def _check(self, key: bytes, cells: Cells) -> None:
        check_key(key)
        check_cells(cells, self._content().families)

    def _write(self, key: bytes, cells: Cells, time_: int) -> None:
        row = self._content().rows.setdefault(key, {})
        for column, value in cells.items():
            others = [version for version in row.get(column, []) if version[0] != time_]
            row[column] = sorted([*others, (time_, value)], key=lambda version: version[0])


def _seen(versions: _Versions, at: int) -> int:
    """How many of the versions are at or before a time."""
    return bisect.bisect_right(versions, at, key=lambda version: version[0])


_named: dict[str, _Memory] = {}


def open_url(url: str, rest: str, *, create: bool) -> Store:
    """`rest` is what follows ``memory:``: nothing, or a name to share the store by within this process."""
    if not create and rest not in _named:
        raise InvalidStore(url, "there is no store of that name in this process")
    return MemoryStore(url, _named.setdefault(rest, _Memory()) if rest else None)
