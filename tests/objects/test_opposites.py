"""References and their opposites, within a model and beyond, stored or not; and what deleting leaves."""

from typing import Any

import pytest

import neomodel as nm
from neomodel.repository import Repository
from tests.objects.annotated import annotated
from tests.objects.library import Book, Person, library, stocked


@pytest.fixture(params=["transient", "stored"])
def made(request: pytest.FixtureRequest, model: nm.Model) -> Any:
    """Makes objects: transient ones, or roots of a model. What is stored is true for another connection too."""

    def make(*objects: Any) -> tuple[Any, ...]:
        if request.param == "stored":
            model.roots.extend(objects)
        return objects

    return make


def check(obj: Any, name: str, *targets: Any) -> None:
    """The feature holds these, here and, if the object is stored, for another connection."""
    assert held(obj, name) == list(targets)
    if obj.eResource is not None:
        read = Repository(obj.eResource.repository.store).open(obj.eResource.name)[nm.oid(obj)]
        assert list(map(nm.oid, held(read, name))) == list(map(nm.oid, targets))


def held(obj: Any, name: str) -> list[Any]:
    found = obj.eGet(name)
    if obj.eClass.feature(name).many:
        return list(found)
    return [] if found is None else [found]


# one to one


def test_one_to_one_is_true_from_both_ends(made: Any) -> None:
    one, two = made(Book(), Book())
    one.sequel = two

    check(one, "sequel", two)
    check(two, "prequel", one)


def test_a_new_partner_frees_both_former_ones(made: Any) -> None:
    a, b, c, d = made(Book(), Book(), Book(), Book())
    a.sequel, c.sequel = b, d
    a.sequel = d

    check(a, "sequel", d)
    check(d, "prequel", a)
    check(b, "prequel")
    check(c, "sequel")


def test_letting_go_frees_the_other_end(made: Any) -> None:
    one, two = made(Book(), Book())
    for let_go in (lambda: setattr(one, "sequel", None), lambda: two.eUnset("prequel")):
        one.sequel = two
        let_go()
        check(one, "sequel")
        check(two, "prequel")


def test_an_object_may_be_its_own_partner(made: Any) -> None:
    (one,) = made(Book())
    one.sequel = one

    check(one, "prequel", one)
    one.prequel = None
    check(one, "sequel")


# one to many


def test_one_to_many_is_true_from_both_ends(made: Any) -> None:
    reader, a, b = made(Person(), Book(), Book())
    a.reader = reader
    reader.lent.append(b)

    check(reader, "lent", a, b)
    check(b, "reader", reader)


def test_what_another_takes_is_let_go_of(made: Any) -> None:
    one, two, book = made(Person(), Person(), Book())
    one.lent.append(book)
    two.lent.append(book)

    check(one, "lent")
    check(two, "lent", book)
    check(book, "reader", two)


def test_what_is_removed_from_the_many_end_holds_nothing(made: Any) -> None:
    reader, a, b, c = made(Person(), Book(), Book(), Book())
    reader.lent = [a, b, c]
    reader.lent.remove(a)
    reader.lent[:] = [c]

    check(reader, "lent", c)
    check(a, "reader")
    check(b, "reader")
    check(c, "reader", reader)


# many to many


def test_many_to_many_is_true_from_both_ends(made: Any) -> None:
    a, b, x, y = made(Person(), Person(), Book(), Book())
    x.authors = [a, b]
    a.written.append(y)

    check(a, "written", x, y)
    check(b, "written", x)
    check(y, "authors", a)
    a.written.clear()
    check(x, "authors", b)
    check(y, "authors")


# stored and not


def test_a_transient_object_that_refers_to_a_stored_one_is_mirrored_once_it_is_stored(model: nm.Model) -> None:
    stored = Person()
    model.roots.append(stored)
    book = Book(reader=stored, authors=[stored])
    check(stored, "lent")

    model.roots.append(book)

    check(stored, "lent", book)
    check(stored, "written", book)
    check(book, "reader", stored)


def test_a_stored_object_that_refers_to_a_transient_one_holds_once_that_is_stored(model: nm.Model) -> None:
    stored, book = Person(), Book()
    model.roots.append(stored)
    stored.lent.append(book)
    assert book.reader is stored

    model.roots.append(book)

    check(stored, "lent", book)
    check(book, "reader", stored)


