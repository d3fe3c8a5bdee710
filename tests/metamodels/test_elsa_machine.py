"""Systems agree with the definition whatever happens to them, on every store."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from neomodel.stores import open_store
from tests.metamodels.conftest import url_of
from tests.metamodels.elsa_machine import ElsaMachine

EXAMPLES = {"memory": 12, "lmdb": 5, "hbase": 1}


@pytest.mark.parametrize(
    ("times_as_many", "steps"), [(1, 25), pytest.param(40, 50, marks=pytest.mark.soak)], ids=["short", "long"]
)
@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_system_answers_by_the_definition_whatever_happens(
    kind: str, times_as_many: int, steps: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = url_of(kind, tmp_path, request)

    run_state_machine_as_test(
        lambda: ElsaMachine(lambda: open_store(url)),
        settings=settings(
            max_examples=EXAMPLES[kind] * times_as_many,
            stateful_step_count=steps,
            deadline=None,
            phases=set(Phase) - ({Phase.shrink, Phase.explain} if kind == "hbase" else set()),
            suppress_health_check=list(HealthCheck),
        ),
    )
