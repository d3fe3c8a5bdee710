"""Metamodels declared in Python: what is meant by what is written, and what is refused."""

import enum
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import neomodel as nm
from neomodel.metamodel import MANY, Attribute, TypeName
from neomodel.repository import Repository
from tests.objects.annotated import URI, VALUE, Both, Colour, Inside, Right, Text, annotated
from tests.objects.library import Book, Person, library

# what is declared


def test_what_is_declared_is_what_one_would_write_by_hand() -> None:
    for mine, hand in zip(annotated.value.classifiers, VALUE.classifiers, strict=True):
        assert mine == hand
    assert annotated.value == VALUE


def test_a_class_that_is_declared_with_evaluated_annotations_is_the_same() -> None:
    package = nm.package("plain", "http://plain")

    @package.define
    class Node:
        name: str
        next: "Node | None" = nm.reference()
        nodes: list["Node"] = nm.contains()
        others: "list[Later]"
        words: set[str]

    @package.define
    class Later(Node):
        person: Person | None

    node, later = package.value.classifiers
    own, string = TypeName("http://plain", "Node"), Attribute("x", Book.name.value.type).type
    assert [(f.name, f.type, f.lower, f.upper, f.unique, f.ordered) for f in node.features] == [
        ("name", string, 1, 1, True, True),
        ("next", own, 0, 1, True, True),
        ("nodes", own, 0, MANY, True, True),
        ("others", TypeName("http://plain", "Later"), 0, MANY, True, True),
        ("words", string, 0, MANY, True, False),
    ]
    assert later.supers == (own,)
    assert Later(name="a", nodes=[Node(name="b")]).nodes[0].name == "b"


def test_defaults_are_what_a_new_object_reads_as() -> None:
    made = Both(label="a")

    assert (made.size, made.ratio, made.on, made.raw, made.when, made.price) == (3, 0.5, True, None, None, None)
    assert (made.colour, made.short, made.digit, made.words, made.names) == (Colour.GREEN, 7, "7", [], [])


def test_methods_super_properties_and_docs_stay() -> None:
    made = Both.made("a")

    assert made.described() == "both left right base a"
    assert (made.upper, Both.LIMIT, Both.__doc__) == ("A", 5, "Later classes are named without quotes.")
    made.upper = "XYZ"
    assert made.label == "xyz"
    assert isinstance(made, Right)
    assert (Both.__name__, Both.__module__) == ("Both", "tests.objects.annotated")


def test_derived_features_are_features() -> None:
    text = Text()
    made = Both(label="a", words=["x", "y"], Text=[text])

    assert (made.count, made.eGet("count"), made.first, made.eClass.feature("count").derived) == (2, 2, text, True)


def test_an_object_that_is_made_has_no_place_for_anything_but_features() -> None:
    with pytest.raises(AttributeError):
        Both(label="a").anything = 1
    assert not hasattr(Both(label="a"), "__dict__")


def test_a_plain_base_without_slots_of_its_own_is_taken() -> None:
    package = nm.package("mixed", "http://mixed")

    class Greeting:
        __slots__ = ()

        def hello(self) -> str:
            return f"hello {self.name}"  # type: ignore[attr-defined]

    @package.define
    class Guest(Greeting, nm.Element):
        name: str

    assert Guest(name="you").hello() == "hello you"
    assert package.value.classifiers[0].supers == ()


def test_packages_are_used_across_and_inside_one_another(repo: Repository) -> None:
    repo.register(annotated)
    model = repo.create("m")
    person, text = Person(name="p"), Text()
    made = Both(label="a", person=person, people=[person], Text=[text], any=text)
    model.roots.extend([person, made, Inside(outer=text)])

    read = Repository(repo.store).open("m")
    found, inside = next(read.all(Both)), next(read.all(Inside))
    assert (found.person.name, found.people[0], nm.oid(found.any)) == ("p", found.person, nm.oid(text))
    assert inside.outer is found.any is found.Text[0]
    assert (annotated.inner.Inside, nm.oid(made)) == (Inside, "ann.Both#a")


