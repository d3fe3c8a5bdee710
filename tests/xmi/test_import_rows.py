"""An import makes the rows that objects would make."""

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel import trees
from neomodel.xmi.shards import ROWS
from tests.objects.library import Book, Genre, Library, Person, Shelf
from tests.xmi.files import imported, new_repository, rows, told, written

SMALL = trees.Limits(inline=4, leaf=8, fan=4)
COUNTS = [1, 4, 5, 8, 9, 32, 33, 128, 129, 200]  # around what fits in one cell, in a leaf, below a root, and once more


def as_objects(count: int) -> nm.Model:
    books = [Book(name=f"b{n}", pages=n) for n in range(count)]
    person = Person(name="p")
    shelf = Shelf(name="s", books=books, best=Book(genre=Genre.CRIME, rating=5, tags=["a", "b c"]))
    model = new_repository().create("m")
    for book in books:
        person.written.append(book)
    books[0].related.extend(books[::-1])
    books[0].sequel = books[-1]
    person.lent.append(books[0])
    model.roots.extend([Library(name="lib", shelves=[shelf], people=[person]), Shelf(name="other")])
    return model


def as_file(path: Path, count: int) -> Path:
    places = [f"/0/@shelves.0/@books.{n}" for n in range(count)]
    written_by = 'authors="/0/@people.0"'
    more = f'related="{" ".join(places[::-1])}" sequel="{places[-1]}" reader="/0/@people.0"'
    if count == 1:
        more += f' prequel="{places[0]}"'
    books = [f'<books name="b{n}" pages="{n}" {written_by} {more if n == 0 else ""}/>' for n in range(count)]
    if count > 1:
        books[-1] = books[-1].replace("/>", f'prequel="{places[0]}"/>')
    return written(
        path,
        f"""<xmi:XMI NS>
  <l:Library name="lib">
    <shelves name="s">
      {"".join(books)}
      <best genre="CRIME" rating="5" language="en"><tags>a</tags><tags>b c</tags></best>
    </shelves>
    <people name="p" lent="{places[0]}" written="{" ".join(places)}"/>
  </l:Library>
  <l:Shelf name="other"/>
</xmi:XMI>""",
    )


@pytest.mark.parametrize("count", COUNTS)
def test_rows_are_those_that_objects_make(tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "LIMITS", SMALL)
    by_objects, by_import = as_objects(count), imported(as_file(tmp_path / "a.xmi", count))

    ours, theirs = rows(by_import), rows(by_objects)
    assert len(ours) == count + 6
    assert ours.keys() == theirs.keys()
    for path, row in theirs.items():
        assert _but_versions(ours[path]) == _but_versions(row), path
    assert {row[b"t:version"] for row in ours.values()} == {b"1"}


def _but_versions(row: dict[bytes, Any]) -> dict[bytes, Any]:
    return {column: cell for column, cell in row.items() if column != b"t:version"}


def test_objects_of_an_import_go_on_as_others_do(tmp_path: Path) -> None:
    model = imported(as_file(tmp_path / "a.xmi", 600))
    shelf = model.roots[0].shelves[0]

    shelf.books.insert(300, Book(name="new"))
    shelf.books.append(Book(name="last"))
    del shelf.books[0]

    assert [book.name for book in shelf.books][298:301] == ["b299", "new", "b300"]
    assert (len(shelf.books), shelf.books[-1].name) == (601, "last")
    assert nm.check(model).findings == ()


def test_ids_follow_the_subtree_rule(tmp_path: Path) -> None:
    model = imported(as_file(tmp_path / "a.xmi", 2 * ROWS))
    lib, other = model.roots
    shards = [nm.oid(book)[:4] for book in lib.shelves[0].books]

    assert shards[: ROWS - 10] == [nm.oid(lib)[:4]] * (ROWS - 10)
    assert len([*groupby(shards)]) == len(set(shards)) == 3, "one after another is filled"
    assert max(Counter(shards).values()) <= ROWS
    assert nm.oid(other)[:4] not in shards


def test_what_a_file_says_is_what_objects_have(tmp_path: Path) -> None:
    model = imported(as_file(tmp_path / "a.xmi", 2))

    assert told(model) == {
        "0": {"class": "Library", "name": "lib", "shelves": ["0/shelves.0"], "people": ["0/people.0"]},
        "0/shelves.0": {
            "class": "Shelf",
            "name": "s",
            "library": "0",
            "books": ["0/shelves.0/books.0", "0/shelves.0/books.1"],
            "best": "0/shelves.0/best.0",
        },
        "0/shelves.0/books.0": {
            "class": "Book",
            "name": "b0",
            "pages": 0,
            "shelf": "0/shelves.0",
            "authors": ["0/people.0"],
            "reader": "0/people.0",
            "related": ["0/shelves.0/books.1", "0/shelves.0/books.0"],
            "sequel": "0/shelves.0/books.1",
        },
        "0/shelves.0/books.1": {
            "class": "Book",
            "name": "b1",
            "pages": 1,
            "shelf": "0/shelves.0",
            "authors": ["0/people.0"],
            "prequel": "0/shelves.0/books.0",
        },
        "0/shelves.0/best.0": {
            "class": "Book",
            "genre": Genre.CRIME,
            "pedestal": "0/shelves.0",
            "rating": 5,
            "tags": ["a", "b c"],
        },
        "0/people.0": {
            "class": "Person",
            "name": "p",
            "written": ["0/shelves.0/books.0", "0/shelves.0/books.1"],
            "lent": ["0/shelves.0/books.0"],
        },
        "1": {"class": "Shelf", "name": "other"},
    }
