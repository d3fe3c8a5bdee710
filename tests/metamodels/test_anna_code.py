"""Code as a hash: what is part of it, and what is not."""

from collections.abc import Callable
from typing import Any

import pytest

from metamodels.anna.code import fingerprint
from tests.processes import in_another_process

FACTOR = 2


def made(factor: int) -> dict[str, Callable[..., Any]]:
    """Functions that differ by a value which they find in different places."""

    def outside(x: int) -> int:
        return x * factor

    def by_default(x: int, y: int = factor) -> int:
        return x * y

    def by_name(x: int, *, y: int = factor) -> int:
        return x * y

    def by_another(x: int) -> int:
        return by_name(x)

    return {one.__name__: one for one in (outside, by_default, by_name, by_another)}


@pytest.mark.parametrize("name", list(made(1)))
def test_a_value_that_a_function_finds_outside_is_part_of_its_code(name: str) -> None:
    assert fingerprint(made(1)[name]) == fingerprint(made(1)[name])
    assert fingerprint(made(1)[name]) != fingerprint(made(2)[name])


def test_a_value_of_its_module_is_part_of_it_and_what_it_does_not_name_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def doubled(x: int) -> int:
        return x * FACTOR

    def other(x: int) -> int:
        return x

    before = fingerprint(doubled), fingerprint(other)
    monkeypatch.setattr(f"{__name__}.FACTOR", 3)

    assert fingerprint(doubled) != before[0]
    assert fingerprint(other) == before[1]


def test_a_function_without_a_text_is_the_same_in_every_process() -> None:
    program = (
        "from metamodels.anna.code import fingerprint; "
        'print(fingerprint(eval(\'lambda x: x in {"a", "b", "c", "d"}\')))'
    )
    assert len({in_another_process(program, seed) for seed in range(4)}) == 1
