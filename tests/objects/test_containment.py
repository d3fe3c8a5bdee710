"""Containment: an object lies in one place at most, and wherever it goes its subtree goes along."""

from typing import Any, Literal

import pytest

import neomodel as nm
from neomodel.repository import Repository
from neomodel.stores.wrappers import Faulty
from tests.objects.library import Book, Library, Person, Shelf, library, stocked


def as_stored(repo: Repository, name: str = "m") -> dict[str, Any]:
    """What a connection of its own finds in a model: containers with the names of their contents."""
    model = Repository(repo.store).open(name)
    found = {"roots": [root.name for root in model.roots]}
    for element in model.all(library.Named):
        if element.eContents:
            found[element.name] = [child.name for child in element.eContents]
    return found


# into a model


def test_putting_an_object_among_the_roots_stores_it_with_all_it_contains(repo: Repository, model: nm.Model) -> None:
    top = Library(name="l", shelves=[Shelf(name="s", books=[Book(name="b")])], director=Person(name="d"))
    model.roots.append(top)

    assert as_stored(repo) == {"roots": ["l"], "l": ["s", "d"], "s": ["b"]}
    assert all(nm.oid(element) for element in top.eAllContents())
    assert {element.eResource for element in (top, *top.eAllContents())} == {model}


def test_the_object_that_was_put_in_is_the_one_that_is_read(model: nm.Model) -> None:
    shelf, book = Shelf(), Book()
    shelf.books.append(book)
    model.roots.append(shelf)

    assert model.roots[0] is shelf
    assert shelf.books[0] is book is model[nm.oid(book)]


def test_a_subtree_that_can_not_be_stored_leaves_everything_as_it_was(repo: Repository, model: nm.Model) -> None:
    foreign = nm.connect("memory:")
    foreign.register(library)
    person = Person()
    foreign.create("f").roots.append(person)
    shelf, book = stocked(model, b={})
    shelf.best = Book(name="best")
    rows = list(model.table.scan())

    def bad() -> Any:
        return Book(name="bad", reader=person)

    for attempt in (
        lambda: model.roots.append(Shelf(books=[bad()])),
        lambda: shelf.books.append(bad()),
        lambda: setattr(shelf, "books", [book, bad()]),
        lambda: setattr(shelf, "best", bad()),
        lambda: shelf.inner.append(Shelf(books=[bad()])),
    ):
        with pytest.raises(nm.InvalidValue, match="of the same repository"):
            attempt()
    assert list(model.table.scan()) == rows


def test_an_object_that_can_not_be_made_takes_nothing_from_where_it_is(repo: Repository, model: nm.Model) -> None:
    shelf, book = stocked(model, b={})
    loose = Book()
    for wrong in ({"name": 5}, {"nothing": 1}, {"inner": [book]}, {"best": shelf}):
        with pytest.raises((nm.InvalidValue, nm.FeatureNotFound)):
            Shelf(books=[book, loose], **wrong)

    assert (list(shelf.books), loose.eContainer()) == ([book], None)


def test_children_of_a_stored_object_are_stored_at_once(repo: Repository, model: nm.Model) -> None:
    (shelf,) = stocked(model)
    shelf.books.append(Book(name="b"))
    shelf.best = Book(name="c")

    assert as_stored(repo)["shelf"] == ["b", "c"]


def test_an_object_is_contained_where_it_says(model: nm.Model) -> None:
    shelf, book = stocked(model, b={})

    assert (book.eContainer(), book.eContainmentFeature(), book.shelf) == (shelf, Shelf.books, shelf)
    assert (shelf.eContainer(), shelf.eContainmentFeature(), shelf.eContents) == (None, None, [book])
    assert (Book().eContainer(), Book().eResource) == (None, None)


# moves


def test_a_child_that_is_put_elsewhere_leaves_where_it_was(repo: Repository, model: nm.Model) -> None:
    one, book = stocked(model, b={})
    two = Shelf(name="two")
    model.roots.append(two)

    two.books.append(book)

    assert (list(one.books), list(two.books), book.shelf) == ([], [book], two)
    assert as_stored(repo) == {"roots": ["shelf", "two"], "two": ["b"]}


