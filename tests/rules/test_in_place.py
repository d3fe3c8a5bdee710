"""Repairs change what they match, and nothing twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import neomodel as nm
from metamodels.transformations.railway_repairs import railway_repairs
from spark.examples.railway import QUERIES, RAILWAY, matches
from tests.data import data_folder, needs_data
from tests.rules.nodes import Node, nodes


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[nm.Repository]:
    with nm.connect(f"lmdb:{tmp_path}/db") as repository:
        repository.register(nodes)
        yield repository


flags = nm.Transformation("flags")


@flags.repair(when=lambda node: not node.flag)
def flag(node: Node) -> None:
    node.flag = True


def test_what_is_matched_is_changed_and_the_rest_is_left_alone(repo: nm.Repository) -> None:
    model = repo.create("m")
    model.roots.extend(Node(name=f"n{number}", flag=number < 3) for number in range(700))
    before = model.table.now()

    done = nm.repair(flags, model)

    assert (done.applications, done.elements) == ({"flag": 697}, 700)
    assert all(node.flag for node in model.all(Node))
    assert all(nm.history(node)[-1].time <= before for node in list(model.roots)[:3])


def test_a_repair_that_is_done_already_is_not_done_again(repo: nm.Repository) -> None:
    model = repo.create("m")
    model.roots.extend(Node(name=f"n{number}") for number in range(3))
    before = model.table.now()
    model.roots[0].flag = True

    done = nm.repair(flags, model, as_of=before)

    assert done.applications == {"flag": 2}


def test_what_is_gone_by_then_is_not_repaired(repo: nm.Repository) -> None:
    model = repo.create("m")
    model.roots.extend(Node(name=f"n{number}") for number in range(3))
    before = model.table.now()
    nm.delete(model.roots[0])

    assert nm.repair(flags, model, as_of=before).applications == {"flag": 2}


def test_a_failure_names_rule_object_and_feature(repo: nm.Repository) -> None:
    model = repo.create("m")
    model.roots.append(Node(name="a"))
    broken = nm.Transformation("broken")

    @broken.repair
    def shout(node: Node) -> None:
        node.name = node.best.name.upper()

    with pytest.raises(nm.RuleFailed, match=r"rule shout failed on nodes.Node m/\w+ at node.name: AttributeError"):
        nm.repair(broken, model)


@needs_data
@pytest.mark.parametrize("name", ["inject-1", "repair-1"])
def test_the_repairs_of_the_train_benchmark_leave_nothing_to_find(repo: nm.Repository, name: str) -> None:
    folder = data_folder() / "trainbenchmark"
    repo.import_xmi(folder / f"railway-{name}.xmi", model="m", metamodel=[folder / "railway.ecore"])
    model = repo.open("m")
    package = repo.metamodel(RAILWAY)
    assert sum(len(matches(query, model, package)) for query in QUERIES) > 20

    rounds = 0
    while any(nm.repair(railway_repairs, model).applications.values()):  # one may make work for another
        rounds += 1

    assert 0 < rounds < 5
    assert {query: len(matches(query, model, package)) for query in QUERIES} == dict.fromkeys(QUERIES, 0)
    assert nm.check(model).findings == ()
