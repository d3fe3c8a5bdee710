"""What is said of a slip of the hand: one sentence, which tells what to do instead; and what closed stores show."""

import contextlib
import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel.errors import InvalidStore, StoreClosed
from neomodel.repository import Repository
from tests.objects.library import Book, Shelf, library


def entered(manager: contextlib.AbstractContextManager[Any]) -> None:
    with manager:
        pass


TAKING_OBJECTS: dict[str, Callable[[Any], object]] = {
    "oid": nm.oid,
    "identify": lambda what: nm.identify(what, "b1"),
    "edit": lambda what: entered(nm.edit(what)),
    "delete": nm.delete,
    "history": nm.history,
    "why": nm.why,
    "what_became_of": lambda what: nm.what_became_of(what, what, what),
}


@pytest.mark.parametrize("call", TAKING_OBJECTS.values(), ids=TAKING_OBJECTS)
@pytest.mark.parametrize("what", ["x", None, Book], ids=str)
def test_functions_of_objects_refuse_all_else(call: Callable[[Any], object], what: Any) -> None:
    with pytest.raises(nm.InvalidValue, match=r"what should be an object is .*, expected one of a model"):
        call(what)


def test_a_class_in_place_of_an_object_is_refused(model: nm.Model) -> None:
    with pytest.raises(nm.InvalidValue, match=r"model\.roots is .*, expected an object .*, made by calling the class"):
        model.roots.append(Book)
    with pytest.raises(nm.InvalidValue, match=r"library\.Shelf\.books is .*, made by calling the class"):
        Shelf(books=[Book])


def test_what_is_no_object_is_refused_among_the_roots_under_the_name_that_people_know(model: nm.Model) -> None:
    with pytest.raises(nm.InvalidValue, match=r"model\.roots is 'x', expected an object of class ecore\.EObject$"):
        model.roots.append("x")


def test_features_of_a_new_object_are_given_by_name() -> None:
    with pytest.raises(
        nm.InvalidValue, match=r"a new library\.Book .* is 'x', expected .* by name, Book\(name=\.\.\.\)"
    ):
        Book("x")  # type: ignore[call-arg]


def test_a_place_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidStore, match=r"store 'b\.db': the URL must be text such as 'lmdb:b\.db'"):
        nm.connect(Path("b.db"))  # type: ignore[arg-type]
    with pytest.raises(InvalidStore, match="cannot open store '5': the URL must be text"):
        nm.connect(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", [pickle.dumps, copy.deepcopy], ids=["pickle", "deepcopy"])
def test_what_can_be_pickled_instead_is_said(model: nm.Model, way: Callable[[Any], object]) -> None:
    model.roots.append(Shelf(books=[Book(name="b")]))
    told = {
        "objects of it; or open it by name": model,
        "its URL, to connect to": model.repository,
        "a list of what it holds": model.roots[0].books,
        "one that is stored in a model": Book(name="z"),
    }
    for expected, what in told.items():
        with pytest.raises(nm.InvalidValue, match=f"to pickle or copy is .*, expected {expected}") as met:
            way(what)
        assert str(pickle.loads(pickle.dumps(met.value))) == str(met.value)


def test_an_object_of_a_snapshot_stays_there(repo: Repository, model: nm.Model) -> None:
    model.roots.append(Shelf(books=[Book(name="b")]))
    now = repo.open("m", as_of="stable")

    for move in (lambda: model.roots.append(now.roots[0]), lambda: model.roots[0].books.append(now.roots[0].books[0])):
        with pytest.raises(nm.InvalidValue, match=r"an object to move is .*, expected .* of a snapshot stays there"):
            move()
    with pytest.raises(nm.ReadOnly):
        now.roots.append(model.roots[0])


def test_a_closed_repository_refuses_all_also_while_others_have_the_store_open(url: str) -> None:
    with nm.connect(url) as keep:
        with nm.connect(url) as repo:
            repo.register(library)
            model = repo.create("m")
            shelf = Shelf(name="s")
            model.roots.append(shelf)

        for use in (lambda: shelf.name, lambda: setattr(shelf, "name", "w"), lambda: repo.create("x"), repo.models):
            with pytest.raises(StoreClosed, match=r"is refused: it was closed; open it again \(nm\.connect"):
                use()
        assert keep.open("m").roots[0].name == "s"


def test_what_can_not_be_read_any_more_is_shown_nevertheless(url: str, connect: Callable[[str], Repository]) -> None:
    connect(url)
    with nm.connect(url) as repo:
        repo.register(library)
        model = repo.create("m")
        shelf = Shelf(name="s", books=[Book(name="b")])
        nm.identify(shelf, "s1")
        model.roots.append(shelf)

    reason = f"using {repo.store.url} is refused: it was closed; open it again"
    assert repr(shelf).startswith(f"<library.Shelf s1: {reason}")
    assert repr(model["met-now"]).startswith(f"<object met-now: {reason}")
    assert str(model["met-now"]) == repr(model["met-now"])
    assert repr(model.roots).startswith(f"<model.roots: {reason}")
    assert repr(shelf.books).startswith(f"<library.Shelf.books: {reason}")
    assert (repr(model), repr(repo)) == (f"<model 'm' of {repo.store.url}>", f"<repository {repo.store.url}>")
    assert (url in repr(repo.store), repr(model.table).endswith("Table 'm'>")) == (True, True)
