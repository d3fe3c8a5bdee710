"""Stores that may write the rows of one call in any order: a subtree still comes whole or not at all."""

from collections.abc import Iterable
from typing import Any

import neomodel as nm
from neomodel.repository import Repository
from neomodel.stores import Mutation, Store, Table
from neomodel.stores.base import ORDERED
from neomodel.stores.memory import MemoryStore
from neomodel.stores.wrappers import WrappedStore, WrappedTable
from tests.objects.library import Book, Shelf, library


class SideBySide(WrappedStore):
    """A store that is not `ORDERED`, and knows which rows were written in which call."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.capabilities = inner.capabilities - {ORDERED}
        self.calls: list[list[str]] = []

    def table(self, name: str) -> Table:
        return _Table(self, self.inner.table(name))


class _Table(WrappedTable):
    _store: SideBySide

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        written = list(mutations)
        self._store.calls.append([mutation.key.decode() for mutation in written])
        super().put_many(written)


def stored(**features: Any) -> tuple[SideBySide, list[Any]]:
    """Two shelves, put into a model at once."""
    store = SideBySide(MemoryStore("memory:"))
    repo = Repository(store)
    repo.register(library)
    model = repo.create("m")
    shelves = [Shelf(name=name, **{feature: make() for feature, make in features.items()}) for name in "ab"]
    store.calls.clear()
    model.roots.extend(shelves)
    return store, shelves


def test_tops_are_written_after_all_that_lies_below_them() -> None:
    store, shelves = stored(books=lambda: [Book(name="x"), Book(name="y")])

    below, tops = store.calls

    assert sorted(tops) == sorted(str(nm.oid(shelf)) for shelf in shelves)
    assert sorted(below) == sorted(str(nm.oid(book)) for shelf in shelves for book in shelf.books)


def test_what_contains_nothing_is_written_in_one_call() -> None:
    store, shelves = stored()

    assert [sorted(call) for call in store.calls] == [sorted(str(nm.oid(shelf)) for shelf in shelves)]
