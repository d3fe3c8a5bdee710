"""How we measure: peer and subject in turn, round after round, so that a busy machine is unfair to both alike."""

import gc
import time
from collections.abc import Callable
from statistics import median

import attrs


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

    def row(self) -> str:
        case = self.case
        rates = f"{case.count / self.peer:,.0f} | {case.count / self.subject:,.0f}"
        verdict = "" if self.ratio >= case.wanted else " **below**"
        return f"| {case.name} | {case.unit} | {rates} | {self.ratio:.2f}{verdict} | {case.wanted} |"


def measure(case: Case, *, rounds: int = 9) -> Result:
    """Median seconds of each side over `rounds` alternating runs, after one that warms up and compares answers."""
    if case.peer() != case.subject():
        raise AssertionError(f"{case.name}: the peer and neomodel give different answers")
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for side, run in zip(times, (case.peer, case.subject), strict=True):
            gc.collect()  # what one side leaves is not for the other to clear away
            start = time.perf_counter()
            run()
            side.append(time.perf_counter() - start)
    return Result(case, median(times[0]), median(times[1]))


def table(title: str, peer: str, results: list[Result]) -> str:
    head = [
        f"### {title}",
        "",
        f"| operation | per second | {peer} | neomodel | ratio | wanted |",
        "|---|---|--:|--:|--:|--:|",
    ]
    return "\n".join([*head, *(result.row() for result in results)])
