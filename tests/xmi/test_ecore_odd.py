"""Broken metamodels: what EMF would load is read, with a notice of file and line; the rest is refused with the same."""

from pathlib import Path

import pytest

from neomodel.errors import InvalidFile
from neomodel.metamodel import ECORE, Attribute, Class, DataType, Enum, Package, Reference, TypeName
from neomodel.soundness import check
from neomodel.xmi.ecore_reading import read_ecore
from neomodel.xmi.notices import Notice, Notices
from tests.xmi.ecore_files import (
    ANY,
    STRING,
    TEXT,
    Read,
    attribute,
    class_,
    ecore,
    reference,
    refusal,
    the_class,
    the_feature,
    told,
)

# read, with a notice; each text: what is on the lines after the first, and what is said


def twice(name: str) -> str:
    return class_("A", attribute("n") + "\n" + attribute(name, f'eType="{STRING}" lowerBound="1"'))


ODD = {
    "an opposite that is missing": (
        class_("A", "\n" + reference("b", 'eType="#//B" eOpposite="#//B/x"')) + class_("B"),
        ["a.ecore:3: p.A.b: its opposite #//B/x is not found; it is left out"],
    ),
    "an opposite of another class": (
        class_("A", "\n" + reference("b", 'eType="#//B" eOpposite="#//C/a"'))
        + class_("B")
        + class_("C", reference("a", 'eType="#//A"')),
        ["a.ecore:3: p.A.b: its opposite #//C/a is no feature of its type http://p#B; it is left out"],
    ),
    "an opposite with another opposite": (
        class_(
            "A",
            "\n"
            + reference("b", 'eType="#//B" eOpposite="#//B/a"')
            + reference("c", 'eType="#//B" eOpposite="#//B/a"'),
        )
        + class_("B", reference("a", 'eType="#//A" eOpposite="#//A/c"')),
        [
            "a.ecore:3: p.A.b: its opposite http://p#B.a does not point back, its own opposite is 'c'; "
            "the opposite is left out"
        ],
    ),
    "an opposite of one end only": (
        class_("A", reference("b", 'eType="#//B" eOpposite="#//B/a"'))
        + "\n"
        + class_("B", reference("a", 'eType="#//A"')),
        ["a.ecore:3: p.B.a: it names no opposite, but is that of http://p#A.b; so that is its own"],
    ),
    "containment at both ends": (
        class_("A", reference("b", 'eType="#//B" eOpposite="#//B/a" containment="true"'))
        + "\n"
        + class_("B", reference("a", 'eType="#//A" eOpposite="#//A/b" containment="true"')),
        [
            f"a.ecore:{line}: its opposite {other} is a containment too, only one end can be; the opposite is left out"
            for line, other in (("2: p.A.b", "http://p#B.a"), ("3: p.B.a", "http://p#A.b"))
        ],
    ),
    "no type": (
        class_("A", "\n" + attribute("n", "") + "\n" + reference("r", "")),
        [
            "a.ecore:3: p.A.n: it has no type; its values are read as text",
            "a.ecore:4: p.A.r: it has no type; objects of every class are taken",
        ],
    ),
    "types that are nowhere": (
        class_(
            "A", "\n" + attribute("n", 'eType="#//X"') + "\n" + reference("r", 'eType="ecore:EClass platform:/x#//Y"')
        ),
        [
            "a.ecore:3: p.A.n: its type #//X is not found; its values are read as text",
            "a.ecore:4: p.A.r: its type ecore:EClass platform:/x#//Y is not found; objects of every class are taken",
        ],
    ),
    "types of the wrong sort": (
        class_("A", "\n" + attribute("n", 'eType="#//A"') + "\n" + reference("r", f'eType="{STRING}"')),
        [
            "a.ecore:3: p.A.n: an attribute can't have the type #//A; its values are read as text",
            f"a.ecore:4: p.A.r: a reference can't have the type {STRING}; objects of every class are taken",
        ],
    ),
    "a super type that is nowhere, and one twice": (
        class_("B") + "\n" + class_("A", "", 'eSuperTypes="#//B #//X #//B"'),
        [
            "a.ecore:3: p.A: its super type #//X is not found; it is left out",
            "a.ecore:3: p.A: its super type #//B is named twice",
        ],
    ),
    "two classes of one name": (
        class_("A") + "\n" + class_("A", attribute("n")),
        ["a.ecore:3: p has another classifier 'A'; this one is called 'A_1' here"],
    ),
    "two features of one name": (
        twice("n"),
        ["a.ecore:3: A has another feature 'n'; this one is called 'n_1' here"],
    ),
    "a feature that hides an inherited one": (
        class_("B", attribute("n"))
        + "\n"
        + class_("A", attribute("n", f'eType="{STRING}" lowerBound="1"'), 'eSuperTypes="#//B"'),
        ["a.ecore:3: p.A: it inherits features 'n' that differ; that of http://p#A counts"],
    ),
    "two ids": (
        class_(
            "A", attribute("n", f'eType="{STRING}" iD="true"') + "\n" + attribute("m", f'eType="{STRING}" iD="true"')
        ),
        ["a.ecore:3: p.A.m: http://p#A has another id, http://p#A.n; this is none"],
    ),
    "bounds that can't be": (
        class_(
            "A",
            attribute("n", f'eType="{STRING}" lowerBound="-1"')
            + attribute("m", f'eType="{STRING}" upperBound="0"')
            + attribute("o", f'eType="{STRING}" lowerBound="3" upperBound="2"')
            + attribute("q", f'eType="{STRING}" upperBound="-3"'),
        ),
        [
            "a.ecore:2: p.A.n: its lowerBound can't be -1; it is read as 0",
            "a.ecore:2: p.A.m: its upperBound can't be 0; it is read as 1",
            "a.ecore:2: p.A.o: its lowerBound can't be 3; it is read as 2",
            "a.ecore:2: p.A.q: its upperBound can't be -3; it is read as -1",
        ],
    ),
    "defaults that can't be": (
        class_(
            "A",
            attribute("n", f'eType="ecore:EDataType {ECORE}#//EInt" defaultValueLiteral="one"')
            + attribute("m", f'eType="{STRING}" upperBound="-1" defaultValueLiteral="x"')
            + reference("r", 'eType="#//A" defaultValueLiteral="x"'),
        ),
        [
            f"a.ecore:2: p.A.n: its default 'one' is left out: it is no value of {ECORE}#EInt",
            "a.ecore:2: p.A.m: its default 'x' is left out: a feature of many values has none",
            "a.ecore:2: p.A.r: its default 'x' is left out: a reference has none",
        ],
    ),
    "keys that are none": (
        class_("A", reference("r", 'eType="#//A" eKeys="#//B/n"')) + class_("B", attribute("n")),
        ["a.ecore:2: p.A.r: its key 'n' is no attribute of http://p#A; its keys are left out"],
    ),
    "an enum without literals": (
        '<eClassifiers xsi:type="ecore:EEnum" name="E"/>',
        ["a.ecore:2: p.E: an enum without literals has no values; it is read as a data type, whose values are text"],
    ),
    "literals of one text": (
        '<eClassifiers xsi:type="ecore:EEnum" name="E">\n<eLiterals name="a"/>\n'
        '<eLiterals name="b" literal="a"/>\n<eLiterals name="a"/></eClassifiers>',
        [
            "a.ecore:4: p.E.b: another literal has the text 'a' too; this one has 'b' here",
            "a.ecore:5: E has another literal 'a'; this one is called 'a_1' here",
            "a.ecore:5: p.E.a_1: another literal has the text 'a' too; this one has 'a_1' here",
        ],
    ),
    "literals of one text, of which the names are the texts of others": (
        '<eClassifiers xsi:type="ecore:EEnum" name="E">\n<eLiterals name="a" literal="x"/>\n'
        '<eLiterals name="b" literal="x"/>\n<eLiterals name="c" literal="b"/>\n<eLiterals name="d" literal="b_1"/>'
        "</eClassifiers>",
        ["a.ecore:4: p.E.b: another literal has the text 'x' too; this one has 'b_1_1' here"],
    ),
    "text between elements": (
        "some text\n" + class_("A"),
        ["a.ecore:3: the text 'some text' means nothing here; it is left out"],
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_what_emf_would_load_is_read_and_makes_sense_and_is_told(read_ecores: Read, name: str) -> None:
    text, said = ODD[name]
    packages, notices = read_ecores(ecore(text))

    assert told(notices) == said
    check(packages, lambda _: None)


@pytest.mark.parametrize("name", ODD)
def test_strict_refuses_whatever_there_would_be_a_notice_of(read_ecores: Read, name: str) -> None:
    text, said = ODD[name]
    reason = refusal(read_ecores, ecore(text), strict=True)

    assert reason.removesuffix("; that is refused, because strict was asked for") in said


def test_what_is_made_of_opposites(read_ecores: Read) -> None:
    (one_sided,), _ = read_ecores(ecore(ODD["an opposite of one end only"][0]))
    (both,), _ = read_ecores(ecore(ODD["containment at both ends"][0]))

    assert (the_feature(one_sided, "A.b").opposite, the_feature(one_sided, "B.a").opposite) == ("a", "b")
    assert (the_feature(both, "A.b").opposite, the_feature(both, "B.a").opposite) == (None, None)
    assert the_feature(both, "A.b").containment
    assert the_feature(both, "B.a").containment


def test_what_is_made_of_types_that_are_not_found(read_ecores: Read) -> None:
    (package,), _ = read_ecores(ecore(ODD["types that are nowhere"][0]))

    assert (the_feature(package, "A.n").type, the_feature(package, "A.r").type) == (TEXT, ANY)


def test_what_is_made_of_features_of_one_name(read_ecores: Read) -> None:
    (package,), _ = read_ecores(ecore(twice("n")))
    (hiding,), _ = read_ecores(ecore(ODD["a feature that hides an inherited one"][0]))

    assert [feature.name for feature in the_class(package, "A").features] == ["n", "n_1"]
    assert the_class(hiding, "A").hides == ("n",)
    assert the_feature(hiding, "A.n").lower == 1


def test_of_features_that_two_super_types_have_that_of_the_first_counts_and_opposites_of_hidden_ones_are_left_out(
    read_ecores: Read,
) -> None:
    (package,), notices = read_ecores(
        ecore(
            class_("A", attribute("x"))
            + class_("B", reference("x", 'eType="#//C" eOpposite="#//C/b"'))
            + class_("C", reference("b", 'eType="#//B" eOpposite="#//B/x"'))
            + class_("D", "", 'eSuperTypes="#//A #//B"')
            + class_("E", "", 'eSuperTypes="#//D"')
        )
    )

    assert the_class(package, "D").hides == ("x",)
    assert the_class(package, "E").hides == ()
    assert (the_feature(package, "B.x").opposite, the_feature(package, "C.b").opposite) == (None, None)
    assert [notice.text.partition(":")[0] for notice in notices] == ["p.B.x", "p.C.b", "p.D"]


def test_what_is_made_of_enums(read_ecores: Read) -> None:
    (empty,), _ = read_ecores(ecore(ODD["an enum without literals"][0]))
    (package,), _ = read_ecores(ecore(ODD["literals of one text"][0]))

    assert isinstance(empty.classifier("E"), DataType)
    found = package.classifier("E")
    assert isinstance(found, Enum)
    assert [(literal.name, literal.text) for literal in found.literals] == [("a", "a"), ("b", "b"), ("a_1", "a_1")]


def test_notices_are_in_the_order_of_files_and_lines(read_ecores: Read) -> None:
    odd = class_("A", "\n" + attribute("n", "")) + "\n" + class_("A")
    _, notices = read_ecores(ecore(odd, 'name="p"'), ecore(odd, 'name="q"'))

    assert [(notice.file, notice.line) for notice in notices] == [
        (file, line) for file in ("a.ecore", "b.ecore") for line in (1, 3, 4)
    ]


def test_a_file_that_is_given_by_two_names_is_read_once(read_ecores: Read) -> None:
    text = ecore(ODD["text between elements"][0])
    read_ecores(text)
    Path("link.ecore").symlink_to("a.ecore")

    packages, notices = read_ecore("./a.ecore", "link.ecore", "a.ecore")

    assert [package.name for package in packages] == ["p"]
    assert told(notices) == ["./a.ecore:3: the text 'some text' means nothing here; it is left out"]


def test_a_notice_is_text_with_file_and_line_and_strict_ones_are_errors() -> None:
    notices = Notices()
    notices.add("a.ecore", 3, "odd")

    assert [str(found) for found in notices.found] == ["a.ecore:3: odd"]
    assert notices.found == [Notice("a.ecore", 3, "odd")]
    with pytest.raises(InvalidFile, match=r"a\.ecore:3: odd; that is refused"):
        Notices(strict=True).add("a.ecore", 3, "odd")


# what is odd is kept, for files to have it again: see test_ecore_writing


def test_an_odd_package_is_like_one_without_what_was_left_out(read_ecores: Read) -> None:
    (package,), _ = read_ecores(ecore(ODD["keys that are none"][0]))
    r = the_feature(package, "A.r")

    assert package == Package(
        "p",
        "http://p",
        classifiers=[
            Class("A", features=[Reference("r", TypeName("http://p", "A"), annotations=r.annotations)]),
            Class("B", features=[Attribute("n", TEXT)]),
        ],
    )
    assert r.annotations[0].details == (("eKeys", "ecore:EAttribute http://p#//B/n"),)
