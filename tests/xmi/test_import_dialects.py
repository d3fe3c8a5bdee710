"""Every way in which tools write the same thing."""

import zipfile
from pathlib import Path

import pytest

import neomodel as nm
from neomodel import layout
from tests.objects.library import Genre
from tests.xmi.files import XMLNS, imported, told, written

PLAIN = '<l:Library NS name="lib"><shelves name="s"><books name="b" pages="7"/></shelves></l:Library>'

SAME = {
    "several roots": '<xmi:XMI NS><l:Library name="lib"><shelves name="s"><books name="b" pages="7"/></shelves>'
    "</l:Library></xmi:XMI>",
    "a default namespace": '<Library xmlns="http://library" name="lib"><shelves name="s"><books name="b" pages="7"/>'
    "</shelves></Library>",
    "no xmi:version": '<l:Library xmlns:l="http://library" name="lib"><shelves name="s"><books name="b" pages="7"/>'
    "</shelves></l:Library>",
    "qualified elements": '<l:Library NS name="lib"><l:shelves name="s"><l:books name="b" pages="7"/></l:shelves>'
    "</l:Library>",
    "qualified attributes": '<l:Library NS l:name="lib"><shelves l:name="s"><books name="b" l:pages="7"/></shelves>'
    "</l:Library>",
    "xsi:type": '<l:Library NS name="lib"><shelves xsi:type="l:Shelf" name="s"><books name="b" pages="7"/></shelves>'
    "</l:Library>",
    "xmi:type": '<l:Library NS name="lib"><shelves xmi:type="l:Shelf" name="s"><books name="b" pages="7"/></shelves>'
    "</l:Library>",
    "xmi:type of the root": '<Any NS xmi:type="l:Library" name="lib"><shelves name="s"><books name="b" pages="7"/>'
    "</shelves></Any>",
    "values as elements": "<l:Library NS><name>lib</name><shelves><name>s</name><books><pages> 7 </pages><name>b</name>"
    "</books></shelves></l:Library>",
    "CDATA and references to characters": "<l:Library NS name='l&#105;b'><shelves><name><![CDATA[s]]></name>"
    "<books name='b' pages='&#55;'/></shelves></l:Library>",
    "another version of XMI": '<l:Library xmlns:xmi="http://schema.omg.org/spec/XMI/2.1" xmi:version="2.1" '
    'xmlns:l="http://library" name="lib"><shelves xmi:type="l:Shelf" name="s"><books name="b" pages="7"/></shelves>'
    "</l:Library>",
    "a comment": '<!-- a --><l:Library NS name="lib"><!-- b --><shelves name="s"><books name="b" pages="7"/></shelves>'
    "</l:Library><!-- c -->",
    "where schemas are": '<l:Library NS xsi:schemaLocation="http://library library.ecore" name="lib"><shelves name="s">'
    '<books name="b" pages="7"/></shelves></l:Library>',
}


