"""Several changes as one, changes that meet others, and how soon others are seen."""

import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import neomodel as nm
from neomodel.repository import Repository
from neomodel.stores import VERSION, Store
from neomodel.stores.wrappers import Faulty
from tests.objects.library import Book, Person, Shelf, library, stocked
from tests.stores.processes import run


def other(obj: Any) -> Any:
    """The same object as another client of the store has it."""
    return Repository(obj.eResource.repository.store).open(obj.eResource.name)[nm.oid(obj)]


def versions(obj: Any) -> int:
    """How often the object's row was written."""
    key = nm.oid(obj).encode()
    return len(list(obj.eResource.table.history(key, key + b"\0", columns=[VERSION])))


# one swap


def test_what_changes_in_an_edit_is_written_at_its_end_by_one_swap(model: nm.Model) -> None:
    _, book = stocked(model, b={})
    before = versions(book)
    with nm.edit(book):
        book.name, book.pages = "x", 1
        book.tags.append("t")
        assert (other(book).name, other(book).pages) == ("b", 100)

    assert (other(book).name, other(book).pages, other(book).tags) == ("x", 1, ["t"])
    assert versions(book) == before + 1


def test_an_edit_sees_its_own_changes_and_otherwise_the_object_as_it_was(model: nm.Model) -> None:
    _, book = stocked(model, b={})

    def changed() -> None:
        with nm.edit(book):
            book.pages = 1
            other(book).language = "fr"
            assert (book.pages, book.language) == (1, "en")

    with pytest.raises(nm.Conflict):
        changed()
    assert (book.pages, book.language) == (100, "fr")


def test_children_put_in_by_an_edit_are_seen_in_it_and_after_it(model: nm.Model) -> None:
    (shelf,) = stocked(model)
    book, best = Book(name="b"), Book(name="best")
    with nm.edit(shelf):
        shelf.books.append(book)
        shelf.books.append(book)
        shelf.best = best
        assert (list(shelf.books), shelf.books[0], book in shelf.books, shelf.best) == ([book], book, True, best)

    assert ([one.name for one in other(shelf).books], other(shelf).best.name) == (["b"], "best")


def test_opposites_follow_an_edit(model: nm.Model) -> None:
    _, book, sequel = stocked(model, b={}, sequel={})
    reader = Person()
    model.roots.append(reader)
    with nm.edit(book):
        book.sequel, book.reader = sequel, reader
        assert (sequel.prequel, list(reader.lent)) == (None, [])

    assert (other(sequel).prequel.name, [one.name for one in other(reader).lent]) == ("b", ["b"])


def test_a_block_that_raises_writes_nothing(model: nm.Model) -> None:
    shelf, book, sequel = stocked(model, b={}, sequel={})
    rows = list(model.table.scan())

    def failing_book() -> None:
        with nm.edit(book):
            book.name, book.sequel, book.tags = "x", sequel, ["t"]
            _ = 1 / 0

    def failing_shelf() -> None:
        with nm.edit(shelf):
            shelf.books = [Book()]
            shelf.best = sequel
            _ = 1 / 0

    for failing in (failing_book, failing_shelf):
        with pytest.raises(ZeroDivisionError):
            failing()
    assert list(model.table.scan()) == rows
    assert (book.name, book.sequel, list(shelf.books)) == ("b", None, [book, sequel])


@pytest.mark.parametrize("raising", [True, False])
def test_a_child_moved_in_an_edit_of_itself_is_where_the_edit_leaves_it(model: nm.Model, raising: bool) -> None:
    one, book = stocked(model, b={})
    two = Shelf(name="two")
    model.roots.append(two)
    with suppress(ZeroDivisionError), nm.edit(book):
        book.shelf = two
        assert book.shelf is two
        _ = 1 / (not raising)

    full, empty = (one, two) if raising else (two, one)
    for see in (lambda obj: obj, other):
        assert [found.name for found in see(full).books] == ["b"]
        assert len(see(empty).books) == 0
        assert see(book).shelf.name == full.name


def test_an_object_that_is_being_edited_is_not_taken_out_of_its_model(model: nm.Model) -> None:
    shelf, book = stocked(model, b={})
    for attempt in (lambda: nm.delete(book), lambda: shelf.books.remove(book)):
        with nm.edit(book), pytest.raises(nm.InvalidValue, match="not being edited"):
            attempt()

    assert list(other(shelf).books) != []


def test_an_object_that_leaves_its_container_in_an_edit_of_itself_leaves_the_model_after_it(model: nm.Model) -> None:
    shelf, book = stocked(model, b={})
    with nm.edit(book):
        book.shelf, book.name = None, "left"
        assert (book.shelf, book.eContainer()) == (None, None)
        assert nm.oid(book) in model

    assert (book.eResource, book.name, list(other(shelf).books)) == (None, "left", [])


def test_an_edit_in_an_edit_of_the_same_object_is_refused(model: nm.Model) -> None:
    _, book = stocked(model, b={})
    with nm.edit(book):
        with pytest.raises(nm.InvalidValue, match="not being edited already"), nm.edit(book):
            pass
        book.pages = 1

    assert other(book).pages == 1


