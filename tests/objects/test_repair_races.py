"""A repair beside a process that writes all the time undoes nothing that it did."""

import threading
from collections.abc import Callable

import neomodel as nm
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
