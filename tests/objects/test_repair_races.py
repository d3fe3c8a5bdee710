"""A repair beside a process that writes all the time undoes nothing that it did."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

import neomodel as nm
from neomodel import leaving, storing
from neomodel.stores import Store
from tests.objects.library import Book, Person, Shelf, library
from tests.stores.processes import run

ROUNDS = 200


def test_repairs_beside_a_writer_undo_nothing(lmdb_url: str, figures: Callable[[str], None]) -> None:
    with nm.connect(lmdb_url) as repo:
        repo.register(library)
        model = repo.create("m")
        here, there, ann = Shelf(name="here"), Shelf(name="there"), Person(name="ann")
        model.roots.extend([here, there, ann])
        names: list[list[str]] = []
        writer = threading.Thread(target=lambda: names.append(run(_write, lmdb_url)))
        writer.start()
        passes = mended = 0
        while writer.is_alive():
            report = nm.check(model, repair=True, patience=1.0)
            passes += 1
            mended += report.number - report.left
        writer.join()
        nm.check(model, repair=True, patience=0)

        assert nm.check(model, patience=0).findings == ()
        assert [sorted(book.name for book in books) for books in (there.books, ann.written)] == [names[0]] * 2
        assert (len(there.books), len(here.books)) == (len(names[0]), 1)
        assert sorted(book.name for book in here.inner[0].books) == [f"large{n}" for n in range(1000, 2200)]
        figures(
            f"repair races: {passes} repairs beside {ROUNDS} rounds of a writer, {mended} of its changes met halfway"
        )
        assert passes > 3


def _write(store: Store) -> list[str]:
    """Add, move, mirror and delete books; the names of those that are left."""
    model = nm.Repository(store).open("m")
    here, there, ann = model.roots
    kept = []
    for number in range(ROUNDS):
        book = Book(name=f"{number:03}", authors=[ann])
        here.books.append(book)
        there.books.append(book)
        if number:
            here.books[0].sequel = book
        else:
            here.books.append(Book(name="first"))
        if number % 3:
            kept.append(book.name)
        else:
            nm.delete(book)
    here.inner.append(Shelf(name="large", books=[Book(name=f"large{n}") for n in range(1000, 2200)]))
    return kept


def test_a_move_between_models_that_a_repair_takes_for_dead_is_refused(
    url: str, connect: Callable[[str], nm.Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, other = connect(url), connect(url)
    repo.register(library)
    here, there = repo.create("m"), repo.create("n")
    shelf, book = Shelf(name="shelf", books=[Book(name="book")]), Book(name="kept")
    here.roots.extend([shelf, book])
    there.roots.append(Shelf(name="there"))
    before = nm.oid(shelf)

    def slow(*arguments: Any, **options: Any) -> None:
        monkeypatch.setattr(storing, "erase", leaving.erase)
        found = nm.check(other.open("n"), repair=True, patience=0)
        assert {finding.kind for finding in found.findings} >= {"twofold"}
        leaving.erase(*arguments, **options)

    monkeypatch.setattr(storing, "erase", slow)
    with pytest.raises(nm.Conflict):
        there.roots[0].inner.append(shelf)

    assert (nm.oid(shelf), shelf.eResource, [one.name for one in shelf.books]) == (before, here, ["book"])
    assert list(here.roots) == [shelf, book]
    assert list(connect(url).open("n").roots[0].inner) == []
    assert [nm.check(model, repair=True, patience=0).left for model in (here, there)] == [0, 0]


def test_an_object_that_was_moved_may_be_made_anew_where_it_came_from(
    url: str, connect: Callable[[str], nm.Repository]
) -> None:
    repo = connect(url)
    repo.register(library)
    here, there = repo.create("m"), repo.create("n")
    shelf = Shelf(name="shelf")
    here.roots.append(shelf)
    there.roots.append(shelf)
    again = Shelf(name="again")
    nm.identify(again, str(nm.oid(shelf)))
    here.roots.append(again)

    assert nm.oid(again) == nm.oid(shelf)
    assert [nm.check(model, patience=0).findings for model in (here, there)] == [(), ()]
    assert [model.roots[0].name for model in (here, there)] == ["again", "shelf"]