# nonsense


def bad(define: Callable[[Any], Any]) -> Callable[[], Any]:
    """Declares in a package of its own, and uses what was declared."""

    def attempt() -> None:
        package = nm.package("bad", "http://bad")
        made = define(package)
        made.eClass.ePackage.check()

    return attempt


def made(annotations: dict[str, Any], *bases: type, **body: Any) -> type:
    return type("A", bases, {"__annotations__": annotations, "__module__": __name__, **body})


class Loose(enum.Enum):
    ONE = 1


class Heavy:
    pass


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (lambda p: p.define(made({"x": complex})), r"bad\.A\.x .*complex.* none that can be stored"),
        (lambda p: p.define(made({"x": "int | str"})), r"bad\.A\.x .*int \| str.* none that can be stored"),
        (lambda p: p.define(made({"x": "dict[str, int]"})), r"bad\.A\.x .* none that can be stored"),
        (lambda p: p.define(made({"x": list})), r"bad\.A\.x .* none that can be stored"),
        (lambda p: p.define(made({"x": "a b"})), r"bad\.A\.x .*annotation 'a b' means nothing"),
        (lambda p: p.define(made({"x": "Later.Inner"})), r"bad\.A\.x .*means nothing"),
        (lambda p: p.define(made({"x": "Nowhere"})), r"bad\.A\.x .*http://bad#Nowhere does not exist"),
        (lambda p: p.define(made({"x": Loose})), r"bad\.A\.x .*enum Loose is in no package"),
        (lambda p: p.define(made({"x": int}, x="a")), r"bad\.A\.x .*default 'a' is not an integer"),
        (lambda p: p.define(made({"x": "list[str]"}, x=["a"])), r"bad\.A\.x .*default \['a'\] is not text"),
        (
            lambda p: p.define(made({"x": int}, x=nm.attribute(300, type="EByte"))),
            r"bad\.A\.x .*default 300 is not an integer from -128 to 127",
        ),
        (lambda p: p.define(made({"x": int}, x=nm.attribute(type="ENumber"))), r"bad\.A\.x.*ENumber"),
        (lambda p: p.define(made({"x": str}, x=nm.contains())), r"bad\.A\.x .*no class"),
        (lambda p: p.define(made({"x": "A"}, x=nm.timeline())), r"bad\.A\.x .*http://bad#A is a class"),
        (lambda p: p.define(made({"x": nm.Timeline["A"]})), r"bad\.A\.x .*http://bad#A is a class"),
        (lambda p: p.define(made({"x": "list[str]"}, x=nm.timeline())), r"bad\.A\.x .*type and annotations only"),
        (lambda p: p.define(made({"x": nm.Timeline[int]}, x=5)), r"bad\.A\.x .*type and annotations only.*default"),
        (lambda p: p.define(made({"x": str}, x=nm.timeline()), key=["x"]), r"bad\.A .*'x', which is a timeline"),
        (lambda p: p.define(made({"x": "A"}, x=nm.attribute(id=True))), r"bad\.A\.x .*not declared so.*'id'"),
        (lambda p: p.define(made({"x": str}, x=nm.attribute(colour=1))), r"bad\.A\.x .*not declared so.*'colour'"),
        (
            lambda p: p.define(made({"x": "list[str]"}, x=nm.attribute(lower=3, upper=2))),
            r"bad\.A\.x .*lower bound 3 is above its upper bound 2",
        ),
        (lambda p: p.define(made({"x": "list[str]"}, x=nm.attribute(upper=0))), r"bad\.A\.x .*upper bound is 0"),
        (lambda p: (p.define(made({})), p.define(made({})))[0], r"bad\.A .*declared twice"),
        (lambda p: p.define(made({"x": str}), key=["y"]), r"bad\.A .*key names 'y'"),
        (lambda p: p.define(made({"x": "list[str]"}), key=["x"]), r"bad\.A .*key names 'x', which has many values"),
        (lambda p: p.define(made({}, Heavy)), r"bad\.A .*base Heavy"),
        (
            lambda p: p.define(made({"x": "A"}, x=nm.reference(opposite="y"))),
            r"bad\.A\.x .*opposite http://bad#A\.y does not exist",
        ),
        (
            lambda p: p.define(
                made({"x": "A", "y": "A"}, x=nm.reference(opposite="y"), y=nm.reference(opposite=None))
            ),
            r"bad\.A\.x .*http://bad#A\.y does not point back",
        ),
        (
            lambda p: p.define(made({"x": "A", "y": "A"}, x=nm.contains(opposite="y"), y=nm.contains(opposite="x"))),
            r"bad\.A\.x .*containment too",
        ),
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_a_sentence_that_names_it(define: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(nm.InvalidModel, match=message):
        bad(define)()


def test_a_package_that_makes_no_sense_makes_no_objects_and_is_not_registered(repo: Repository) -> None:
    package = nm.package("bad", "http://bad")
    wrong = package.define(made({"x": "Nowhere"}))

    with pytest.raises(nm.InvalidModel, match="Nowhere does not exist"):
        wrong()
    with pytest.raises(nm.InvalidModel, match="Nowhere does not exist"):
        repo.register(package)
    assert "http://bad" not in repo.metamodels()


# other processes

USED = """
import sys, neomodel as nm
with nm.connect(sys.argv[1]) as repo:
    package = repo.metamodel("{uri}")
    model = repo.open("m")
    made = next(model.all(package.Both))
    made.words.append("z")
    made.Text.append(package.Text())
    model.roots.append(package.Both(label="new", colour="green", size=9))
    print(made.colour.name, made.size, made.digit, made.words, len(made.Text), made.Text[0].owner is made)
    print(isinstance(made, package.Base), isinstance(made, package.Right), hasattr(made, "described"))
    for refused in (lambda: setattr(made, "size", "x"), lambda: setattr(made, "label", "x"), lambda: package.Base(),
                    lambda: made.names.extend("vwxyz"), lambda: made.names.extend(list("vwxyz")), lambda: made.count):
        try:
            refused()
            print("taken")
        except (nm.InvalidValue, nm.FeatureNotFound) as exc:
            print(type(exc).__name__, exc)
"""


@pytest.mark.parametrize("imported", [False, True])
def test_a_process_uses_a_package_that_is_stored_with_or_without_its_declaration(
    lmdb_url: str, connect: Callable[[str], Repository], imported: bool
) -> None:
    repo = connect(lmdb_url)
    repo.register(library, annotated)
    model = repo.create("m")
    model.roots.append(Both(label="a", words=["x"], size=4))
    script = "import tests.objects.annotated\n" * imported + USED.format(uri=URI)

    told = subprocess.run(
        [sys.executable, "-c", script, lmdb_url], capture_output=True, text=True, check=True, timeout=60
    )

    lines = told.stdout.splitlines()
    assert lines[0] == "GREEN 4 7 ['x', 'z'] 1 True"
    assert lines[1] == f"True True {imported}"
    assert lines[2] == "InvalidValue annotated.Both.size is 'x', expected an integer"
    assert lines[3].startswith("InvalidValue annotated.Base.label of ")
    assert "abstract" in lines[4]
    assert lines[5] == "InvalidValue annotated.Both.names is 'vwxyz', expected several values, such as a list"
    assert lines[6] == "InvalidValue the number of values of annotated.Both.names is 5, expected at most 4"
    assert lines[7:] == (
        ["taken"] if imported else [
            "FeatureNotFound annotated.Both has no 'count' here: it is volatile, import the module that computes it"
        ]
    )  # fmt: skip
    assert [(one.label, one.size, one.count) for one in model.all(Both)] == [("a", 4, 2), ("new", 9, 0)]


def test_a_method_may_name_what_comes_later_in_the_same_function() -> None:
    late = nm.package("late", "http://late")

    @late.define
    class First:
        name: str | None = None

        def following(self) -> type:
            return Second

    @late.define
    class Second:
        name: str | None = None

    assert First().following() is Second
