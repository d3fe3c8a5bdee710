"""What `.ecore` files say and metamodels have no field for is kept; feature maps; what is none of Ecore's."""

from pathlib import Path

from neomodel.metamodel import (
    ECORE,
    Annotation,
    TypeName,
)
from neomodel.xmi.ecore_reading import read_ecore
from neomodel.xmi.ecore_writing import write_ecore
from neomodel.xmltype import EXTENDED
from tests.xmi.ecore_files import (
    ANY,
    PLAIN,
    SPACES,
    STRING,
    Read,
    attribute,
    class_,
    ecore,
    kept,
    reference,
    the_class,
    the_feature,
    told,
)

# what has no field


def test_generics_are_erased_and_their_arguments_kept(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            class_("Base", '<eTypeParameters name="T"><eBounds eClassifier="#//A"/></eTypeParameters>')
            + class_(
                "A",
                '<eTypeParameters name="X"/>'
                + reference("plain", "", '<eGenericType eTypeParameter="#//A/X"/>')
                + reference("bound", "", '<eGenericType eTypeParameter="#//Base/T"/>')
                + attribute(
                    "list",
                    "",
                    f'<eGenericType eClassifier="ecore:EDataType {ECORE}#//EEList">'
                    '<eTypeArguments><eUpperBound eClassifier="#//A"/></eTypeArguments></eGenericType>',
                )
                + '<eGenericSuperTypes eClassifier="#//Base"><eTypeArguments eClassifier="#//A"/></eGenericSuperTypes>',
            )
        )
    )

    assert the_feature(package, "A.plain").type == ANY
    assert the_feature(package, "A.bound").type == TypeName("http://p", "A")
    assert the_feature(package, "A.list").type == TypeName(ECORE, "EEList")
    assert kept(the_feature(package, "A.list"))["eGenericType"] == {
        "eClassifier": [f"ecore:EDataType {ECORE}#//EEList"],
        "eTypeArguments": [{"eUpperBound": [{"eClassifier": ["ecore:EClass http://p#//A"]}]}],
    }
    assert the_class(package, "A").supers == (TypeName("http://p", "Base"),)
    assert notices == []


def test_operations_are_kept(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            class_(
                "A",
                '<eOperations name="f" eType="#//A" upperBound="-1">'
                f'<eParameters name="x" eType="{STRING}"/></eOperations>',
            )
        )
    )

    assert kept(the_class(package, "A")) == {
        "eOperations": {
            "name": "f",
            "upperBound": "-1",
            "eType": ["ecore:EClass http://p#//A"],
            "eParameters": [{"name": "x", "eType": [STRING]}],
        }
    }
    assert notices == []


def test_annotations_are_kept_with_what_they_refer_to_and_hold(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            """
            <eAnnotations source="s" references="#//A">
              <details key="k" value="v"/>
              <eAnnotations source="inner"/>
              <contents xsi:type="ecore:EAttribute" name="held"/>
            </eAnnotations>
            """
            + class_("A")
            + class_("B", reference("to", 'eType="#//A"'))
        )
    )

    (found,) = package.annotations
    assert (found.source, found.details, found.annotations[0]) == ("s", (("k", "v"),), Annotation("inner"))
    assert kept(found) == {
        "references": "ecore:EClass http://p#//A",
        "contents": {"is": "EAttribute", "name": "held"},
    }
    assert notices == []


def test_what_an_annotation_holds_is_referred_to_through_its_source(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            '<eAnnotations source="a" references="#//A/%dup%/held"/>'
            + class_(
                "A", '<eAnnotations source="dup"><contents xsi:type="ecore:EReference" name="held"/></eAnnotations>'
            )
        )
    )

    assert kept(package.annotations[0])["references"] == "ecore:EReference http://p#//A/%dup%/held"
    assert notices == []


# feature maps and map entries


