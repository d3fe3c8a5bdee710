"""A metamodel with a feature of every kind, declared in Python, for the tests of objects."""

import enum
from typing import Any

import neomodel as nm

library = nm.package("library", "http://library")


@library.define
class Genre(enum.Enum):
    CRIME = "crime fiction"
    POETRY = "poetry"


@library.define(abstract=True)
class Named:
    name: str | None = None


@library.define
class Library(Named):
    shelves: list["Shelf"] = nm.contains(opposite="library")
    people: list["Person"] = nm.contains()
    director: "Person | None" = nm.contains()


@library.define
class Shelf(Named):
    library: Library | None = nm.reference(opposite="shelves")
    books: list["Book"] = nm.contains(opposite="shelf")
    best: "Book | None" = nm.contains(opposite="pedestal")
    inner: list["Shelf"] = nm.contains()
    pair: list["Book"] = nm.contains(upper=2)


@library.define
class Person(Named):
    written: list["Book"] = nm.reference(opposite="authors")
    lent: list["Book"] = nm.reference(opposite="reader")


@library.define
class Book(Named):
    shelf: Shelf | None = nm.reference(opposite="books")
    pedestal: Shelf | None = nm.reference(opposite="best")
    authors: list[Person] = nm.reference(opposite="written")
    reader: Person | None = nm.reference(opposite="lent")
    sequel: "Book | None" = nm.reference(opposite="prequel")
    prequel: "Book | None" = nm.reference(opposite="sequel")
    related: list["Book"] = nm.reference()
    two: list["Book"] = nm.reference(upper=2)
    original: "Book | None" = nm.reference()
    anything: nm.Element | None = nm.reference()
    pages: int = nm.attribute(100, type="EInt")
    language: str | None = "en"
    genre: Genre | None = Genre.POETRY
    rating: int | None = nm.attribute(5, unsettable=True)
    tags: list[str] = nm.attribute()
    marks: set[str] = nm.attribute()
    scores: list[int] = nm.attribute(type="EInt", upper=3)
    genres: list[Genre] = nm.attribute()
    isbn: str | None = nm.attribute(changeable=False)
    frozen: list[str] = nm.attribute(changeable=False)
    draft: str | None = nm.attribute("none", transient=True)
    beside: "Book | None" = nm.reference(transient=True)

    @nm.derived
    def title(self) -> str:
        return f"{self.name} ({self.pages})"

    def shout(self) -> str:
        return str(self.name).upper()


def stocked(model: nm.Model, **books: dict[str, Any]) -> tuple[Any, ...]:
    """A root shelf, and the books that it holds, by name, all stored."""
    shelf = Shelf(name="shelf", books=[Book(name=name, **features) for name, features in books.items()])
    model.roots.append(shelf)
    return shelf, *shelf.books
