"""Registering `.ecore` files: in Python and on the command line."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel.errors import InvalidFile, InvalidValue
from neomodel.metamodel import ECORE, Class, Package
from neomodel.xmltype import XML_TYPE
from tests.xmi.ecore_files import STRING, attribute, class_, ecore, reference, wrapped

SHOP = ecore(
    class_(
        "Shop",
        attribute("name")
        + reference("items", 'upperBound="-1" eType="#//Item" containment="true" eOpposite="#//Item/shop"'),
    )
    + class_(
        "Item",
        attribute("price", f'eType="ecore:EDataType {ECORE}#//EDouble" defaultValueLiteral="1.5"')
        + attribute("size", 'eType="#//Size"')
        + reference("shop", 'eType="#//Shop" eOpposite="#//Shop/items"'),
    )
    + '<eClassifiers xsi:type="ecore:EEnum" name="Size"><eLiterals name="S"/><eLiterals name="L" value="1"/>'
    "</eClassifiers>",
    'name="shop" nsURI="http://shop" nsPrefix="shop"',
)
OLD = wrapped(
    ecore('<eClassifiers xsi:type="ecore:EDataType" name="String"/>', 'name="PrimitiveTypes"'),
    ecore(class_("A", attribute("n", 'eType="/0/String"')), 'name="old"'),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.ecore").write_text(SHOP)
    (tmp_path / "old.ecore").write_text(OLD)
    return tmp_path


@pytest.fixture
def repo(request: pytest.FixtureRequest) -> nm.Repository:
    return nm.connect(f"memory:{request.node.name}")


# in Python


@pytest.mark.parametrize("made", [str, Path])
def test_a_file_is_registered_and_its_classes_have_objects(folder: Path, repo: nm.Repository, made: Any) -> None:
    shop = repo.register(made("shop.ecore"))
    model = repo.create("town")
    model.roots.append(shop.Shop(name="Corner", items=[shop.Item(size="L"), shop.Item(price=3.0)]))

    (found,) = model.roots
    assert [(item.price, item.size.name, item.shop is found) for item in found.items] == [
        (1.5, "L", True),
        (3.0, "S", True),
    ]
    assert repo.metamodel("http://shop") is shop
    assert repo.metamodels() == ["http://shop"]


def test_registering_a_file_again_changes_nothing(folder: Path, repo: nm.Repository) -> None:
    repo.register("shop.ecore")
    repo.register("shop.ecore")

    assert [number for number, _, _ in repo.registry.versions("http://shop")] == [1]


def test_of_several_packages_of_a_file_those_with_classes_are_returned(folder: Path, repo: nm.Repository) -> None:
    assert repo.register("old.ecore").nsURI == "old"
    assert repo.metamodels() == ["old", "old/PrimitiveTypes"]
    assert [package.nsURI for package in repo.register("old.ecore", "shop.ecore")] == ["old", "http://shop"]


def test_oddities_are_told_to_who_asks_or_logged(
    folder: Path, repo: nm.Repository, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []
    with caplog.at_level(logging.WARNING):
        repo.register("old.ecore", on_notice=lambda notice: told.append(str(notice)))
    assert caplog.messages == []
    assert told == [
        "old.ecore:2: package PrimitiveTypes has no nsURI; it is found by 'old/PrimitiveTypes'",
        "old.ecore:5: package old has no nsURI; it is found by 'old'",
    ]

    with caplog.at_level(logging.WARNING):
        repo.register("old.ecore")
    assert caplog.messages == told


def test_strict_refuses_oddities_and_registers_nothing(folder: Path, repo: nm.Repository) -> None:
    with pytest.raises(InvalidFile, match=r"old\.ecore:2: package PrimitiveTypes has no nsURI"):
        repo.register("old.ecore", strict=True)
    assert repo.metamodels() == []
    assert repo.register("shop.ecore", strict=True).name == "shop"


def test_a_file_refers_to_what_is_registered_or_given_with_it(folder: Path, repo: nm.Repository) -> None:
    (folder / "more.ecore").write_text(
        ecore(
            class_(
                "Mall", reference("shops", 'eType="ecore:EClass shop.ecore#//Shop"'), 'eSuperTypes="http://base#//B"'
            )
        )
    )
    base = Package("base", "http://base", classifiers=[Class("B")])
    with pytest.raises(InvalidFile, match=r"is in another file; give shop\.ecore too"):
        repo.register("more.ecore", base)

    repo.register("shop.ecore")
    found_base, mall = repo.register("more.ecore", base)
    assert mall.Mall.eClass.features["shops"].eType.name == "Shop"
    assert mall.Mall.eClass.eSuperTypes == (found_base.classifiers["B"],)


def test_what_is_neither_package_nor_path_is_refused(repo: nm.Repository) -> None:
    with pytest.raises(InvalidValue, match=r"or the path of an \.ecore file"):
        repo.register(42)
    with pytest.raises(InvalidFile, match="there is no such file"):
        repo.register("nowhere.ecore")


def test_the_types_of_xml_are_there_without_being_registered(folder: Path, repo: nm.Repository) -> None:
    types = ["Base64Binary", "Boolean", "Double", "Date", "IntObject"]
    inside = "".join(attribute(name.lower(), f'eType="ecore:EDataType {XML_TYPE}#//{name}"') for name in types)
    inside += reference("any", f'eType="ecore:EClass {XML_TYPE}#//AnyType" containment="true"')
    (folder / "x.ecore").write_text(ecore(class_("A", inside)))
    package = repo.register("x.ecore")
    any_type = repo.metamodel(XML_TYPE).AnyType
    model = repo.create("m")
    model.roots.append(
        package.A(base64binary=b"AB", boolean=True, double=2.5, date="2024-05-01Z", any=any_type(mixed=["#text:a"]))
    )

    (found,) = model.roots
    features = package.A.eClass.features
    assert (found.base64binary, found.boolean, found.double, found.date, found.intobject) == (
        b"AB",
        True,
        2.5,
        "2024-05-01Z",
        None,
    )
    assert list(found.any.mixed) == ["#text:a"]
    assert features["base64binary"].codec.to_text(b"AB") == "QUI="
    assert features["base64binary"].codec.from_text("QU\nI=") == b"AB"
    assert [features["boolean"].codec.from_text(text) for text in ("1", "0", " true ")] == [True, False, True]
    assert features["double"].codec.to_text(float("-inf")) == "-INF"
    assert features["double"].codec.from_text("INF") == float("inf")
    assert repo.metamodels() == ["http://p"]


def test_a_data_type_that_a_schema_derives_has_the_text_of_its_base(folder: Path, repo: nm.Repository) -> None:
    source = "http:///org/eclipse/emf/ecore/util/ExtendedMetaData"
    derived = "".join(
        f'<eClassifiers xsi:type="ecore:EDataType" name="{name}" instanceClassName="{java}">'
        f'<eAnnotations source="{source}">'
        f'<details key="baseType" value="{XML_TYPE}#{base}"/></eAnnotations></eClassifiers>'
        for name, java, base in (
            ("Blob", "byte[]", "base64Binary"),
            ("Flag", "boolean", "boolean"),
            ("Hex", "byte[]", "hexBinary"),
        )
    )
    (folder / "x.ecore").write_text(
        ecore(derived + class_("A", attribute("f", 'eType="#//Flag" defaultValueLiteral="1"')))
    )
    package = repo.register("x.ecore", strict=True)

    assert package.Blob.codec.to_text(b"AB") == "QUI="
    assert package.Hex.codec.to_text(b"AB") == "4142"
    assert package.A().f is True


def test_objects_have_the_feature_that_hides_the_others(folder: Path, repo: nm.Repository) -> None:
    (folder / "x.ecore").write_text(
        ecore(
            class_("A", attribute("x"))
            + class_("B", attribute("x", f'eType="ecore:EDataType {ECORE}#//EInt"'))
            + class_("Own", attribute("x", f'eType="{STRING}" upperBound="-1"'), 'eSuperTypes="#//A"')
            + class_("Both", "", 'eSuperTypes="#//B #//A"')
            + class_("Below", "", 'eSuperTypes="#//Both"')
        )
    )
    package = repo.register("x.ecore")
    model = repo.create("m")
    model.roots.extend(
        [package.A(x="a"), package.B(x=1), package.Own(x=["a", "b"]), package.Both(x=2), package.Below(x=3)]
    )

    assert [root.x if isinstance(root.x, str | int) else list(root.x) for root in model.roots] == [
        "a",
        1,
        ["a", "b"],
        2,
        3,
    ]
    assert len(list(model.all(package.A))) == 4


# on the command line


def test_register_prints_a_line_for_each_package_and_says_what_is_odd(
    folder: Path, repository: nm.Repository, run: Any
) -> None:
    said = (
        "neomodel: old.ecore:2: package PrimitiveTypes has no nsURI; it is found by 'old/PrimitiveTypes'\n"
        "neomodel: old.ecore:5: package old has no nsURI; it is found by 'old'\n"
    )

    assert run("register", "shop.ecore") == "http://shop: 2 classes\n"
    assert run("register", "shop.ecore", "old.ecore", said=said) == "http://shop: 2 classes\nold: 1 class\n"
    listed = {line["ns_uri"]: line for line in json.loads(run("metamodels", "--json"))}
    assert {uri: (line["name"], line["classes"], line["version"]) for uri, line in listed.items()} == {
        "http://library": ("library", 5, 1),
        "http://shop": ("shop", 2, 1),
        "old": ("old", 1, 1),
        "old/PrimitiveTypes": ("PrimitiveTypes", 0, 1),
    }


def test_a_file_that_is_changed_is_a_new_version(
    folder: Path, repository: nm.Repository, run: Any, refused: Any
) -> None:
    run("register", "shop.ecore")
    (folder / "shop.ecore").write_text(SHOP.replace('name="price"', 'name="price" unsettable="true"'))
    run("register", "shop.ecore")
    assert [line["version"] for line in json.loads(run("metamodels", "--json"))] == [1, 2]

    (folder / "shop.ecore").write_text(SHOP.replace('name="price"', 'name="cost"'))
    assert "feature shop.Item.price is removed" in refused("register", "shop.ecore")


def test_a_store_is_made_for_files_that_make_sense_only(folder: Path, run: Any, refused: Any) -> None:
    (folder / "bad.ecore").write_text("<a/>")

    refused("register", "bad.ecore", "--store", "lmdb:new.db")
    assert not Path("new.db").exists()
    run("register", "shop.ecore", "--store", "lmdb:new.db")
    assert run("metamodels", "--json", "--store", "lmdb:new.db").startswith('[{"ns_uri": "http://shop"')


def test_register_refuses_in_one_sentence_with_file_and_line(
    folder: Path, repository: nm.Repository, refused: Any
) -> None:
    (folder / "bad.ecore").write_text(SHOP.replace("#//Size", "#//Size\x01"))
    (folder / "worse.ecore").write_text('<!DOCTYPE a [<!ENTITY b SYSTEM "/etc/passwd">]>\n' + SHOP)

    assert "bad.ecore:2: the XML is broken" in refused("register", "bad.ecore")
    assert "worse.ecore:1: it declares the entity b" in refused("register", "worse.ecore")
    assert "nowhere.ecore: there is no such file" in refused("register", "nowhere.ecore")
    assert "old.ecore:2: package PrimitiveTypes has no nsURI" in refused(
        "register", "shop.ecore", "old.ecore", "--strict"
    )
    assert repository.metamodels() == ["http://library"]