def extended(**details: str) -> str:
    entries = "".join(f'<details key="{key}" value="{value}"/>' for key, value in details.items())
    return f'<eAnnotations source="{EXTENDED}">{entries}</eAnnotations>'


MARKED = 'volatile="true" transient="true" derived="true"'
MAP = f'eType="ecore:EDataType {ECORE}#//EFeatureMapEntry" upperBound="-1" unique="false"'


def test_what_a_feature_map_tells_the_order_of_is_stored(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            class_(
                "A",
                attribute("group", MAP, extended(kind="group", name="group:1"))
                + attribute(
                    "a", f'eType="{STRING}" upperBound="-1" {MARKED}', extended(kind="element", group="#group:1")
                )
                + attribute("other", f'eType="{STRING}" {MARKED}'),
            )
            + class_(
                "M",
                extended(kind="mixed", name="")
                + attribute("mixed", MAP, extended(kind="elementWildcard", name=":mixed"))
                + reference("a", f'eType="#//A" upperBound="-2" containment="true" {MARKED}', extended(kind="element"))
                + attribute("any", f"{MAP} {MARKED}", extended(kind="elementWildcard", wildcards="##any")),
            )
        )
    )

    stored = [
        f"{kind}.{one}"
        for kind in "AM"
        for one in ("group", "a", "other", "mixed", "any")
        if any(
            f.name == one and not f.volatile and not f.transient and not f.derived
            for f in the_class(package, kind).features
        )
    ]
    assert stored == ["A.group", "A.a", "M.a", "M.mixed"]
    assert kept(the_feature(package, "A.a")) == {"marks": "volatile transient derived"}
    assert notices == []


def test_map_entries_are_classes_like_others(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(class_("E", attribute("key") + attribute("value"), 'instanceClassName="java.util.Map$Entry"'))
    )

    assert the_class(package, "E").instance_class == "java.util.Map$Entry"
    assert notices == []


def test_what_is_of_other_namespaces_is_left_out_with_a_notice(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            "<xmi:Documentation><a><b/>text</a></xmi:Documentation>\n" + class_("A", attribute("n")),
            'name="p" nsURI="http://p" xmlns:z="http://z" z:odd="1"',
        )
    )

    assert package == PLAIN
    assert told(notices) == [
        "a.ecore:1: the attribute odd of http://z is none of Ecore's; it is left out",
        "a.ecore:2: xmi:Documentation is no part of a metamodel; it is left out",
    ]


def test_a_schema_location_and_comments_are_passed_over(read_ecores: Read) -> None:
    text = ecore("<!-- a --> " + class_("A", attribute("n"))).replace(SPACES, f'{SPACES} xsi:schemaLocation="a b"')

    assert read_ecores(text) == ([PLAIN], [])


def test_a_feature_map_is_a_list_in_any_case_and_is_written_as_it_was(tmp_path: Path) -> None:
    entry = f'eType="ecore:EDataType {ECORE}#//EFeatureMapEntry"'
    path = tmp_path / "m.ecore"
    path.write_text(
        f"""<ecore:EPackage xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:ecore="{ECORE}" name="m" nsURI="http://m" nsPrefix="m">
  <eClassifiers xsi:type="ecore:EClass" name="A">
    <eStructuralFeatures xsi:type="ecore:EAttribute" name="one" {entry}/>
    <eStructuralFeatures xsi:type="ecore:EAttribute" name="many" unique="false" upperBound="-1" {entry}/>
  </eClassifiers>
</ecore:EPackage>"""
    )
    (package,), notices = read_ecore(path)
    features = package.classifiers[0].features  # type: ignore[union-attr]

    assert notices == []
    assert [(feature.upper, feature.unique) for feature in features] == [(-1, False)] * 2
    write_ecore(package, tmp_path / "again.ecore")
    written = (tmp_path / "again.ecore").read_text()
    assert (written.count('upperBound="-1"'), written.count('unique="false"')) == (1, 1)
    assert read_ecore(tmp_path / "again.ecore")[0] == [package]