def test_a_partner_that_is_stored_takes_the_place_of_a_stored_one(model: nm.Model) -> None:
    one, two = Book(), Book()
    model.roots.extend([one, two])
    one.sequel = two
    new = Book(sequel=two)
    model.roots.append(new)

    check(one, "sequel")
    check(two, "prequel", new)


def test_what_leaves_the_model_is_let_go_of_by_stored_ones(model: nm.Model) -> None:
    shelf, book = stocked(model, b={})
    reader = Person()
    model.roots.append(reader)
    reader.lent.append(book)

    shelf.books.remove(book)

    check(reader, "lent")


# other models, other repositories


def test_references_to_other_models_are_true_from_both_ends(repo: Repository, model: nm.Model) -> None:
    person, book = Person(), Book()
    model.roots.append(person)
    repo.create("other").roots.append(book)

    book.reader = person

    check(person, "lent", book)
    check(book, "reader", person)
    assert person.lent[0] is book


def test_an_object_of_another_repository_is_refused(model: nm.Model) -> None:
    foreign = nm.connect("memory:")
    foreign.register(library)
    person, book = Person(), Book()
    foreign.create("f").roots.append(person)
    model.roots.append(book)

    for attempt in (lambda: setattr(book, "reader", person), lambda: book.authors.append(person)):
        with pytest.raises(nm.InvalidValue, match=r"library\.Book\.\w+ .*of the same repository"):
            attempt()
    assert person not in book.authors
    with pytest.raises(nm.InvalidValue, match="of the same repository"):
        model.roots.append(person)
    assert (book.reader, list(model.roots), person.eResource.name) == (None, [book], "f")


def test_a_dangling_reference_raises_when_it_is_touched_and_names_both_ends(model: nm.Model) -> None:
    _, book, lost = stocked(model, b={}, lost={})
    book.original = lost
    book.related = [lost]
    oid = nm.oid(lost)
    nm.delete(lost)

    found = (book.original, *book.related)
    assert [nm.oid(one) for one in found] == [oid, oid]
    for touch in (lambda: found[0].name, lambda: found[1].eClass, lambda: isinstance(found[1], Book)):
        with pytest.raises(nm.ObjectNotFound) as raised:
            touch()
        assert f"m/{oid}" in str(raised.value)
        assert nm.oid(book) in str(raised.value)
        assert "original" in str(raised.value)
    assert "missing" in repr(found[0])


# deleting


def test_deleting_removes_the_subtree_and_what_refers_to_it_by_an_opposite(model: nm.Model) -> None:
    shelf, book, other = stocked(model, b={}, other={})
    reader = Person()
    model.roots.append(reader)
    reader.lent.append(book)
    other.prequel = book
    oids = [nm.oid(shelf), nm.oid(book), nm.oid(other)]

    told = nm.delete(shelf)

    assert told.objects == 3
    assert told.cleared == (f"m/{nm.oid(reader)}.lent",)
    assert not any(oid in model for oid in oids)
    assert (list(model.roots), list(reader.lent), list(model.all(Book))) == ([reader], [], [])


def test_deleting_tells_which_references_may_be_left(model: nm.Model) -> None:
    model.repository.register(annotated)
    _, book = stocked(model, b={})
    person = Person()
    model.roots.append(person)

    anywhere = {"library.Book.anything", "annotated.Both.any"}
    of_books = {f"library.Book.{name}" for name in ("related", "two", "original")}
    of_persons = {f"annotated.Both.{name}" for name in ("person", "people")}
    assert set(nm.delete(book).left) == anywhere | of_books
    assert set(nm.delete(person).left) == anywhere | of_persons


@pytest.mark.parametrize("stored", [False, True])
def test_whatever_is_asked_of_a_deleted_object_says_that_it_was_deleted(model: nm.Model, stored: bool) -> None:
    book, keeper = Book(name="b"), Book()
    if stored:
        model.roots.extend([book, keeper])
    keeper.sequel = book
    nm.delete(book)

    for touch in (
        lambda: book.name,
        lambda: setattr(book, "name", "x"),
        lambda: book.eContainer(),
        lambda: nm.oid(book),
        lambda: nm.delete(book),
        lambda: setattr(keeper, "sequel", book),
        lambda: model.roots.append(book),
    ):
        with pytest.raises((nm.ObjectNotFound, nm.InvalidValue)):
            touch()
    assert (keeper.sequel, book in keeper.related, "deleted" in repr(book)) == (None, False, True)
