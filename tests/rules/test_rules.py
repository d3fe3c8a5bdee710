"""Which rules are applied to what, and what they make: guards, outputs, inheritance, lazy and grouped rules."""

from collections import Counter
from typing import Any

import pytest

import neomodel as nm
from tests.rules.shapes import Label, Leaf, Node, Special, Thing, cut_at, made, named, names

ALL = ["a", "a1", "b", "other", "top"]


def things() -> nm.Transformation:
    """A transformation with the rule `thing`, that every node is one of its name."""
    transformation = nm.Transformation("Things")

    @transformation.rule
    def thing(node: Node, thing: Thing):
        thing.name = node.name

    return transformation


def test_a_rule_is_applied_to_every_object_of_its_class_and_of_subclasses(source: nm.Model) -> None:
    model = made(things(), source)

    assert sorted(names(model.all(Thing))) == ALL
    assert sorted(names(model.roots)) == ALL


def test_what_no_rule_matches_becomes_nothing(source: nm.Model) -> None:
    leaves = nm.Transformation("Leaves")

    @leaves.rule
    def leaf(leaf: Leaf, thing: Thing):
        thing.name = leaf.name

    assert sorted(names(made(leaves, source).all(Thing))) == ["a1", "b"]


def test_a_source_without_any_match_gives_an_empty_model(source: nm.Model) -> None:
    none = nm.Transformation("None")

    @none.rule(when=lambda node: node.size > 2)
    def large(node: Node, thing: Thing):
        thing.name = node.name

    assert list(made(none, source).roots) == []


def test_classes_are_named_by_text_too(source: nm.Model) -> None:
    texts = nm.Transformation("Texts")

    @texts.rule
    def short(node: "Leaf", thing: "tgt.Thing"):
        thing.name = node.name

    @texts.rule(when=lambda node: node.name == "top")
    def long(node: "http://src#Node", thing: "http://tgt#Special"):
        thing.name = node.name

    model = made(texts, source)
    assert sorted((one.name, one.eClass.name) for one in model.roots) == [
        ("a1", "Thing"),
        ("b", "Thing"),
        ("top", "Special"),
    ]


def test_a_guard_decides(source: nm.Model) -> None:
    guarded = nm.Transformation("Guarded")

    @guarded.rule(when=lambda node: node.parent is not None and node.size < 2)
    def inner(node: Node, thing: Thing):
        thing.name = node.name

    assert sorted(names(made(guarded, source).all(Thing))) == ["a", "a1"]


def test_a_rule_makes_several_objects_that_refer_to_one_another(source: nm.Model) -> None:
    pairs = nm.Transformation("Pairs")

    @pairs.rule(when=lambda node: node.name == "top")
    def pair(node: Node, whole: Special, part: Thing, label: Label):
        whole.name = "whole"
        part.name = "part"
        whole.parts = [part]
        part.labels = [label]
        label.text = node.name

    (whole,) = made(pairs, source).roots
    assert whole.eClass.name == "Special"
    assert (whole.parts[0].name, whole.parts[0].whole, whole.parts[0].labels[0].text) == ("part", whole, "top")


def test_several_rules_may_match_one_object(source: nm.Model) -> None:
    twice = things()

    @twice.rule
    def again(node: Leaf, thing: Special):
        thing.name = f"{node.name} again"

    assert sorted(names(made(twice, source).all(Thing))) == ["a", "a1", "a1 again", "b", "b again", "other", "top"]


def test_what_a_body_has_assigned_it_can_read(source: nm.Model) -> None:
    reading = nm.Transformation("Reading")

    @reading.rule
    def thing(node: Leaf, thing: Thing):
        assert (thing.name, thing.number, list(thing.words)) == (None, None, [])
        thing.name = node.name
        thing.words = [thing.name, "x"]
        thing.number = len(thing.words)

    assert {(one.name, tuple(one.words), one.number) for one in made(reading, source).roots} == {
        ("a1", ("a1", "x"), 2),
        ("b", ("b", "x"), 2),
    }


