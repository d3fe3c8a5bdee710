"""A run that is done again for what has changed is as one that is done whole."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

import neomodel as nm
from neomodel import layout
from neomodel.repository import Repository
from neomodel.rules.journal import Journal
from neomodel.rules.part import READER
from neomodel.stores import VERSION, Mutation, open_store
from neomodel.stores.wrappers.counting import Counting
from tests.rules.nodes import Box, Node, boxes, boxing, changed, grown, nodes, rows


@pytest.fixture(params=["memory:", "lmdb:{path}/db"])
def repo(request: pytest.FixtureRequest, tmp_path: object) -> Iterator[nm.Repository]:
    with nm.connect(request.param.format(path=tmp_path)) as repository:
        repository.register(nodes)
        repository.register(boxes)
        yield repository


@pytest.mark.parametrize("seed", range(4))
def test_a_run_done_again_equals_a_whole_one(repo: nm.Repository, seed: int) -> None:
    agree(repo, seed, rounds=6)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_a_run_done_again_equals_a_whole_one_at_length(repo: nm.Repository, seed: int) -> None:
    agree(repo, seed, rounds=15)


def agree(repo: nm.Repository, seed: int, rounds: int) -> None:
    chance = random.Random(seed)
    model = repo.create("m")
    grown(model, chance.randrange(1, 25), chance)
    nm.transform(boxing, model, "again")
    for number in range(rounds):
        for _ in range(chance.randrange(1, 4)):
            changed(model, chance)
        run = nm.retransform(boxing, model, "again")
        whole = nm.transform(boxing, model, f"whole{number}", token=run.token)

        again = repo.open("again")
        assert rows(again) == rows(repo.open(f"whole{number}"))
        assert run.roots == whole.roots
        assert nm.check(again).findings == ()


@pytest.mark.parametrize("step", ["replay", "erase"])
def test_a_run_that_was_cut_short_is_completed_by_the_next(
    repo: nm.Repository, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(7)
    model = repo.create("m")
    grown(model, 20, chance)
    nm.transform(boxing, model, "again")
    for _ in range(5):
        changed(model, chance)
    with monkeypatch.context() as patch:
        patch.setattr(Journal, step, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            nm.retransform(boxing, model, "again")
    changed(model, chance)

    run = nm.retransform(boxing, model, "again")

    nm.transform(boxing, model, "whole", token=run.token)
    assert rows(repo.open("again")) == rows(repo.open("whole"))
    assert Journal(repo.open("again")).entry().about is None


@pytest.mark.parametrize("step", ["replay", "erase"])
def test_what_was_cut_short_is_not_done_to_another_model_of_that_name(
    repo: nm.Repository, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = repo.create("m")
    grown(model, 20, random.Random(7))
    nm.transform(boxing, model, "again")
    model.roots[0].flag = not model.roots[0].flag
    with monkeypatch.context() as patch:
        patch.setattr(Journal, step, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            nm.retransform(boxing, model, "again")
    repo.drop("again")
    model.roots[0].flag = not model.roots[0].flag
    nm.transform(boxing, model, "again")
    before = rows(repo.open("again"))

    nm.retransform(boxing, model, "again")

    assert rows(repo.open("again")) == before


@pytest.mark.parametrize("step", ["put", "replay", "erase"])
def test_of_two_that_bring_a_model_up_to_date_at_a_time_one_gives_way(
    repo: nm.Repository, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one comes when the first is about to do that step, and knows of a change more."""
    model = repo.create("m")
    grown(model, 20, random.Random(7))
    nm.transform(boxing, model, "again")
    model.roots[0].flag = not model.roots[0].flag
    original = getattr(Journal, step)

    def meanwhile(*arguments: Any) -> Any:
        monkeypatch.setattr(Journal, step, original)
        model.roots[1].name, model.roots[1].flag = "z", not model.roots[1].flag
        later = repo.open("m", as_of=model.table.now(), unstable=True)  # in the batch of the first it is not stable
        assert nm.retransform(boxing, later, "again").applications
        return original(*arguments)

    monkeypatch.setattr(Journal, step, meanwhile)
    if step == "put":
        with pytest.raises(nm.Conflict, match="again was changed by somebody else"):
            nm.retransform(boxing, model, "again")
    else:
        nm.retransform(boxing, model, "again")

    run = nm.retransform(boxing, model, "again")
    nm.transform(boxing, model, "whole", token=run.token)
    assert run.applications == {}
    assert rows(repo.open("again")) == rows(repo.open("whole"))
    keys = [key for key, _ in repo.store.table("_runs").scan(b"~", b"~~")]
    assert len(keys) == 1, "pages of writes that are done, or were never to be, are gone"


