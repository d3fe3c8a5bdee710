"""Nonsense in a metamodel is refused, and told where and why; what makes sense passes."""

import subprocess
import sys

import attrs
import pytest

from neomodel.errors import InvalidModel
from neomodel.metamodel import ECORE, MANY, UNSPECIFIED, Annotation, Class, Enum, Feature, Literal, Package, TypeName
from neomodel.scope import unknown
from neomodel.soundness import check
from tests.metamodel.java import JAVA, attribute, class_, java, package, reference, t, timeline

A = class_("A")


def told(*packages: Package) -> str:
    """What the check says, all of it."""
    with pytest.raises(InvalidModel) as caught:
        check(packages, unknown)
    return str(caught.value)


def refusal(text: str) -> str:
    where, _, reason = text.partition(" | ")
    return f"{where} can't be right: {reason}; fix the declaration"


def with_features(*features: Feature) -> Package:
    """`features` in java.A, beside two classes and an enum to point at."""
    return package(Class("A", features=features), class_("B"), Enum("E", literals=[Literal("one")]))


def pair(first: dict[str, object], second: dict[str, object]) -> Package:
    """A.b and B.a, which are opposites but for what is given."""
    b: dict[str, object] = {"name": "b", "type": t("B"), "opposite": "a", **first}
    a: dict[str, object] = {"name": "a", "type": t("A"), "opposite": "b", **second}
    return package(
        class_("A", reference("x", "A"), attrs.evolve(reference("b", "B"), **b)),
        class_("B", attribute("text"), attrs.evolve(reference("a", "A"), **a)),
        class_("C"),
    )


def keyed(*key: str) -> Package:
    features = [
        attribute("many", upper=MANY),
        attribute("gone", transient=True),
        attribute("made", volatile=True, derived=True),
        attribute("fine"),
        reference("other", "Keyed"),
        timeline("long"),
    ]
    return package(class_("Keyed", *features, key=key))


