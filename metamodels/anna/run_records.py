"""The metamodel of what was computed: runs of processes, their steps, what became of actions, what checks found.

All are objects with natural keys in the model ``anna.runs``. A step is stored with all it contains when it is done, its
own row last: who sees it sees it whole.
"""

import enum
import json
from collections import Counter
from typing import Any

import attrs

import neomodel as nm

anna_runs = nm.package("anna_runs", "http://neomodel/anna/runs")


@anna_runs.define
class State(enum.Enum):
    """How far a run is."""

    NEW = 0
    RUNNING = 1
    DONE = 2
    FAILED = 3


@attrs.frozen
class FailingCell:
    """A row that fails a check, by its key as text, and the cell of it that is to blame, if it is one."""

    row: str
    column: str | None
    value: str | None
    row_values: dict[str, Any]
    """The whole row, as JSON has it."""


@anna_runs.define(key=["process", "number"])
class Run:
    """One computation of a process: as of which token and which actions, and what came of it."""

    process: str
    number: int = nm.attribute(type="ELong")
    state: State = State.NEW
    token: str | None
    actions_event: int = nm.attribute(0, type="ELong")
    actions_ingest: int = nm.attribute(0, type="ELong")
    folder: str | None
    """Where its files are."""
    block: int = nm.attribute(0, type="EInt")
    """How many rows a file has."""
    of: int = nm.attribute(0, type="ELong")
    """The run that it repeats, 0 if none."""
    libraries: str = "{}"
    owner: str | None
    """Who computes it, or did last."""
    until: int = nm.attribute(0, type="ELong")
    """When others may take over, if the owner says nothing any more."""
    began: int = nm.attribute(0, type="ELong")
    ended: int = nm.attribute(0, type="ELong")
    reason: str | None
    """Why it failed."""
    steps: list["Step"] = nm.contains()
    strays: list["Outcome"] = nm.contains()
    """Of actions on steps that the process does not have."""

    @property
    def name(self) -> str:
        return f"run {self.number} of {self.process!r}"

    @property
    def done(self) -> bool:
        return self.state is State.DONE

    @property
    def sound(self) -> bool:
        """Whether it is done and no check of severity error, or a worse one, found anything."""
        return self.done and not any(
            check.failed and check.severity != "warning" for s in self.steps for check in s.checks
        )

    def step(self, name: str) -> "Step":
        """The step of that name; `InvalidValue` if it has not been done."""
        for step in self.steps:
            if step.step == name:
                return step
        there = ", ".join(step.step for step in self.steps) or "none"
        raise nm.InvalidValue(f"a step of {self.name}", name, f"one that was done: {there}")

    def outcomes(self) -> list["Outcome"]:
        """What became of every action that the run knows."""
        return [*(outcome for step in self.steps for outcome in step.outcomes), *self.strays]

    def counts(self) -> dict[str, int]:
        """How many actions ended in each outcome. They add up to all that the run knows."""
        return dict(sorted(Counter(one.outcome for one in self.outcomes()).items()))

    def hashes(self) -> dict[str, str]:
        """The content hash of each step's rows."""
        return {step.step: step.content for step in self.steps}


@anna_runs.define(key=["process", "number", "step"])
class Step:
    """A step of a run that was done: what it gave, and how."""

    process: str
    number: int = nm.attribute(type="ELong")
    step: str
    place: int = nm.attribute(0, type="EInt")
    """In which order."""
    key: str = "[]"
    schema: str = ""
    rows: int = nm.attribute(0, type="ELong")
    content: str = ""
    """A hash of all rows in the order of their keys, whatever files they are in."""
    files: str = "[]"
    code: str = ""
    """A hash of the text of its function, its schema, key and checks."""
    inputs: str = "[]"
    seconds: float = 0.0
    checks: list["Check"] = nm.contains()
    outcomes: list["Outcome"] = nm.contains()

    @property
    def key_columns(self) -> list[str]:
        return list(json.loads(self.key))

    @property
    def written(self) -> list[dict[str, Any]]:
        """Its files: name, rows, bytes, a hash of the bytes and one of the content."""
        return list(json.loads(self.files))


@anna_runs.define(key=["process", "number", "step", "name"])
class Check:
    """What a quality check of a step found."""

    process: str
    number: int = nm.attribute(type="ELong")
    step: str
    name: str
    severity: str = "error"
    failed: int = nm.attribute(0, type="ELong")
    """How many rows; 1 if it is about all of them together."""
    detail: str | None
    found: str = "[]"

    @property
    def cells(self) -> list[FailingCell]:
        """The first 1,000 rows that fail, in the order of their keys."""
        return [FailingCell(*one) for one in json.loads(self.found)]


@anna_runs.define(key=["process", "number", "step", "action"])
class Outcome:
    """What became of an action in a run. Every action has one in every run that knows it."""

    process: str
    number: int = nm.attribute(type="ELong")
    step: str
    action: str
    row: str = ""
    column: str = ""
    outcome: str = ""
    reason: str | None
