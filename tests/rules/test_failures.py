"""Rules that fail tell which rule, on which object and at which feature; and nothing is left of the model."""

from typing import Any

import pytest

import neomodel as nm
from tests.rules.shapes import Label, Leaf, Node, Special, Thing, everywhere, made


def one_rule(body: Any, **options: Any) -> nm.Transformation:
    transformation = nm.Transformation("One")
    transformation.rule(body, **options)
    return transformation


def refused(transformation: nm.Transformation, source: nm.Model, told: str) -> None:
    with pytest.raises(nm.RuleFailed, match=told) as caught:
        nm.transform(transformation, source, "out")
    assert "\n" not in str(caught.value)
    assert source.repository.models() == ["in"]


def test_an_error_in_an_assignment_names_the_feature(source: nm.Model) -> None:
    def sized(node: Leaf, thing: Thing):
        thing.name = node.name
        thing.number = 1 // (2 - node.size)

    refused(one_rule(sized), source, r"^rule sized failed on src\.Leaf .*\bb\b.* at thing\.number: ZeroDivisionError: ")


def test_an_assignment_of_several_lines_counts_as_one(source: nm.Model) -> None:
    def sized(node: Leaf, thing: Thing):
        thing.name = node.name
        thing.words = [
            node.name,
            node.parent.missing,
        ]
        thing.number = 1

    refused(one_rule(sized), source, r"^rule sized failed on src\.Leaf .*a1.* at thing\.words: .*missing")


def test_an_assignment_that_adds_is_one_too(source: nm.Model) -> None:
    def sized(node: Leaf, thing: Thing):
        thing.name = node.name
        thing.number = 1
        thing.number += node.name

    refused(one_rule(sized), source, r"at thing\.number: TypeError")


def test_an_error_elsewhere_in_a_body_names_the_body(source: nm.Model) -> None:
    def sized(node: Leaf, thing: Thing):
        {}["x"]

    refused(one_rule(sized), source, r"^rule sized failed on src\.Leaf .*a1.* at its body: KeyError: 'x'")


def test_an_error_in_a_guard_names_the_guard(source: nm.Model) -> None:
    def sized(node: Node, thing: Thing):
        pass

    refused(one_rule(sized, when=lambda node: node.size / 0), source, r"^rule sized failed on .* at its guard: ZeroDiv")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (lambda _: "text", r"at thing\.number: .*tgt\.Thing\.number .*'text'"),
        (nm.trace, r"at thing\.number: .*tgt\.Thing\.number"),
    ],
)
def test_a_value_that_a_feature_does_not_take_names_the_feature(source: nm.Model, value: Any, told: str) -> None:
    def sized(node: Leaf, thing: Thing):
        thing.number = value(node)

    refused(one_rule(sized), source, told)


def test_a_feature_that_is_not_there_is_named_with_what_comes_near(source: nm.Model) -> None:
    def sized(node: Leaf, thing: Thing):
        thing.nmae = "x"

    refused(one_rule(sized), source, r"at thing\.nmae: .*'nmae'; did you mean 'name'\?")


def test_the_rule_that_extends_is_named_for_the_body_of_the_other(source: nm.Model) -> None:
    extending = nm.Transformation("Extending")

    @extending.rule(abstract=True)
    def general(node: Node, thing: Thing):
        thing.name = node.missing

    @extending.rule(extends=general)
    def leaf(node: Leaf, thing: Special):
        pass

    refused(extending, source, r"^rule leaf failed on src\.Leaf .*a1.* at thing\.name: ")


def test_a_lazy_rule_is_named_with_its_own_source(source: nm.Model) -> None:
    lazy = nm.Transformation("Lazy")

    @lazy.lazy
    def label(node: Node, label: Label):
        label.text = node.missing

    @lazy.rule
    def leaf(node: Leaf, thing: Thing):
        thing.labels = [label(node.parent)]

    refused(lazy, source, r"^rule label failed on src\.Node .*\ba\b.* at label\.text: ")


def test_results_of_others_are_neither_read_nor_changed(source: nm.Model) -> None:
    def reading(node: Leaf, thing: Thing):
        thing.name = nm.trace(node).name

    def changing(node: Leaf, thing: Thing):
        nm.trace(node).name = "x"

    refused(one_rule(reading), source, r"at thing\.name: name of <tgt\.Thing .*, made by a rule>")
    refused(one_rule(changing), source, r"name of <tgt\.Thing .*, made by a rule>")


def test_a_value_twice_in_a_collection_that_takes_it_once_is_refused(source: nm.Model) -> None:
    def twice(node: Leaf, thing: Thing):
        thing.far = [thing, thing]

    refused(one_rule(twice), source, r"at thing\.far: .*no value twice")


def failing() -> nm.Transformation:
    """Fails on `a`, at the guard; on `b` and `top`, in the body."""
    transformation = nm.Transformation("Failing")

    @transformation.rule(when=lambda node: node.name != "a" or node.missing)
    def thing(node: Node, thing: Thing):
        thing.name = node.name
        thing.number = {"a1": 1, "other": 2}[node.name]

    return transformation


@pytest.mark.parametrize("cut", [False, True])
def test_all_failures_are_collected_and_no_model_is_left(source: nm.Model, cut: bool) -> None:
    engine = everywhere(source) if cut else None
    run = nm.transform(failing(), source, "out", on_error="collect", engine=engine)

    told = sorted(failure.partition(":")[0].rpartition(" at ")[2] for failure in run.failures)
    assert told == ["its guard", "thing.number", "thing.number"]
    assert all(failure.startswith("rule thing failed on src.") for failure in run.failures)
    assert source.repository.models() == ["in"]
    with pytest.raises(nm.ModelNotFound):
        source.repository.open("out")


def test_a_run_that_failed_is_not_on_record_and_can_be_done_again(source: nm.Model) -> None:
    nm.transform(failing(), source, "out", on_error="collect")
    with pytest.raises(nm.RuleFailed):
        nm.transform(failing(), source, "out")

    def sized(node: Leaf, thing: Thing):
        thing.name = node.name

    model = made(one_rule(sized), source)
    assert [run.target for run in nm.runs(model)] == ["out"]


def test_a_target_that_is_there_is_refused_and_stays(source: nm.Model) -> None:
    def sized(node: Leaf, thing: Thing):
        thing.name = node.name

    model = made(one_rule(sized), source)
    with pytest.raises(nm.ModelExists):
        nm.transform(one_rule(sized), source, "out")
    with pytest.raises(nm.ModelExists):
        nm.transform(one_rule(sized), source, "in")
    assert sorted(thing.name for thing in model.roots) == ["a1", "b"]


def test_what_is_wanted_on_errors_is_one_of_two(source: nm.Model) -> None:
    with pytest.raises(nm.InvalidValue, match="on_error"):
        nm.transform(failing(), source, "out", on_error="ignore")
    with pytest.raises(nm.InvalidValue, match="source of a transformation"):
        nm.transform(failing(), "in", "out")
