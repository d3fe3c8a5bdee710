"""What is written is what is read again, and what PyEcore reads; what was odd in a file is so again."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from neomodel.errors import InvalidModel
from neomodel.metamodel import ECORE, Annotation, Attribute, Class, Package, Reference, Timeline, TypeName
from neomodel.soundness import check
from neomodel.xmi.ecore_reading import read_ecore
from neomodel.xmi.ecore_writing import write_ecore
from tests.xmi.ecore_files import ANY, STRING, TEXT, Read, attribute, class_, ecore, reference, wrapped
from tests.xmi.pyecore_view import neomodel_facts, pyecore_facts, pyecore_roots
from tests.xmi.sound_packages import packages
from tests.xmi.test_ecore_odd import ODD

A = TypeName("http://p", "A")


def again(found: list[Package], path: Path) -> list[Package]:
    write_ecore(found, path)
    return read_ecore(path)[0]


def check_survives(package: Package) -> None:
    check([package], lambda _: None)
    with tempfile.TemporaryDirectory() as folder:
        assert again([package], Path(folder) / "survives.ecore") == [package]


@settings(max_examples=100)
@given(packages())
def test_every_package_that_makes_sense_survives_a_file(package: Package) -> None:
    check_survives(package)


@pytest.mark.soak
@settings(max_examples=3000)
@given(packages())
def test_every_package_that_makes_sense_survives_a_file_at_length(package: Package) -> None:
    check_survives(package)


def test_a_file_reads_as_eclipse_writes_it(tmp_path: Path) -> None:
    features = [
        Attribute("n", TEXT, lower=1, default="<x>"),
        Reference("kids", A, upper=-1, containment=True, opposite="up"),
        Reference("up", A, opposite="kids"),
    ]
    package = Package("p", "http://p", classifiers=[Class("A", features=features), Class("B", supers=[A])])
    write_ecore(package, tmp_path / "p.ecore")

    assert (tmp_path / "p.ecore").read_text().splitlines() == [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<ecore:EPackage xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:ecore="http://www.eclipse.org/emf/2002/Ecore" '
        'name="p" nsURI="http://p" nsPrefix="p">',
        '  <eClassifiers xsi:type="ecore:EClass" name="A">',
        '    <eStructuralFeatures xsi:type="ecore:EAttribute" name="n" lowerBound="1" '
        f'defaultValueLiteral="&lt;x&gt;" eType="{STRING}"/>',
        '    <eStructuralFeatures xsi:type="ecore:EReference" name="kids" upperBound="-1" containment="true" '
        'eType="#//A" eOpposite="#//A/up"/>',
        '    <eStructuralFeatures xsi:type="ecore:EReference" name="up" eType="#//A" eOpposite="#//A/kids"/>',
        "  </eClassifiers>",
        '  <eClassifiers xsi:type="ecore:EClass" name="B" eSuperTypes="#//A"/>',
        "</ecore:EPackage>",
    ]


def test_natural_keys_and_timelines_survive_in_annotations_of_ours(tmp_path: Path) -> None:
    features = [Attribute("n", TEXT), Timeline("t", TypeName(ECORE, "EInt"), annotations=[Annotation("mine")])]
    package = Package("p", "http://p", classifiers=[Class("A", features=features, key=["n"])])

    assert again([package], tmp_path / "p.ecore") == [package]


def test_several_packages_are_written_to_one_file_or_to_one_each(tmp_path: Path) -> None:
    first = Package("p", "http://p", classifiers=[Class("A", features=[Reference("b", TypeName("http://q", "B"))])])
    second = Package("q", "http://q", classifiers=[Class("B", supers=[A])])

    assert again([first, second], tmp_path / "both.ecore") == [first, second]

    write_ecore(first, tmp_path / "p.ecore")
    write_ecore(second, tmp_path / "q.ecore")
    assert read_ecore(tmp_path / "p.ecore", tmp_path / "q.ecore") == ([first, second], [])


@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_in_a_file_is_odd_again_in_the_one_that_is_written(read_ecores: Read, name: str) -> None:
    found, notices = read_ecores(ecore(ODD[name][0]))
    write_ecore(found, "a.ecore")
    again, notices_again = read_ecore("a.ecore")

    assert again == found
    said = [one.text for one in notices if "named twice" not in one.text and "means nothing" not in one.text]
    assert [one.text for one in notices_again] == said


KEPT = {
    "generics": class_("Base", '<eTypeParameters name="T"><eBounds eClassifier="#//A"/></eTypeParameters>')
    + class_("B")
    + class_(
        "A",
        '<eOperations name="f"><eTypeParameters name="O"/><eGenericType eTypeParameter="#//A/f/O"/>'
        '<eParameters name="x" eType="#//B"/></eOperations><eOperations name="f"/>'
        '<eGenericSuperTypes eClassifier="#//B"/>'
        '<eGenericSuperTypes eClassifier="#//Base"><eTypeArguments eClassifier="#//A"/></eGenericSuperTypes>'
        + reference("r", "", '<eGenericType eTypeParameter="#//Base/T"/>'),
    ),
    "annotations": '<eAnnotations source="s" references="#//A #//A/n #//A/%dup%/held">'
    '<contents xsi:type="ecore:EAttribute" name="x" eType="#//A"/>'
    '<contents xmlns:z="http://z" xsi:type="z:Zed" size="3"><inner name="i"/></contents></eAnnotations>'
    + class_(
        "A",
        '<eAnnotations source="dup"><contents xsi:type="ecore:EReference" name="held"/></eAnnotations>'
        + attribute("n"),
    ),
    "sub-packages": '<eSubpackages name="a b" nsURI="http://p/a">'
    + class_("B", reference("a", 'eType="#//A"'))
    + "</eSubpackages>"
    + class_("A", reference("b", 'eType="#//a%20b/B"')),
    "instance types": class_("A", given='instanceTypeName="x.Y&lt;Z>"'),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_metamodels_have_no_field_for_is_in_the_file_again(read_ecores: Read, name: str) -> None:
    found, notices = read_ecores(ecore(KEPT[name]))
    write_ecore(found, "again.ecore")

    assert read_ecore("again.ecore") == (found, [])
    assert notices == []
    for word in (
        "eTypeArguments",
        "eBounds",
        "eOperations",
        "references",
        "contents",
        "held",
        "Zed",
        "instanceTypeName",
    ):
        assert (word in Path("again.ecore").read_text()) == (word in KEPT[name])
    assert "neomodel:ecore" not in Path("again.ecore").read_text()


def test_pyecore_reads_the_same_from_what_is_written(read_ecores: Read) -> None:
    text = wrapped(
        ecore('<eClassifiers xsi:type="ecore:EDataType" name="String"/>', 'name="types" nsURI="http://t" nsPrefix="t"'),
        ecore(
            class_("A", attribute("n", 'eType="/0/String"') + reference("b", 'eType="/1/in/B" eOpposite="/1/in/B/a"'))
            + '<eSubpackages name="in" nsURI="http://p/in" nsPrefix="i">'
            + class_("B", reference("a", 'eType="/1/A" eOpposite="/1/A/b"'), 'eSuperTypes="/1/A"')
            + "</eSubpackages>"
        ),
    )
    found, _ = read_ecores(text)
    write_ecore(found, "again.ecore")

    original = list(pyecore_facts(pyecore_roots("a.ecore")))
    assert list(pyecore_facts(pyecore_roots("again.ecore"))) == original
    assert list(neomodel_facts(found)) == original


def test_a_text_that_xml_can_not_hold_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "p.ecore"
    path.write_text("as it was")

    with pytest.raises(InvalidModel, match=r"has the character '.x00', which XML has not"):
        write_ecore(Package("p", "http://p", classifiers=[Class("A\0")]), path)
    assert [found.name for found in tmp_path.iterdir()] == ["p.ecore"]
    assert path.read_text() == "as it was"


@pytest.mark.parametrize(
    "details",
    [
        {"eOperations": "{"},
        {"eOperations": "[]"},
        {"odd": "x"},
        {"eOperations": '{"x": 1}'},
        {"eOperations": '{"<": "1"}'},
    ],
)
def test_an_annotation_that_can_not_be_ours_is_refused(tmp_path: Path, details: dict[str, str]) -> None:
    package = Package("p", "http://p", classifiers=[Class("A", annotations=[Annotation("neomodel:ecore", details)])])

    with pytest.raises(InvalidModel, match="its annotation neomodel:ecore has"):
        write_ecore(package, tmp_path / "p.ecore")


def test_a_reference_to_a_package_elsewhere_names_it_by_its_namespace(tmp_path: Path) -> None:
    package = Package("p", "http://p", classifiers=[Class("A", features=[Reference("q", TypeName("http://q", "B"))])])
    write_ecore(package, tmp_path / "p.ecore")

    assert 'eType="ecore:EClass http://q#//B"' in (tmp_path / "p.ecore").read_text()
    known = Package("q", "http://q", classifiers=[Class("B")])
    assert read_ecore(tmp_path / "p.ecore", registered=[known]) == ([package], [])
    assert read_ecore(tmp_path / "p.ecore")[0][0].classifiers[0].features[0].type == ANY  # type: ignore[union-attr]


def test_a_key_that_is_inherited_is_named_where_it_is_declared(tmp_path: Path) -> None:
    named = Class("Named", features=[Attribute("n", TEXT)])
    below = Class("A", supers=[TypeName("http://p", "Named")])
    holder = Class("Holder", features=[Reference("held", A, upper=-1, containment=True, keys=["n"])])
    package = Package("p", "http://p", classifiers=[named, below, holder])

    assert again([package], tmp_path / "p.ecore") == [package]
    assert 'eKeys="#//Named/n"' in (tmp_path / "p.ecore").read_text()


def test_a_key_that_is_inherited_from_another_package_is_named_there(tmp_path: Path) -> None:
    known = Package("q", "http://q", classifiers=[Class("Named", features=[Attribute("n", TEXT)])])
    below = Class("A", supers=[TypeName("http://q", "Named")])
    holder = Class("Holder", features=[Reference("held", A, upper=-1, containment=True, keys=["n"])])
    package = Package("p", "http://p", classifiers=[below, holder])
    write_ecore(package, tmp_path / "p.ecore")

    assert read_ecore(tmp_path / "p.ecore", registered=[known]) == ([package], [])
