"""Rules that extend others, and guards of several rules."""

from collections import Counter

import neomodel as nm
from tests.rules.shapes import Label, Leaf, Node, Special, Thing, Vague, made, names
from tests.rules.test_rules import things


def test_a_rule_that_extends_another_takes_its_place_and_adds_to_its_body(source: nm.Model) -> None:
    both = things()

    @both.rule(extends=both.rules["thing"])
    def leaf(leaf: Leaf, thing: Special, label: Label):
        assert thing.name == leaf.name
        thing.number = leaf.size
        thing.labels = [label]

    model = made(both, source)
    assert sorted((one.name, one.eClass.name, one.number, len(one.labels)) for one in model.roots if one.number) == [
        ("a1", "Special", 1, 1),
        ("b", "Special", 2, 1),
    ]
    assert {one.name: one.eClass.name for one in model.roots} == {
        "top": "Thing",
        "a": "Thing",
        "other": "Thing",
        "a1": "Special",
        "b": "Special",
    }


def test_the_guards_of_all_that_a_rule_extends_must_hold(source: nm.Model) -> None:
    guarded = nm.Transformation("Guarded")

    @guarded.rule(when=lambda node: node.size > 0)
    def sized(node: Node, thing: Thing):
        thing.name = node.name

    @guarded.rule(extends=sized, when=lambda node: node.size != 1)
    def two(node: Node, thing: Special):
        pass

    assert sorted((one.name, one.eClass.name) for one in made(guarded, source).roots) == [
        ("a1", "Thing"),
        ("b", "Special"),
    ]


def test_a_guard_that_rules_share_is_asked_once_for_each_object(source: nm.Model) -> None:
    shared = nm.Transformation("Shared")
    asked: Counter[str] = Counter()

    def is_sized(node):
        asked[node.name] += 1
        return node.size > 0

    @shared.rule(abstract=True, when=is_sized)
    def sized(node: Node, thing: Thing):
        thing.name = node.name

    @shared.rule(extends=sized, when=lambda node: node.size == 1)
    def one(node: Node, thing: Special):
        pass

    @shared.rule(extends=sized, when=lambda node: node.size == 2)
    def two(node: Node, thing: Thing):
        pass

    found = {one.name: one.eClass.name for one in made(shared, source).roots}

    assert found == {"a1": "Special", "b": "Thing"}
    assert asked == dict.fromkeys(["top", "a", "a1", "b", "other"], 1)


def test_an_abstract_rule_is_only_extended(source: nm.Model) -> None:
    vague = nm.Transformation("Vague")

    @vague.rule(abstract=True)
    def any_node(node: Node, thing: Vague):
        thing.name = node.name

    @vague.rule(extends=any_node)
    def leaf(node: Leaf, thing: Thing):
        pass

    assert sorted(names(made(vague, source).roots)) == ["a1", "b"]
