"""What a terminal shows of long work: names as they are, whatever a terminal could take them for."""

import io
from contextlib import redirect_stderr
from typing import Any

import pytest

from neomodel.cli import progress, sync

NAME = "[/x] [red]"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        (progress.counter(NAME), (1,)),
        (progress.shares(NAME, "cells"), (1, 0.5)),
        (progress.pace(NAME, "elements"), (1,)),
        (progress.steps(NAME), (NAME, 1, 2)),
    ],
)
def test_a_name_with_brackets_is_shown_as_it_is(shown: Any, told: tuple[Any, ...]) -> None:
    with redirect_stderr(Terminal()) as terminal, shown as advance:
        advance(*told)

    assert NAME in terminal.getvalue()


def test_a_reason_with_brackets_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "lines", lambda _: [("state", f"failed: {NAME}")])

    with redirect_stderr(Terminal()) as terminal, sync._shown() as show:
        show(None)  # type: ignore[arg-type]

    assert f"failed: {NAME}" in terminal.getvalue()
