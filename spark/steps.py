"""One step of a run: its logic, then the manual actions that apply, then its quality checks (ANNA, Figure 5)."""

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import attrs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as t

from metamodels.anna.actions import Action
from metamodels.anna.applying import NO_TARGET
from metamodels.anna.failures import Failure
from metamodels.anna.keys import key_text, key_values
from metamodels.anna.processes import Step
from metamodels.anna.run_records import Run, anna_runs
from metamodels.anna.types import Type, fitted
from neomodel.errors import InvalidValue
from spark import sources
from spark.checks import Found, check
from spark.conditions import types_of
from spark.corrections import corrected
from spark.outputs import Output, write


@attrs.frozen(eq=False)
class Work:
    """What is needed to do the steps of a run."""

    session: SparkSession
    run: Run
    given: Callable[[str], DataFrame]
    """The input of that name."""
    actions: Mapping[str, Sequence[Action]]
    """Those that the run knows, by step."""

    def do(self, step: Step, schema: t.StructType, place: int) -> Any:
        """Do a step: its files are written. Returns what is to be put on record of it."""
        began = time.monotonic()
        tables = {name: self.given(name) for name in step.inputs}
        frame = sources.conformed(step.function(*tables.values()), schema)
        actions = self.actions.get(step.name, [])
        folder = sources.output_folder(self.run, step.name)
        if actions:
            after = corrected(frame, step.key, actions)
            output, told = write(
                after.marked, schema, step.key, folder, self.run.block, lambda kept: _told(after.split(kept)[1])
            )
        else:
            output, told = write(frame, schema, step.key, folder, self.run.block, lambda _: {})
        done = self._record(step, place, schema, output)
        done.outcomes.extend(self._outcomes(step.name, actions, told))
        rows = sources.files(self.session, folder, done)
        found = check(rows, step.key, step.checks, tables, output.rows)
        done.checks.extend(anna_runs.Check(**self._named(step), **_found(one)) for one in found)
        done.seconds = time.monotonic() - began
        return done

    def stray(self, steps: Collection[str]) -> list[Any]:
        """The outcomes of actions on steps that are not among these."""
        found = []
        for name in sorted(self.actions.keys() - set(steps)):
            missing = NO_TARGET, f"the process has no step {name!r}"
            found += self._outcomes(name, self.actions[name], {one.id: missing for one in self.actions[name]})
        return found

    def _outcomes(self, step: str, actions: Sequence[Action], told: Mapping[str, tuple[str, str | None]]) -> list[Any]:
        if len(told) != len(actions):
            raise InvalidValue(f"outcomes of actions on step {step!r}", len(told), f"one for each of {len(actions)}")
        named = {"process": self.run.process, "number": self.run.number, "step": step}
        return [
            anna_runs.Outcome(
                **named,
                action=one.id,
                row=key_text(one.row),
                column=one.column,
                outcome=told[one.id][0],
                reason=told[one.id][1],
            )
            for one in actions
        ]

    def _record(self, step: Step, place: int, schema: t.StructType, output: Output) -> Any:
        return anna_runs.Step(
            **self._named(step),
            place=place,
            key=json.dumps(step.key),
            schema=schema.json(),
            rows=output.rows,
            content=output.content,
            files=json.dumps(output.files),
            code=step.code,
            inputs=json.dumps(step.inputs),
        )

    def _named(self, step: Step) -> Mapping[str, Any]:
        return {"process": self.run.process, "number": self.run.number, "step": step.name}


def _told(outcomes: DataFrame) -> dict[str, tuple[str, str | None]]:
    """What became of each action, and why, by its id."""
    actions, told, details = (column.to_pylist() for column in outcomes.toArrow().columns)
    return dict(zip(actions, zip(told, details, strict=True), strict=True))


def _found(found: Found) -> dict[str, Any]:
    return {
        "name": found.rule.name,
        "severity": found.rule.severity,
        "failed": found.failed,
        "detail": found.detail,
        "found": json.dumps([attrs.astuple(cell, recurse=False) for cell in found.cells]),
    }


def failures_of(run: Run) -> list[Failure]:
    """The failing cells of a run as `neomodel anna fix` walks through them."""
    found = []
    for step in run.steps:
        types = types_of(t.StructType.fromJson(json.loads(step.schema)))
        keys = tuple(step.key_columns)
        for one in step.checks:
            for cell in one.cells:
                if cell.column is not None and cell.row_values.keys() >= set(keys):
                    row = tuple(key_values(cell.row, len(keys)))
                    values = {name: _value(types[name], value) for name, value in cell.row_values.items()}
                    found.append(Failure(step.step, row, cell.column, one.name, keys, values, types))
    return found


def _value(kind: Type, value: Any) -> Any:
    """A value of a row that JSON has kept."""
    try:
        return value if value is None else fitted(kind, value)
    except ValueError:  # of a type that is only known by name, or no number
        return value