def test_groups_are_found_by_one_look_however_many_are_concerned() -> None:
    counting = Counting(open_store("memory:"))
    repo = Repository(counting)
    repo.register(nodes, boxes)
    model = repo.create("m")
    model.roots.extend(Node(name=f"{letter}{number}") for letter in "abcdef" for number in range(3))
    letters = nm.Transformation("letters")

    @letters.rule(key=lambda node: node.name[0])
    def initial(some: Node, box: Box) -> None:
        box.label = ",".join(sorted(one.name for one in some))

    nm.transform(letters, model, "again")
    costs = []
    for names in ("a", "bcdef"):
        for node in [one for one in model.all(Node) if one.name[0] in names]:
            node.name = f"{node.name}+"
        counting.reset()
        run = nm.retransform(letters, model, "again")
        costs.append((run.applications["initial"], counting.calls["scan"]))

    assert [applied for applied, _ in costs] == [1, 5]
    assert costs[0][1] == costs[1][1]


def test_what_nothing_depends_on_is_not_done_again(repo: nm.Repository) -> None:
    model = repo.create("m")
    model.roots.extend(Node(name=f"n{number}", flag=number % 2 == 0) for number in range(600))
    nm.transform(boxing, model, "again")
    model.roots[500].name = "other"

    run = nm.retransform(boxing, model, "again")

    assert run.applications == {"flagged": 1}
    assert (run.elements, run.results) == (1, 2)  # the box and its tag
    assert sum(one.label == "other of none" for one in repo.open("again").all(Box)) == 1


def test_nothing_changed_is_nothing_written(repo: nm.Repository) -> None:
    model = repo.create("m")
    grown(model, 20, random.Random(3))
    nm.transform(boxing, model, "again")
    before = dict(repo.store.table("again").scan())

    run = nm.retransform(boxing, model, "again")

    assert (run.elements, run.results, run.applications) == (0, 0, {})
    assert dict(repo.store.table("again").scan()) == before


def test_what_was_read_of_a_part_is_still_followed_after_a_move_that_was_cut_short(repo: nm.Repository) -> None:
    model = repo.create("m")
    whole, other = Node(name="whole", flag=True), Node(name="other", flag=True)
    model.roots.extend([whole, other])
    whole.parts.append(part := Node(name="part", flag=True))
    whole.best = part
    nm.transform(boxing, model, "again")
    moved = Mutation(oid(part).encode(), {**layout.placed(oid(other), "parts"), VERSION: b"moved"})
    model.table.put_many([moved])  # and nothing is left to tell the wholes
    nm.retransform(boxing, model, "again")
    renamed = Mutation(oid(part).encode(), {layout.column("name"): b"renamed", VERSION: b"renamed"})
    model.table.put_many([renamed])

    run = nm.retransform(boxing, model, "again")

    assert run.applications == {"flagged": 2}  # its own, and that of the whole it was a part of
    assert "shade of renamed" in {box.label for box in repo.open("again").all(Box)}


def test_what_is_read_of_many_parts_is_noted_once(repo: nm.Repository) -> None:
    model = repo.create("m")
    model.roots.append(
        Node(name="whole", flag=True, parts=[Node(name=f"p{number}", flag=True) for number in range(50)])
    )
    nm.transform(boxing, model, "again")

    noted = [key for key, row in repo.store.table("again").scan() if any(column.startswith(READER) for column in row)]

    assert noted == [b"!count", oid(model.roots[0]).encode()]  # the constant, and the whole for all its parts


def test_only_what_has_read_of_parts_what_changed_is_done_again(repo: nm.Repository) -> None:
    model = repo.create("m")
    whole = Node(name="whole", flag=True, parts=[Node(name=f"p{number}", flag=True) for number in range(9)])
    model.roots.append(whole)
    nm.transform(boxing, model, "again")
    whole.parts[3].name = "other"
    assert nm.retransform(boxing, model, "again").applications == {"flagged": 1}
    whole.parts[4].flag = False

    run = nm.retransform(boxing, model, "again")

    assert run.applications == {"flagged": 1, "plain": 1}  # the whole asks which of its parts are flagged


def test_all_who_trace_an_object_are_done_again_when_another_rule_matches_it(repo: nm.Repository) -> None:
    pairing = nm.Transformation("pairing")

    @pairing.rule(when=lambda node: node.flag)
    def on(node: Node, box: Box) -> None:
        box.mate = nm.trace(node.best)

    @pairing.rule(when=lambda node: not node.flag)
    def off(node: Node, box: Box) -> None:
        box.mate = nm.trace(node.best)

    model = repo.create("m")
    best = Node(name="best", flag=True)
    model.roots.extend([best, *(Node(name=f"n{number}", best=best) for number in range(3))])
    nm.transform(pairing, model, "again")
    best.flag = False

    run = nm.retransform(pairing, model, "again")

    assert run.applications == {"off": 4}
    nm.transform(pairing, model, "whole", token=run.token)
    assert rows(repo.open("again")) == rows(repo.open("whole"))


def oid(node: object) -> str:
    found = nm.oid(node)  # type: ignore[arg-type]
    assert found is not None
    return found
