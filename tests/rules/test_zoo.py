"""The ATL zoo's examples: what its own files expect comes out, and so it does of models of our own."""

from typing import Any

import pytest

import neomodel as nm
from metamodels import zoo
from metamodels.transformations.class2relational import class2relational
from metamodels.transformations.families2persons import families2persons
from tests.data import data_folder, needs_data
from tests.rules.shapes import everywhere, made

ATL = data_folder() / "atl"
FAMILIES, CLASSES = ATL / "Families2Persons", ATL / "Class2Relational"


def told(model: nm.Model) -> list[Any]:
    """All that a model holds, root by root, objects that are referred to by class and names down to them."""
    return sorted((_told(root) for root in model.roots), key=str)


def _told(obj: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"class": obj.eClass.name}
    for feature in obj.eClass.features.values():
        value = obj.eGet(feature)
        values = list(value) if feature.many else [] if value is None else [value]
        told = _told if feature.reference and feature.containment else _place if feature.reference else str
        found[feature.name] = [told(one) for one in values]
    return found


def _place(obj: Any) -> str:
    above = obj.eContainer()
    return f"{'' if above is None else _place(above)}/{obj.eClass.name} {obj.name}"


@needs_data
@pytest.mark.parametrize("cut", [False, True])
def test_the_zoos_families_are_the_persons_that_it_expects(repo: nm.Repository, cut: bool) -> None:
    repo.import_xmi(FAMILIES / "sample-Families.xmi", model="in", metamodel=[FAMILIES / "Families.ecore"])
    repo.import_xmi(FAMILIES / "expected/sample-Persons.xmi", model="expected", metamodel=[FAMILIES / "Persons.ecore"])
    source, expected = repo.open("in"), told(repo.open("expected"))

    model = made(families2persons, source, engine=everywhere(source) if cut else None)
    assert told(model) == expected
    assert len(expected) == 9


@needs_data
@pytest.mark.parametrize("cut", [False, True])
def test_the_zoos_classes_are_the_tables_that_it_expects(repo: nm.Repository, cut: bool) -> None:
    repo.import_xmi(CLASSES / "Class2Relational/inClass.xmi", model="in", metamodel=[CLASSES / "Class.ecore"])
    expected = CLASSES / "expected/outRelational.xmi"
    repo.import_xmi(expected, model="expected", metamodel=[CLASSES / "Relational.ecore"])
    source = repo.open("in")

    model = made(class2relational, source, engine=everywhere(source) if cut else None)
    assert told(model) == told(repo.open("expected"))
    assert [len(list(model.all(kind))) for kind in _kinds(model)] == [4, 9, 2]


def _kinds(model: nm.Model) -> list[Any]:
    package = model.roots[0].eClass.ePackage
    return [getattr(package, name) for name in ("Table", "Column", "Type")]


def test_members_of_families_of_our_own_are_persons(repo: nm.Repository) -> None:
    repo.register(zoo.families, zoo.persons)
    model = repo.create("in")
    model.roots.append(
        zoo.Family(
            lastName="Lee",
            father=zoo.Member(firstName="Al"),
            mother=zoo.Member(firstName="Bo"),
            sons=[zoo.Member(firstName="Cy"), zoo.Member(firstName="Di")],
            daughters=[zoo.Member(firstName="Ed")],
        )
    )
    assert {(one.eClass.name, one.fullName) for one in made(families2persons, model).roots} == {
        ("Male", "Al Lee"),
        ("Female", "Bo Lee"),
        ("Male", "Cy Lee"),
        ("Male", "Di Lee"),
        ("Female", "Ed Lee"),
    }


def test_a_member_of_no_family_is_an_error_that_names_the_feature(repo: nm.Repository) -> None:
    repo.register(zoo.families, zoo.persons)
    model = repo.create("in")
    model.roots.append(zoo.Member(firstName="Al"))

    with pytest.raises(nm.RuleFailed, match=r"^rule male failed on Families\.Member .* at person\.fullName: "):
        nm.transform(families2persons, model, "out")


def test_classes_of_our_own_are_tables(repo: nm.Repository) -> None:
    repo.register(zoo.classes, zoo.relational)
    model = repo.create("in")
    number, text = zoo.DataType(name="Integer"), zoo.DataType(name="Text")
    order, item = zoo.Class(name="Order"), zoo.Class(name="Item")
    order.attr.extend(
        [
            zoo.Attribute(name="items", type=item, multiValued=True),
            zoo.Attribute(name="date", type=text),
            zoo.Attribute(name="first", type=item),
            zoo.Attribute(name="notes", type=text, multiValued=True),
        ]
    )
    model.roots.extend([number, text, order, item])

    tables = {table.name: table for table in made(class2relational, model).roots if table.eClass.name == "Table"}
    assert {name: [(one.name, one.type.name) for one in table.col] for name, table in tables.items()} == {
        "Order": [("objectId", "Integer"), ("date", "Text"), ("firstId", "Integer")],
        "Item": [("objectId", "Integer")],
        "Order_items": [("OrderId", "Integer"), ("itemsId", "Integer")],
        "Order_notes": [("OrderId", "Integer"), ("notes", "Text")],
    }
    assert {name: [key.name for key in table.key] for name, table in tables.items()} == {
        "Order": ["objectId"],
        "Item": ["objectId"],
        "Order_items": [],
        "Order_notes": [],
    }
