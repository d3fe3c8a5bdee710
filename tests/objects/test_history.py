"""The history of an object: its versions, and what each one changed."""

from typing import Any

import attrs
import pytest

import neomodel as nm
from neomodel.repository import Repository
from neomodel.stores import open_store
from neomodel.stores.wrappers import Counting
from tests.objects.library import Book, Genre, Person, Shelf, library, stocked


def told(revision: nm.Revision) -> dict[str, tuple[Any, Any]]:
    return {name: (change.before, change.after) for name, change in revision.changes.items()}


def test_each_version_says_what_it_changed_the_oldest_first(model: nm.Model) -> None:
    shelf, book = stocked(model, a={"tags": ["x"]})
    person = Person(name="p")
    model.roots.append(person)
    book.name = "b"
    with nm.edit(book):
        book.genre, book.pages = Genre.CRIME, 7
        book.tags.append("y")
    book.reader = person
    book.rating = None
    book.eUnset("rating")

    created, named, edited, lent, rated, unset = nm.history(book)

    assert created.created
    assert told(created) == {"name": (nm.UNSET, "a"), "tags": ((), ("x",))}
    assert created.moved == nm.Change(nm.UNSET, nm.Place(shelf, "books"))
    assert told(named) == {"name": ("a", "b")}
    assert named.moved is None
    assert told(edited) == {
        "genre": (nm.UNSET, Genre.CRIME),
        "pages": (nm.UNSET, 7),
        "tags": (("x",), ("x", "y")),
    }
    assert told(lent) == {"reader": (nm.UNSET, person)}
    assert told(rated) == {"rating": (nm.UNSET, None)}
    assert told(unset) == {"rating": (None, nm.UNSET)}


def test_times_grow_and_reading_as_of_them_gives_that_version(repo: Repository, model: nm.Model) -> None:
    _, book = stocked(model, a={})
    book.name = "b"
    book.name = "c"

    revisions = nm.history(book)

    assert [one.version.split("-")[0] for one in revisions] == ["1", "2", "3"]
    assert [repo.open("m", as_of=one.time)[nm.oid(book)].name for one in revisions] == ["a", "b", "c"]
    assert revisions[0].when < revisions[1].when < revisions[2].when
    assert revisions[0].when.tzinfo is not None
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        revisions[0].time = 1


def test_a_move_is_told_by_where_from_and_where_to(model: nm.Model) -> None:
    shelf, book = stocked(model, a={})
    other = Shelf(name="other")
    model.roots.append(other)
    other.books.append(book)
    model.roots.append(book)

    _, moved, raised = nm.history(book)

    assert moved.moved == nm.Change(nm.Place(shelf, "books"), nm.Place(other, "books"))
    assert moved.changes == {}
    assert raised.moved == nm.Change(nm.Place(other, "books"), nm.Place(None, "eContents"))
    assert told(nm.history(shelf)[-1]) == {"books": ((book,), ())}


def test_what_was_deleted_has_a_history_and_what_was_put_back_goes_on(model: nm.Model) -> None:
    shelf, book = stocked(model, a={"pages": 3})
    oid = str(nm.oid(book))
    shelf.books.remove(book)
    shelf.books.append(book)
    nm.delete(book)

    created, taken, again, deleted = nm.history(model[oid])

    assert [one.created for one in (created, taken, again, deleted)] == [True, False, True, False]
    assert [one.deleted for one in (created, taken, again, deleted)] == [False, True, False, True]
    assert told(again) == told(created)
    assert told(deleted) == {"name": ("a", nm.UNSET), "pages": (3, nm.UNSET)}
    assert deleted.moved == nm.Change(nm.Place(shelf, "books"), nm.UNSET)
    assert (deleted.version, str(deleted.kind)) == (None, "library.Book")


def test_a_part_of_the_history_and_a_snapshots_own(repo: Repository, model: nm.Model) -> None:
    _, book = stocked(model, a={})
    for name in "bcd":
        book.name = name
    _, second, third, _ = nm.history(book)

    part = nm.history(book, since=second.time, until=third.when)

    assert [told(one) for one in part] == [{"name": ("b", "c")}]
    past = repo.open("m", as_of=third.time)[nm.oid(book)]
    assert [told(one)["name"][1] for one in nm.history(past)] == ["a", "b", "c"]
    assert [told(one)["name"][1] for one in nm.history(past, until=second.time)] == ["a", "b"]


def test_what_was_purged_is_not_told_and_asking_for_it_is_refused(model: nm.Model) -> None:
    _, book = stocked(model, a={})
    book.name = "b"
    horizon = model.table.now()
    book.name = "c"
    first = nm.history(book)[0].time
    model.table.purge(horizon)

    assert [told(one) for one in nm.history(book)] == [{"name": ("b", "c")}]
    with pytest.raises(nm.Purged):
        nm.history(book, since=first)


def test_what_was_never_stored_has_no_history(model: nm.Model) -> None:
    assert nm.history(model["nobody"]) == []
    with pytest.raises(nm.InvalidValue, match=r"model\[oid\]"):
        nm.history(Book(name="new"))


def test_a_history_costs_one_read_whatever_it_leads_to() -> None:
    with Counting(open_store("memory:")) as store:
        repo = Repository(store)
        repo.register(library)
        model = repo.create("m")
        _, book, *others = stocked(model, **{f"b{number}": {} for number in range(10)})
        for other in others:
            book.related.append(other)
        fresh = Repository(store)
        fresh.metamodel("http://library")
        found = fresh.open("m")[str(nm.oid(book))]
        store.reset()

        assert len(nm.history(found)) == 10
        assert store.calls == {"history": 1}
