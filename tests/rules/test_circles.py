"""No model comes of rules that put results into one another, so that none of them would be in it."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import neomodel as nm
from neomodel.repository import Repository
from neomodel.rules import circles, part
from neomodel.rules.journal import Journal
from neomodel.rules.running import bound
from neomodel.stores import open_store
from neomodel.stores.wrappers.counting import Counting
from tests.rules.shapes import Label, Node, Thing, cut_at, everywhere, made, new_repository, rows, src, tgt

ENGINES: dict[str, Callable[[nm.Model], Any]] = {
    "one part": lambda _: None,
    "a part for each": everywhere,
    "two parts": lambda _: cut_at([b"n2"], [1, 0]),
}


def ring(repository: nm.Repository, count: int, *, closed: bool) -> nm.Model:
    """Nodes of which each knows the next; if it is closed, the last one the first."""
    model = repository.create("in")
    nodes: list[Any] = [Node(name=f"n{number}") for number in range(count)]
    for node in nodes:
        nm.identify(node, node.name)
    model.roots.extend(nodes)
    for node, following in zip(nodes, [*nodes[1:], *nodes[: int(closed)]], strict=False):
        node.knows.append(following)
    return model


def nested(how: str) -> nm.Transformation:
    """What is made of a node lies in what is made of the one it knows: as itself says, as that one does, or each in
    turns."""
    transformation = nm.Transformation(f"Nested {how}")

    @transformation.rule
    def thing(node: Node, thing: Thing):
        thing.name = node.name
        if how == "whole" or (how == "turns" and node.name in "n0 n2 n4 n6 n8"):
            thing.whole = nm.trace(node.knows[0]) if node.knows else None
        if how == "parts" or (how == "turns" and node.name in "n0 n2 n4 n6 n8"):
            thing.parts = [nm.trace(one) for one in node.known]

    return transformation


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("how", ["whole", "parts", "turns"])
@pytest.mark.parametrize("window", [1, 2, part.WINDOW])
@pytest.mark.parametrize("engine", ENGINES)
def test_results_that_lie_in_one_another_are_refused(
    engine: str, window: int, how: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "WINDOW", window)
    source = ring(new_repository(), count, closed=True)

    with pytest.raises(
        nm.RuleFailed, match=r"^rule thing failed on source n\d at output thing: .* would lie in itself"
    ):
        nm.transform(nested(how), source, "out", engine=ENGINES[engine](source))

    assert source.repository.models() == ["in"]


@pytest.mark.parametrize("how", ["whole", "parts", "turns"])
@pytest.mark.parametrize("window", [1, 2, part.WINDOW])
@pytest.mark.parametrize("engine", ENGINES)
def test_results_that_lie_deep_in_others_are_made(
    engine: str, window: int, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "WINDOW", window)
    source = ring(new_repository(), 9, closed=False)

    (top,) = made(nested(how), source, engine=ENGINES[engine](source)).roots

    assert [one.name for one in (top, *top.eAllContents())] == [f"n{number}" for number in range(8, -1, -1)]


@pytest.mark.parametrize("engine", ["one part", "a part for each"])
def test_all_circles_are_told_of_each_once(engine: str) -> None:
    source = ring(new_repository(), 5, closed=False)
    nodes = {node.name: node for node in source.all(Node)}
    nodes["n2"].knows, nodes["n4"].knows = [nodes["n0"]], [nodes["n3"]]

    run = nm.transform(nested("whole"), source, "out", engine=ENGINES[engine](source), on_error="collect")

    found = sorted(set(re.findall(r"\bn\d", told)) for told in run.failures)
    assert sorted(map(sorted, found)) == [["n0", "n1", "n2"], ["n3", "n4"]]


def test_of_a_long_circle_some_are_told_and_how_many_more_there_are() -> None:
    source = ring(new_repository(), 9, closed=True)

    run = nm.transform(nested("whole"), source, "out", on_error="collect")

    assert len(run.failures) == 1
    assert run.failures[0].count("what rule thing made of") == 3
    assert run.failures[0].endswith(", within 5 more")


@pytest.mark.parametrize("how", ["whole", "parts"])
def test_a_change_that_closes_a_circle_is_refused_and_the_result_stays(how: str) -> None:
    source = ring(new_repository(), 6, closed=False)
    model = made(nested(how), source)
    before = rows(model)
    nodes = {node.name: node for node in source.all(Node)}
    nodes["n5"].knows = [nodes["n2"]]

    with pytest.raises(nm.RuleFailed, match="would lie in itself"):
        nm.retransform(nested(how), source, "out")

    assert rows(model) == before
    assert Journal(model).entry().about is None
    nodes["n2"].knows = []  # then it is the top
    nm.retransform(nested(how), source, "out")
    assert [one.name for one in source.repository.open("out").roots] == ["n2"]


def test_only_classes_whose_objects_may_lie_in_one_another_are_looked_at() -> None:
    source = ring(new_repository(), 2, closed=False)
    labelled = nm.Transformation("Labelled")

    @labelled.rule
    def thing(node: Node, thing: Thing, label: Label):
        thing.labels = [label]

    plan = bound(labelled, source, source.repository)

    assert {name.name for name in plan.nesting} == {"Thing"}


def test_a_class_nests_by_way_of_others() -> None:
    made = nm.package("byway", "http://byway")

    @made.define
    class House:
        rooms: list["Room"] = nm.contains()

    @made.define
    class Room:
        boxes: list["Box"] = nm.contains()

    @made.define
    class Box:
        doll_houses: list["Room"] = nm.contains()

    with nm.connect("memory:") as repository:
        package = repository.register(made)
        kinds = [package.classifiers[name] for name in ("House", "Room", "Box")]

        assert {name.name for name in circles.nesting(kinds)} == {"Room", "Box"}
        assert circles.nesting(kinds[:2]) == frozenset()


def test_what_lies_in_results_of_other_parts_costs_a_read_for_each_level() -> None:
    """And what lies in results of the same one costs none."""
    counting = Counting(open_store("memory:"))
    repository = Repository(counting)
    repository.register(src, tgt)
    source = ring(repository, 5, closed=False)
    found = {}
    for name, engine in (("whole", None), ("cut", cut_at([b"n2"]))):
        counting.reset()
        nm.transform(nested("whole"), source, name, engine=engine, incremental=False)
        found[name] = counting.calls["get_many"]

    assert found["cut"] - found["whole"] == 3  # n2, in which n1 of the other part lies, then n3, then n4
