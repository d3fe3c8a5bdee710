"""How we measure: peer and subject in turn, round after round, so that a busy machine is unfair to both alike."""

import gc
import os
import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import TypeVar

import attrs

T = TypeVar("T")

QUICK = bool(os.environ.get("QUICK"))
"""Whether to take small sizes and few rounds: to see that all of it runs. Nothing is judged then."""
WARMING = 0 if QUICK else 1
"""Rounds that don't count, before those that do."""
FLAT = 1.5
"""How many times the least cost of one thing its cost among the most may be."""


def sized(full: T, quick: T) -> T:
    """A size or a number of rounds, by which of the two runs this is."""
    return quick if QUICK else full


@attrs.frozen
class Case:
    """One job, done by the peer and by neomodel: each returns its answer, and the two must be equal."""

    name: str
    unit: str
    count: int
    peer: Callable[[], object]
    subject: Callable[[], object]
    wanted: float


@attrs.frozen
class Result:
    case: Case
    peer: float
    subject: float

    @property
    def ratio(self) -> float:
        return self.peer / self.subject

    @property
    def reached(self) -> bool:
        return QUICK or self.ratio >= self.case.wanted

    @property
    def told(self) -> str:
        """The ratio, with two digits that say something."""
        return f"{self.ratio:.2f}" if self.ratio >= 0.1 else f"{self.ratio:.2g}"

    def row(self) -> list[str]:
        case = self.case
        rates = [f"{case.count / seconds:,.0f}" for seconds in (self.peer, self.subject)]
        return [case.name, case.unit, *rates, _judged(self.told, self.reached), f"{case.wanted or ''}"]


@attrs.frozen
class Comparison:
    """Jobs done by one peer and by neomodel."""

    title: str
    peer: str
    results: Sequence[Result]

    @property
    def reached(self) -> bool:
        return all(result.reached for result in self.results)

    def __str__(self) -> str:
        heads = ["operation", "per second", self.peer, "neomodel", "ratio", "wanted"]
        return _markdown(self.title, heads, (result.row() for result in self.results), numbers=4)


@attrs.frozen
class Figure:
    """Something that was measured, told with what is wanted of it."""

    name: str
    found: str
    wanted: str = ""
    reached: bool = True


@attrs.frozen
class Figures:
    """What is measured without a peer."""

    title: str
    figures: Sequence[Figure]

    @property
    def reached(self) -> bool:
        return QUICK or all(figure.reached for figure in self.figures)

    def __str__(self) -> str:
        rows = ([one.name, _judged(one.found, one.reached), one.wanted] for one in self.figures)
        return _markdown(self.title, ["figure", "found", "wanted"], rows)


@attrs.frozen
class Growth:
    """What one thing costs, by how many there are: a curve for each kind of cost, over the same sizes."""

    title: str
    things: str
    sizes: Sequence[int]
    costs: dict[str, Sequence[float]]
    """By what it is and its unit, as in "creation, µs each"."""

    @property
    def reached(self) -> bool:
        return all(self._is_flat(name) for name in self.costs)

    def _is_flat(self, name: str) -> bool:
        """Whether what one thing costs has not grown at the end; at first there is what a start costs."""
        costs = self.costs[name]
        return QUICK or "each" not in name or costs[-1] <= FLAT * min(costs)

    def __str__(self) -> str:
        curves = list(self.costs.values())
        rows = [[f"{size:,}", *(f"{curve[at]:,.2f}" for curve in curves)] for at, size in enumerate(self.sizes)]
        for at, name in enumerate(self.costs, 1):
            rows[-1][at] += "" if self._is_flat(name) else " **grown**"
        return _markdown(self.title, [self.things, *self.costs], rows, numbers=1 + len(curves))


Measured = Comparison | Figures | Growth


def measure(case: Case, *, rounds: int = 9) -> Result:
    """Median seconds of each side over `rounds` alternating runs, after one that warms up. The first answers are
    compared."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(WARMING + rounds):
        answers = []
        for side, run in zip(times, (case.peer, case.subject), strict=True):
            gc.collect()  # what one side leaves is not for the other to clear away
            start = time.perf_counter()
            answers.append(run())
            if number >= WARMING:
                side.append(time.perf_counter() - start)
        if number == 0 and answers[0] != answers[1]:
            raise AssertionError(f"{case.name}: the peer and neomodel give different answers")
    return Result(case, median(times[0]), median(times[1]))


def table(comparisons: Sequence[Comparison]) -> str:
    """All of them as one table: neomodel beside a peer, or beside the least that the driver needs for the same."""
    heads = ["on what", "operation", "per second", "neomodel", "peer", "raw floor", "ratio", "wanted"]
    rows = []
    for one in comparisons:
        for result in one.results:
            name, unit, peer, subject, ratio, wanted = result.row()
            beside = f"{one.peer}: {peer}"
            sides = ["", beside] if one.peer.startswith("raw ") else [beside, ""]
            rows.append([one.title, name, unit, subject, *sides, ratio, wanted])
    return _markdown("Beside others", heads, rows, numbers=5)


def show(found: Iterable[Measured]) -> None:
    """Print them, for a benchmark that is run by itself."""
    for one in found:
        print(f"{one}\n", flush=True)


def _judged(found: str, reached: bool) -> str:
    return found if reached or QUICK else f"{found} **below**"


def _markdown(title: str, heads: list[str], rows: Iterable[list[str]], *, numbers: int = 0) -> str:
    rule = ["---"] * (len(heads) - numbers) + ["--:"] * numbers
    return "\n".join([f"### {title}", "", *(f"| {' | '.join(line)} |" for line in [heads, rule, *rows])])