def test_a_child_moves_between_features_of_one_container(repo: Repository, model: nm.Model) -> None:
    shelf, book = stocked(model, b={})

    shelf.best = book

    assert (list(shelf.books), shelf.best, book.shelf, book.pedestal) == ([], book, None, shelf)
    assert as_stored(repo)["shelf"] == ["b"]


def test_a_child_becomes_a_root_and_a_root_a_child(repo: Repository, model: nm.Model) -> None:
    shelf, book = stocked(model, b={})
    model.roots.append(book)
    assert as_stored(repo) == {"roots": ["shelf", "b"]}
    assert (book.eContainer(), book.shelf) == (None, None)

    shelf.books.append(book)
    assert as_stored(repo) == {"roots": ["shelf"], "shelf": ["b"]}


def test_setting_the_opposite_of_a_containment_moves_the_child(repo: Repository, model: nm.Model) -> None:
    _, book = stocked(model, b={})
    two = Shelf(name="two")
    model.roots.append(two)

    book.shelf = two
    assert as_stored(repo) == {"roots": ["shelf", "two"], "two": ["b"]}

    book.shelf = None
    assert as_stored(repo) == {"roots": ["shelf", "two"]}
    assert (book.eResource, book.name) == (None, "b")


def test_a_subtree_moves_with_its_top(repo: Repository, model: nm.Model) -> None:
    inner = Shelf(name="inner", books=[Book(name="b")])
    one, two = Shelf(name="one", inner=[inner]), Shelf(name="two")
    model.roots.extend([one, two])

    two.inner.append(inner)

    assert as_stored(repo) == {"roots": ["one", "two"], "two": ["inner"], "inner": ["b"]}


def test_an_object_moves_with_its_subtree_to_another_model(repo: Repository, model: nm.Model) -> None:
    other = repo.create("other")
    shelf, book = stocked(model, b={"tags": ["x"], "pages": 7})

    other.roots.append(shelf)

    assert (as_stored(repo), as_stored(repo, "other")) == ({"roots": []}, {"roots": ["shelf"], "shelf": ["b"]})
    assert (book.eResource, shelf.books[0], book.tags, book.pages) == (other, book, ["x"], 7)
    assert nm.oid(book) in other
    assert nm.oid(book) not in model
    with pytest.raises(nm.ObjectNotFound):
        _ = model[nm.oid(book)].name


def test_an_object_whose_id_is_taken_in_the_other_model_stays_where_it_is(repo: Repository, model: nm.Model) -> None:
    other = repo.create("other")
    for place in (model, other):
        shelf = Shelf(name=place.name, books=[Book(name=f"of {place.name}")])
        nm.identify(shelf.books[0], "b1")
        place.roots.append(shelf)

    with pytest.raises(nm.InvalidValue, match=r"the id of an object that comes to .*'other'.* is 'b1'"):
        other.roots.append(model.roots[0])

    assert as_stored(repo) == {"roots": ["m"], "m": ["of m"]}
    assert as_stored(repo, "other") == {"roots": ["other"], "other": ["of other"]}


@pytest.mark.parametrize("fault", ["refused", "lost"])
@pytest.mark.parametrize("place", ["roots", "inner"])
def test_an_object_that_could_not_be_written_to_another_model_is_where_it_was(
    repo: Repository, model: nm.Model, place: str, fault: Literal["refused", "lost"]
) -> None:
    faults = [fault]
    store = Faulty(repo.store, lambda operation, _: faults.pop() if operation == "put_many" and faults else None)
    stocked(model, one={}, two={})
    home = Shelf(name="home")
    repo.create("other").roots.append(home)
    mine = Repository(store)
    here, there = mine.open("m"), mine.open("other")
    shelf = here.roots[0]
    one, two = shelf.books
    one.sequel = one.original = two
    target = there.roots if place == "roots" else there[nm.oid(home)].inner

    with pytest.raises((nm.StoreUnavailable, nm.OutcomeUnknown)):
        target.append(shelf)

    assert [element.eResource for element in (shelf, one, two)] == [here] * 3
    assert (list(here.roots), list(shelf.books), one.sequel, one.original) == ([shelf], [one, two], two, two)
    assert nm.oid(one) not in there.live
    assert shelf not in list(target)
    if fault == "refused":
        assert nm.check(there, patience=0).findings == ()
    nm.check(there, repair=True, patience=0)
    assert as_stored(repo) == {"roots": ["shelf"], "shelf": ["one", "two"]}
    assert as_stored(repo, "other") == {"roots": ["home"]}
    one.name = "changed"
    target.append(shelf)
    assert as_stored(repo)["roots"] == []
    assert (one.eResource, as_stored(repo, "other")["shelf"]) == (there, ["changed", "two"])


