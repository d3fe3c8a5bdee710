"""What a person on call wants to know of a synchronization: as lines of a table, and as Prometheus reads it."""

import time
from collections import deque
from typing import Any, NamedTuple

import attrs

_WINDOW = 60.0  # seconds over which a rate is taken
_PREFIX = "neomodel_elsa_sync"


@attrs.frozen
class Figures:
    """How a synchronization is at a moment. Counts are since it began; `rate` is messages in a second, of late; `lag`
    is what is left in the queue, in `unit`, None if the source does not say; `waiting` counts all dead letters of the
    system that wait; `behind` is by how many seconds the stable time is behind now."""

    system: str
    state: str
    messages: int
    written: int
    doubled: int
    superseded: int
    dead: int
    waiting: int
    rate: float
    lag: int | None
    unit: str
    behind: float
    seconds: float


class Meter:
    """Adds up what became of micro-batches."""

    def __init__(self, system: str) -> None:
        self._system = system
        self._began = time.monotonic()
        self._totals = dict.fromkeys(("messages", "written", "doubled", "superseded", "dead"), 0)
        self._recent: deque[tuple[float, int]] = deque([(self._began, 0)])

    def add(self, batch: Any) -> None:
        """Of a micro-batch: something that has these counts."""
        for name in self._totals:
            self._totals[name] += getattr(batch, name)
        self._recent.append((time.monotonic(), self._totals["messages"]))

    def figures(self, state: str, *, lag: int | None, unit: str, waiting: int, behind: float) -> Figures:
        now = time.monotonic()
        while len(self._recent) > 1 and self._recent[1][0] < now - _WINDOW:
            self._recent.popleft()
        since, count = self._recent[0]
        rate = (self._totals["messages"] - count) / max(now - since, 1e-3)
        return Figures(
            self._system,
            state,
            **self._totals,
            waiting=waiting,
            rate=rate,
            lag=lag,
            unit=unit,
            behind=behind,
            seconds=now - self._began,
        )


class _Metric(NamedTuple):
    field: str
    title: str
    name: str
    kind: str
    text: str


_METRICS = [
    _Metric("messages", "messages", "messages_total", "counter", "Messages read from the queue."),
    _Metric("written", "written", "written_total", "counter", "Operations written."),
    _Metric("doubled", "doubled", "doubled_total", "counter", "Messages that had come before."),
    _Metric("superseded", "superseded", "superseded_total", "counter", "Messages that came after later ones."),
    _Metric("dead", "dead letters", "dead_letters_total", "counter", "Messages put aside as dead letters."),
    _Metric("waiting", "waiting", "dead_letters_waiting", "gauge", "Dead letters of the system that wait."),
    _Metric("rate", "messages/s", "messages_per_second", "gauge", "Messages in a second, over the last minute."),
    _Metric("lag", "lag", "lag", "gauge", "What is left in the queue, in the unit that is named."),
    _Metric("behind", "stable behind", "stable_behind_seconds", "gauge", "By how much the stable time is behind now."),
    _Metric("seconds", "running", "running_seconds", "gauge", "How long it has been running."),
]


def lines(figures: Figures) -> list[list[str]]:
    """Two columns: what, and how much."""
    found = [["system", figures.system], ["state", figures.state]]
    for metric in _METRICS:
        value = getattr(figures, metric.field)
        if metric.field == "lag":
            shown = "unknown" if value is None else f"{value:,} {figures.unit}"
        elif isinstance(value, float):
            shown = f"{value:,.1f} s" if metric.field != "rate" else f"{value:,.0f}"
        else:
            shown = f"{value:,}"
        found.append([metric.title, shown])
    return found


def prometheus(figures: Figures) -> str:
    """The text format of Prometheus, version 0.0.4."""
    text = []
    label = f'system="{_escaped(figures.system)}"'
    for metric in _METRICS:
        value = getattr(figures, metric.field)
        if value is None:
            continue
        name = f"{_PREFIX}_{metric.name}"
        labels = f'{label},unit="{figures.unit}"' if metric.field == "lag" else label
        text += [f"# HELP {name} {metric.text}", f"# TYPE {name} {metric.kind}", f"{name}{{{labels}}} {value:g}"]
        if isinstance(value, int):
            text[-1] = f"{name}{{{labels}}} {value}"
    up = int(figures.state in ("running", "done"))
    name = f"{_PREFIX}_up"
    text += [f"# HELP {name} Whether nothing hinders it.", f"# TYPE {name} gauge"]
    text.append(f'{name}{{{label},state="{_escaped(figures.state)}"}} {up}')
    return "\n".join(text) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
