"""Two runs compared by row, and the cause of each change found: in Spark what differs, in the driver why."""

import json
from collections.abc import Sequence
from typing import Any

import attrs
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from metamodels import elsa
from metamodels.anna import differences as d
from metamodels.anna.differences import Cause, Changes, Diff, RowChange, StepChange, gathered, linked
from metamodels.anna.keys import key_text
from metamodels.anna.processes import Process, System
from metamodels.anna.run_records import Run, Step
from spark import sources
from spark.checks import plain
from spark.names import quoted

LIMIT = 10_000
"""Changed rows of each step and each source that are looked at; of more only the number is told."""
_BEFORE, _AFTER = "_neomodel_before", "_neomodel_after"


class Comparison:
    """Compares two runs of a process."""

    def __init__(self, process: Process, session: Any, store: str, elsa_name: str, limit: int = LIMIT) -> None:
        self._process = process
        self._session = session
        self._store = store
        self._elsa = elsa_name
        self._limit = limit
        self._sources: dict[str, Changes] = {}

    def diff(self, first: Run, second: Run) -> Diff:
        """How the second run differs from the first, step by step in the order of the second."""
        past = {step.step: step for step in first.steps}
        found: list[StepChange] = []
        known: dict[str, Changes] = {}
        for step in second.steps:
            if step.step not in past:
                found.append(StepChange(step.step, {d.ADDED: step.rows}, [], f"run {first.number} has no such step"))
                continue
            before = past.pop(step.step)
            change = self._step(first, second, before, step, known)
            columns = [field["name"] for field in json.loads(step.schema)["fields"]]
            known[step.step] = Changes(step.step, change.rows, step.key_columns, columns)
            found.append(change)
        gone = [
            StepChange(n, {d.REMOVED: s.rows}, [], f"run {second.number} has no such step") for n, s in past.items()
        ]
        return Diff(second.process, first.number, second.number, [*found, *gone])

    def _step(self, first: Run, second: Run, before: Step, after: Step, known: dict[str, Changes]) -> StepChange:
        if before.content == after.content:
            return StepChange(after.step, {}, [])
        if before.key != after.key or before.schema != after.schema:
            note = f"its schema or key has changed, with its code ({before.code[:12]}, {after.code[:12]})"
            return StepChange(after.step, {d.REMOVED: before.rows, d.ADDED: after.rows}, [], note)
        frames = [sources.output(self._session, run, after.step) for run in (first, second)]
        counts, rows = changes(frames[0], frames[1], after.key_columns, self._limit)
        causes = _Causes(self, first, second, before, after, known)
        return StepChange(after.step, counts, [attrs.evolve(row, causes=causes.of(row)) for row in rows])

    def source(self, name: str, first: Run, second: Run) -> Changes:
        """The records, or objects, of a source that the two runs see differently. Each is its own cause."""
        if name not in self._sources:
            self._sources[name] = self._compared(name, first, second)
        return self._sources[name]

    def _compared(self, name: str, first: Run, second: Run) -> Changes:
        source = self._process.sources[name]
        inside = source.system if isinstance(source, System) else source.model
        key = ["key"] if isinstance(source, System) else ["_id"]
        tokens = [elsa.Token.parse(run.token or "") for run in (first, second)]
        times = {(t.ingest_of(inside), t.event if isinstance(source, System) else 0) for t in tokens}
        if len(times) == 1:
            return Changes(name, [], key, [])
        frames = [sources.read(self._session, self._store, source, t, elsa_name=self._elsa) for t in tokens]
        _, rows = changes(frames[0], frames[1], key, self._limit)
        told = [attrs.evolve(row, causes=(Cause(d.RECORD, f"{inside} {row.row}", _told(row)),)) for row in rows]
        return Changes(name, told, key, frames[0].columns)

    def is_source(self, name: str) -> bool:
        return name in self._process.sources

    def renamed(self, step: str, name: str) -> dict[str, str]:
        """As the step says now; a step that the process has no more says nothing."""
        return self._process.get(step).origin.get(name, {}) if step in self._process else {}


