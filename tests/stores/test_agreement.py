"""Every store agrees with the specification, whatever is asked of it in whatever order."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.stores.agreement import Agreement
from tests.stores.kinds import Kind


@pytest.mark.parametrize(
    ("times_as_many", "steps"), [(1, 40), pytest.param(30, 60, marks=pytest.mark.soak)], ids=["short", "long"]
)
def test_a_store_answers_every_call_as_the_specification_does(
    kind: Kind, place: Path, times_as_many: int, steps: int
) -> None:
    run_state_machine_as_test(
        lambda: Agreement(kind, place),
        settings=settings(
            max_examples=kind.examples * times_as_many,
            stateful_step_count=steps,
            deadline=None,
            phases=set(Phase) - ({Phase.shrink, Phase.explain} if kind.cluster else set()),  # minutes on a cluster
            suppress_health_check=list(HealthCheck),
        ),
    )
