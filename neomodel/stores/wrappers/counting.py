"""What an access pattern costs, by counting instead of timing."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from neomodel.stores.base import Cells, Mutation, Store, Table
from neomodel.stores.wrappers.base import Call, WrappedStore, WrappedTable

T = TypeVar("T")

# How many cells there are in one answer of a read, or in one item of a stream.
_CELLS: dict[str, Callable[[Any], int]] = {
    "get": lambda row: len(row or ()),
    "get_many": lambda rows: sum(map(len, rows.values())),
    "scan": lambda key_and_row: len(key_and_row[1]),
    "cells": lambda _cell: 1,
    "firsts": len,
    "scan_firsts": lambda _key_and_cell: 1,
    "history": lambda _version: 1,
    "histories": lambda found: sum(map(len, found.values())),
}


class Counting(WrappedStore):
    """Counts every operation of the contract that is asked of the inner store, failed ones too.

    `calls` has them by name; a stream is one call, made when it is first advanced. `cells_read` is what came back,
    `cells_written` what was written by swaps that took place and handed over by `put_many`.
    """

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Start again at nothing."""
        with self._lock:
            self.calls: Counter[str] = Counter()
            self.cells_read = 0
            self.cells_written = 0

    def count(self, *, call: str | None = None, cells_read: int = 0, cells_written: int = 0) -> None:
        with self._lock:
            self.calls.update([call] if call else [])
            self.cells_read += cells_read
            self.cells_written += cells_written

    def table(self, name: str) -> Table:
        return _CountingTable(self, self.inner.table(name))

    def reading(self, call: Call, ask: Callable[[], T]) -> T:
        self.count(call=call.operation)
        answer = ask()
        if call.operation in _CELLS:
            self.count(cells_read=_CELLS[call.operation](answer))
        return answer

    def streaming(self, call: Call, ask: Callable[[], Iterator[T]]) -> Iterator[T]:
        self.count(call=call.operation)
        for item in ask():
            self.count(cells_read=_CELLS[call.operation](item))
            yield item

    def writing(self, call: Call, ask: Callable[[], T]) -> T:
        self.count(call=call.operation)
        return ask()


class _CountingTable(WrappedTable):
    _store: Counting

    def swap(self, key: bytes, expected: bytes | None, cells: Cells) -> bool:
        written = super().swap(key, expected, cells)
        self._store.count(cells_written=len(cells) if written else 0)
        return written

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        super().put_many(map(self._counted, mutations))

    def _counted(self, mutation: Mutation) -> Mutation:
        self._store.count(cells_written=len(mutation.cells))
        return mutation
