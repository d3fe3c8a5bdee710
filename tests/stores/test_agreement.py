"""Every store agrees with the specification, whatever is asked of it in whatever order."""

from pathlib import Path

import pytest

from tests.stores.agreement import agree
from tests.stores.kinds import Kind


@pytest.mark.parametrize(
    ("times_as_many", "steps"), [(1, 40), pytest.param(30, 60, marks=pytest.mark.soak)], ids=["short", "long"]
)
def test_a_store_answers_every_call_as_the_specification_does(
    kind: Kind, place: Path, times_as_many: int, steps: int
) -> None:
    agree(kind, place, times_as_many=times_as_many, steps=steps)
