"""A package comes back from its stored form as it was, equal ones are stored equally, and nothing is dropped."""

import json

import pytest
from hypothesis import example, given

from neomodel import metamodel
from neomodel.errors import InvalidModel
from neomodel.metamodel import Attribute, Class, Enum, Feature, Literal, Package
from neomodel.metamodel_json import dumps, loads
from tests.metamodel.java import attribute, class_, java, package, t, timeline
from tests.metamodel.packages import packages


@given(packages)
@example(java())
def test_a_package_comes_back_as_it_was(given: Package) -> None:
    again = loads(dumps(given))

    assert again == given
    assert dumps(again) == dumps(given)


@given(packages, packages)
def test_different_packages_have_different_bytes(first: Package, second: Package) -> None:
    assert (dumps(first) == dumps(second)) == (first == second)


def test_equal_packages_have_equal_bytes_however_their_values_were_written() -> None:
    one = package(Class("A", features=[attribute("a", lower=True, unique=0)], abstract=1))
    other = package(Class("A", features=(attribute("a", lower=1, unique=False),), abstract=True), ns_prefix="java")

    assert one == other
    assert dumps(one) == dumps(other)


def test_the_stored_form_is_what_it_always_was() -> None:
    """Golden bytes: what is stored somewhere must be read for ever."""
    given = Package(
        "java",
        "http://java",
        classifiers=[
            class_("Type", attribute("näme", lower=1), key=["näme"]),
            Enum("Visibility", literals=[Literal("public"), Literal("private", 1, text="-")]),
        ],
        packages=[Package("doc", "http://java/doc", ns_prefix="d")],
        annotations=[metamodel.Annotation("source", {"b": "1", "a": "2"})],
    )

    assert dumps(given).decode() == (
        '{"annotations":[{"details":[["b","1"],["a","2"]],"source":"source"}],"classifiers":['
        '{"features":[{"is":"Attribute","lower":1,"name":"näme",'
        '"type":{"name":"EString","ns_uri":"http://www.eclipse.org/emf/2002/Ecore"}}],'
        '"is":"Class","key":["näme"],"name":"Type"},'
        '{"is":"Enum","literals":[{"name":"public"},{"name":"private","text":"-","value":1}],"name":"Visibility"}],'
        '"name":"java","ns_uri":"http://java","packages":[{"name":"doc","ns_prefix":"d","ns_uri":"http://java/doc"}]}'
    )


def test_a_timeline_is_stored_as_its_name_and_type() -> None:
    given = package(class_("A", timeline("price", "EInt")))

    assert (
        b'{"is":"Timeline","name":"price","type":{"name":"EInt","ns_uri":"http://www.eclipse.org/emf/2002/Ecore"}}'
        in dumps(given)
    )
    assert loads(dumps(given)) == given


REFUSED = {
    "a stored package.java can't be right: nothing is known of its 'operations'": {"operations": []},
    "a stored package.java.classifiers.A can't be right: nothing is known of its 'generics'": {
        "classifiers": [{"is": "Class", "name": "A", "generics": 1}]
    },
    "classifiers.A can't be right: expected 'is' to be one of Class, DataType, Enum, found 'Union'": {
        "classifiers": [{"is": "Union", "name": "A"}]
    },
    "classifiers.A can't be right: expected 'is' to be one of Class, DataType, Enum, found None": {
        "classifiers": [{"name": "A"}]
    },
    "classifiers can't be right: expected a list, found 'A'": {"classifiers": "A"},
    "classifiers can't be right: expected an object, found 'A'": {"classifiers": ["A"]},
    "classifiers can't be right: expected a name, found {}": {"classifiers": [{"is": "Class"}]},
    "ns_prefix can't be right: expected str, found 7": {"ns_prefix": 7},
    "abstract can't be right: expected bool, found 1": {"classifiers": [{"is": "Class", "name": "A", "abstract": 1}]},
    "instance_class can't be right: expected str or NoneType, found []": {
        "classifiers": [{"is": "Class", "name": "A", "instance_class": []}]
    },
    "details can't be right: expected 2 items, found ['a']": {"annotations": [{"source": "s", "details": [["a"]]}]},
}


@pytest.mark.parametrize("expected", REFUSED)
def test_what_this_version_does_not_know_is_refused_where_it_is(expected: str) -> None:
    with pytest.raises(InvalidModel) as caught:
        loads(json.dumps({"name": "java", "ns_uri": "http://java", **REFUSED[expected]}).encode())

    assert expected in str(caught.value)


@pytest.mark.parametrize("stored", [b"", b"{", b"\xff", b"[]", b"null", b"{}"])
def test_what_is_no_package_is_refused(stored: bytes) -> None:
    with pytest.raises(InvalidModel, match="a stored package"):
        loads(stored)


def test_text_that_can_not_be_stored_is_refused() -> None:
    with pytest.raises(InvalidModel, match="is no character"):
        dumps(Package("java", "http://java/\ud800"))


def test_a_feature_keeps_its_class() -> None:
    features = [Feature("a", t("EInt")), Attribute("b", t("EInt"))]

    (found,) = loads(dumps(package(Class("A", features=features)))).classifiers

    assert isinstance(found, Class)
    assert [type(feature) for feature in found.features] == [Feature, Attribute]
