"""What the demo says while it works: each step when it begins, and when it is done with what it took."""

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager

WIDEST = 100
_INDENT = 12
_ABOVE = "\033[A\033[2K"  # one line up, and nothing in it


class Teller:
    """Prints, and remembers for the report. On a terminal the line of a step that is done takes the place of the one
    that said that it began; elsewhere what is printed stays."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, float, list[str]]] = []
        """What was done, how many seconds it took, and what there is to say of it."""
        self._replaces = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    def part(self, title: str) -> None:
        print(f"\n{title}\n{'─' * len(title)}", flush=True)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        self._begin(what)
        start = time.perf_counter()
        yield
        seconds = time.perf_counter() - start
        self.steps.append((what, seconds, []))
        done = _wrapped(_took(seconds), what if self._replaces else "done")
        print(f"{_ABOVE if self._replaces else ''}{done}", flush=True)

    def within(self, line: str) -> None:
        """Of the step that is being done: how far it is."""
        if self._replaces:
            print(_ABOVE, end="")
            self._begin(line)
        else:
            print(_wrapped("", line), flush=True)

    def more(self, *lines: str) -> None:
        """Of the step before."""
        self.steps[-1][2].extend(lines)
        for line in lines:
            print(_wrapped("", line), flush=True)

    def _begin(self, what: str) -> None:
        line = f"{'…':>{_INDENT - 2}}  {what}"
        print(line[: _width() - 1] if self._replaces else line, flush=True)  # one line, since one is replaced


def _wrapped(head: str, text: str) -> str:
    """The text beside a head, in lines no wider than the terminal."""
    return textwrap.fill(text, max(32, _width()), initial_indent=f"{head:<{_INDENT}}", subsequent_indent=" " * _INDENT)


def _width() -> int:
    return min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)


def _took(seconds: float) -> str:
    return f"{seconds * 1000:7.1f} ms" if seconds < 1 else f"{seconds:7.1f} s "