NONSENSE = {
    # names
    "package 'http://x' | it has no name": Package("", "http://x"),
    "x | it has no ns_uri": Package("x", ""),
    "java.x | it has no ns_uri ": package(packages=[Package("x", "")]),
    "java | it has a classifier without a name": package(class_("")),
    "java | it has a sub-package without a name": package(packages=[Package("", "http://x")]),
    "java.A | it has a feature without a name": package(class_("A", attribute(""))),
    "java.E | it has a literal without a name": package(Enum("E", literals=[Literal("", text="x")])),
    "java.A | there are 2 classifiers of that name": package(A, Enum("A", literals=[Literal("x")])),
    "java.p | there are 2 sub-packages of that name": package(packages=[Package("p", "1"), Package("p", "2")]),
    "java.A.a | there are 2 features of that name": package(class_("A", attribute("a"), reference("a", "A"))),
    "java.E.x | there are 2 literals of that name": package(
        Enum("E", literals=[Literal("x"), Literal("x", 1, text="y")])
    ),
    "java.E | 2 of its literals have the text 'x'": package(Enum("E", literals=[Literal("x"), Literal("y", text="x")])),
    "java.E | an enum needs a literal": package(Enum("E")),
    "java.p | its ns_uri 'http://java' is that of java too": package(packages=[Package("p", JAVA)]),
    # super types
    "java.A | its super type http://java#Nil does not exist": package(class_("A", supers="Nil")),
    "java.A | its super type http://java#E is an enum, not a class": package(
        class_("A", supers="E"), Enum("E", literals=[Literal("x")])
    ),
    f"java.A | its super type {ECORE}#EInt is a data type, not a class": package(class_("A", supers="EInt")),
    "java.A | its super type http://java#B is named 2 times": package(class_("A", supers="B B"), class_("B")),
    "java.A | its super types go round in a circle, http://java#A -> http://java#A": package(class_("A", supers="A")),
    "java.A | its super types go round in a circle, http://java#B -> http://java#C -> http://java#B": package(
        class_("A", supers="B"), class_("B", supers="C"), class_("C", supers="B")
    ),
    "java.B.a | it differs from the feature of that name inherited from http://java#A": package(
        class_("A", attribute("a")), class_("M", supers="A"), class_("B", attribute("a", "EInt"), supers="M")
    ),
    "java.C.a | http://java#A and http://java#B have different features of that name": package(
        class_("A", attribute("a")), class_("B", attribute("a", "EInt")), class_("C", supers="A B")
    ),
    "java.B.a | http://java#A has a feature of that name with an opposite, it can't be hidden": package(
        class_("A", reference("a", "C", opposite="c")),
        class_("C", reference("c", "A", opposite="a")),
        class_("B", attribute("a"), supers="A", hides=["a"]),
    ),
    "java.B | it has 2 id attributes, b, a, one is allowed": package(
        class_("A", attribute("a", id=True)), class_("B", attribute("b", id=True), supers="A")
    ),
    # features
    "java.A.f | it is neither an attribute nor a reference nor a timeline": with_features(Feature("f", t("EInt"))),
    "java.A.f | its type http://java#Nil does not exist": with_features(attribute("f", "Nil")),
    "java.A.f | its type nowhere#X does not exist": with_features(
        attrs.evolve(reference("f", "A"), type=TypeName("nowhere", "X"))
    ),
    "java.A.f | an attribute can't have the type http://java#B, which is a class": with_features(attribute("f", "B")),
    f"java.A.f | an attribute can't have the type {ECORE}#EClass, which is a class": with_features(
        attribute("f", "EClass")
    ),
    "java.A.f | a reference can't have the type http://java#E, which is an enum": with_features(reference("f", "E")),
    f"java.A.f | a reference can't have the type {ECORE}#EString, which is a data type": with_features(
        reference("f", "EString")
    ),
    "java.A.f | its lower bound is -1, expected 0 or more": with_features(attribute("f", lower=-1)),
    "java.A.f | its upper bound is 0, expected 1 or more, -1 for many or -2 for not stated": with_features(
        attribute("f", upper=0)
    ),
    "java.A.f | its upper bound is -3, expected 1 or more, -1 for many or -2 for not stated": with_features(
        attribute("f", upper=-3)
    ),
    "java.A.f | its lower bound 3 is above its upper bound 2": with_features(attribute("f", lower=3, upper=2)),
    "java.A.f | a reference can't have a default, it has 'x'": with_features(reference("f", "B", default="x")),
    "java.A.f | a feature of many values can't have a default, it has ''": with_features(
        attribute("f", upper=2, default="")
    ),
    # timelines
    "java.A.f | its type http://java#Nil does not exist ": with_features(timeline("f", "Nil")),
    "java.A.f | a timeline can't have the type http://java#B, which is a class": with_features(timeline("f", "B")),
    "java.A.f | a timeline has a type and annotations only, it has upper": with_features(timeline("f", upper=MANY)),
    "java.A.f | a timeline has a type and annotations only, it has lower": with_features(timeline("f", lower=1)),
    "java.A.f | a timeline has a type and annotations only, it has default": with_features(timeline("f", default="x")),
    "java.A.f | a timeline has a type and annotations only, it has transient": with_features(
        timeline("f", transient=True)
    ),
    "java.A.f | a timeline has a type and annotations only, it has changeable": with_features(
        timeline("f", changeable=False)
    ),
    # keys
    "java.Keyed | its key names 'long', which is a timeline": keyed("long"),
    "java.Keyed | its key names 'nil', which it does not have": keyed("fine", "nil"),
    "java.Keyed | its key names 'many', which has many values": keyed("many"),
    "java.Keyed | its key names 'other', which is a reference": keyed("other"),
    "java.Keyed | its key names 'gone', which is transient": keyed("gone"),
    "java.Keyed | its key names 'made', which is volatile and derived": keyed("made"),
    "java.Keyed | its key names 'fine' 2 times": keyed("fine", "fine"),
    "java.A.f | its keys name 'nil', which is no attribute of http://java#B": with_features(
        reference("f", "B", keys=["nil"])
    ),
    # opposites
    "java.A.b | its opposite http://java#B.nil does not exist": pair({"opposite": "nil"}, {}),
    "java.A.b | its opposite http://java#B.text is no reference": pair({"opposite": "text"}, {}),
    "java.A.b | its opposite http://java#B.a does not point back, its own opposite is None": pair(
        {}, {"opposite": None}
    ),
    "java.A.b | its opposite http://java#B.a does not point back, its own opposite is 'x'": pair({}, {"opposite": "x"}),
    "java.A.b | its opposite http://java#B.a has the type http://java#C, expected http://java#A": pair(
        {}, {"type": t("C")}
    ),
    "java.A.b | its opposite http://java#B.a is a containment too, only one end can be": pair(
        {"containment": True}, {"containment": True}
    ),
    "java.A.b | its opposite http://java#B.a has many values, but a child has one container": pair(
        {"containment": True}, {"upper": MANY}
    ),
    "java.A.b | its opposite http://java#B.a is inherited from http://java#Base, which must be the type of both ends": (
        package(
            class_("A", reference("b", "B", opposite="a")),
            class_("B", supers="Base"),
            class_("Base", reference("a", "A", opposite="b")),
        )
    ),
}


