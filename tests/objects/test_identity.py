"""Which Python object is which object of the model: ids, one live object for each, weakness, pickles, repr."""

import gc
import pickle
import subprocess
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel import sharing
from neomodel.repository import Repository
from neomodel.stores import lmdb_file
from tests.objects.library import Book, Shelf, library, stocked

TOLD = """
import pickle, sys
book = pickle.loads(sys.stdin.buffer.read())
print(book.__class__.__module__, book.name, book.title, book.shelf.name, book in book.shelf.books)
"""


def test_there_is_one_live_object_for_each_id(repo: Repository, model: nm.Model) -> None:
    shelf, book = stocked(model, b={})
    book.original = book

    found = [model[nm.oid(book)], shelf.books[0], book.original, *model.all(Book), *shelf.eAllContents()]
    assert all(one is book for one in found)
    assert repo.open("m") is model


def test_what_the_application_drops_is_collected(model: nm.Model) -> None:
    shelf, book = stocked(model, b={})
    book.original = book
    oid, watched = nm.oid(book), weakref.ref(book)
    assert shelf.books[0] is book

    del book
    gc.collect()

    assert watched() is None
    assert model[oid].name == "b"


def test_a_walk_over_a_model_keeps_nothing_alive(model: nm.Model) -> None:
    stocked(model, **{f"b{number}": {} for number in range(50)})
    gc.collect()

    assert sum(1 for book in model.all(Book) if book.name) == 50
    gc.collect()
    assert len(model.live) <= 1, "the root alone"


def test_an_id_that_is_given_is_kept(model: nm.Model) -> None:
    book = Book(name="b")
    nm.identify(book, "b1")
    assert nm.oid(book) == "b1"
    model.roots.append(book)

    assert nm.oid(book) == "b1"
    assert model["b1"] is book
    for late in (lambda: nm.identify(book, "b2"), lambda: nm.identify(model["b1"], "b1")):
        with pytest.raises(nm.InvalidValue, match="a transient one that has no id yet"):
            late()


@pytest.mark.parametrize("bad", ["", "ROOT", "@m/x", "a b", "a,b", "x" * 161, 5])
def test_an_id_that_no_object_can_have_is_refused(bad: Any) -> None:
    book = Book()
    with pytest.raises(nm.InvalidValue, match="an object id"):
        nm.identify(book, bad)

    assert nm.oid(book) is None


def test_an_id_that_is_not_there_costs_nothing_until_it_is_touched(model: nm.Model) -> None:
    ghost = model["ghost"]

    assert (nm.oid(ghost), "ghost" in model) == ("ghost", False)
    with pytest.raises(nm.ObjectNotFound, match="object m/ghost can't be read: there is none"):
        _ = ghost.name
    assert repr(ghost) == "<missing: object m/ghost can't be read: there is none; mend or remove what refers to it>"


def test_repr_tells_class_id_and_the_first_values(model: nm.Model) -> None:
    book = Book(pages=3, name="b" * 100, tags=["x"])
    assert repr(book) == f"<library.Book (not stored): name='{'b' * 59}…, pages=3>"
    nm.identify(book, "b1")
    model.roots.append(book)

    assert repr(book) == f"<library.Book b1: name='{'b' * 59}…, pages=3>"


def test_nothing_tells_an_unread_object_from_a_read_one(repo: Repository, model: nm.Model) -> None:
    _, book = stocked(model, b={})

    def fresh() -> Any:
        return Repository(repo.store).open("m")[nm.oid(book)]

    assert isinstance(fresh(), Book)
    assert not isinstance(fresh(), Shelf)
    assert (repr(fresh()), str(fresh()), fresh().shout()) == (repr(book), str(book), "B")
    assert fresh().eClass is book.eClass
    assert (dir(fresh()), hasattr(fresh(), "nothing"), bool(fresh())) == (dir(book), False, True)


# pickles


def test_a_stored_object_pickles_into_this_process(repo: Repository, model: nm.Model) -> None:
    _, book = stocked(model, b={})
    read, again = pickle.loads(pickle.dumps((book, book)))

    assert read is again
    assert (read.name, nm.oid(read), read.eResource.name) == ("b", nm.oid(book), "m")


def test_a_stored_object_pickles_into_another_process(lmdb_url: str, connect: Callable[[str], Repository]) -> None:
    repo = connect(lmdb_url)
    repo.register(library)
    _, book = stocked(repo.create("m"), b={})
    script = "import tests.objects.library\n" + TOLD

    told = subprocess.run(
        [sys.executable, "-c", script], input=pickle.dumps(book), capture_output=True, check=True, timeout=60
    )

    assert told.stdout.decode().split() == ["tests.objects.library", "b", "b", "(100)", "shelf", "True"]


def test_an_object_of_a_snapshot_pickles_with_its_time(repo: Repository, model: nm.Model) -> None:
    _, book = stocked(model, b={})
    then = model.table.now()
    book.name = "later"

    read = pickle.loads(pickle.dumps(repo.open("m", as_of=then)[nm.oid(book)]))

    assert (read.name, read.eResource.as_of) == ("b", then)
    with pytest.raises(nm.ReadOnly):
        read.name = "x"


def test_an_object_that_is_not_stored_is_not_pickled() -> None:
    with pytest.raises(nm.InvalidValue, match=r"an object to pickle .*\(not stored\).* expected one that is stored"):
        pickle.dumps(Book())


def test_repositories_that_are_shared_are_closed_when_many_others_were_asked_for_and_nobody_uses_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "_shared", OrderedDict())
    monkeypatch.setattr(sharing, "_SHARED", 2)
    urls = [f"lmdb:{tmp_path}/{number}" for number in range(4)]
    for url in urls:
        with nm.connect(url) as repo:
            repo.register(library)
            repo.create("m").roots.append(Book(name=url))
    first, *others = (next(sharing.shared(url).open("m").all(Book)) for url in urls)
    assert open_files(tmp_path) == ["0", "1", "2", "3"], "objects of all are held"

    others.clear()
    gc.collect()

    assert open_files(tmp_path) == ["0", "2", "3"]
    assert first.name == urls[0]


def open_files(folder: Path) -> list[str]:
    return sorted(Path(path).name for path in lmdb_file._files if Path(path).parent == folder)
