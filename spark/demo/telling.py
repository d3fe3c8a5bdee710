"""What the demo says while it works: each step when it is done, with what it took."""

import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Teller:
    """Prints, and remembers for the report."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, float, list[str]]] = []
        """What was done, how many seconds it took, and what there is to say of it."""

    def part(self, title: str) -> None:
        print(f"\n{title}\n{'─' * len(title)}", flush=True)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        seconds = time.perf_counter() - start
        self.steps.append((what, seconds, []))
        print(f"{_took(seconds)}  {what}", flush=True)

    def more(self, *lines: str) -> None:
        """Of the step before."""
        self.steps[-1][2].extend(lines)
        for line in lines:
            print(textwrap.indent(textwrap.fill(line, 100), " " * 12), flush=True)


def _took(seconds: float) -> str:
    return f"{seconds * 1000:7.1f} ms" if seconds < 1 else f"{seconds:7.1f} s "
