"""Long work: what a terminal shows of it, names as they are; and how it goes on after a failure."""

import io
from contextlib import redirect_stderr
from types import SimpleNamespace
from typing import Any

import pytest

from neomodel.cli import progress, sync
from neomodel.errors import SyncFailed

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


def test_who_failed_after_a_while_is_tried_again_as_soon_as_the_first_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, slept = [0.0], []

    def attempt(seconds: float) -> Any:
        def start() -> None:
            clock[0] += seconds
            raise SyncFailed("a synchronization", "no answer")

        return start

    attempts = iter([attempt(1), attempt(1), attempt(3600), attempt(1), lambda: None])
    monkeypatch.setattr(sync, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=slept.append))
    running: Any = object.__new__(sync._Running)
    monkeypatch.setattr(sync._Running, "_tell", lambda *_: None)
    monkeypatch.setattr(sync._Running, "_follow", lambda *_: None)

    running.run(lambda: next(attempts)(), once=False)

    assert slept == [1, 2, 1, 2]
