"""What differs between two runs, as values: rows, cells, and the cause of each change: a record, an action, or code."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from metamodels.anna.keys import value_text

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
RECORD, ACTION, CODE, LIBRARIES, UNKNOWN = "record", "action", "code", "libraries", "unknown"
MOST = 20
"""Causes that a row is told to have had, of one input; of more, how many there are."""


@attrs.frozen(order=True)
class Cause:
    """Why a row differs: the kind of what has changed, what it is, and how it has."""

    kind: str
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.what}" + (f": {self.detail}" if self.detail else "")


@attrs.frozen
class RowChange:
    """A row that two runs have differently; its values before and after, None where there is no row."""

    row: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    causes: tuple[Cause, ...] = ()

    @property
    def kind(self) -> str:
        return ADDED if self.before is None else REMOVED if self.after is None else CHANGED

    @property
    def cells(self) -> dict[str, tuple[Any, Any]]:
        """The columns that differ, with the values before and after."""
        before, after = self.before or {}, self.after or {}
        names = [*after, *(name for name in before if name not in after)]
        return {
            n: (before.get(n), after.get(n))
            for n in names
            if n not in before or n not in after or not _same(before[n], after[n])
        }


def _same(before: Any, after: Any) -> bool:
    """Whether a cell has what it had; NaN equals itself."""
    if isinstance(before, float) and isinstance(after, float) and math.isnan(before):
        return math.isnan(after)
    return bool(before == after)


@attrs.frozen
class StepChange:
    """How the rows of a step differ: how many do, and the first ones in the order of their keys."""

    step: str
    counts: Mapping[str, int]
    rows: Sequence[RowChange]
    note: str = ""

    @property
    def same(self) -> bool:
        return not self.counts and not self.note


@attrs.frozen
class Diff:
    """How the second of two runs differs from the first."""

    process: str
    first: int
    second: int
    steps: Sequence[StepChange]

    @property
    def same(self) -> bool:
        return all(step.same for step in self.steps)

    def step(self, name: str) -> StepChange:
        return next(step for step in self.steps if step.step == name)


@attrs.frozen
class StepProof:
    """Whether a step gave the same once more: the same rows, in the same bytes; and if not, why that may be."""

    step: str
    same: bool
    same_bytes: bool
    reasons: Sequence[str] = ()


@attrs.frozen
class Recomputation:
    """A run repeated: the new run, and what it proves of the first."""

    process: str
    first: int
    run: Any
    steps: Sequence[StepProof]

    @property
    def same(self) -> bool:
        """Whether every step gave the same rows, in the same bytes."""
        return all(step.same and step.same_bytes for step in self.steps)

    def __str__(self) -> str:
        if self.same:
            return f"run {self.run.number} of {self.process!r} is run {self.first} again, byte for byte"
        told = "; ".join(f"{step.step}: {', '.join(step.reasons)}" for step in self.steps if step.reasons)
        return f"run {self.run.number} of {self.process!r} differs from run {self.first}: {told}"


def proof(first: Any, again: Any, libraries: tuple[Mapping[str, str], Mapping[str, str]]) -> list[StepProof]:
    """What a run that repeats another proves, step by step. Both are on record with their steps."""
    done = {step.step: step for step in first.steps}
    found = []
    tainted: dict[str, list[str]] = {}
    for step in again.steps:
        past = done.get(step.step)
        if past is None:
            found.append(StepProof(step.step, False, False, ("the first run has no such step",)))
            continue
        same = past.content == step.content
        same_bytes = [one["sha256"] for one in past.written] == [one["sha256"] for one in step.written]
        reasons = [] if same and same_bytes else _reasons(first, again, past, step, libraries, tainted)
        if not same:
            tainted[step.step] = reasons
        found.append(StepProof(step.step, same, same_bytes, tuple(reasons)))
    gone = [name for name in done if name not in {step.step for step in again.steps}]
    return [*found, *(StepProof(name, False, False, ("the process has no such step any more",)) for name in gone)]


def _reasons(first: Any, again: Any, past: Any, step: Any, libraries: Any, tainted: Mapping[str, Any]) -> list[str]:
    reasons = []
    if past.code != step.code:
        reasons.append(f"its code has changed, from {past.code[:12]} to {step.code[:12]}")
    if first.token != again.token:
        reasons.append("it was computed as of another token")
    if (first.actions_event, first.actions_ingest) != (again.actions_event, again.actions_ingest):
        reasons.append("it knows other actions")
    reasons += [f"step {name} before it differs" for name in json.loads(step.inputs) if name in tainted]
    reasons += told_libraries(*libraries)
    return reasons or ["nothing that is on record differs: its logic does not give the same result each time"]


def told_libraries(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Which versions differ, in words."""
    names = sorted({*before, *after})
    return [f"{n} was {before.get(n)} and is {after.get(n)}" for n in names if before.get(n) != after.get(n)]


# which change of an input has to do with which change of a step's rows


def linked(
    change: RowChange,
    key: Sequence[str],
    there: "Changes",
    renamed: Mapping[str, str],
) -> list[RowChange]:
    """The changes of an input that a row depends on: those that have the values of its key, where the input has these
    columns; else those whose key is in the row; else those that have the same key, of whatever name. `renamed`: columns
    of the row that the input has by other names."""
    own = [renamed.get(name, name) for name in key]
    if set(own) <= there.columns:
        return there.by(own, _texts(change, key))
    back = {renamed.get(name, name): name for name in (change.after or change.before or {})}
    if there.key and all(name in back for name in there.key):
        return there.by(there.key, _texts(change, [back[name] for name in there.key]))
    return there.by(there.key, _texts(change, key)) if len(there.key) == len(key) else []


class Changes:
    """The changes of one input of a step, found by the values of columns."""

    def __init__(self, name: str, rows: Sequence[RowChange], key: Sequence[str], columns: Iterable[str]) -> None:
        self.name = name
        self.rows = rows
        self.key = list(key)
        self.columns = set(columns)
        self._found: dict[tuple[str, ...], dict[tuple[str, ...], list[RowChange]]] = {}

    def by(self, columns: Sequence[str], values: set[tuple[str, ...]]) -> list[RowChange]:
        names = tuple(columns)
        if names not in self._found:
            found: dict[tuple[str, ...], list[RowChange]] = {}
            for row in self.rows:
                for text in _texts(row, names):
                    found.setdefault(text, []).append(row)
            self._found[names] = found
        index = self._found[names]
        hits = [row for value in sorted(values) for row in index.get(value, ())]
        return list({id(row): row for row in hits}.values())


def _texts(change: RowChange, columns: Sequence[str]) -> set[tuple[str, ...]]:
    rows = [row for row in (change.before, change.after) if row is not None]
    return {tuple(value_text(row.get(name)) for name in columns) for row in rows}


def gathered(changes: Sequence[RowChange], name: str) -> list[Cause]:
    """The causes of several changes of an input, each once; if they are many, how many."""
    causes = sorted({cause for change in changes for cause in change.causes})
    if len(causes) <= MOST:
        return causes
    kinds = Counter(cause.kind for cause in causes)
    return [Cause(kind, f"one or more of {count:,} that reached {name}") for kind, count in sorted(kinds.items())]
