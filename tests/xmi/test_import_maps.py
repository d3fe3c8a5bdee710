"""Feature maps: text, elements of several features in one order, elements of other namespaces."""

from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel import layout
from neomodel.errors import InvalidFile
from tests.xmi.test_mixed import LETTERS

EXTENDED = "http:///org/eclipse/emf/ecore/util/ExtendedMetaData"
HEAD = '<a:Letter xmlns:a="http://letters" xmlns:xmi="http://www.omg.org/XMI"'

ORDERS = f"""<ecore:EPackage xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:ecore="http://www.eclipse.org/emf/2002/Ecore"
    name="orders" nsURI="http://orders" nsPrefix="orders">
  <eClassifiers xsi:type="ecore:EClass" name="Orders">
    <eStructuralFeatures xsi:type="ecore:EAttribute" name="orders" unique="false" upperBound="-1"
        eType="ecore:EDataType http://www.eclipse.org/emf/2002/Ecore#//EFeatureMapEntry">
      <eAnnotations source="{EXTENDED}"><details key="kind" value="group"/></eAnnotations>
    </eStructuralFeatures>
    <eStructuralFeatures xsi:type="ecore:EReference" name="cheap" upperBound="-1" volatile="true" transient="true"
        derived="true" eType="#//Order" containment="true">
      <eAnnotations source="{EXTENDED}"><details key="group" value="#orders"/></eAnnotations>
    </eStructuralFeatures>
    <eStructuralFeatures xsi:type="ecore:EReference" name="dear" upperBound="-1" volatile="true" transient="true"
        derived="true" eType="#//Order" containment="true">
      <eAnnotations source="{EXTENDED}"><details key="group" value="#orders"/></eAnnotations>
    </eStructuralFeatures>
  </eClassifiers>
  <eClassifiers xsi:type="ecore:EClass" name="Order">
    <eStructuralFeatures xsi:type="ecore:EAttribute" name="n"
        eType="ecore:EDataType http://www.eclipse.org/emf/2002/Ecore#//EString"/>
  </eClassifiers>
</ecore:EPackage>"""


def imported(tmp_path: Path, text: str, metamodel: Any, **options: bool) -> nm.Model:
    (tmp_path / "a.xmi").write_text(text)
    repository = nm.connect("memory:")
    repository.import_xmi(tmp_path / "a.xmi", model="m", metamodel=[metamodel], **options)
    assert nm.check(repository.open("m")).findings == ()
    return repository.open("m")


def test_members_of_a_group_keep_their_order_among_one_another(tmp_path: Path) -> None:
    (tmp_path / "orders.ecore").write_text(ORDERS)
    text = '<o:Orders xmlns:o="http://orders"><dear n="1"/><cheap n="2"/>\n<dear n="3"/></o:Orders>'
    orders = imported(tmp_path, text, tmp_path / "orders.ecore").roots[0]

    assert list(orders.orders) == ["dear", "cheap", "dear"]
    assert [order.n for order in orders.dear] == ["1", "3"]
    assert [order.n for order in orders.cheap] == ["2"]


def test_mixed_text_is_kept_as_it_is(tmp_path: Path) -> None:
    text = f"""{HEAD} date="today">Dear <to>you</to>,
 &lt;<part n="a"/><line>one</line><about href="#//@part.1"/><part n="b"/><![CDATA[<&]]><!-- c --><line>two</line>
<x:y xmlns:x="http://x">z</x:y></a:Letter>"""
    letter = imported(tmp_path, text, LETTERS).roots[0]

    assert list(letter.mixed) == [
        "#text:Dear ",
        "to",
        "#text:,\n <",
        "part",
        "line",
        "about",
        "part",
        "#cdata:<&",
        "#comment: c ",
        "line",
        "#text:\n",
        '#element:<x:y xmlns:x="http://x">z</x:y>',
    ]
    assert (letter.to, letter.date, list(letter.line)) == ("you", "today", ["one", "two"])
    assert ([part.n for part in letter.part], letter.about[0].n) == (["a", "b"], "b")


def test_an_element_that_is_meant_to_be_a_feature_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"letters\.Letter has no feature 'lin'; did you mean 'line'\?"):
        imported(tmp_path, f"{HEAD}><lin>x</lin></a:Letter>", LETTERS)


def test_what_was_mixed_comes_out_as_it_went_in(tmp_path: Path) -> None:
    inner = 'Dear <to>you</to>,\n &lt;<part n="a"/><line>one</line><![CDATA[<&]]><!-- c --> <line>two</line>'
    model = imported(tmp_path, f"{HEAD}>{inner}</a:Letter>", LETTERS)
    model.export_xmi(tmp_path / "out.xmi")

    assert inner in (tmp_path / "out.xmi").read_text()


def test_a_container_in_a_file_that_is_missing_is_kept_and_written_again(tmp_path: Path) -> None:
    from tests.objects.library import library

    text = '<l:Book xmlns:l="http://library" name="a"><shelf href="shelf.xmi#/"/></l:Book>'
    (tmp_path / "book.xmi").write_text(text)
    (tmp_path / "shelf.xmi").write_text('<l:Shelf xmlns:l="http://library"><books href="book.xmi#/"/></l:Shelf>')
    repository = nm.connect("memory:")
    repository.register(library)
    repository.import_xmi(tmp_path / "book.xmi", model="m")
    model = repository.open("m")
    model.export_xmi(tmp_path / "out.xmi")
    assert '<shelf href="shelf.xmi#/"' in (tmp_path / "out.xmi").read_text()

    repository.import_xmi(tmp_path / "shelf.xmi", model="m", add=True)
    (shelf,) = model.roots
    assert [book.name for book in shelf.books] == ["a"]
    assert layout.ASIDE not in shelf.books[0]._neo.read()
    assert nm.check(model).findings == ()