def test_references_with_an_opposite_follow_an_object_to_another_model(repo: Repository, model: nm.Model) -> None:
    other = repo.create("other")
    _, one, two = stocked(model, one={}, two={})
    one.sequel = two
    other.roots.append(two)

    assert (one.sequel, two.prequel) == (two, one)
    read = Repository(repo.store).open("m")[nm.oid(one)]
    assert (read.sequel.name, read.sequel.prequel) == ("two", read)


def test_a_stored_child_of_a_transient_container_leaves_the_model(repo: Repository, model: nm.Model) -> None:
    shelf, book = stocked(model, b={"tags": ["x"]})
    outside = Shelf()

    outside.books.append(book)

    assert as_stored(repo) == {"roots": ["shelf"]}
    assert (book.eResource, book.shelf, book.tags, list(shelf.books)) == (None, outside, ["x"], [])


def test_what_was_taken_out_comes_back_as_the_same_object(repo: Repository, model: nm.Model) -> None:
    shelf, book = stocked(model, b={"pages": 3})
    oid = nm.oid(book)
    shelf.books.remove(book)
    assert oid not in model

    shelf.books.append(book)

    assert (nm.oid(book), book.pages, model[oid]) == (oid, 3, book)
    assert as_stored(repo)["shelf"] == ["b"]


def test_a_single_containment_lets_go_of_what_it_held(repo: Repository, model: nm.Model) -> None:
    (shelf,) = stocked(model)
    one, two = Book(name="one"), Book(name="two")
    shelf.best = one
    shelf.best = two

    assert (shelf.best, two.pedestal, one.pedestal, one.eContainer(), one.eResource) == (two, shelf, None, None, None)
    assert as_stored(repo)["shelf"] == ["two"]
    shelf.best = None
    assert (as_stored(repo), two.eContainer()) == ({"roots": ["shelf"]}, None)


@pytest.mark.parametrize("stored", [False, True])
def test_no_object_contains_itself_at_any_depth(model: nm.Model, stored: bool) -> None:
    inner = Shelf(name="inner")
    middle = Shelf(name="middle", inner=[inner])
    top = Shelf(name="top", inner=[middle])
    if stored:
        model.roots.append(top)
    for container in (inner, middle, top):
        with pytest.raises(nm.InvalidValue, match="no object that it contains itself"):
            container.inner.append(top)

    assert ([*top.inner], [*middle.inner], [*inner.inner]) == ([middle], [inner], [])


def test_a_transient_tree_keeps_the_same_rules() -> None:
    one, two, book = Shelf(), Shelf(), Book()
    one.books.append(book)
    two.best = book

    assert (list(one.books), two.best, book.shelf, book.pedestal, book.eContainer()) == ([], book, None, two, two)
    book.shelf = one
    assert (list(one.books), two.best, book.pedestal) == ([book], None, None)


def test_bounds_of_a_containment_hold_stored_or_not(model: nm.Model) -> None:
    full, loose = Shelf(pair=[Book(), Book()]), Shelf(pair=[Book(), Book()])
    model.roots.append(full)
    for shelf in (full, loose):
        third = Book()
        with pytest.raises(nm.InvalidValue, match=r"library\.Shelf\.pair is 3, expected at most 2"):
            shelf.pair.append(third)
        assert (len(shelf.pair), third.eContainer()) == (2, None)


