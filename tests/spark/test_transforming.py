"""Transformations on Spark make the rows that they make in one process."""

import random
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from metamodels import class_diagrams as uml
from metamodels.transformations.java2classes import java2classes
from neomodel.model import Model
from neomodel.rules.part import Member, Unplaced
from spark import transforming
from spark.partitions import Part
from tests.data import data_folder, needs_data
from tests.rules.nodes import Node, boxes, boxing, grown, nodes
from tests.rules.random_rules import Scenario, scenarios, source_of
from tests.rules.shapes import new_repository
from tests.rules.test_in_place import flags
from tests.spark.random_transforming import agree, of

Cut = Callable[[int], None]


@pytest.fixture
def repo(tmp_path: Path) -> nm.Repository:
    found = nm.connect(f"lmdb:{tmp_path}/db")
    found.register(nodes)
    found.register(boxes)
    return found


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Cut:
    """Have the models of jobs cut into so many parts, at their rows."""

    def into(parts: int) -> None:
        def found(table: nm.Model) -> list[Part]:
            keys = [key for key, _ in table.scan(columns=(b"t:",))]
            cuts = [keys[len(keys) * number // parts] for number in range(1, parts)]
            return [Part(low, high) for low, high in zip([b"", *cuts], [*cuts, None], strict=True)]

        monkeypatch.setattr(transforming, "parts_of", found)

    return into


@pytest.mark.parametrize(("seed", "parts"), [(1, 1), (2, 3), (3, 7)])
def test_spark_makes_the_same_rows(repo: nm.Repository, session: SparkSession, cut: Cut, seed: int, parts: int) -> None:
    model = repo.create("m")
    grown(model, 60, random.Random(seed))
    cut(parts)

    local = nm.transform(boxing, model, "local")
    run = spark.transform(session, boxing, model, "spark", token=local.token)

    assert dict(repo.store.table("spark").scan()) == dict(repo.store.table("local").scan())
    assert (run.applications, run.results, run.roots) == (local.applications, local.results, local.roots)
    assert (run.settled > 0) == (parts > 1 or local.settled > 0)
    assert nm.check(repo.open("spark")).findings == ()


def holds(tmp_path: Path, session: SparkSession, cut: Cut, scenario: Scenario, parts: int) -> None:
    with new_repository(f"lmdb:{tmp_path}/{uuid.uuid4().hex}") as repository:
        repository.register(scenario.package)
        cut(parts)
        agree(session, scenario, source_of(scenario.seeds, repository))


@given(scenario=scenarios(), parts=st.integers(1, 5))
@of(4)
def test_random_rules_make_the_same_rows_in_tasks(
    tmp_path: Path, session: SparkSession, cut: Cut, scenario: Scenario, parts: int
) -> None:
    holds(tmp_path, session, cut, scenario, parts)


@pytest.mark.soak
@given(scenario=scenarios(), parts=st.integers(1, 5))
@of(200)
def test_random_rules_make_the_same_rows_in_tasks_at_length(
    tmp_path: Path, session: SparkSession, cut: Cut, scenario: Scenario, parts: int
) -> None:
    holds(tmp_path, session, cut, scenario, parts)


def test_a_run_on_spark_can_be_done_again_in_one_process(repo: nm.Repository, session: SparkSession, cut: Cut) -> None:
    model = repo.create("m")
    grown(model, 30, random.Random(4))
    cut(3)
    spark.transform(session, boxing, model, "again")
    node = next(iter(model.all(Node)))
    node.flag = not node.flag

    run = nm.retransform(boxing, model, "again")

    nm.transform(boxing, model, "whole", token=run.token)
    assert content(repo.open("again")) == content(repo.open("whole"))


def test_the_share_of_remote_reads_is_told(repo: nm.Repository, session: SparkSession, cut: Cut) -> None:
    model = repo.create("m")
    model.roots.append(Node(name="a", flag=True, parts=[Node(name=f"b{number}", flag=True) for number in range(99)]))
    cut(2)

    run = spark.transform(session, boxing, model, "t")

    assert [part["elements"] for part in run.parts] == [50, 50]
    assert run.local_reads == 101  # the row of the roots as well
    assert 1 <= run.remote_reads <= 60


def test_a_rule_that_fails_in_a_task_ends_the_run_with_its_sentence(
    repo: nm.Repository, session: SparkSession, cut: Cut
) -> None:
    model = repo.create("m")
    model.roots.extend(Node(name=name) for name in "abc")
    cut(2)
    broken = nm.Transformation("broken")

    @broken.rule
    def shout(node: "nodes.Node", box: "boxes.Box") -> None:
        box.label = node.best.name

    with pytest.raises(nm.RuleFailed, match=r"^rule shout failed on nodes.Node m/\w+ at box.label: AttributeError"):
        spark.transform(session, broken, model, "t")
    assert "t" not in repo.models()

    run = spark.transform(session, broken, model, "t", on_error="collect")

    assert len(run.failures) == 3
    assert "t" not in repo.models()


def test_results_that_lie_in_one_another_end_the_run(repo: nm.Repository, session: SparkSession, cut: Cut) -> None:
    model = repo.create("m")
    ring = [Node(name=name) for name in "abcd"]
    model.roots.extend(ring)
    for node, following in zip(ring, [*ring[1:], None], strict=True):
        node.best = following
    cut(4)
    nested = nm.Transformation("nested")

    @nested.rule
    def within(node: "nodes.Node", box: "boxes.Box") -> None:
        box.outer = nm.trace(node.best)

    assert spark.transform(session, nested, model, "sound").roots == 1
    ring[3].best = ring[1]
    with pytest.raises(
        nm.RuleFailed, match=r"^rule within failed on source \w+ at output box: \w+ would lie in itself"
    ):
        spark.transform(session, nested, model, "t")

    run = spark.transform(session, nested, model, "t", on_error="collect")

    assert len(run.failures) == 1
    assert [run.failures[0].count(nm.oid(node)) for node in ring] == [0, 1, 1, 1]
    assert repo.models() == ["m", "sound"]


def test_repairs_in_tasks_change_what_they_match(repo: nm.Repository, session: SparkSession) -> None:
    model = repo.create("m")
    model.roots.extend(Node(name=name, flag=name == "a") for name in "abcd")

    done = spark.repair(session, flags, model)

    assert (done.applications, done.elements) == ({"flag": 3}, 4)
    assert all(node.flag for node in repo.open("m").all(Node))


def content(model: Model) -> dict[bytes, dict[bytes, bytes]]:
    from tests.rules.nodes import rows

    return rows(model)


@pytest.mark.soak
@needs_data
def test_the_class_diagram_of_a_large_program_is_the_same_and_few_reads_are_remote(
    tmp_path: Path, session: SparkSession, figures: Callable[[str], None]
) -> None:
    modisco = data_folder() / "neoemf"
    with nm.connect(f"lmdb:{tmp_path}/db") as repo:
        repo.register(uml.class_diagrams)
        repo.register(modisco / "model" / "Java.ecore")
        repo.import_xmi(modisco / "models" / "org.eclipse.gmt.modisco.java.kyanos.xmi", model="java")
        model = repo.open("java", as_of="stable")

        run = spark.transform(session, java2classes, model, "spark")
        nm.transform(java2classes, model, "local", token=run.token)

        assert dict(repo.store.table("spark").scan()) == dict(repo.store.table("local").scan())
    assert run.elements == 80_665
    assert run.remote_share < 0.15
    figures(f"Java2Classes in {len(run.parts)} parts: {run.remote_share:.1%} of what rules read was remote")


def test_what_concerns_a_part_comes_to_it_whole_however_much_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transforming, "_BUNDLE", 3)
    told = [Unplaced(f"{number % 10}x{number}", "") for number in range(40)]

    dealt = list(transforming._dealt([*told, Member("rule", "key", "5x")], [b"3", b"7"]))

    assert max(len(some) for _, some in dealt) == 3
    for part, digits in enumerate(("012", "3456", "789")):
        assert [one for to, some in dealt if to == part for one in some] == [
            one for one in told if one.target[0] in digits
        ]
