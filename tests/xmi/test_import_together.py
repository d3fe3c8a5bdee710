"""Files that refer to one another: given together, in any order, or not given."""

from pathlib import Path

import pytest

import neomodel as nm
from neomodel.errors import InvalidFile
from tests.xmi.files import imported, new_repository, told, written


def two(tmp_path: Path, one: str, other: str) -> tuple[Path, Path]:
    (tmp_path / "inner").mkdir(exist_ok=True)
    return written(tmp_path / "one.xmi", one), written(tmp_path / "inner" / "two x.xmi", other)


HREFS = ["inner/two%20x.xmi", "./inner/two%20x.xmi", "inner/../inner/two%20x.xmi", "file:{folder}/inner/two%20x.xmi"]
HREFS += ["file://{folder}/inner/two%20x.xmi", "file:/somewhere/else/two%20x.xmi", "platform:/resource/p/two%20x.xmi"]


@pytest.mark.parametrize("uri", HREFS)
@pytest.mark.parametrize("order", [1, -1])
def test_references_into_a_file_that_is_given_too_are_resolved(tmp_path: Path, uri: str, order: int) -> None:
    uri = uri.format(folder=tmp_path)
    files = two(
        tmp_path,
        f'<l:Book NS name="a"><related href="{uri}#//@books.0"/><sequel href="{uri}#_b"/></l:Book>',
        '<l:Shelf NS><books name="b0"/><books name="b1" xmi:id="_b">\n<prequel href="../one.xmi#/"/></books></l:Shelf>',
    )
    model = imported(*files[::order])
    book, shelf = list(model.roots)[::order]

    assert book.related[0] is shelf.books[0]
    assert (book.sequel, shelf.books[1].prequel) == (shelf.books[1], book)


def test_one_file_may_name_an_end_that_another_does_not(tmp_path: Path) -> None:
    files = two(
        tmp_path, '<l:Book NS name="a"><authors href="inner/two%20x.xmi#/"/></l:Book>', '<l:Person NS name="p"/>'
    )
    book, person = imported(*files).roots

    assert list(person.written) == [book]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("fragment", ["/", "_a", "/0"])
def test_a_root_may_be_contained_in_an_object_of_another_file(tmp_path: Path, order: int, fragment: str) -> None:
    files = two(
        tmp_path,
        f'<l:Shelf NS name="s"><books name="b"/><books href="inner/two%20x.xmi#{fragment}" name="copy"/></l:Shelf>',
        '<l:Book NS name="a" xmi:id="_a" related="/"><shelf href="../one.xmi#/"/></l:Book>',
    )
    model = imported(*files[::order])
    (shelf,) = model.roots

    assert [book.name for book in shelf.books] == ["b", "a"]
    assert shelf.books[1].eContainer() is shelf
    assert list(shelf.books[1].related) == [shelf.books[1]]
    if order == 1:
        assert nm.oid(shelf.books[1])[:4] == nm.oid(shelf)[:4]  # it lies with its container


def test_a_root_may_be_the_only_one_to_name_its_container(tmp_path: Path) -> None:
    files = two(tmp_path, '<l:Shelf NS name="s"/>', '<l:Book NS name="a"><shelf href="../one.xmi#/"/></l:Book>')
    (shelf,) = imported(*files).roots

    assert [book.name for book in shelf.books] == ["a"]


CONTAINED = {
    '<books href="inner/two%20x.xmi#//@books.0"/>': "it contains '//@books.0', which another object contains",
    '<books href="inner/two%20x.xmi#_no"/>': "it contains '_no', which is not there",
    '<books href="inner/two%20x.xmi#/"/>': r"library\.Shelf\.books holds objects of library\.Book, and this is one of",
    '<inner href="inner/two%20x.xmi#/"/><inner href="inner/two%20x.xmi#/"/>': "is contained in another object already",
    '<inner href="gone.xmi#/"/><inner href="gone.xmi#/"/>': "gone.xmi#/ is contained in another object already",
}


@pytest.mark.parametrize("inside", CONTAINED)
def test_what_can_not_be_contained_is_refused(tmp_path: Path, inside: str) -> None:
    files = two(tmp_path, f"<l:Shelf NS>\n{inside}</l:Shelf>", "<l:Shelf NS><books/></l:Shelf>")

    with pytest.raises(InvalidFile, match=r"one\.xmi:3: .*" + CONTAINED[inside]):
        new_repository().import_xmi(*files, model="m")


def test_references_into_files_that_are_not_given_wait_and_say_for_what(tmp_path: Path) -> None:
    body = """<l:Shelf NS><books name="a" related="#//@books.0 gone.xmi#//@books.1 #//@books.0">
<sequel href="a/b%20c.xmi#_x,1"/></books><books href="gone.xmi#//@books.0"/></l:Shelf>"""
    repository = new_repository()
    done = repository.import_xmi(written(tmp_path / "a.xmi", body), model="m")
    model = repository.open("m")
    (book,) = model.roots[0].books

    assert nm.check(model).findings == ()
    assert told(model)["0/books.0"]["related"] == ["0/books.0", "elsewhere: @?gone.xmi/%2F%2F%40books.1"]
    assert book._neo.raw(book.eClass.features["sequel"]) == "@?a%2Fb%2520c.xmi/_x%2C1"
    with pytest.raises(
        nm.ObjectNotFound, match=r"object gone\.xmi#//@books\.1 can't be read: its file was not imported"
    ):
        _ = book.related[1].name
    assert [notice.text.partition(":")[0] for notice in done.notices if "twice" not in notice.text] == [
        "gone.xmi was not given",
        "a/b%20c.xmi was not given",
        "library.Book.related refers to 1 objects more than once, which it can't; once is kept",
    ]


def test_a_waiting_child_stays_in_the_list_of_its_container(tmp_path: Path) -> None:
    body = '<l:Shelf NS><books href="gone.xmi#/"/><books name="a"/><best href="gone.xmi#/1"/></l:Shelf>'
    model = imported(written(tmp_path / "a.xmi", body))
    (shelf,) = model.roots

    assert [book.name for book in shelf.books] == ["a"]
    assert shelf.best is None
    assert shelf._neo.raw(shelf.eClass.features["books"])[0] == "@?gone.xmi/%2F"
    shelf.books.append(shelf.books[0])
    assert shelf._neo.raw(shelf.eClass.features["books"])[0] == "@?gone.xmi/%2F"


def test_metamodels_are_no_files_to_wait_for_in_vain(tmp_path: Path) -> None:
    body = '<l:Book NS><anything href="http://www.eclipse.org/emf/2002/Ecore#//EString"/></l:Book>'
    model = imported(written(tmp_path / "a.xmi", body))
    (book,) = model.roots

    assert book._neo.raw(book.eClass.features["anything"]).startswith("@?http%3A%2F%2Fwww.eclipse.org")


def test_what_is_said_of_an_object_of_another_file_is_left_out_and_told(tmp_path: Path) -> None:
    path = written(tmp_path / "one.xmi", '<l:Shelf NS>\n<books href="gone.xmi#/" name="copy"/></l:Shelf>')
    repository = new_repository()

    done = repository.import_xmi(path, model="m")

    told_of = [notice for notice in done.notices if "name of gone.xmi#/ is left out" in notice.text]
    assert [notice.line for notice in told_of] == [3]
    with pytest.raises(InvalidFile, match=r"one\.xmi:3: .* strict was asked for"):
        repository.import_xmi(path, model="strict", strict=True)
