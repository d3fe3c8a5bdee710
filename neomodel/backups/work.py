"""Work in parts, and who does it: this process, or the tasks of a Spark.

A part is a value that goes to whoever does it, with names in it and nothing live; he opens the store by its URL. Parts
may be done twice, at the same time or one after another, with the same result.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from neomodel.stores import Store

Progress = Callable[[int, float], Any]
"""Is told how many cells are done, and which share of all parts."""


class Part(Protocol):
    """Something to be done with a store."""

    def run(self, store: Store) -> Any:
        """Do it. What is returned has `cells`, how many it was about, for who wants to know how far the work is."""


Engine = Callable[[Store, Sequence[Any], Progress | None], list[Any]]
"""Does all parts, in any order, and returns what each has returned, in theirs. Raises what one that failed did."""


def here(store: Store, parts: Sequence[Any], progress: Progress | None = None) -> list[Any]:
    """The engine that does one part after another, in this process."""
    found: list[Any] = []
    cells = 0
    for number, part in enumerate(parts, 1):
        found.append(part.run(store))
        cells += found[-1].cells
        if progress is not None:
            progress(cells, number / len(parts))
    return found
