"""References between results hold at both ends, and every result lies in one place, whoever said so."""

from collections.abc import Callable
from typing import Any

import pytest

import neomodel as nm
from neomodel.rules import part
from tests.rules.shapes import Label, Leaf, Node, Thing, cut_at, everywhere, made, named, names, rows

Engines = list[Callable[[nm.Model], Any]]
ENGINES: Engines = [
    lambda _: None,
    everywhere,
    lambda _: cut_at([b"a1", b"b", b"other"], [3, 1, 2, 0]),
]


def linked(body: Any) -> nm.Transformation:
    """A transformation with one rule: a thing for every node, named as it, on which `body` is called."""
    transformation = nm.Transformation("Linked")

    @transformation.rule
    def thing(node: Node, thing: Thing):
        thing.name = node.name
        body(node, thing)

    return transformation


def parts(node: Any, thing: Any) -> None:
    thing.parts = [nm.trace(child) for child in reversed(node.children)]


def whole(node: Any, thing: Any) -> None:
    thing.whole = nm.trace(node.parent)


def both(node: Any, thing: Any) -> None:
    parts(node, thing)
    whole(node, thing)


def sees(node: Any, thing: Any) -> None:
    thing.sees = [nm.trace(other) for other in node.knows]


def seen(node: Any, thing: Any) -> None:
    thing.seen = [nm.trace(other) for other in node.known]


def likes(node: Any, thing: Any) -> None:
    thing.likes = nm.trace(node.parent)


def spouse(node: Any, thing: Any) -> None:
    thing.spouse = nm.trace(node.next)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("body", "children"), [(parts, ["b", "a"]), (whole, ["a", "b"]), (both, ["b", "a"])])