class _Causes:
    """Finds why rows of one step differ."""

    def __init__(
        self, comparison: Comparison, first: Run, second: Run, before: Step, after: Step, known: dict[str, Changes]
    ) -> None:
        self._key = after.key_columns
        names = json.loads(after.inputs)
        self._renamed = {name: comparison.renamed(after.step, name) for name in names}
        self._inputs = [known[name] for name in names if name in known]
        self._inputs += [comparison.source(name, first, second) for name in names if comparison.is_source(name)]
        self._actions = _of_actions(before, after)
        self._code = []
        if before.code != after.code:
            self._code = [Cause(d.CODE, f"of step {after.step}", f"{before.code[:12]}, then {after.code[:12]}")]
        told = d.told_libraries(json.loads(first.libraries), json.loads(second.libraries))
        self._libraries = [Cause(d.LIBRARIES, one) for one in told]

    def of(self, change: RowChange) -> tuple[Cause, ...]:
        causes = [*self._actions.get(change.row, ()), *self._code]
        for there in self._inputs:
            causes += gathered(linked(change, self._key, there, self._renamed[there.name]), there.name)
        if not causes:  # nothing that has to do with the row by its values: then whatever has changed at all
            causes = [cause for there in self._inputs for cause in gathered(there.rows, there.name)]
        causes = causes or self._libraries
        return tuple(dict.fromkeys(causes)) or (
            Cause(d.UNKNOWN, "reason", "nothing on record differs; the step does not give the same each time"),
        )


def _of_actions(before: Step, after: Step) -> dict[str, list[Cause]]:
    """By row, the actions of which something else became."""
    past = {one.action: one for one in before.outcomes}
    now = {one.action: one for one in after.outcomes}
    found: dict[str, list[Cause]] = {}
    for action in sorted({*past, *now}):
        was, is_ = past.get(action), now.get(action)
        if was is None or is_ is None or (was.outcome, was.reason) != (is_.outcome, is_.reason):
            known = is_ or was
            assert known is not None
            said = f"{was.outcome if was else 'not known'}, then {is_.outcome if is_ else 'not known'}"
            found.setdefault(known.row, []).append(Cause(d.ACTION, action, said))
    return found


def changes(
    before: DataFrame, after: DataFrame, key: Sequence[str], limit: int
) -> tuple[dict[str, int], list[RowChange]]:
    """How many rows two frames have differently, by kind, and the first of them in the order of their keys."""
    keys = [f"_key{at}" for at in range(len(key))]
    named = [f.col(quoted(name)).alias(alias) for name, alias in zip(key, keys, strict=True)]
    pairs = ((before, _BEFORE), (after, _AFTER))
    ones = [frame.select(*named, f.struct("*").alias(side)) for frame, side in pairs]
    joined = ones[0].join(ones[1], keys, "full_outer").where(~f.col(_BEFORE).eqNullSafe(f.col(_AFTER)))
    kind = (
        f.when(f.col(_BEFORE).isNull(), d.ADDED).when(f.col(_AFTER).isNull(), d.REMOVED).otherwise(d.CHANGED)
    ).alias("kind")
    rows = joined.sort(*keys).limit(limit + 1).collect()
    found = [RowChange(_key(row, key), _plain(row[_BEFORE]), _plain(row[_AFTER])) for row in rows[:limit]]
    if len(rows) > limit:
        return dict(sorted((row[0], row[1]) for row in joined.groupBy(kind).count().collect())), found
    counts: dict[str, int] = {}
    for one in found:
        counts[one.kind] = counts.get(one.kind, 0) + 1
    return dict(sorted(counts.items())), found


def _key(row: Row, key: Sequence[str]) -> str:
    there = row[_AFTER] if row[_AFTER] is not None else row[_BEFORE]
    return key_text([there[name] for name in key])


def _plain(row: Row | None) -> dict[str, Any] | None:
    return None if row is None else plain(row)


def _told(row: RowChange) -> str:
    if row.kind != d.CHANGED:
        return row.kind
    return ", ".join(f"{name} {before!r}, then {after!r}" for name, (before, after) in row.cells.items())[:300]
