"""Metamodels, source models and rules at random: as plain values that are drawn, and what they are made into."""

import inspect
from collections.abc import Callable
from typing import Any

import attrs
from hypothesis import strategies as st

import neomodel as nm
from neomodel.metamodel import ECORE, MANY, Attribute, Class, Package, Reference, TypeName
from tests.rules.shapes import Leaf, Node

URI = "http://made"
WAYS: dict[str, Callable[[Any], list[Any]]] = {
    "itself": lambda node: [node],
    "next": lambda node: [node.next],
    "parent": lambda node: [node.parent],
    "children": lambda node: list(node.children),
    "knows": lambda node: list(node.knows),
    "known": lambda node: list(node.known),
}
"""How bodies get from their source to others."""


@attrs.frozen
class Binding:
    """What a body assigns to a reference of an output: what `rule` makes of the objects that a way leads to."""

    output: int
    feature: str
    way: str
    rule: int


@attrs.frozen
class Plan:
    """A rule: matched, lazy, unique or grouped; for sources whose size leaves a rest, all if that is None."""

    mode: str
    rest: int | None
    outputs: list[str]
    bindings: list[Binding]


@attrs.frozen
class Seed:
    """A node of a source: the start of its id, and the numbers of others."""

    shard: int
    parent: int
    knows: list[int]
    next: int
    leaf: bool
    size: int


@attrs.frozen
class Scenario:
    package: Package
    rules: list[Plan]
    seeds: list[Seed]


# drawing


@st.composite
def packages(draw: Any) -> Package:
    kinds = [f"K{number}" for number in range(draw(st.integers(1, 3)))]
    features: dict[str, list[Any]] = {kind: [Attribute("name", TypeName(ECORE, "EString"))] for kind in kinds}
    upper = st.sampled_from([1, MANY, MANY])
    for number in range(draw(st.integers(1, 5))):
        one, other = draw(st.sampled_from(kinds)), draw(st.sampled_from(kinds))
        near, far = f"r{number}", f"o{number}"
        containment, mutual = draw(st.booleans()), draw(st.booleans())
        given = {"containment": containment, "opposite": far if mutual else None, "upper": draw(upper)}
        features[one].append(Reference(near, TypeName(URI, other), **given))
        if mutual:
            back = {"opposite": near, "upper": 1 if containment else draw(upper)}
            features[other].append(Reference(far, TypeName(URI, one), **back))
    return Package("made", URI, classifiers=[Class(kind, features=features[kind]) for kind in kinds])


@st.composite
def _rules(draw: Any, package: Package) -> list[Plan]:
    kinds = [one.name for one in package.classifiers]
    modes = [
        "matched",
        *draw(st.lists(st.sampled_from(["matched", "matched", "lazy", "unique", "grouped"]), max_size=3)),
    ]
    outputs = [draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2)) for _ in modes]
    found = []
    loose = draw(st.integers(0, 3)) == 0
    for number, mode in enumerate(modes):
        bindings = []
        for position, kind in enumerate(outputs[number]):
            for feature in package.classifier(kind).features[1:]:  # type: ignore[union-attr]
                possible = [
                    (way, rule)
                    for rule, made in enumerate(outputs)
                    if made[0] == feature.type.name and (modes[rule] in ("matched", "grouped") or rule > number)
                    for way in WAYS
                    if loose or _straight(package, feature, way, number, rule, modes[rule])
                ]  # lazy rules that call earlier ones might call one another for ever
                if possible and draw(st.booleans()):
                    bindings.append(Binding(position, feature.name, *draw(st.sampled_from(possible))))
        rest = draw(st.sampled_from([None, None, 0, 1])) if mode in ("matched", "grouped") else None
        found.append(Plan(mode, rest, outputs[number], bindings))
    return found


