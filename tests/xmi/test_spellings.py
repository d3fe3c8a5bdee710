"""Values that a file has as elements, as text, or by names that the metamodel has for XML, are written so again."""

from pathlib import Path

import pytest

import neomodel as nm
from tests.data import needs_data
from tests.xmi.ecore_files import attribute, class_, ecore, reference
from tests.xmi.files import told
from tests.xmi.test_import_data import CASES, DATA

EXTENDED = "http:///org/eclipse/emf/ecore/util/ExtendedMetaData"
STRING = 'eType="ecore:EDataType http://www.eclipse.org/emf/2002/Ecore#//EString"'


def said(**details: str) -> str:
    inside = "".join(f'<details key="{key}" value="{value}"/>' for key, value in details.items())
    return f'<eAnnotations source="{EXTENDED}">{inside}</eAnnotations>'


METAMODEL = ecore(
    class_(
        "Order",
        attribute("shipDate", STRING, said(kind="element", name="ship-date"))
        + attribute("number", STRING, said(kind="attribute", name="no"))
        + attribute("note", STRING)
        + attribute("tags", f'upperBound="-1" {STRING}', said(kind="element", name="tag"))
        + reference("items", 'upperBound="-1" containment="true" eType="#//Item"', said(kind="element", name="item"))
        + reference("first", 'eType="#//Item"', said(kind="attribute", name="first-item"))
        + reference("gone", 'eType="#//Item"', said(kind="element", name="gone-item")),
    )
    + class_(
        "Item",
        said(kind="simple")
        + attribute("value", STRING, said(name=":0", kind="simple"))
        + attribute("unit", STRING)
        + reference("parts", 'upperBound="-1" containment="true" eType="#//Item"'),
    )
)
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<p:Order xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" xmlns:p="http://p"'
)

BODIES = {
    "by names for XML": ' no="7" first-item="//@items.1">\n  <item unit="kg"/>\n  <item/>\n</p:Order>\n',
    "an element": ">\n  <ship-date>today</ship-date>\n</p:Order>\n",
    "an element by its own name": ">\n  <note>n</note>\n</p:Order>\n",
    "an empty element": ">\n  <note></note>\n</p:Order>\n",
    "many": ">\n  <tag>a</tag>\n  <tag>b</tag>\n</p:Order>\n",
    "in another file": '>\n  <gone-item href="q.xmi#/"/>\n</p:Order>\n',
    "text": '>\n  <items unit="kg">seven &amp; a &lt;half&gt;</items>\n  <items>1</items>\n  <items/>\n</p:Order>\n',
    "text that is none": '>\n  <items>1</items>\n  <items value=""/>\n  <items value="  "/>\n</p:Order>\n',
    "text and children": '>\n  <items>some<parts unit="g"/></items>\n</p:Order>\n',
    "attributes": ' shipDate="today" number="7" note="n"/>\n',
}


@pytest.fixture
def repo(tmp_path: Path) -> nm.Repository:
    (tmp_path / "m.ecore").write_text(METAMODEL)
    repo = nm.connect("memory:")
    repo.register(tmp_path / "m.ecore")
    return repo


def written(repo: nm.Repository, name: str, folder: Path) -> str:
    repo.open(name).export_xmi(folder / "out.xmi")
    return (folder / "out.xmi").read_text()


@pytest.mark.parametrize("what", BODIES)
def test_what_came_so_is_written_so(what: str, repo: nm.Repository, tmp_path: Path) -> None:
    (tmp_path / "m.xmi").write_text(HEAD + BODIES[what])
    repo.import_xmi(tmp_path / "m.xmi", model="m")

    assert written(repo, "m", tmp_path) == HEAD + BODIES[what]
    repo.import_xmi(tmp_path / "out.xmi", model="again")
    assert told(repo.open("again")) == told(repo.open("m"))


def test_new_objects_are_written_as_those_that_came(repo: nm.Repository, tmp_path: Path) -> None:
    (tmp_path / "m.xmi").write_text(f"{HEAD}>\n  <item>1</item>\n</p:Order>\n")
    repo.import_xmi(tmp_path / "m.xmi", model="m")
    package = repo.metamodel("http://p")
    repo.open("m").roots[0].items.append(package.Item(value="2"))

    assert written(repo, "m", tmp_path) == f"{HEAD}>\n  <item>1</item>\n  <item>2</item>\n</p:Order>\n"


def test_a_model_that_came_from_no_file_has_attributes(repo: nm.Repository, tmp_path: Path) -> None:
    package, model = repo.metamodel("http://p"), repo.create("m")
    model.roots.append(package.Order(shipDate="today", items=[package.Item(value="1")]))

    assert written(repo, "m", tmp_path) == f'{HEAD} shipDate="today">\n  <items value="1"/>\n</p:Order>\n'


def test_files_that_are_added_have_their_say(repo: nm.Repository, tmp_path: Path) -> None:
    (tmp_path / "m.xmi").write_text(f'{HEAD} note="n"/>\n')
    (tmp_path / "more.xmi").write_text(f"{HEAD}>\n  <item>1</item>\n</p:Order>\n")
    repo.import_xmi(tmp_path / "m.xmi", model="m")
    repo.import_xmi(tmp_path / "more.xmi", model="m", add=True)

    assert "    <item>1</item>\n" in written(repo, "m", tmp_path)


@needs_data
@pytest.mark.parametrize("file", [file for file in CASES if Path(file).name.startswith("profile")])
def test_public_files_with_text_have_it_again(file: str, tmp_path: Path) -> None:
    with nm.connect("memory:") as repo:
        repo.import_xmi(DATA / file, model="m", metamodel=[DATA / one for one in CASES[file]])
        text = written(repo, "m", tmp_path)

    assert 'value="' not in text
    assert text.count("escription>") == (DATA / file).read_text().count("escription>") > 0
