"""Commands run in this process, and a model to run them on."""

import datetime
from typing import Any

import pytest

import neomodel as nm
from neomodel.cli import main

library = nm.package("library", "http://library")


@library.define
class Library:
    name: str
    opened: datetime.datetime | None
    books: list["Book"] = nm.contains(opposite="library")
    people: list["Person"] = nm.contains()
    door: "Door | None" = nm.contains()


@library.define
class Door:
    width: float = 1.0


@library.define(key=["email"])
class Person:
    email: str = nm.attribute(id=True)
    name: str | None
    reads: list["Book"] = nm.reference(opposite="readers")


@library.define
class Book:
    title: str
    pages: int | None
    tags: list[str]
    cover: bytes | None
    library: Library | None = nm.reference(opposite="books")
    readers: list[Person] = nm.reference(opposite="reads")
    sequel: "Book | None" = nm.reference()
    chapters: list["Chapter"] = nm.contains()


@library.define
class Chapter:
    name: str
    inner: list["Chapter"] = nm.contains()


@pytest.fixture
def repository(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> nm.Repository:
    """An empty repository that knows the library; $NEOMODEL_STORE names it."""
    repository = nm.connect(f"memory:{request.node.name}")
    monkeypatch.setenv("NEOMODEL_STORE", repository.store.url)
    repository.register(library)
    return repository


@pytest.fixture
def city(repository: nm.Repository) -> nm.Model:
    """A model with a library of two books, of which Dune has a sequel, and one reader."""
    model = repository.create("city")
    dune, heretics = library.Book(title="Dune", pages=412, tags=["sand", "spice"]), library.Book(title="Heretics")
    ann = library.Person(email="ann@example.org", name="Ann", reads=[dune])
    for number, obj in enumerate([town := library.Library(name="Town"), dune, heretics]):
        nm.identify(obj, f"id{number}")
    town.books.extend([dune, heretics])
    town.people.append(ann)
    dune.sequel = heretics
    model.roots.append(town)
    return model


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command, which must succeed; returns what it printed."""

    def run(*arguments: str, said: str = "") -> str:
        status = main(arguments)
        captured = capsys.readouterr()
        assert (status, captured.err) == (0, said)
        return captured.out

    return run


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command, which must fail for its input; returns its sentence."""

    def refused(*arguments: str) -> str:
        assert main(arguments) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1, captured.err
        return captured.err

    return refused
