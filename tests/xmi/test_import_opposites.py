"""Links whose ends are named in a file by one side, by both, or not the same by both."""

from pathlib import Path

import pytest

import neomodel as nm
from tests.xmi.files import imported, new_repository, told, written

BOTH = """<l:Library NS><shelves><books name="a" authors="//@people.0 //@people.1"/>
<books name="b" authors="//@people.0"/></shelves>
<people name="p" written="//@shelves.0/@books.0 //@shelves.0/@books.1"/><people name="q" {q}/></l:Library>"""


def ends(model: nm.Model) -> dict[str, list[str]]:
    lib = model.roots[0]
    found = {person.name: [book.name for book in person.written] for person in lib.people}
    return found | {book.name: [person.name for person in book.authors] for book in lib.shelves[0].books}


@pytest.mark.parametrize("q", ['written="//@shelves.0/@books.0"', ""])
def test_an_end_that_is_not_named_is_completed(tmp_path: Path, q: str) -> None:
    model = imported(written(tmp_path / "a.xmi", BOTH.format(q=q)))

    assert ends(model) == {"p": ["a", "b"], "q": ["a"], "a": ["p", "q"], "b": ["p"]}


@pytest.mark.parametrize("side", ["authors", "written"])
def test_one_side_alone_is_enough(tmp_path: Path, side: str) -> None:
    books = "".join(
        f'<books name="{n}" {"authors" if side == "authors" else "language"}="//@people.0"/>' for n in range(300)
    )
    all_books = " ".join(f"//@shelves.0/@books.{n}" for n in range(300))
    person = "<people/>" if side == "authors" else f'<people written="{all_books}"/>'
    model = imported(written(tmp_path / "a.xmi", f"<l:Library NS><shelves>{books}</shelves>{person}</l:Library>"))
    lib = model.roots[0]

    assert [book.name for book in lib.people[0].written] == [str(n) for n in range(300)]
    assert all(list(book.authors) == [lib.people[0]] for book in lib.shelves[0].books)


def test_what_an_end_names_comes_first_in_its_order(tmp_path: Path) -> None:
    body = """<l:Library NS><shelves><books name="a" authors="//@people.0"/><books name="b" authors="//@people.0"/>
<books name="c" authors="//@people.0"/></shelves><people name="p" written="//@shelves.0/@books.2"/></l:Library>"""
    model = imported(written(tmp_path / "a.xmi", body))

    assert ends(model)["p"] == ["c", "a", "b"]


@pytest.mark.parametrize("named", ['reader="//@people.0"', ""])
def test_one_to_many(tmp_path: Path, named: str) -> None:
    lent = "" if named else 'lent="//@shelves.0/@books.0"'
    body = f'<l:Library NS><shelves><books {named}/></shelves><people name="p" {lent}/></l:Library>'
    lib = imported(written(tmp_path / "a.xmi", body)).roots[0]
    (book,) = lib.shelves[0].books

    assert book.reader is lib.people[0]
    assert list(lib.people[0].lent) == [book]


def test_one_to_one(tmp_path: Path) -> None:
    body = '<l:Shelf NS><books name="a" sequel="//@books.1"/><books name="b"/></l:Shelf>'
    one, other = imported(written(tmp_path / "a.xmi", body)).roots[0].books

    assert (one.sequel, other.prequel) == (other, one)


def test_of_rivals_for_one_place_the_one_that_is_named_there_wins_else_the_last(tmp_path: Path) -> None:
    body = """<l:Library NS><shelves><books name="a" reader="//@people.0"/><books name="b"/></shelves>
<people name="p" lent="//@shelves.0/@books.0 //@shelves.0/@books.1"/>
<people name="q" lent="//@shelves.0/@books.0 //@shelves.0/@books.1"/></l:Library>"""
    repository = new_repository()
    done = repository.import_xmi(written(tmp_path / "a.xmi", body), model="m")
    lib = repository.open("m").roots[0]
    a, b = lib.shelves[0].books

    assert nm.check(repository.open("m")).findings == ()
    assert (a.reader.name, b.reader.name) == ("p", "q")
    assert [[book.name for book in person.lent] for person in lib.people] == [["a"], ["b"]]
    assert ["2 links of library.Book.reader and library.Person.lent contradict others" in str(n) for n in done.notices]


def test_ends_that_name_each_other_by_path_and_by_id_are_one(tmp_path: Path) -> None:
    body = """<l:Library NS><shelves><books name="a" xmi:id="_a" authors="//@people.0"/></shelves>
<people name="p" written="_a"/></l:Library>"""
    model = imported(written(tmp_path / "a.xmi", body))

    assert (list(model.roots[0].people[0].written), list(model.roots[0].shelves[0].books[0].authors)) == (
        [model.roots[0].shelves[0].books[0]],
        [model.roots[0].people[0]],
    )


def test_a_container_that_is_named_is_checked_and_not_stored(tmp_path: Path) -> None:
    books = '<books shelf="//@shelves.0"/><books shelf="_s"/>'
    body = f'<l:Library NS><shelves xmi:id="_s" library="/">{books}</shelves></l:Library>'
    without = "<l:Library NS><shelves><books/><books/></shelves></l:Library>"

    assert told(imported(written(tmp_path / "a.xmi", body))) == told(imported(written(tmp_path / "b.xmi", without)))


def test_an_opposite_of_itself(tmp_path: Path) -> None:
    from neomodel.metamodel import Class, Package, Reference, TypeName

    name = TypeName("http://p", "P")
    friends = Reference("friends", name, upper=-1, opposite="friends")
    package = Package("p", "http://p", classifiers=[Class("P", features=[friends])])
    (tmp_path / "a.xmi").write_text(
        '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:p="http://p"><p:P friends="/1 /2"/><p:P/>'
        '<p:P friends="/0"/><p:P friends="/3"/></xmi:XMI>'
    )
    repository = nm.connect("memory:")
    repository.import_xmi(tmp_path / "a.xmi", model="m", metamodel=[package])
    roots = list(repository.open("m").roots)

    assert [[roots.index(friend) for friend in root.friends] for root in roots] == [[1, 2], [0], [0], [3]]
    assert nm.check(repository.open("m")).findings == ()
