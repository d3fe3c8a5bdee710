"""What a task reads: rows of its own part, and others, which are mostly on other hosts."""

from collections.abc import Callable, Iterable, Iterator

import attrs

from neomodel.stores import Row, Store, Table
from neomodel.stores.base import Columns
from neomodel.stores.wrappers import WrappedStore, WrappedTable
from spark.partitions import Part


@attrs.frozen
class Reads:
    """Rows that were read in the parts of the tasks that read them, `local`, and outside of these, `remote`."""

    local: int
    remote: int

    @property
    def share(self) -> float:
        """Of all that was read, what was remote; 0 if nothing was."""
        return self.remote / ((self.local + self.remote) or 1)


@attrs.frozen
class Counter:
    """Where numbers of rows go to as they are read."""

    local: Callable[[int], object]
    remote: Callable[[int], object]


class Watched(WrappedStore):
    """Tells a counter of every row of any model that is read, which are all tables with names for users. Rows count
    when they come; those that a cache above has are not read."""

    def __init__(self, inner: Store, model: str, part: Part, counter: Counter) -> None:
        super().__init__(inner)
        self._model = model
        self._part = part
        self._counter = counter

    def table(self, name: str) -> Table:
        return super().table(name) if name.startswith("_") else _WatchedTable(self, self.inner.table(name))

    def count(self, table: str, keys: Iterable[bytes]) -> None:
        found = list(keys)
        start, stop = self._part.start, self._part.stop
        inside = sum(start <= key and (stop is None or key < stop) for key in found) if table == self._model else 0
        self._counter.local(inside)
        self._counter.remote(len(found) - inside)


class _WatchedTable(WrappedTable):
    _store: Watched

    def get(self, key: bytes, *, at: int | None = None, columns: Columns = None) -> Row | None:
        row = super().get(key, at=at, columns=columns)
        self._store.count(self.name, [] if row is None else [key])
        return row

    def get_many(self, keys: Iterable[bytes], *, at: int | None = None, columns: Columns = None) -> dict[bytes, Row]:
        rows = super().get_many(keys, at=at, columns=columns)
        self._store.count(self.name, rows)
        return rows

    def scan(
        self, start: bytes = b"", stop: bytes | None = None, *, at: int | None = None, columns: Columns = None
    ) -> Iterator[tuple[bytes, Row]]:
        seen: list[bytes] = []
        try:
            for key, row in super().scan(start, stop, at=at, columns=columns):
                seen.append(key)
                yield key, row
                if len(seen) >= 1000:
                    self._store.count(self.name, seen)
                    seen = []
        finally:
            self._store.count(self.name, seen)
