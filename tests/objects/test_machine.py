"""Whatever is done to a model in whatever order, it stays what EMF's rules make of it, in every store."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from neomodel import trees
from neomodel.registry import TABLE
from neomodel.stores import open_store
from tests.objects.machine import ModelMachine
from tests.objects.machine_pyecore import OracleMachine

EXAMPLES = {"memory": 120, "lmdb": 50, "hbase": 3}  # what each has time for in `make test`
SIZES = [pytest.param(1, 25, id="short"), pytest.param(10, 50, id="long", marks=pytest.mark.soak)]


@pytest.fixture(params=EXAMPLES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new_url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Each call names a store that several connections can be opened to. Those in memory are all new; the others are
    one, which afterwards has no metamodel: a cluster is shared."""
    if kind == "memory":
        yield lambda: f"memory:{uuid.uuid4().hex}"
        return
    url = str(request.getfixturevalue("hbase").url) if kind == "hbase" else f"lmdb:{tmp_path / 'store'}"
    yield lambda: url
    with open_store(url) as store:
        store.table(TABLE).drop()


def run(
    machine: type[RuleBasedStateMachine],
    new_url: Callable[[], str],
    examples: int,
    steps: int,
    *,
    shrink: bool,
    fresh: bool = True,
) -> None:
    """Run the machine: `fresh` examples each time, for the long form; else always the same."""
    run_state_machine_as_test(
        lambda: machine(new_url()),  # type: ignore[call-arg]
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=not fresh,
            phases=set(Phase) - {Phase.explain} - (set() if shrink else {Phase.shrink}),
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize(("times_as_many", "steps"), SIZES)
def test_a_model_is_what_the_rules_make_of_it(
    new_url: Callable[[], str], kind: str, times_as_many: int, steps: int
) -> None:
    examples = EXAMPLES[kind] * times_as_many
    run(ModelMachine, new_url, examples, steps, shrink=kind != "hbase", fresh=times_as_many > 1)  # minutes on a cluster


@pytest.mark.parametrize(("times_as_many", "steps"), SIZES)
def test_it_is_so_too_where_every_collection_is_long(
    new_url: Callable[[], str], kind: str, times_as_many: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "LIMITS", trees.Limits(inline=1, leaf=4, fan=3))
    examples = max(2, EXAMPLES[kind] // 2) * times_as_many
    run(ModelMachine, new_url, examples, steps, shrink=kind != "hbase", fresh=times_as_many > 1)


@pytest.mark.parametrize(("times_as_many", "steps"), SIZES)
def test_containers_and_opposites_are_those_that_pyecore_has(
    new_url: Callable[[], str], kind: str, times_as_many: int, steps: int
) -> None:
    examples = max(2, EXAMPLES[kind] // 2) * times_as_many
    run(OracleMachine, new_url, examples, steps, shrink=kind != "hbase", fresh=times_as_many > 1)
