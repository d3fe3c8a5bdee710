"""How far long work has come, for who waits for it."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_EVERY = 10  # seconds between lines


@contextmanager
def counter(what: str) -> Iterator[Callable[[int], None]]:
    """Shows on a terminal, and there only, how many rows have been read so far."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}: {task.completed:,} rows", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(what, total=None)
        yield lambda rows: progress.advance(task, rows)


@contextmanager
def shares(what: str, unit: str, regions: int | None = None) -> Iterator[Callable[[int, float], None]]:
    """Shows how many units are done, how many in a second, and which share of all; if that is one of regions, how many
    of these. On a terminal a bar; elsewhere a line on stderr every ten seconds."""
    if not sys.stderr.isatty():
        yield _lines(what, unit, regions)
        return
    with _bar() as progress:
        task, began = progress.add_task(what, total=1.0, said=""), time.monotonic()

        def advance(done: int, share: float) -> None:
            rate = done / max(time.monotonic() - began, 0.001)
            said = f"{_share(share, regions)}{done:,} {unit}, {rate:,.0f}/s"
            progress.update(task, completed=share, said=said)

        yield advance


@contextmanager
def pace(what: str, unit: str) -> Iterator[Callable[[int], None]]:
    """As `shares`, where nobody knows how many there will be."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    if not sys.stderr.isatty():
        line = _lines(what, unit)
        yield lambda done: line(done, None)
        return
    columns = SpinnerColumn(), TextColumn("{task.description}: {task.fields[said]}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task, began = progress.add_task(what, total=None, said=""), time.monotonic()

        def advance(done: int) -> None:
            rate = done / max(time.monotonic() - began, 0.001)
            progress.update(task, said=f"{done:,} {unit}, {rate:,.0f}/s")

        yield advance


@contextmanager
def steps(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """Shows which step is being done, and of how many. On a terminal a bar; elsewhere a line on stderr for each step
    that begins more than ten seconds after the last line."""
    if not sys.stderr.isatty():
        said = time.monotonic()

        def line(step: str, done: int, count: int) -> None:
            nonlocal said
            if step and time.monotonic() - said >= _EVERY:
                said = time.monotonic()
                print(f"{what}: {done} of {count} steps are done; {step} begins", file=sys.stderr, flush=True)

        yield line
        return
    with _bar() as progress:
        task = progress.add_task(what, total=1, said="")
        yield lambda step, done, count: progress.update(
            task, completed=done, total=count, said=f"{done} of {count} steps{f', {step}' if step else ''}"
        )


def _bar() -> "Progress":
    """What is done, how much of it, what is said of that, and for how long."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[said]}", markup=False),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _share(share: float | None, regions: int | None) -> str:
    if share is None:
        return ""
    return f"{share:.0%}, " if regions is None else f"{round(share * regions)} of {regions} regions, "


def _lines(what: str, unit: str, regions: int | None = None) -> Callable[[int, float | None], None]:
    began = said = time.monotonic()

    def advance(done: int, share: float | None) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= _EVERY:
            said = now
            print(
                f"{what}: {_share(share, regions)}{done:,} {unit}, {done / (now - began):,.0f}/s",
                file=sys.stderr,
                flush=True,
            )

    return advance