def test_a_collection_of_a_result_is_assigned_and_not_added_to(source: nm.Model) -> None:
    adding = nm.Transformation("Adding")

    @adding.rule
    def thing(node: Leaf, thing: Thing):
        thing.words.append("lost")

    with pytest.raises(nm.RuleFailed, match="'append'"):
        nm.transform(adding, source, "out")


# lazy rules


def test_each_call_of_a_lazy_rule_makes_something_new(source: nm.Model) -> None:
    lazy = nm.Transformation("Lazy")

    @lazy.lazy
    def label(node: Node, label: Label):
        label.text = f"of {node.name}"

    @lazy.rule
    def thing(node: Leaf, thing: Thing):
        thing.name = node.name
        thing.labels = [label(node), label(node), label(node.parent)]

    model = made(lazy, source)
    assert [one.text for one in named(model, "a1").labels] == ["of a1", "of a1", "of a"]
    assert len({nm.oid(one) for one in model.all(Label)}) == 6


def test_a_unique_lazy_rule_makes_one_thing_of_each_source_whoever_calls(source: nm.Model) -> None:
    unique = nm.Transformation("Unique")

    @unique.lazy(unique=True)
    def shared(node: Node, thing: Special):
        thing.name = f"{node.name}!"

    @unique.rule
    def thing(node: Leaf, thing: Thing):
        thing.name = node.name
        top = node.parent if node.name == "b" else node.parent.parent
        thing.sees = [shared(top), shared(node)]
        assert shared(top) is thing.sees[0]

    for number, engine in enumerate([None, cut_at([b"b"]), cut_at([b"a", b"b"], [2, 1, 0])]):
        model = made(unique, source, f"out{number}", engine=engine)
        assert sorted(names(model.all(Special))) == ["a1!", "b!", "top!"]
        assert names(named(model, "top!").seen) == ["a1", "b"]


def test_a_lazy_rule_may_extend_and_call_others_and_itself(source: nm.Model) -> None:
    deep = nm.Transformation("Deep")

    @deep.lazy
    def part(node: Node, part: Thing):
        part.name = node.name

    @deep.lazy(extends=part)
    def whole(node: Node, part: Thing):
        part.parts = [whole(child) for child in node.children]

    @deep.rule(when=lambda node: node.parent is None)
    def root(node: Node, thing: Special):
        thing.name = f"{node.name}!"
        thing.core = whole(node)

    core = named(made(deep, source), "top!").core
    assert (core.name, names(core.parts), names(core.parts[0].parts)) == ("top", ["a", "b"], ["a1"])


def test_a_lazy_rule_is_called_in_bodies_only() -> None:
    lazy = nm.Transformation("Lazy")

    @lazy.lazy
    def label(node: Node, label: Label):
        label.text = node.name

    with pytest.raises(nm.InvalidValue, match="rule label"):
        label(Node(name="x"))


# helpers and constants


def test_a_helper_is_asked_once_for_each_object_and_is_a_function_elsewhere(source: nm.Model) -> None:
    asked: Counter[str] = Counter()
    helped = nm.Transformation("Helped")

    @helped.helper
    def path(node: Node) -> str:
        asked[node.name] += 1
        return node.name if node.parent is None else f"{path(node.parent)}/{node.name}"

    @helped.rule(when=lambda node: path(node) != "other")
    def thing(node: Node, thing: Thing):
        thing.name = path(node)
        thing.words = [path(node), path(node)]

    assert sorted(names(made(helped, source).roots)) == ["top", "top/a", "top/a/a1", "top/b"]
    assert asked == dict.fromkeys(ALL, 1)
    assert path(named(source, "b", Node)) == "top/b"


