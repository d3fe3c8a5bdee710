"""What a run gave, as tables for people: its steps, what its checks found, what became of actions, what has changed.

`tables` has it all as text; `report_html` writes a page of it, `neomodel anna report` prints it.
"""

import json
from collections.abc import Iterator, Sequence

import attrs

from metamodels import elsa
from metamodels.anna.applying import APPLIED
from metamodels.anna.differences import Diff
from metamodels.anna.run_records import Run, State
from neomodel.times import LAST, instant

MOST = 100
"""Rows of a table that has no end, unless somebody asks for more."""
GOOD, BAD, WARN, PLAIN = "good", "bad", "warn", "plain"


@attrs.frozen
class Table:
    """A table under a title. The `tones` of rows say which are good news, and which are not; `numbers`, which columns
    are. `more`: how many rows were left out."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    tones: Sequence[str] = ()
    numbers: frozenset[str] = frozenset()
    more: int = 0


def headline(run: Run) -> tuple[str, str]:
    """One sentence about a run, and its tone."""
    if run.state is State.FAILED:
        return f"{run.name} failed: {run.reason}", BAD
    if run.state is not State.DONE:
        return f"{run.name} is being computed: {len(run.steps)} steps are done", WARN
    failed = [check for step in run.steps for check in step.checks if check.failed]
    if not failed:
        return f"{run.name} is done, and all checks hold", GOOD
    worst = BAD if any(check.severity != "warning" for check in failed) else WARN
    return f"{run.name} is done, and {_counted(len(failed), 'check fails', 'checks fail')}", worst


def facts(run: Run) -> list[tuple[str, str]]:
    """What a run was computed from, and where its files are."""
    token = elsa.Token.parse(run.token) if run.token else None
    found = [("process", run.process), ("run", str(run.number)), ("state", run.state.name.lower())]
    if run.of:
        found.append(("repeats run", str(run.of)))
    if token is not None:
        found += [("token", str(token)), ("events up to", _time(token.event)), ("known at", _time(token.ingest))]
        found += [(f"{name} known at", _time(time)) for name, time in token.own.items()]
    found += [("actions up to", _time(run.actions_event)), ("actions known at", _time(run.actions_ingest))]
    found.append(("began", _time(run.began)))
    if run.ended:
        found.append(("took", f"{(run.ended - run.began) / 1e6:,.1f} s"))
    found += [(name, version) for name, version in json.loads(run.libraries).items()]
    return [*found, ("files", f"{run.folder}/{run.number:06}")]


def tables(run: Run, diff: Diff | None = None, *, most: int = MOST) -> Iterator[Table]:
    """All that there is to tell of a run, and how another one differs from it or it from another."""
    yield _steps(run)
    yield _checks(run)
    yield _failing(run, most)
    yield _outcome_counts(run)
    yield _outcomes(run, most)
    if diff is not None:
        yield from changes(diff, most=most)


def changes(diff: Diff, *, most: int = MOST) -> Iterator[Table]:
    """How two runs differ, and why."""
    yield _changed_steps(diff)
    yield _changed_rows(diff, most)


def _steps(run: Run) -> Table:
    rows = [[s.step, f"{s.rows:,}", f"{s.seconds:,.1f}", s.content[:16], s.code[:12]] for s in run.steps]
    return Table("Steps", ["step", "rows", "seconds", "content", "code"], rows, numbers=frozenset({"rows", "seconds"}))


def _checks(run: Run) -> Table:
    found = [(step, check) for step in run.steps for check in step.checks]
    rows = [
        [step.step, check.name, check.severity, f"{check.failed:,}" if check.failed else "holds", check.detail or ""]
        for step, check in found
    ]
    tones = [GOOD if not c.failed else WARN if c.severity == "warning" else BAD for _, c in found]
    return Table(
        "Checks", ["step", "check", "severity", "rows that fail", "detail"], rows, tones, frozenset({"rows that fail"})
    )


def _failing(run: Run, most: int) -> Table:
    rows, left = [], 0
    for step in run.steps:
        for check in step.checks:
            told = check.cells[:most]
            left += check.failed - len(told) if check.cells else 0
            for cell in told:
                row = ", ".join(f"{name} {_cell(value)}" for name, value in cell.row_values.items())
                rows.append([step.step, cell.row, cell.column or "", cell.value or "", check.name, row])
    return Table("Failing rows", ["step", "row", "column", "value", "check", "the whole row"], rows, more=left)


def _outcome_counts(run: Run) -> Table:
    counts = run.counts()
    rows = [[outcome, f"{count:,}"] for outcome, count in counts.items()]
    if rows:
        rows.append(["all", f"{sum(counts.values()):,}"])
    return Table("Actions", ["outcome", "actions"], rows, numbers=frozenset({"actions"}))


def _outcomes(run: Run, most: int) -> Table:
    found = sorted(run.outcomes(), key=lambda one: (one.outcome == APPLIED, one.step, one.row, one.column, one.action))
    rows = [[one.step, one.row, one.column, one.outcome, one.reason or "", one.action] for one in found[:most]]
    tones = [GOOD if one.outcome == APPLIED else BAD if one.outcome == "error" else PLAIN for one in found[:most]]
    columns = ["step", "row", "column", "outcome", "reason", "action"]
    return Table("What became of each action", columns, rows, tones, more=max(0, len(found) - most))


def _changed_steps(diff: Diff) -> Table:
    rows = [
        [step.step, *(f"{step.counts.get(kind, 0):,}" for kind in ("added", "removed", "changed")), step.note]
        for step in diff.steps
    ]
    title = f"From run {diff.first} to run {diff.second}"
    numbers = frozenset({"added", "removed", "changed"})
    return Table(title, ["step", "added", "removed", "changed", "note"], rows, numbers=numbers)


def _changed_rows(diff: Diff, most: int) -> Table:
    rows, left = [], 0
    for step in diff.steps:
        left += sum(step.counts.values()) - len(step.rows[:most])
        for change in step.rows[:most]:
            cells = "; ".join(f"{n} {_cell(before)} → {_cell(after)}" for n, (before, after) in change.cells.items())
            rows.append([step.step, change.row, change.kind, cells, "; ".join(map(str, change.causes))])
    return Table("Changed rows", ["step", "row", "change", "cells", "because of"], rows, more=left)


def _cell(value: object) -> str:
    return "null" if value is None else str(value)


def _time(time: int) -> str:
    if time >= LAST:
        return "the end of time"
    try:
        return instant(time).isoformat(sep=" ", timespec="microseconds").replace("+00:00", " UTC")
    except OverflowError:
        return str(time)


def _counted(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"
