"""A range of a model that was scanned at once: what it costs, and that nothing in it is believed for too long."""

import gc
from weakref import ref

import pytest

import neomodel as nm
from neomodel.prefilling import prefilled
from neomodel.repository import Repository
from neomodel.stores.memory import MemoryTable
from neomodel.stores.wrappers import Counting
from tests.objects.library import Book, Shelf

BOOK, SHELF = Book.eClass.type_name, Shelf.eClass.type_name


@pytest.fixture
def model(counting: Counting) -> nm.Model:
    """A model with ten shelves of ten books each, as somebody sees it who has not read anything yet."""
    made = Repository(counting).create("m")
    made.roots.extend([Shelf(name=f"s{s}", books=[Book(name=f"b{s}{b}") for b in range(10)]) for s in range(10)])
    found = Repository(counting).open("m")
    found.repository.metamodel("http://library")
    counting.reset()
    return found


def test_objects_of_the_class_come_and_cost_one_scan(counting: Counting, model: nm.Model) -> None:
    found = list(prefilled(model, SHELF))

    assert sorted(shelf.name for shelf in found) == [f"s{number}" for number in range(10)]
    assert all([book.name for book in shelf.books] == [f"b{shelf.name[1]}{b}" for b in range(10)] for shelf in found)
    assert counting.calls == {"scan": 1}


def test_a_range_has_the_objects_in_it_and_no_others(model: nm.Model) -> None:
    books = [str(nm.oid(book)) for book in model.all(Book)]
    start, stop = books[20].encode(), books[70].encode()

    assert [nm.oid(book) for book in prefilled(model, BOOK, start, stop)] == books[20:70]


@pytest.mark.parametrize("watched", [True, False])
def test_what_others_write_is_seen_as_ever(
    counting: Counting, model: nm.Model, watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not watched:
        monkeypatch.setattr(MemoryTable, "mark", lambda _: None)
    found = list(prefilled(model, SHELF))
    first = found[0].books[0]
    other = Repository(counting).open("m")
    other[str(nm.oid(first))].name = "changed"
    nm.delete(other[str(nm.oid(found[1]))])

    assert first.name == "changed"
    assert found[0].books[0].name == "changed"
    with pytest.raises(nm.ObjectNotFound):
        _ = found[1].books[0].name


def test_own_writes_hold_and_are_compared_with_what_is_stored(counting: Counting, model: nm.Model) -> None:
    (one, *_) = prefilled(model, BOOK)
    one.name = "mine"

    assert one.name == Repository(counting).open("m")[str(nm.oid(one))].name == "mine"


def test_rows_beyond_the_limit_are_read_again_together(counting: Counting, model: nm.Model) -> None:
    at = model.repository.stable("m")
    past = model.repository.open("m", as_of=at)
    counting.reset()

    found = sorted((book.name, book.shelf.name) for book in prefilled(past, BOOK, rows=7))

    assert found == [(f"b{s}{b}", f"s{s}") for s in range(10) for b in range(10)]
    assert counting.calls["scan"] == 1


def test_objects_are_held_by_nobody_but_the_application(model: nm.Model) -> None:
    objects = prefilled(model, BOOK)
    first = ref(next(objects))
    gc.collect()

    assert first() is None
    assert len(model.live) <= 2  # the roots, and what is on its way
