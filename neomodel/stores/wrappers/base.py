"""A store that hands everything to another one.

Every operation goes through one of three seams of `WrappedStore`: `reading`, `streaming`, `writing`. A wrapper that
treats all operations alike overrides those; one that knows better about some of them overrides `table` as well.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, TypeVar

from neomodel.stores.base import Cell, Cells, Columns, Mutation, Region, Row, Store, Table, Version

T = TypeVar("T")


class Call(NamedTuple):
    """One operation of the contract, by its name there. `key` is None if it is not about exactly one row."""

    operation: str
    table: str | None = None
    key: bytes | None = None


class WrappedStore(Store):
    """All of `inner`, unchanged. Closing it closes `inner`."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.url = inner.url
        self.capabilities = inner.capabilities
        self.settling = inner.settling
        self.breadth = inner.breadth

    def table(self, name: str) -> Table:
        return WrappedTable(self, self.inner.table(name))

    def tables(self) -> list[str]:
        return self.reading(Call("tables"), self.inner.tables)

    def size(self) -> int | None:
        return self.inner.size()

    def close(self) -> None:
        self.inner.close()

    def reading(self, call: Call, ask: Callable[[], T]) -> T:  # noqa: ARG002  for who overrides it
        """Every read that answers at once; `ask` does it."""
        return ask()

    def streaming(self, call: Call, ask: Callable[[], Iterator[T]]) -> Iterator[T]:  # noqa: ARG002  likewise
        """Every read that answers bit by bit; `ask` makes the iterator."""
        return ask()

    def writing(self, call: Call, ask: Callable[[], T]) -> T:  # noqa: ARG002  likewise
        """Everything that changes something; `ask` does it."""
        return ask()

    def where(self, call: Call) -> str:
        """What a call is about, in words, for errors."""
        if call.table is None:
            return self.url
        row = "" if call.key is None else f"row {call.key!r} of "
        return f"{row}table {call.table!r} of {self.url}"


class WrappedTable(Table):
    """A table of a wrapped store: hands each operation to the store's seam for it."""

    def __init__(self, store: WrappedStore, inner: Table) -> None:
        self.name = inner.name
        self._store = store
        self._inner = inner

    def create(self, families: Iterable[str], *, splits: Iterable[bytes] = ()) -> None:
        self._store.writing(Call("create", self.name), lambda: self._inner.create(families, splits=splits))

    def drop(self) -> None:
        self._store.writing(Call("drop", self.name), self._inner.drop)

    def get(self, key: bytes, *, at: int | None = None, columns: Columns = None) -> Row | None:
        return self._store.reading(Call("get", self.name, key), lambda: self._inner.get(key, at=at, columns=columns))

    def get_many(self, keys: Iterable[bytes], *, at: int | None = None, columns: Columns = None) -> dict[bytes, Row]:
        return self._store.reading(
            Call("get_many", self.name), lambda: self._inner.get_many(keys, at=at, columns=columns)
        )

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
        return self._store.streaming(
            Call("cells", self.name, key),
            lambda: self._inner.cells(key, family, start, stop, at=at, limit=limit, reverse=reverse),
        )

    def firsts(
        self,
        keys: Iterable[bytes],
        family: str,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
    ) -> dict[bytes, Cell]:
        return self._store.reading(
            Call("firsts", self.name), lambda: self._inner.firsts(keys, family, start, stop, at=at)
        )

    def scan_firsts(
        self, rows: tuple[bytes, bytes | None], family: str, start: bytes = b"", stop: bytes | None = None, *, at: int
    ) -> Iterator[tuple[bytes, Cell]]:
        return self._store.streaming(
            Call("scan_firsts", self.name), lambda: self._inner.scan_firsts(rows, family, start, stop, at=at)
        )

    def scan(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
        columns: Columns = None,
    ) -> Iterator[tuple[bytes, Row]]:
        return self._store.streaming(
            Call("scan", self.name), lambda: self._inner.scan(start, stop, at=at, columns=columns)
        )

    def history(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        columns: Columns = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[Version]:
        return self._store.streaming(
            Call("history", self.name),
            lambda: self._inner.history(start, stop, columns=columns, since=since, until=until),
        )

    def histories(self, cells: Collection[tuple[bytes, bytes]]) -> dict[tuple[bytes, bytes], list[Version]]:
        return self._store.reading(Call("histories", self.name), lambda: self._inner.histories(cells))

    def swap(self, key: bytes, expected: bytes | None, cells: Cells) -> bool:
        return self._store.writing(Call("swap", self.name, key), lambda: self._inner.swap(key, expected, cells))

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        self._store.writing(Call("put_many", self.name), lambda: self._inner.put_many(mutations))

    def families(self) -> frozenset[str]:
        return self._store.reading(Call("families", self.name), self._inner.families)

    def regions(self) -> list[Region]:
        return self._store.reading(Call("regions", self.name), self._inner.regions)

    def now(self) -> int:
        return self._store.reading(Call("now", self.name), self._inner.now)

    def mark(self) -> int | None:
        return self._inner.mark()

    def purge(self, before: int) -> int:
        return self._store.writing(Call("purge", self.name), lambda: self._inner.purge(before))

    def erase(self, key: bytes, family: str, start: bytes, stop: bytes, until: int, instead: Row) -> int:
        return self._store.writing(
            Call("erase", self.name, key), lambda: self._inner.erase(key, family, start, stop, until, instead)
        )