def test_a_transient_object_is_edited_in_place() -> None:
    book = Book()
    with nm.edit(book) as same:
        same.pages = 1

    assert book.pages == 1


# conflicts


def test_a_conflict_tells_both_versions_and_changes_nothing(model: nm.Model) -> None:
    _, book = stocked(model, b={})
    found = []

    def version() -> str:
        return str(model.table.get(nm.oid(book).encode())[VERSION].decode())

    def late() -> None:
        with nm.edit(book):
            found.append(version())
            other(book).pages = 1
            found.append(version())
            book.name = "lost"

    with pytest.raises(nm.Conflict) as met:
        late()
    read, there = found
    conflict = pickle.loads(pickle.dumps(met.value))
    assert (conflict.where, conflict.expected, conflict.found) == (f"m/{nm.oid(book)}", read, there)
    assert read in str(conflict)
    assert there in str(conflict)
    assert (book.name, book.pages, other(book).name) == ("b", 1, "b")


def test_an_assignment_that_somebody_was_faster_than_raises_conflict(model: nm.Model) -> None:
    """What `pages` was computed from was read before the other write: it must not win."""
    _, book = stocked(model, b={})
    pages = book.pages
    other(book).pages = 7
    with pytest.raises(nm.Conflict):
        book.pages = pages + 1

    assert book.pages == 7
    book.pages = book.pages + 1
    assert other(book).pages == 8


def test_an_object_deleted_by_another_is_a_conflict_for_who_changes_it(model: nm.Model) -> None:
    _, book = stocked(model, b={})
    assert book.pages == 100
    nm.delete(other(book))

    with pytest.raises(nm.Conflict, match="none is there"):
        book.pages = 1
    with pytest.raises(nm.ObjectNotFound):
        _ = book.pages
    assert "missing" in repr(book)


def test_redo_does_it_again_until_it_holds(model: nm.Model) -> None:
    _, book = stocked(model, b={})
    rivals = [1, 2, 3]

    def change() -> str:
        with nm.edit(book):
            book.pages += 1
            if rivals:
                other(book).pages += 10 * rivals.pop()
        return "done"

    assert nm.redo(change) == "done"
    assert (book.pages, other(book).pages) == (161, 161)


def test_redo_gives_up_with_the_last_conflict(model: nm.Model) -> None:
    _, book = stocked(model, b={})
    calls = []

    def change() -> None:
        calls.append(book.pages)
        with nm.edit(book):
            other(book).pages += 1
            book.pages = 0

    with pytest.raises(nm.Conflict):
        nm.redo(change, attempts=3)
    assert calls == [100, 101, 102]


def test_an_answer_that_got_lost_is_told_and_the_row_is_read_again(model: nm.Model) -> None:
    _, book = stocked(model, b={})
    lost = ["lost"]
    store = Faulty(model.repository.store, lambda operation, _: lost.pop() if operation == "swap" and lost else None)
    mine = Repository(store).open("m")[nm.oid(book)]
    assert mine.pages == 100

    with pytest.raises(nm.OutcomeUnknown):
        mine.pages = 5

    assert mine.pages == other(book).pages
    mine.pages = 6
    assert other(book).pages == 6


# how soon others are seen


def test_what_another_connection_changes_is_seen_at_once(url: str, repo: Repository, model: nm.Model) -> None:
    shelf, book = stocked(model, b={})
    with nm.connect(url) as theirs:
        far = theirs.open("m")[nm.oid(shelf)]
        for number in range(5):
            far.books[0].pages = number
            assert book.pages == number
            far.books.append(Book(name=str(number)))
            assert [one.name for one in shelf.books] == ["b", *map(str, range(number + 1))]
            book.pages = -number
            assert far.books[0].pages == -number


def test_what_another_process_changes_is_seen_at_once(lmdb_url: str, connect: Callable[[str], Repository]) -> None:
    repo = connect(lmdb_url)
    repo.register(library)
    model = repo.create("m")
    shelf, book = stocked(model, b={})
    assert (book.pages, len(shelf.books)) == (100, 1)

    run(_change, lmdb_url, nm.oid(shelf))

    assert (book.pages, [one.name for one in shelf.books]) == (7, ["b", "c"])


def _change(store: Store, oid: str) -> None:
    shelf = Repository(store).open("m")[oid]
    shelf.books[0].pages = 7
    shelf.books.append(Book(name="c"))


def test_a_snapshot_never_changes(repo: Repository, model: nm.Model) -> None:
    shelf, book = stocked(model, b={})
    then = repo.open("m", as_of=model.table.now())
    book.pages = 1
    shelf.books.append(Book())
    nm.delete(book)

    old = then[nm.oid(shelf)]
    assert [(one.name, one.pages) for one in old.books] == [("b", 100)]
    for attempt in (lambda: setattr(old, "name", "x"), lambda: old.books.append(Book()), lambda: nm.delete(old)):
        with pytest.raises(nm.ReadOnly):
            attempt()
