"""Metamodels that can't mean anything are refused with file and line, and no other file is ever opened."""

import sys
from contextlib import suppress
from pathlib import Path

import pytest

from neomodel.errors import InvalidFile
from tests.xmi.ecore_files import (
    SPACES,
    STRING,
    Read,
    attribute,
    class_,
    ecore,
    reference,
    refusal,
    wrapped,
)

# refused

REFUSED = {
    "a class without a name": (
        ecore("\n" + '<eClassifiers xsi:type="ecore:EClass"/>'),
        "a.ecore:2: a classifier of p has no name",
    ),
    "a feature without a name": (
        ecore(class_("A", '\n<eStructuralFeatures xsi:type="ecore:EAttribute"/>')),
        "a.ecore:3: a feature of A has no name",
    ),
    "something that Ecore has not": (
        ecore('<eClassifier xsi:type="ecore:EClass" name="A"/>'),
        "a.ecore:2: EPackage has no 'eClassifier'; did you mean 'eClassifiers'?",
    ),
    "an attribute that Ecore has not": (
        ecore(class_("A", "", 'abstrakt="true"')),
        "a.ecore:2: EClass has no 'abstrakt'; did you mean 'abstract'?",
    ),
    "no package": (f"<ecore:EClass {SPACES} name='A'/>", "a.ecore:1: expected a package of Ecore"),
    "nothing": (f"<xmi:XMI {SPACES}/>", "a.ecore: there is no package in it"),
    "a classifier of no type": (
        ecore('<eClassifiers name="A"/>'),
        "a.ecore:2: eClassifiers does not say what it is; expected xsi:type, one of EClass, EDataType, EEnum",
    ),
    "a classifier of another type": (
        ecore('<eClassifiers xsi:type="ecore:EAttribute" name="A"/>'),
        "a.ecore:2: eClassifiers has the type ecore:EAttribute, expected EClass, EDataType, EEnum",
    ),
    "a prefix that is none": (
        ecore('<eClassifiers xsi:type="core:EClass" name="A"/>'),
        "a.ecore:2: the type core:EClass is of no package: its prefix 'core' stands for nothing",
    ),
    "super types in a circle": (
        ecore(class_("A", "", 'eSuperTypes="#//B"') + "\n" + class_("B", "", 'eSuperTypes="#//A"')),
        "a.ecore:2: p.A: its super types go round in a circle, http://p#A -> http://p#B -> http://p#A",
    ),
    "a class that is its own super type": (
        ecore(class_("A", "", 'eSuperTypes="#//A"')),
        "a.ecore:2: p.A: its super types go round in a circle",
    ),
    "a super type that is no class": (
        ecore('<eClassifiers xsi:type="ecore:EDataType" name="D"/>\n' + class_("A", "", 'eSuperTypes="#//D"')),
        "a.ecore:3: p.A: its super type #//D is no class",
    ),
    "a flag that is none": (
        ecore(class_("A", "", 'abstract="yes"')),
        "a.ecore:2: p.A: its abstract is 'yes', expected true or false",
    ),
    "a number that is none": (
        ecore(class_("A", attribute("n", f'eType="{STRING}" upperBound="*"'))),
        "a.ecore:2: p.A.n: its upperBound is '*', expected an integer",
    ),
    "a number out of bounds": (
        ecore(class_("A", attribute("n", f'eType="{STRING}" upperBound="9999999999"'))),
        "its upperBound is '9999999999', expected an integer",
    ),
    "elements in a value": (
        ecore("<name>p<a/></name>"),
        "a.ecore:2: name is a value, no element can be in it; found a",
    ),
    "an entity": (
        "<!DOCTYPE a [<!ENTITY b 'c'>]>\n" + ecore("&b;"),
        "a.ecore:1: it declares the entity b",
    ),
    "another file as document type": (
        '<!DOCTYPE a SYSTEM "b.dtd">\n' + ecore(""),
        "its document type is in another file, b.dtd",
    ),
    "broken XML": (ecore("<eClassifiers"), "a.ecore:3: the XML is broken"),
    "a package that lies in itself": (ecore('<eSubpackages href="#/"/>'), "a.ecore:1: the package lies in itself"),
    "elements too deep": (ecore("<eSubpackages name='a'>" * 101 + "</eSubpackages>" * 101), "more than 100 deep"),
    "two packages of one namespace": (
        wrapped(ecore("", 'name="a" nsURI="u"'), ecore("", 'name="b" nsURI="u"')),
        "a.ecore:5: the nsURI 'u' of package b is that of the one in a.ecore:2 too",
    ),
    "a namespace too long": (ecore("", f'name="a" nsURI="{"u" * 201}"'), "has more than 200 bytes"),
    "an annotation that only we write": (
        ecore('<eAnnotations source="neomodel:ecore"><details key="eOperations" value="["/></eAnnotations>'),
        "a.ecore:2: p: an annotation neomodel:ecore has something that means nothing here",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_means_nothing_is_refused_with_file_and_line(read_ecores: Read, name: str) -> None:
    text, reason = REFUSED[name]

    assert reason in refusal(read_ecores, text)


def test_a_file_that_lies_beside_but_is_not_given_is_asked_for_and_not_opened(read_ecores: Read) -> None:
    Path("other.ecore").write_text("no XML")
    text = ecore(class_("A", "\n" + reference("b", 'eType="ecore:EClass other.ecore#//B"')))

    assert refusal(read_ecores, text) == (
        "a.ecore:3: p.A.b: its type ecore:EClass other.ecore#//B is in another file; give other.ecore too"
    )


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../../../../../etc/passwd", "file:///etc/passwd", "http://x/y.ecore", "%00"]
)
def test_a_reference_opens_no_file(read_ecores: Read, path: str) -> None:
    text = ecore(class_("A", reference("b", f'eType="ecore:EClass {path}#//B"')))
    opened: list[str] = []
    watching = [True]
    sys.addaudithook(lambda event, given: opened.append(str(given[0])) if watching and event == "open" else None)
    with suppress(InvalidFile):  # which asks for the file, if there is one
        read_ecores(text)
    watching.clear()

    assert set(opened) == {"a.ecore"}


def test_all_the_files_that_are_missing_are_asked_for_at_once(read_ecores: Read) -> None:
    Path("in").mkdir()
    for name in ("b.ecore", "in/c.ecore"):
        Path(name).write_text(ecore(class_("A"), f'name="{name[-7]}" nsURI="{name}"'))
    text = ecore(class_("A", "", 'eSuperTypes="b.ecore#//A in/c.ecore#//A none.ecore#//A"'))

    assert refusal(read_ecores, text).endswith("is in another file; give b.ecore in/c.ecore too")


def test_packages_that_hold_one_another_are_refused(read_ecores: Read) -> None:
    first = ecore('<eSubpackages href="b.ecore#/"/>')
    second = ecore('<eSubpackages href="a.ecore#/"/>', 'name="q" nsURI="http://q"')

    assert "lies in itself" in refusal(read_ecores, first, second)