def test_a_constant_is_asked_once_and_may_be_an_object(source: nm.Model) -> None:
    asked = []
    constant = nm.Transformation("Constant")

    @constant.constant
    def first(model: nm.Model) -> Node:
        asked.append("first")
        return next(node for node in model.roots if node.children)

    @constant.constant
    def count(model: nm.Model) -> int:
        return len(model.roots)

    @constant.rule
    def thing(node: Node, thing: Thing):
        thing.name = node.name
        thing.number = count()
        thing.words = [first().name, first().children[0].name]

    model = made(constant, source, engine=cut_at([b"b"]))
    assert {(one.number, *one.words) for one in model.roots} == {(2, "top", "a")}
    assert asked == ["first"]


# groups


@pytest.mark.parametrize("cuts", [(), (b"b",), (b"a", b"b", b"o")])
def test_objects_of_one_key_are_one_source(source: nm.Model, cuts: tuple[bytes, ...]) -> None:
    grouped = nm.Transformation("Grouped")

    @grouped.rule(key=lambda node: node.name[0], when=lambda node: node.name != "top")
    def letter(nodes: Node, thing: Thing):
        thing.name = nodes[0].name[0]
        thing.words = [node.name for node in nodes]

    @grouped.rule(when=lambda node: node.name != "top")
    def member(node: Node, thing: Special):
        thing.name = f"{node.name}!"
        thing.whole = nm.trace(node, rule="letter")

    model = made(grouped, source, engine=cut_at(cuts))
    assert {one.name: list(one.words) for one in model.roots} == {"a": ["a", "a1"], "b": ["b"], "o": ["other"]}
    assert names(named(model, "a").parts) == ["a!", "a1!"]


@pytest.mark.parametrize(
    ("key", "told"), [(lambda node: node.size, r"\d"), (lambda node: f"{node.name}\0", r"'\w+\\x00'")]
)
def test_a_key_is_text(source: nm.Model, key: Any, told: str) -> None:
    grouped = nm.Transformation("Grouped")

    @grouped.rule(key=key)
    def sized(nodes: Node, thing: Thing):
        thing.number = len(nodes)

    with pytest.raises(
        nm.RuleFailed, match=rf"rule sized failed on src\.\w+ .* at its key: it is {told}, expected text"
    ):
        nm.transform(grouped, source, "out")


# declaring


def test_what_makes_no_sense_is_refused_when_it_is_declared() -> None:
    transformation = things()
    with pytest.raises(nm.InvalidValue, match="thing"):

        @transformation.rule
        def thing(node: Node, thing: Thing):
            pass

    with pytest.raises(nm.InvalidValue, match="parameter node of rule bare"):

        @transformation.rule
        def bare(node, thing: Thing):
            pass

    with pytest.raises(nm.InvalidValue, match="rule idle"):

        @transformation.rule
        def idle(node: Node):
            pass

    with pytest.raises(nm.InvalidValue, match="rule far extends"):

        @transformation.rule(extends=things().rules["thing"])
        def far(node: Node, thing: Thing):
            pass

    for declare in (transformation.helper, transformation.constant):
        declare(lambda given: given)
        with pytest.raises(nm.InvalidValue, match="<lambda>"):
            declare(lambda given: given)
    with pytest.raises(nm.InvalidValue, match="name of a transformation"):
        nm.Transformation("")
    assert list(transformation.rules) == ["thing"]


def test_a_class_that_is_not_registered_is_refused_with_what_comes_near(source: nm.Model) -> None:
    wrong = nm.Transformation("Wrong")

    @wrong.rule
    def thing(node: "src.Noed", thing: Thing):
        pass

    with pytest.raises(nm.InvalidValue, match=r"rule thing of Wrong.*src\.Noed"):
        nm.transform(wrong, source, "out")
    assert source.repository.models() == ["in"]


def test_it_is_told_how_many_objects_were_looked_at_and_how_many_regions_are_done(source: nm.Model) -> None:
    told: list[tuple[int, float]] = []
    cuts = [b"a1", b"top"]  # one object, three, and one

    nm.transform(things(), source, "out", engine=cut_at(cuts), progress=lambda *now: told.append(now))

    assert told == sorted(told)
    assert {(1, 1 / 3), (4, 2 / 3)} <= set(told)
    assert told[-1] == (5, 1.0)
