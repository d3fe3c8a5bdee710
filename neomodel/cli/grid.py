"""Tables for people: aligned columns, as wide as what is in them where nobody looks."""

import sys
from collections.abc import Iterable, Sequence

from neomodel.cli.frame import visible


def print_grid(titles: Sequence[str], lines: Iterable[Sequence[str]], *, numbers: Iterable[str] = ()) -> None:
    """Print a table; the columns whose titles are in `numbers` are aligned at the right. Nothing is cut."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False)
    right = set(numbers)
    for title in titles:
        grid.add_column(title, justify="right" if title in right else "left", no_wrap=title in right, overflow="fold")
    for line in lines:
        grid.add_row(*(Text(visible(cell)) for cell in line))
    Console(width=None if sys.stdout.isatty() else 1000, highlight=False).print(grid)