def test_the_contents_of_a_chain_of_any_length_are_told(model: nm.Model) -> None:
    top = shelf = Shelf(name="0")
    for number in range(1, 1500):
        inner = Shelf(name=str(number))
        shelf.inner.append(inner)
        shelf = inner
    model.roots.append(top)

    assert [element.name for element in top.eAllContents()] == [str(number) for number in range(1, 1500)]


# lists that are behind


def outdated(model: nm.Model) -> tuple[Any, Any, Any]:
    """Two shelves and a book that both list, as after a crash; it lies in the second."""
    one, book = stocked(model, b={})
    two = Shelf(name="two", books=[Book(name="c")])
    model.roots.append(two)
    listed = one._neo.row.get(Shelf.books.column)
    two.books.append(book)
    one._neo.swap({Shelf.books.column: listed})
    return one, two, book


def test_a_child_is_seen_only_where_its_own_row_says_that_it_lies(model: nm.Model) -> None:
    one, two, book = outdated(model)

    assert (list(one.books), one.books[:], book in one.books, one.eContents) == ([], [], False, [])
    assert [found.name for found in two.books] == ["c", "b"]


@pytest.mark.parametrize(
    "change",
    [
        lambda books: books.clear(),
        lambda books: books.__delitem__(0),
        lambda books: books.__setitem__(slice(None), [Book(name="new")]),
        lambda books: books.extend([Book(name="new")]),
    ],
)
def test_clearing_an_outdated_entry_leaves_the_child_where_it_lies(
    repo: Repository, model: nm.Model, change: Any
) -> None:
    one, _, _ = outdated(model)

    change(one.books)

    assert as_stored(repo)["two"] == ["c", "b"]


def test_popping_past_an_outdated_entry_takes_what_was_seen(repo: Repository, model: nm.Model) -> None:
    one, _, _ = outdated(model)
    one.books.append(Book(name="last"))

    assert one.books.pop(0).name == "last"
    assert (list(one.books), as_stored(repo)["two"]) == ([], ["c", "b"])


# what is made with its contents, and stored with what lies in it


@pytest.mark.parametrize("feature", ["books", "best"])
def test_a_new_object_takes_its_contents_out_of_where_they_are(model: nm.Model, feature: str) -> None:
    """From a transient container, and from a stored one."""
    stored = Shelf(books=[Book(name="a")], best=Book(name="b"))
    model.roots.append(stored)
    for former in (stored, Shelf(books=[Book(name="a")], best=Book(name="b"))):
        book = former.best if feature == "best" else former.books[0]
        new = Shelf(**{feature: book if feature == "best" else [book]})

        assert (former.best if feature == "best" else [*former.books]) in (None, [])
        assert not former.eIsSet(feature), "nor is it listed there"
        assert book.eContainer() is new
        assert book in new.eContents


def test_a_new_object_contains_nothing_twice() -> None:
    book = Book(name="a")

    with pytest.raises(nm.InvalidValue, match="no value twice"):
        Shelf(books=[book, book])

    assert book.eContainer() is None


@pytest.mark.parametrize("outer_first", [True, False])
def test_of_two_that_are_stored_at_once_one_may_come_out_of_the_other(
    repo: Repository, model: nm.Model, outer_first: bool
) -> None:
    inner = Shelf(name="inner", books=[Book(name="a")])
    outer = Shelf(name="outer", inner=[Shelf(name="between", inner=[inner])])
    model.roots.extend([outer, inner] if outer_first else [inner, outer])

    again = nm.connect(repo.store.url).open("m")
    assert {root.name for root in again.roots} == {"inner", "outer"}
    assert [shelf.name for shelf in again.all(Shelf)].count("inner") == 1
    assert all(root.eContainer() is None for root in again.roots)
    assert [[*shelf.inner] for shelf in again.all(Shelf) if shelf.name == "between"] == [[]]
    assert [book.eContainer().name for book in again.all(Book)] == ["inner"]
    assert nm.check(again).findings == ()
