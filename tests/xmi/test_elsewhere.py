"""Objects of files that were not given: what a file says of them is said again."""

from pathlib import Path

import pytest

import neomodel as nm
from tests.xmi.files import new_repository, written
from tests.xmi.garden import garden

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<garden:Garden xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:garden="http://garden"'
)
BODIES = {
    "a class below the usual one": '>\n  <favourite xsi:type="garden:Tree" href="q.xmi#_1"/>',
    "of two": '>\n  <shown xsi:type="garden:Tree" href="q.xmi#1"/>\n  <shown xsi:type="garden:Bed" href="q.xmi#2"/>',
    "of a metamodel that nobody knows": ' xmlns:ns="http://other">\n  <shown xsi:type="ns:Thing" href="q.xmi#_1"/>',
    "of a child": '>\n  <things xsi:type="garden:Tree" href="q.xmi#_1"/>\n  <things xsi:type="garden:Plant" name="n"/>',
}


@pytest.mark.parametrize("what", BODIES)
def test_the_class_of_an_object_elsewhere_is_kept(what: str, tmp_path: Path) -> None:
    text = f"{HEAD}{BODIES[what]}\n</garden:Garden>\n"
    (tmp_path / "m.xmi").write_text(text)
    with nm.connect("memory:") as repo:
        repo.register(garden)
        repo.import_xmi(tmp_path / "m.xmi", model="m")
        repo.open("m").export_xmi(tmp_path / "out.xmi")

    assert (tmp_path / "out.xmi").read_text() == text


def test_what_waited_with_a_class_is_found_when_its_file_comes(tmp_path: Path) -> None:
    text = f"{HEAD}{BODIES['a class below the usual one']}\n</garden:Garden>\n"
    (tmp_path / "m.xmi").write_text(text)
    (tmp_path / "q.xmi").write_text(
        '<g:Tree xmlns:g="http://garden" xmlns:xmi="http://www.omg.org/XMI" xmi:id="_1" name="oak"/>'
    )
    with nm.connect("memory:") as repo:
        repo.register(garden)
        repo.import_xmi(tmp_path / "m.xmi", model="m")
        repo.import_xmi(tmp_path / "q.xmi", model="m", add=True)

        assert repo.open("m").roots[0].favourite.name == "oak"


def test_the_class_before_a_uri_in_an_attribute_is_kept(tmp_path: Path) -> None:
    (tmp_path / "m.xmi").write_text(f'{HEAD} favourite="garden:Tree q.xmi#_1"/>')
    with nm.connect("memory:") as repo:
        repo.register(garden)
        repo.import_xmi(tmp_path / "m.xmi", model="m")
        repo.open("m").export_xmi(tmp_path / "out.xmi")

    assert '<favourite xsi:type="garden:Tree" href="q.xmi#_1"/>' in (tmp_path / "out.xmi").read_text()


def test_what_waits_may_be_taken_out_and_put_back_and_finds_its_file_then(tmp_path: Path) -> None:
    waiting = '<authors href="two.xmi#/"/><sequel href="three.xmi#/"/>'
    one = written(tmp_path / "one.xmi", f'<l:Shelf NS><books name="b">{waiting}</books></l:Shelf>')
    two = written(tmp_path / "two.xmi", '<l:Person NS name="p"/>')
    repository = new_repository()
    repository.import_xmi(one, model="m")
    (shelf,) = repository.open("m").roots
    (book,) = shelf.books

    other = repository.create("other")
    shelf.books.remove(book)
    other.roots.append(book)
    shelf.books.append(book)
    repository.import_xmi(two, model="m", add=True)

    assert [person.name for person in book.authors] == ["p"]
    with pytest.raises(nm.ObjectNotFound, match=r"three\.xmi#/"):
        _ = book.sequel.name
    assert nm.check(repository.open("m")).findings == ()