@pytest.mark.parametrize("expected", NONSENSE)
def test_nonsense_is_refused_where_it_is(expected: str) -> None:
    assert told(NONSENSE[expected]) == refusal(expected.rstrip())


SOUND = {
    "all together": java(),
    "nothing": package(),
    "opposites": pair({"upper": MANY}, {"upper": MANY}),
    "a container": pair({"containment": True, "upper": MANY}, {}),
    "its own opposite": package(class_("A", reference("a", "A", upper=MANY, opposite="a"))),
    "bounds": with_features(attribute("f", lower=2, upper=MANY), attribute("g", lower=1, upper=UNSPECIFIED)),
    "an inherited key": package(class_("A", attribute("a")), class_("B", supers="A", key=["a"])),
    "an equal feature again": package(class_("A", attribute("a")), class_("B", attribute("a"), supers="A")),
    "a feature that hides an inherited one, also below": package(
        class_("A", attribute("a")),
        class_("B", attribute("a", "EInt"), supers="A", hides=["a"]),
        class_("C", supers="B"),
    ),
    "features of two super types of which one hides the other": package(
        class_("A", attribute("a")),
        class_("B", attribute("a", "EInt")),
        class_("C", supers="A B", hides=["a"]),
        class_("D", supers="C A"),
    ),
    "one id by two ways": package(
        class_("A", attribute("a", id=True)),
        class_("B", supers="A"),
        class_("C", supers="A"),
        class_("D", supers="B C"),
    ),
    "timelines": with_features(timeline("f", "EInt"), timeline("g", "E", annotations=[Annotation("a")])),
    "classes of Ecore": package(class_("A", reference("to", "EClass"), supers="EObject")),
    "two features of Ecore's type": with_features(attribute("f", "EJavaObject"), reference("g", "EObject")),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_makes_sense_passes(name: str) -> None:
    check([SOUND[name]], unknown)


def test_packages_may_refer_to_one_another() -> None:
    a = Package(
        "a", "a", classifiers=[Class("A", features=[attrs.evolve(reference("b", "B"), type=TypeName("b", "B"))])]
    )
    b = Package("b", "b", classifiers=[Class("B", supers=[TypeName("a", "A")])])

    check([a, b], unknown)
    with pytest.raises(InvalidModel, match=r"a.A.b .* b#B does not exist"):
        check([a], unknown)


def test_the_same_namespace_in_two_packages_is_refused() -> None:
    assert "its ns_uri 'x' is that of one too" in told(Package("one", "x"), Package("two", "x"))


def test_what_is_known_is_found_by_the_namespace_of_a_sub_package() -> None:
    user = Package("user", "user", classifiers=[Class("Mine", supers=[TypeName(f"{JAVA}/doc", "Comment")])])
    packages = {found.ns_uri: found for found in java().with_subpackages()}

    check([user], packages.get)


def test_a_feature_that_a_known_super_type_has_otherwise_is_refused() -> None:
    user = Package("user", "user", classifiers=[Class("Mine", features=[attribute("name")], supers=[t("Element")])])
    packages = {JAVA: java()}

    with pytest.raises(InvalidModel, match=r"user.Mine.name .* inherited from http://java#Element"):
        check([user], packages.get)


def test_a_given_package_stands_before_the_known_one_of_its_namespace() -> None:
    with pytest.raises(InvalidModel, match="its super type http://java#Element does not exist"):
        check([package(class_("A", supers="Element"))], {JAVA: java()}.get)


def test_a_circle_through_a_known_package_is_found() -> None:
    known = Package("known", "known", classifiers=[Class("K", supers=[t("A")])])
    user = package(Class("A", supers=[TypeName("known", "K")]))

    with pytest.raises(InvalidModel, match="http://java#A -> known#K -> http://java#A"):
        check([user], {"known": known}.get)


def test_the_check_is_not_slowed_by_the_import_of_what_only_circles_need() -> None:
    script = """if True:
        import sys
        from neomodel.metamodel import Class, Package
        from neomodel.soundness import check
        check([Package("a", "a", classifiers=[Class("A")])], lambda ns_uri: None)
        print("networkx" in sys.modules)
    """
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)

    assert (run.stdout, run.stderr) == ("False\n", "")
