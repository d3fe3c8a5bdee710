"""What would break existing models is told in a sentence each; what wouldn't is not."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neomodel.ecore_package import ECORE_DATA_TYPES
from neomodel.evolution import breaks
from neomodel.metamodel import (
    ECORE,
    MANY,
    UNSPECIFIED,
    Annotation,
    Class,
    DataType,
    Enum,
    Literal,
    Package,
    TypeName,
)
from tests.metamodel.java import JAVA, attribute, class_, java, package, reference, t, timeline
from tests.metamodel.packages import packages

Change = Callable[[Package], Package]


def without(name: str) -> Change:
    return lambda old: attrs.evolve(old, classifiers=[found for found in old.classifiers if found.name != name])


def with_(*classifiers: Any) -> Change:
    """Those classifiers instead of the ones of the same names, or after all others."""
    names = {found.name: found for found in classifiers}

    def change(old: Package) -> Package:
        kept = [names.pop(found.name, found) for found in old.classifiers]
        return attrs.evolve(old, classifiers=[*kept, *names.values()])

    return change


def of(name: str, **more: Any) -> Change:
    """The classifier of that name with other fields."""
    return lambda old: with_(attrs.evolve(old.classifier(name), **more))(old)


def feature(class_name: str, name: str, **more: Any) -> Change:
    """A feature with other fields."""

    def change(old: Package) -> Package:
        found = old.classifier(class_name)
        assert isinstance(found, Class)
        (place,) = [number for number, one in enumerate(found.features) if one.name == name]
        features = list(found.features)
        features[place] = attrs.evolve(features[place], **more)
        return of(class_name, features=features)(old)

    return change


def both(*changes: Change) -> Change:
    def change(old: Package) -> Package:
        for one in changes:
            old = one(old)
        return old

    return change


PUBLIC, PRIVATE = Literal("public"), Literal("private", 1, text="-")

BREAKS: dict[str, Change] = {
    "class java.Diamond is removed": without("Diamond"),
    "data type java.Modifiers is removed": without("Modifiers"),
    "enum java.Visibility is removed": without("Visibility"),
    "java.Visibility is a data type instead of an enum": with_(DataType("Visibility")),
    "java.Diamond is an enum instead of a class": with_(Enum("Diamond", literals=[PUBLIC])),
    "sub-package java.doc (http://java/doc) is removed": lambda old: attrs.evolve(old, packages=[]),
    "class java.doc.Comment is removed": lambda old: attrs.evolve(old, packages=[Package("doc", f"{JAVA}/doc")]),
    "java is found by the ns_uri 'http://other' instead of 'http://java'": lambda old: attrs.evolve(
        old, ns_uri="http://other"
    ),
    "literal java.Visibility.private is removed": of("Visibility", literals=[PUBLIC]),
    "literal java.Visibility.private has the number 2 instead of 1": of(
        "Visibility", literals=[PUBLIC, attrs.evolve(PRIVATE, value=2)]
    ),
    "literal java.Visibility.private has the text '#' instead of '-'": of(
        "Visibility", literals=[PUBLIC, attrs.evolve(PRIVATE, text="#")]
    ),
    "data type java.Modifiers holds None instead of java.util.Set": of("Modifiers", instance_class=None),
    "data type java.Modifiers is no longer serializable": of("Modifiers", serializable=False),
    "class java.Type became abstract, its objects can't be": of("Type", abstract=True, interface=True),
    "class java.Type became interface, its objects can't be": of("Type", interface=True),
    "class java.Package has the key none instead of name": of("Package", key=[]),
    "class java.Type has the key name instead of none": of("Type", key=["name"]),
    "class java.Diamond is no longer a http://java#Named": of("Diamond", supers=[t("Type")]),
    "feature java.Diamond.uses is removed": of("Diamond", features=[]),
    "feature java.Type.package is an attribute instead of a reference": of(
        "Type",
        features=[attribute("package"), *java().classifier("Type").features[1:]],  # type: ignore[union-attr]
    ),
    "feature java.Package.ownedElements has the type http://java#Diamond instead of http://java#Type": feature(
        "Package", "ownedElements", type=t("Diamond")
    ),
    "feature java.Type.visibility has the type http://java#Modifiers instead of http://java#Visibility": feature(
        "Type", "visibility", type=t("Modifiers")
    ),
    "feature java.Package.ownedElements holds one value instead of many values": feature(
        "Package", "ownedElements", upper=1
    ),
    "feature java.Element.name holds many values instead of one value": feature("Element", "name", upper=MANY),
    "feature java.Package.ownedElements holds at most 5 instead of many": feature("Package", "ownedElements", upper=5),
    "feature java.Element.name holds at least 2 instead of 1": feature("Element", "name", lower=2),
    "feature java.Element.name became transient": feature("Element", "name", transient=True),
    "feature java.Element.name became volatile": feature("Element", "name", volatile=True),
    "feature java.Element.name became the id": feature("Element", "name", id=True),
    "feature java.Package.uri is no longer the id": feature("Package", "uri", id=False),
    "feature java.Diamond.uses became a containment": feature("Diamond", "uses", containment=True),
    "feature java.Package.ownedElements is no longer a containment": feature(
        "Package", "ownedElements", containment=False
    ),
    "feature java.Diamond.uses has the opposite user instead of None": feature("Diamond", "uses", opposite="user"),
    "feature java.Type.package has the opposite None instead of ownedElements": feature(
        "Type", "package", opposite=None
    ),
}


@pytest.mark.parametrize("sentence", BREAKS)
def test_what_breaks_a_model_is_told(sentence: str) -> None:
    assert breaks(java(), BREAKS[sentence](java())) == [sentence]


def test_everything_that_breaks_is_told() -> None:
    change = both(without("Diamond"), feature("Element", "name", unique=False, transient=True, lower=3))

    assert breaks(java(), change(java())) == [
        "feature java.Element.name holds at least 3 instead of 1",
        "feature java.Element.name became transient",
        "class java.Diamond is removed",
    ]


@pytest.mark.parametrize(("before", "after"), [(MANY, UNSPECIFIED), (UNSPECIFIED, MANY), (2, 3), (3, MANY)])
def test_a_wider_upper_bound_breaks_nothing(before: int, after: int) -> None:
    old, new = (package(class_("A", attribute("a", upper=upper))) for upper in (before, after))

    assert breaks(old, new) == []
    assert bool(breaks(new, old)) == (before > 0)


def test_a_collection_that_must_hold_different_values_from_now_on_breaks() -> None:
    old, new = (package(class_("A", attribute("a", upper=MANY, unique=unique))) for unique in (False, True))

    assert breaks(old, new) == ["feature java.A.a became unique"]
    assert breaks(new, old) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (timeline("a"), attribute("a"), "is an attribute instead of a timeline"),
        (attribute("a"), timeline("a"), "is a timeline instead of an attribute"),
        (timeline("a", "ELong"), timeline("a", "EInt"), "has the type {0}EInt instead of {0}ELong"),
        (timeline("a", "EInt"), timeline("a", "ELong"), None),
        (timeline("a"), timeline("a", annotations=[Annotation("new")]), None),
    ],
)
def test_a_timeline_stays_one_and_keeps_what_its_entries_are(old: Any, new: Any, told: str | None) -> None:
    before, after = (package(class_("A", feature)) for feature in (old, new))

    assert breaks(before, after) == ([] if told is None else [f"feature java.A.a {told.format(f'{ECORE}#')}"])


COMPATIBLE: dict[str, Change] = {
    "nothing changed": lambda old: old,
    "a new class": with_(class_("New", supers="Type")),
    "a new enum": with_(Enum("New", literals=[PUBLIC])),
    "a new sub-package": lambda old: attrs.evolve(old, packages=[Package("new", "new"), *old.packages]),
    "a renamed sub-package": lambda old: attrs.evolve(old, packages=[attrs.evolve(old.packages[0], name="docs")]),
    "a new timeline": of("Named", features=[timeline("a")]),
    "new features, one of them required": of("Named", features=[attribute("a"), attribute("b", lower=1)]),
    "a new literal": of("Visibility", literals=[PUBLIC, Literal("default", 2), PRIVATE]),
    "a lower bound of 0": feature("Element", "name", lower=0),
    "another order": lambda old: attrs.evolve(old, classifiers=reversed(old.classifiers)),
    "another default": feature("Type", "visibility", default="private"),
    "annotations": of("Type", annotations=[Annotation("new")]),
    "another prefix": lambda old: attrs.evolve(old, ns_prefix="j"),
    "no longer abstract": of("Element", abstract=False),
    "an interface that was abstract already": of("Element", interface=True),
    "one more super type": of("Package", supers=[t("Element"), t("Named")]),
    "a super type reached another way": both(
        with_(class_("Between", supers="Type")), of("Diamond", supers=[t("Between"), t("Named")])
    ),
    "a reference to a super type": feature("Package", "ownedElements", type=t("Element")),
    "a reference to any object": feature("Type", "package", type=t("EObject")),
    "a feature that moved up": both(
        of("Diamond", features=[]), of("Named", features=[reference("uses", "EObject", upper=MANY)])
    ),
    "wider numbers": feature("Type", "lines", type=t("ELong")),
    "not changeable": feature("Type", "lines", changeable=False),
}


@pytest.mark.parametrize("name", COMPATIBLE)
def test_what_breaks_no_model_is_compatible(name: str) -> None:
    assert breaks(java(), COMPATIBLE[name](java())) == []


def types_broken(before: str, after: str) -> bool:
    old, new = (package(class_("A", attribute("a", type_))) for type_ in (before, after))
    return breaks(old, new) != []


def test_a_number_may_get_a_wider_type_and_never_a_narrower_one() -> None:
    integers = ["EShort", "EInt", "ELong", "EBigInteger"]
    for place, type_ in enumerate(integers):
        assert [types_broken(type_, other) for other in integers] == [number < place for number in range(4)]
    assert (types_broken("EFloat", "EDouble"), types_broken("EDouble", "EFloat")) == (False, True)
    assert (types_broken("EInt", "EIntegerObject"), types_broken("EIntegerObject", "EInt")) == (False, True)
    assert (types_broken("EShort", "ELongObject"), types_broken("EIntegerObject", "EBigInteger")) == (False, False)
    assert (types_broken("EInt", "EDouble"), types_broken("EInt", "EString")) == (True, True)


@given(st.sampled_from(sorted(ECORE_DATA_TYPES)), st.sampled_from(sorted(ECORE_DATA_TYPES)))
def test_no_two_data_types_are_wider_than_each_other(one: str, other: str) -> None:
    assert one == other or types_broken(one, other) or types_broken(other, one)


def test_a_super_type_in_another_package_is_asked_for() -> None:
    other = Package("o", "o", classifiers=[Class("Sub", supers=[TypeName("o", "Base")]), Class("Base")])
    old, new = (
        package(Class("A", features=[attrs.evolve(reference("a", "A"), type=TypeName("o", name))]))
        for name in ("Sub", "Base")
    )

    assert breaks(old, new, {"o": other}.get) == []
    assert breaks(old, new) == ["feature java.A.a has the type o#Base instead of o#Sub"]


@given(packages)
def test_a_package_breaks_nothing_of_itself(same: Package) -> None:
    distinct = _first_of_each_name(same)

    assert breaks(distinct, distinct) == []


def _first_of_each_name(package: Package, *taken: str) -> Package:
    """What a sound package is in this respect. No package within has the ns_uri of one around it."""

    def first(named: Any, by: str = "name") -> Any:
        return {getattr(one, by): one for one in reversed(named)}.values()

    classifiers = []
    for found in first(package.classifiers):
        if isinstance(found, Class):
            classifiers.append(attrs.evolve(found, features=first(found.features)))
        elif isinstance(found, Enum):
            classifiers.append(attrs.evolve(found, literals=first(found.literals)))
        else:
            classifiers.append(found)
    taken = (*taken, package.ns_uri)
    within = [one for one in first(package.packages, "ns_uri") if one.ns_uri not in taken]
    below = [_first_of_each_name(one, *taken) for one in within]
    return attrs.evolve(package, classifiers=classifiers, packages=below)