def _straight(package: Package, feature: Reference, way: str, number: int, rule: int, mode: str) -> bool:
    """Whether what a reference takes that way hardly leads to circles of containment, so that a model comes of it: from
    results of objects to those of their children, and of one object from earlier rules to later ones. What is made of
    groups lies in nothing."""
    if feature.containment:
        return mode != "grouped" and (way == "children" or (way == "itself" and rule > number))
    kind = package.classifier(feature.type.name)
    opposite = next((one for one in kind.features if one.name == feature.opposite), None)  # type: ignore[union-attr]
    if opposite is not None and opposite.containment:
        return way == "parent" or (way == "itself" and rule < number)
    return True


@st.composite
def scenarios(draw: Any) -> Scenario:
    package = draw(packages())
    count = draw(st.integers(1, 7))
    others = st.integers(0, count - 1)
    seeds = [
        Seed(
            draw(st.integers(0, 15)),
            draw(st.integers(-1, number - 1)),
            draw(st.lists(others, max_size=3, unique=True)),
            draw(st.integers(-1, count - 1)),
            draw(st.booleans()),
            draw(st.integers(0, 3)),
        )
        for number in range(count)
    ]
    return Scenario(package, draw(_rules(package)), seeds)


# making


def source_of(seeds: list[Seed], repository: nm.Repository) -> nm.Model:
    """The source model: ids begin with the shards, so that cuts fall anywhere in the trees."""
    model = repository.create("in")
    nodes: list[Any] = [
        (Leaf if seed.leaf else Node)(name=f"n{number}", size=seed.size) for number, seed in enumerate(seeds)
    ]
    for number, (node, seed) in enumerate(zip(nodes, seeds, strict=True)):
        nm.identify(node, f"{seed.shard:x}000{number:019}")
        if seed.parent >= 0:
            nodes[seed.parent].children.append(node)
    for node, seed in zip(nodes, seeds, strict=True):
        node.knows.extend(nodes[other] for other in seed.knows)
        node.next = nodes[seed.next] if seed.next >= 0 else None
    model.roots.extend(node for node, seed in zip(nodes, seeds, strict=True) if seed.parent < 0)
    return model


Assigned = dict[tuple[str, str], list[str]]
"""The ids that a body assigned, by the id of the result and the feature."""


def transformation_of(scenario: Scenario, assigned: Assigned) -> nm.Transformation:
    """The rules; their bodies write down what they assign."""
    made = nm.Transformation("Random")
    rules: list[Any] = []
    for number, plan in enumerate(scenario.rules):
        function = _function(number, plan, scenario, rules, assigned)
        guard = None if plan.rest is None else lambda node, rest=plan.rest: node.size % 2 == rest
        if plan.mode in ("lazy", "unique"):
            rules.append(made.lazy(function, unique=plan.mode == "unique"))
        else:
            key = (lambda node: f"k{node.size}") if plan.mode == "grouped" else None
            rules.append(made.rule(function, when=guard, key=key))
    return made


def _function(number: int, plan: Plan, scenario: Scenario, rules: list[Any], assigned: Assigned) -> Any:
    def body(given: Any, *outputs: Any) -> None:
        node = given[0] if isinstance(given, list) else given
        for output in outputs:
            output.name = node.name
        for binding in plan.bindings:
            output = outputs[binding.output]
            rule, way = scenario.rules[binding.rule], WAYS[binding.way]
            reached = [one for one in way(node) if one is not None]
            if rule.mode in ("lazy", "unique"):
                found = [rules[binding.rule](one) for one in reached]
            else:
                found = [nm.trace(one, rule=f"rule{binding.rule}", default=None) for one in reached]
            found = list(dict.fromkeys(one for one in found if one is not None))
            many = output.eClass.feature(binding.feature).many
            setattr(output, binding.feature, found if many else next(iter(found), None))
            assigned[output._oid, binding.feature] = [one._oid for one in (found if many else found[:1])]

    body.__name__ = f"rule{number}"
    names = [("given", "src.Node"), *((f"out{n}", f"made.{kind}") for n, kind in enumerate(plan.outputs))]
    body.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind) for name, kind in names]
    )
    return body
