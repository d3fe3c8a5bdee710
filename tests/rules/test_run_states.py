"""Who may write to a model that is being made: nobody writes parts once they are settled, or for a run that is over."""

import pytest

import neomodel as nm
from neomodel.rules.runs import APPLYING, SETTLING, Runs
from tests.rules.nodes import Node, boxes, boxing, nodes


@pytest.fixture
def runs() -> Runs:
    return Runs(nm.connect("memory:").store)


def test_a_run_applies_until_it_settles(runs: Runs) -> None:
    attempt = runs.begin("t")
    assert runs.state("t", attempt) == APPLYING

    runs.settle("t", attempt)

    assert runs.state("t", attempt) == SETTLING


def test_who_was_replaced_by_another_attempt_or_has_ended_is_refused(runs: Runs) -> None:
    first = runs.begin("t")
    second = runs.begin("t")
    with pytest.raises(nm.JobEnded):
        runs.settle("t", first)
    assert runs.state("t", second) == APPLYING

    runs.end("t")

    with pytest.raises(nm.JobEnded):
        runs.state("t", second)


def test_a_part_that_may_not_write_tells_the_same_and_writes_nothing() -> None:
    from neomodel.rules.part import Part
    from neomodel.rules.reads import WatchedModel
    from neomodel.rules.running import bound

    with nm.connect("memory:") as repo:
        repo.register(nodes, boxes)
        model = repo.create("m")
        model.roots.extend(Node(name=name) for name in "abc")
        source = repo.open("m", as_of="stable")
        plan, told = bound(boxing, source, repo), []
        for number, allowed in enumerate((True, False)):
            target = repo.create(f"t{number}")
            own = repo.apart(source, repo.store, WatchedModel)
            part = Part(plan, own, target, {"count": ""}, b"1-x", may_write=lambda allowed=allowed: allowed)
            told.append(list(part.apply()))
            assert bool(list(target.table.scan())) is allowed

        assert told[0] == told[1] != []
