"""How far long work has come, for who waits for it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counter(what: str) -> Iterator[Callable[[int], None]]:
    """Shows on a terminal, and there only, how many rows have been read so far."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}: {task.completed:,} rows"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(what, total=None)
        yield lambda rows: progress.advance(task, rows)