def test_containment_is_said_by_either_end(source: nm.Model, engine: Any, body: Any, children: list[str]) -> None:
    """What is said by a container keeps the order in which it says it, what contents say is sorted by their ids."""
    model = made(linked(body), source, engine=engine(source))

    top = named(model, "top")
    assert (names(top.parts), names(named(model, "a").parts)) == (children, ["a1"])
    assert [part.whole for part in top.parts] == [top, top]
    assert names(model.roots) == ["other", "top"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", [sees, seen])
def test_opposites_of_many_are_said_by_either_end(source: nm.Model, engine: Any, body: Any) -> None:
    model = made(linked(body), source, engine=engine(source))

    assert sorted(names(named(model, "a").sees)) == ["b", "other"]
    assert [names(named(model, name).seen) for name in ("b", "other", "a")] == [["a"], ["a"], []]


@pytest.mark.parametrize("engine", ENGINES)
def test_opposites_of_one_are_said_by_one_end(source: nm.Model, engine: Any) -> None:
    model = made(linked(likes), source, engine=engine(source))
    assert names(named(model, "top").fans) == ["a", "b"]
    assert named(model, "b").likes.name == "top"

    model = made(linked(spouse), source, "second", engine=engine(source))
    assert (named(model, "a").spouse.name, named(model, "b").married.name) == ("b", "a")
    assert named(model, "top").married is None


@pytest.mark.parametrize("engine", ENGINES)
def test_two_that_say_different_things_of_what_takes_one_are_an_error(source: nm.Model, engine: Any) -> None:
    def married(node: Any, thing: Any) -> None:
        thing.spouse = nm.trace(node.parent)  # a and b have one parent

    with pytest.raises(nm.RuleFailed, match=r"rule thing failed on source top at .*married.* expected one object"):
        nm.transform(linked(married), source, "out", engine=engine(source))
    assert source.repository.models() == ["in"]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_lies_in_two_containers_is_an_error_that_names_both(source: nm.Model, engine: Any) -> None:
    def contended(node: Any, thing: Any) -> None:
        if node.next is not None:
            thing.core = nm.trace(node.next)
        parts(node, thing)

    with pytest.raises(
        nm.RuleFailed, match=r"rule thing failed on source b at .*container of tgt\.Thing .* expected one"
    ):
        nm.transform(linked(contended), source, "out", engine=engine(source))
    assert source.repository.models() == ["in"]


@pytest.mark.parametrize("engine", ENGINES)
def test_two_features_of_one_container_are_two_places(source: nm.Model, engine: Any) -> None:
    def doubled(node: Any, thing: Any) -> None:
        parts(node, thing)
        thing.core = nm.trace(node.children[0]) if node.name == "a" else None

    with pytest.raises(nm.RuleFailed, match=r"rule thing failed on source a1 at .*'core of (\w+) and parts of \1"):
        nm.transform(linked(doubled), source, "out", engine=engine(source))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_object_that_says_that_it_lies_in_two_places_is_an_error(source: nm.Model, engine: Any) -> None:
    def doubled(node: Any, thing: Any) -> None:
        whole(node, thing)
        thing.shell = nm.trace(node.parent) if node.name == "a1" else None

    with pytest.raises(nm.RuleFailed, match=r"rule thing failed on source a1 at .*'core of (\w+) and parts of \1"):
        nm.transform(linked(doubled), source, "out", engine=engine(source))


@pytest.mark.parametrize("body", [lambda thing: ("core", thing), lambda thing: ("whole", thing)])
def test_nothing_lies_in_itself(source: nm.Model, body: Any) -> None:
    def circular(node: Any, thing: Any) -> None:
        setattr(thing, *body(nm.trace(node)))

    with pytest.raises(nm.RuleFailed, match=r"container of tgt\.Thing .* is 'itself'"):
        nm.transform(linked(circular), source, "out")


@pytest.mark.parametrize("engine", ENGINES)
def test_conflicts_are_collected_like_other_failures(source: nm.Model, engine: Any) -> None:
    def married(node: Any, thing: Any) -> None:
        thing.spouse = nm.trace(node.parent)
        thing.core = nm.trace(node.next)
        parts(node, thing)

    run = nm.transform(linked(married), source, "out", engine=engine(source), on_error="collect")
    assert sorted(failure.split(" at ")[0] for failure in run.failures) == [
        "rule thing failed on source b",
        "rule thing failed on source top",
    ]
    assert source.repository.models() == ["in"]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_object_may_refer_to_itself_and_others_to_it(source: nm.Model, engine: Any) -> None:
    def likes_top(node: Any, thing: Any) -> None:
        thing.likes = nm.trace(node.parent or node)
        if node.parent is None:
            thing.sees = [nm.trace(node), *(nm.trace(child) for child in node.children)]
            thing.seen = [nm.trace(node)]

    model = made(linked(likes_top), source, engine=engine(source))
    top = named(model, "top")
    assert (top.likes, names(top.fans)) == (top, ["a", "b", "top"])
    assert (names(top.sees), names(top.seen)) == (["top", "a", "b"], ["top"])


def test_results_that_were_written_before_others_refer_to_them(
    source: nm.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_rows = rows(made(linked(both), source))
    token = nm.runs(source.repository.open("out"))[0].token
    monkeypatch.setattr(part, "WINDOW", 1)

    assert rows(made(linked(both), source, "again", token=token)) == whole_rows


def test_a_reference_may_lead_to_an_object_of_the_source(source: nm.Model) -> None:
    def origin(node: Any, thing: Any) -> None:
        thing.origin = node

    nm_source = source.repository.open("in")
    model = made(linked(origin), source)
    assert named(model, "b").origin.name == "b"
    assert nm.oid(named(model, "b").origin) in {nm.oid(one) for one in nm_source.all(Leaf)}


def test_what_refers_back_can_not_be_an_object_of_the_source(source: nm.Model) -> None:
    def wrong(node: Any, thing: Any) -> None:
        thing.sees = [node]

    with pytest.raises(nm.RuleFailed, match=r"tgt\.Thing\.sees"):
        nm.transform(linked(wrong), source, "out")


def test_a_reference_takes_results_of_its_class_only(source: nm.Model) -> None:
    wrong = nm.Transformation("Wrong")

    @wrong.rule(when=lambda node: node.name == "b")
    def thing(node: Node, thing: Thing, label: Label):
        thing.core = label

    with pytest.raises(nm.RuleFailed, match=r"at thing\.core: .*an object of class tgt\.Thing"):
        nm.transform(wrong, source, "out")