@pytest.mark.parametrize("dialect", SAME)
def test_what_is_said_in_another_way_is_the_same(tmp_path: Path, dialect: str) -> None:
    assert told(imported(written(tmp_path / "b.xmi", SAME[dialect]))) == told(
        imported(written(tmp_path / "a.xmi", PLAIN))
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "iso-8859-1", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_every_encoding_gives_the_same(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.xmi"
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    declared = encoding.removesuffix("-sig").removesuffix("-le")
    path.write_bytes(
        f'{mark}<?xml version="1.0" encoding="{declared}"?><l:Library {XMLNS} name="Bücherei"/>'.encode(encoding)
    )

    assert told(imported(path)) == {"0": {"class": "Library", "name": "Bücherei"}}


def test_a_zipped_file_gives_the_same(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zxmi", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ResourceContents", PLAIN.replace("NS", XMLNS))

    assert told(imported(tmp_path / "a.zxmi")) == told(imported(written(tmp_path / "a.xmi", PLAIN)))


# references

BOOKS = """<l:Library NS name="lib"><shelves name="s 1" xmi:id="_s">
<books name="a" xmi:id="_a" {of_a}/><books name="b" xmi:id="_b%1" {of_b}/><books name="c d">{in_c}</books>
<best name="best" xmi:id="_best"/></shelves></l:Library>"""

REFERENCES = {
    "by path": 'related="//@shelves.0/@books.1 //@shelves.0/@books.2 //@shelves.0/@best"',
    "by path with #": 'related="#//@shelves.0/@books.1 #//@shelves.0/@books.2 #//@shelves.0/@best"',
    "by path from the number of the root": (
        'related="/0/@shelves.0/@books.1 /0/@shelves.0/@books.2 /0/@shelves.0/@best"'
    ),
    "by path with the name of this file": (
        'related="a.xmi#//@shelves.0/@books.1 a.xmi#//@shelves.0/@books.2 a.xmi#//@shelves.0/@best"'
    ),
    "with types": (
        'related="l:Book #//@shelves.0/@books.1 l:Book a.xmi#//@shelves.0/@books.2 l:Book #//@shelves.0/@best"'
    ),
    "by path, encoded": 'related="//%40shelves.0/%40books.1 //@shelves.0/@books.2 //@shelves.0/@best"',
    "by path, with a number that is not needed": (
        'related="//@shelves.0/@books.1 //@shelves.0/@books.2 //@shelves.0/@best.0"'
    ),
    "by keys": (
        "related=\"//@shelves[name='s%201']/@books[name='b'] //@shelves.0/@books[name='c%20d'] "
        "//@shelves.0/@best[name='best']\""
    ),
    "by names": 'related="//s%201/b //s%201/c%20d //s%201/best"',
    "by id": 'related="_b%251 //@shelves.0/@books.2 _best"',
    "with lines between": 'related="&#10; //@shelves.0/@books.1&#10;&#10;//@shelves.0/@books.2 //@shelves.0/@best "',
}


@pytest.mark.parametrize("dialect", REFERENCES)
def test_references_of_every_dialect_lead_to_the_same(tmp_path: Path, dialect: str) -> None:
    body = BOOKS.format(of_a=REFERENCES[dialect], of_b="", in_c="")
    model = imported(written(tmp_path / "a.xmi", body))

    assert [book.name for book in model.roots[0].shelves[0].books[0].related] == ["b", "c d", "best"]


ELEMENTS = {
    "href": '<related href="#_a"/><related href="a.xmi#//@shelves.0/@books.1"/>',
    "href with a type": '<related xsi:type="l:Book" href="#//@shelves.0/@books.0"/><related href="#_b%251"/>',
    "idref": '<related xmi:idref="_a"/><related xmi:idref="_b%251"/>',
    "text": "<related>//@shelves.0/@books.0</related><related> _b%251 </related>",
    "texts in one": "<related>//@shelves.0/@books.0 _b%251</related>",
    "href with something in it": '<related href="#_a"><name>a copy</name></related><related href="#_b%251">b</related>',
}


@pytest.mark.parametrize("dialect", ELEMENTS)
def test_references_may_be_elements(tmp_path: Path, dialect: str) -> None:
    model = imported(written(tmp_path / "a.xmi", BOOKS.format(of_a="", of_b="", in_c=ELEMENTS[dialect])))

    assert [book.name for book in model.roots[0].shelves[0].books[2].related] == ["a", "b"]


def test_references_may_be_in_an_attribute_and_in_elements(tmp_path: Path) -> None:
    body = '<l:Library NS><shelves><books name="a" related="//@shelves.0/@books.1">\n<related href="#/"/>'
    body = body.replace("#/", "#//@shelves.0/@books.0") + '</books><books name="b"/></shelves></l:Library>'
    model = imported(written(tmp_path / "a.xmi", body))

    assert [book.name for book in model.roots[0].shelves[0].books[0].related] == ["b", "a"]


def test_a_list_of_30_000_references_in_one_attribute_is_whole_and_in_order(tmp_path: Path) -> None:
    order = [(7919 * n) % 30_000 for n in range(30_000)]
    related = " ".join(f"//@books.{n}" for n in order)
    books = "".join(f'<books name="{n}"/>' for n in range(30_000))
    model = imported(written(tmp_path / "a.xmi", f'<l:Shelf NS>{books}<best related="{related}"/></l:Shelf>'))

    assert [book.name for book in model.roots[0].best.related] == [str(n) for n in order]


def test_roots_refer_to_one_another(tmp_path: Path) -> None:
    body = '<xmi:XMI NS><l:Book name="a" related="/2 /1 /0 /"/><l:Book name="b"/><l:Book name="c"/></xmi:XMI>'
    model = imported(written(tmp_path / "a.xmi", body))

    assert [book.name for book in model.roots[0].related] == ["c", "b", "a"]


# values


def book(tmp_path: Path, attributes: str = "", inside: str = "", **options: bool) -> nm.Element:
    body = f"<l:Book NS {attributes}>{inside}</l:Book>"
    return imported(written(tmp_path / "a.xmi", body), **options).roots[0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("text", ["CRIME", "0", " CRIME "])
def test_an_enum_is_given_by_name_or_number(tmp_path: Path, text: str) -> None:
    assert book(tmp_path, f'genre="{text}"').genre is Genre.CRIME


def test_xsi_nil_is_none(tmp_path: Path) -> None:
    nil = book(tmp_path, 'name="a"', '<language xsi:nil="true"/><rating xsi:nil="1"/><reader xsi:nil="true"/>')

    assert (nil.language, nil.rating, nil.reader) == (None, None, None)
    assert nil.eIsSet("language")
    assert not nil.eIsSet("reader")


def test_a_value_that_is_the_default_is_not_set_unless_it_can_be_unset(tmp_path: Path) -> None:
    found = book(tmp_path, 'pages="100" rating="5"')

    assert (found.eIsSet("pages"), found.eIsSet("rating")) == (False, True)


def test_many_values_are_elements_or_words_of_an_attribute(tmp_path: Path) -> None:
    assert list(book(tmp_path, 'tags="a b  c"').tags) == ["a", "b", "c"]
    assert list(book(tmp_path, "", "<tags> a b </tags><tags/><tags>\n</tags>").tags) == [" a b ", "", "\n"]


def test_xmi_ids_are_kept(tmp_path: Path) -> None:
    found = book(tmp_path, 'xmi:id="_x"')

    assert found._neo.read().get(layout.XMI_ID) == b"_x"
