"""What is refused, with file and line, and leaves nothing; and what is kept aside instead if that is asked for."""

import json
from pathlib import Path

import pytest

import neomodel as nm
from neomodel import layout
from neomodel.errors import InvalidFile
from tests.xmi.files import new_repository, told, written

REFUSED = {
    "<l:Library NS>\n<shelvs/></l:Library>": r":3: library\.Library has no feature 'shelvs'; did you mean 'shelves'\?",
    '<l:Library NS>\n<shelves nmae="a"/></l:Library>': r":3: library\.Shelf has no feature 'nmae'; did you mean 'name'",
    "<l:Librery NS/>": r":2: there is no class 'Librery' in 'http://library'; did you mean 'Library'\?",
    "<l:Named NS/>": r":2: library\.Named is abstract: say of which class this is, by xsi:type",
    '<x:Thing NS xmlns:x="http://x"/>': r":2: Thing has the namespace 'http://x', of which there is no metamodel",
    "<Thing NS/>": r":2: Thing has no namespace; is this a file of XMI\?",
    '<l:Library NS><shelves xsi:type="l:Person"/></l:Library>': r":2: library\.Library\.shelves holds objects of lib",
    '<l:Library NS><shelves xsi:type="l:Shelv"/></l:Library>': r":2: there is no class 'Shelv' in",
    "<l:Library NS><director/>\n<director/></l:Library>": r":3: library\.Library\.director holds one object",
    '<l:Book NS pages="many"/>': r":2: library\.Book\.pages can't be 'many': 'many' is no integer; expected an integer",
    '<l:Book NS pages=""/>': r":2: library\.Book\.pages can't be ''",
    "<l:Book NS><pages>7</pages><pages>8</pages></l:Book>": r":2: library\.Book\.pages holds one value, and",
    "<l:Book NS><name><b/></name></l:Book>": r":2: library\.Named\.name holds values, not elements like 'b'",
    '<l:Book NS genre="NONE"/>': r":2: library\.Book\.genre can't be 'NONE': 'NONE' is no literal of library\.Genre",
    '<l:Book NS sequel="/ /"/>': r":2: library\.Book\.sequel refers to one object, and here are 2",
    "<l:Book NS><sequel/></l:Book>": r":2: 'sequel' does not say what library\.Book\.sequel refers to",
    "<l:Book NS><sequel><x/></sequel></l:Book>": r":2: library\.Book\.sequel refers to objects that lie elsewhere",
    "<l:Book NS>\n\n<name/>words</l:Book>": r":4: library\.Book has no place for the text 'words'",
    '<l:Shelf NS><books xmi:id="_a"/>\n<books xmi:id="_a"/></l:Shelf>': r":3: the xmi:id '_a' is that of another obj",
    '<l:Shelf NS><books/>\n<books related="//@books.0 //@books.7"/></l:Shelf>': (
        r":3: library\.Book\.related refers to '//@books\.7', which is not there"
    ),
    '<l:Book NS related="_b"/>': r":2: library\.Book\.related refers to '_b', which is not there",
    '<l:Book NS related="//name"/>': r":2: library\.Book\.related refers to '//name', which is not there",
    '<l:Shelf NS><books related="/"/></l:Shelf>': r":2: library\.Book\.related refers to objects of library\.Book",
    '<l:Shelf NS><books shelf="//@books.0"/></l:Shelf>': r":2: library\.Book\.shelf is '//@books\.0', which is not",
    "<l:Shelf NS><books></l:Shelf>": r":2: the XML is broken: mismatched tag",
    "<l:Book NS><anything><x/></anything></l:Book>": r":2: library\.Book\.anything refers to objects",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_makes_no_sense_is_refused_with_file_and_line_and_leaves_nothing(tmp_path: Path, body: str) -> None:
    repository = new_repository()

    with pytest.raises(InvalidFile, match=r"a\.xmi" + REFUSED[body]):
        repository.import_xmi(written(tmp_path / "a.xmi", body), model="m")
    assert repository.models() == repository.imports.names() == []
    assert "m" not in repository.store.tables()


def aside(obj: nm.Element) -> list[dict[str, str]]:
    return json.loads(obj._neo.read().get(layout.ASIDE))  # type: ignore[no-any-return]


def lenient(path: Path) -> tuple[nm.Model, list[str]]:
    repository = new_repository()
    done = repository.import_xmi(path, model="m", lenient=True)
    assert nm.check(repository.open("m")).findings == ()
    return repository.open("m"), [str(notice).removeprefix(f"{path}:") for notice in done.notices]


def test_unknown_attributes_and_bad_values_are_kept_aside(tmp_path: Path) -> None:
    body = '<l:Book NS name="a" colour="red" l:shape="round" pages="many"/>'
    model, notices = lenient(written(tmp_path / "a.xmi", body))

    assert told(model) == {"0": {"class": "Book", "name": "a"}}
    assert aside(model.roots[0]) == [
        {"attribute": "colour", "value": "red"},
        {"attribute": "{http://library}shape", "value": "round"},
        {"attribute": "pages", "value": "many"},
    ]
    assert len(notices) == 3
    assert notices[0] == "2: library.Book has no feature 'colour'; it is kept aside"


def test_unknown_elements_are_kept_aside_as_they_are(tmp_path: Path) -> None:
    cellar = '<cellar xsi:type="l:Room" xmi:id="_c">a &lt; b<l:box n="&quot;"/></cellar>'
    body = f'<l:Library NS>{cellar}\n<director name="d"/></l:Library>'
    model, notices = lenient(written(tmp_path / "a.xmi", body))

    assert model.roots[0].director.name == "d"
    (kept,) = aside(model.roots[0])
    assert kept == {
        "element": '<cellar xsi:type="l:Room" xmi:id="_c" xmlns:xmi="http://www.omg.org/XMI" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:l="http://library">'
        "a &lt; b<l:box n='\"'></l:box></cellar>"
    }
    assert notices == ["2: library.Library has no feature 'cellar'; the element is kept aside"]


def test_a_carriage_return_in_an_element_that_is_kept_aside_comes_back(tmp_path: Path) -> None:
    model, _ = lenient(written(tmp_path / "a.xmi", "<l:Library NS><cellar>a&#13;b</cellar></l:Library>"))

    model.export_xmi(tmp_path / "b.xmi")

    assert b"<cellar>a&#13;b</cellar>" in (tmp_path / "b.xmi").read_bytes()


def test_elements_of_unknown_classes_are_kept_aside(tmp_path: Path) -> None:
    library = '<l:Library><shelves xsi:type="l:Rack"/></l:Library>'
    body = f'<xmi:XMI NS xmlns:x="http://x"><x:Thing><y/></x:Thing>{library}</xmi:XMI>'
    model, notices = lenient(written(tmp_path / "a.xmi", body))

    assert [root.eClass.name for root in model.roots] == ["Library"]
    assert aside(model.roots[0])[0]["element"].startswith('<shelves xsi:type="l:Rack" ')
    root_row = model.table.get(b"ROOT") or {}
    assert json.loads(root_row[layout.ASIDE]) == [{"element": '<x:Thing xmlns:x="http://x"><y></y></x:Thing>'}]
    assert len(notices) == 2


def test_references_to_what_is_not_there_are_kept(tmp_path: Path) -> None:
    body = '<l:Book NS name="a" related="//@books.3 / _x" sequel="_y"/>'
    model, notices = lenient(written(tmp_path / "a.xmi", body))
    book = model.roots[0]

    assert book._neo.raw(book.eClass.features["related"])[0] == "@?a.xmi/%2F%2F%40books.3"
    assert book._neo.raw(book.eClass.features["sequel"]) == "@?a.xmi/_y"
    assert book.related[1] is book
    assert len(notices) == 3
    with pytest.raises(nm.ObjectNotFound, match=r"object a\.xmi#_y can't be read: its file was not imported"):
        _ = book.sequel.name


def test_extensions_of_tools_are_kept_in_any_case(tmp_path: Path) -> None:
    body = '<l:Book NS name="a"><xmi:Extension extender="tool"><note/></xmi:Extension></l:Book>'
    repository = new_repository()
    done = repository.import_xmi(written(tmp_path / "a.xmi", body), model="m")

    assert aside(repository.open("m").roots[0])[0]["element"].startswith('<xmi:Extension extender="tool"')
    assert [notice.text for notice in done.notices] == ["xmi:Extension is kept as it is"]


def test_strict_refuses_what_is_odd(tmp_path: Path) -> None:
    body = '<Library NS name="a"/>'
    repository = new_repository()
    done = repository.import_xmi(written(tmp_path / "a.xmi", body), model="m")

    assert [notice.line for notice in done.notices] == [2]
    assert "Library is taken for library.Library" in done.notices[0].text
    with pytest.raises(InvalidFile, match=r"a\.xmi:2: Library is taken for .* strict was asked for"):
        repository.import_xmi(tmp_path / "a.xmi", model="n", strict=True)
    assert repository.models() == ["m"]


def test_a_name_that_is_taken_is_refused_and_the_model_stays(tmp_path: Path) -> None:
    repository = new_repository()
    repository.create("m")

    with pytest.raises(nm.ModelExists):
        repository.import_xmi(written(tmp_path / "a.xmi", "<l:Book NS/>"), model="m")
    assert repository.models() == ["m"]
    assert list(repository.open("m").roots) == []
    with pytest.raises(nm.InvalidValue, match="what to import"):
        repository.import_xmi(model="n")
