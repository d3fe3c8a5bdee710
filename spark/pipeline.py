"""Processes run on Spark: of each step its logic, then manual actions that apply, then quality checks (ANNA, Fig. 5).

    process = spark.Pipeline(report, repo, "products")
    run = process.run(token=token, actions=(event, ingest))
    process.recompute(run).same

The rows of each step are in files (`outputs`), named by run and step and sorted by row key; what is known of them, of
actions and of checks is on record in the repository (`metamodels.anna.runs`). `resume` carries on with a run that died.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import attrs
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import neomodel as nm
from metamodels import anna, elsa
from metamodels.anna.actions import Action
from metamodels.anna.applying import key_of
from metamodels.anna.code import libraries
from metamodels.anna.differences import Diff, Recomputation, proof
from metamodels.anna.keys import key_values, value_text
from metamodels.anna.processes import Process, Step, System
from metamodels.anna.run_records import Run, State
from metamodels.anna.runs import LEASE, Arguments, Claim, Progress, Runs
from neomodel.errors import InvalidValue, NeomodelError, StepFailed, near
from neomodel.garbage import undisturbed
from neomodel.times import LAST, Time, micros
from spark import sources
from spark.conditions import types_of
from spark.differences import LIMIT, Comparison
from spark.names import quoted
from spark.outputs import BLOCK, same_bytes
from spark.sentences import reason_of
from spark.session import session as any_session
from spark.steps import Work, failures_of

ActionTimes = tuple[Time | None, Time | None]
"""Up to which event time actions count, and up to which ingest time they are known; None: all, the stable time."""


class Pipeline:
    """A process at work: in a repository, with a Spark, and a folder that all executors see. For one thread."""

    def __init__(
        self,
        process: Process,
        repository: nm.Repository,
        folder: str | os.PathLike[str],
        *,
        session: SparkSession | None = None,
        elsa_name: str = "elsa",
        block: int = BLOCK,
        lease: float = LEASE,
    ) -> None:
        """`block`: how many rows a file has. `lease`: how many seconds others wait for this process if it is silent."""
        if not process.steps:
            raise InvalidValue(f"process {process.name!r}", "without steps", "one with at least one step")
        self.process = process
        self.repository = repository
        self.runs = Runs(repository)
        self.session = session or any_session(f"neomodel anna {process.name}")
        self.folder = str(Path(folder).absolute() / quote(process.name, safe=" "))
        self._elsa = elsa.open(repository, elsa_name)
        self._anna = anna.open(repository)
        self._block, self._lease = block, lease
        self._schemas = {step.name: sources.declared(process, step) for step in process.steps}

    def __repr__(self) -> str:
        return f"<pipeline of {self.process.name!r} in {self.repository.store.url}>"

    def stable(self) -> int:
        """The latest ingest time that nobody can write under any more."""
        return self._elsa.stable()

    # running

    def run(
        self,
        *,
        token: "elsa.Token | str | None" = None,
        actions: ActionTimes = (None, None),
        number: int | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Compute the process as of a token, with the actions as of two times; by default, as of what is stable now.
        The same arguments give the same bytes. With a `number` it is the run of that number, which may have been begun
        before: of two who start it one wins, and the other gets `RunTaken`."""
        arguments = self._arguments(token, actions)
        if number is None:
            claim = self.runs.begin(self.process.name, arguments, self.folder, lease=self._lease)
        else:
            claim = self.runs.start(self.process.name, number, arguments, self.folder, lease=self._lease)
        return self._computed(claim, progress)

    def resume(self, run: Run | int, *, progress: Progress | None = None) -> Run:
        """Carry on with a run that has died or failed, from its last finished step."""
        found = self.taken(run)
        claim = self.runs.start(
            self.process.name, found.number, Arguments.of(found), found.folder or "", lease=self._lease
        )
        return self._computed(claim, progress)

    def recompute(
        self,
        run: Run | int,
        *,
        ingest: Mapping[str, Time] | None = None,
        actions: ActionTimes | None = None,
        progress: Progress | None = None,
    ) -> Recomputation:
        """Repeat a past run as a new one, and tell whether it gave the same, byte for byte, or else why it may not
        have. `ingest` takes in what is known of some systems, or models, at other times; `actions`, other actions."""
        past = self.taken(run)
        if not past.done:
            raise InvalidValue(past.name, past.state.name.lower(), "one that is done, to be repeated; resume it first")
        token = elsa.Token.parse(past.token or "").with_ingest(ingest or {})
        self._check_sources(ingest or {})
        times = actions if actions is not None else (past.actions_event, past.actions_ingest)
        arguments = attrs.evolve(self._arguments(token, times), block=past.block)
        claim = self.runs.begin(self.process.name, arguments, self.folder, of=past.number, lease=self._lease)
        again = self._computed(claim, progress)
        versions = json.loads(past.libraries), json.loads(again.libraries)
        return Recomputation(self.process.name, past.number, again, proof(past, again, versions))

    def diff(self, first: Run | int, second: Run | int, *, limit: int = LIMIT) -> Diff:
        """How the second run differs from the first by row, with the cause of each change: a record, an action, or
        code. Up to `limit` rows of each step."""
        runs = self.taken(first), self.taken(second)
        for run in runs:
            if not run.done:
                raise InvalidValue(run.name, run.state.name.lower(), "one that is done, to be compared")
        with sources.settled(self.session):
            comparison = Comparison(self.process, self.session, self.repository.store.url, self._elsa.name, limit)
            return comparison.diff(*runs)

    def _check_sources(self, ingest: Mapping[str, Time]) -> None:
        names = {s.system if isinstance(s, System) else s.model for s in self.process.sources.values()}
        for name in ingest:
            if name not in names:
                raise InvalidValue(f"a source of process {self.process.name!r}", name, f"one it has{near(name, names)}")

    def _arguments(self, token: "elsa.Token | str | None", actions: ActionTimes) -> Arguments:
        given = self._elsa.token() if token is None else self._elsa.parsed(token)
        for known in given.own.values():
            self._elsa.check_stable(known)
        event, ingest = actions
        until = LAST if event is None else micros("the event time of actions", event, first=-LAST)
        known = self._anna.stable() if ingest is None else micros("the ingest time of actions", ingest)
        self._anna.check_stable(known)
        return Arguments(str(given), until, known, self._block)

    def _computed(self, claim: Claim, progress: Progress | None) -> Run:
        run = claim.run
        with claim.working(), sources.settled(self.session), undisturbed():
            self._check_resumable(run)
            finished = {step.step for step in run.steps}
            work = Work(self.session, run, lambda name: self._input(run, name), self._actions(run))
            steps = self.process.steps
            for number, step in enumerate(steps):
                if progress is not None:
                    progress(step.name, number, len(steps))
                if step.name not in finished:
                    with self._told(step):
                        done = work.do(step, self._schemas[step.name], number)
                    claim.commit(done)
                self._check_fatal(run, step)
            claim.check()
            run.strays.extend(work.stray([step.name for step in steps]))
            self._record_failures(run)
            claim.end(State.DONE, libraries=json.dumps(libraries()))
        if progress is not None:
            progress("", len(steps), len(steps))
        return run

    def _actions(self, run: Run) -> dict[str, list[Action]]:
        """The actions that a run knows, by step, in their order."""
        event = None if run.actions_event == LAST else run.actions_event
        found: dict[str, list[Action]] = {}
        for one in self._anna.actions(self.process.name).as_of(event=event, ingest=run.actions_ingest):
            found.setdefault(one.step, []).append(one)
        return found

    def _check_resumable(self, run: Run) -> None:
        """Finished steps can be gone on from only if they are what the process would give now."""
        for done in run.steps:
            if done.step not in self.process or self.process.get(done.step).code != done.code:
                raise InvalidValue(
                    f"step {done.step!r} of {run.name}", "done by other code", "the same code; start another run"
                )
            if not same_bytes(sources.output_folder(run, done.step), done.written):
                raise InvalidValue(
                    f"the files of step {done.step!r} of {run.name}",
                    "not what was written",
                    "the same; start another run",
                )

    def _check_fatal(self, run: Run, step: Step) -> None:
        for found in run.step(step.name).checks:
            if found.failed and found.severity == "fatal":
                self._record_failures(run)
                raise StepFailed(
                    self.process.name, step.name, f"{found.failed:,} rows fail the check {found.name!r}, which is fatal"
                )

    def _record_failures(self, run: Run) -> None:
        """Have `neomodel anna fix` walk through what failed in this run."""
        self._anna.failures(self.process.name).record(str(run.number), failures_of(run))

    # a step

    def _input(self, run: Run, name: str) -> DataFrame:
        if name in self.process:
            return sources.output(self.session, run, name)
        token, url = elsa.Token.parse(run.token or ""), self.repository.store.url
        return sources.read(self.session, url, self.process.sources[name], token, elsa_name=self._elsa.name)

    @contextmanager
    def _told(self, step: Step) -> Iterator[None]:
        """What a step fails with, as one sentence that says where."""
        try:
            yield
        except Exception as exc:
            raise StepFailed(self.process.name, step.name, _sentence(exc)) from exc

    # looking

    def taken(self, run: Run | int) -> Run:
        """The run of that number, or itself."""
        if isinstance(run, int):
            return self.runs.get(self.process.name, run)
        if run.process != self.process.name:
            raise InvalidValue(f"a run of {self.process.name!r}", run.name, "one of this process")
        return run

    def frame(self, run: Run | int, step: str) -> DataFrame:
        """The rows that a step of a run gave."""
        return sources.output(self.session, self.taken(run), step)

    def cell(self, run: Run | int, step: str, row: str | Sequence[Any], column: str) -> Any:
        """The value of a cell, by the key of its row; `InvalidValue` if there is no such row, or no such column."""
        found = self.taken(run)
        columns = found.step(step).key_columns
        values = key_values(row, len(columns)) if isinstance(row, str) else [value_text(one) for one in row]
        frame = self.frame(found, step)
        if column not in frame.columns:
            expected = f"one that there is{near(column, frame.columns)}"
            raise InvalidValue(f"a column of step {step!r} of {found.name}", column, expected)
        key = key_of(values, types_of(frame.schema), columns)
        for name, value in zip(columns, key or (), strict=False):
            frame = frame.where(f.col(quoted(name)) == value)
        rows = frame.select(quoted(column)).collect() if key is not None else []
        if not rows:
            raise InvalidValue(f"a row of step {step!r} of {found.name}", row, "the key of one that there is")
        return rows[0][0]


def _sentence(exc: Exception) -> str:
    """What an error says, without the trace of where Spark was."""
    if isinstance(exc, NeomodelError):
        return str(exc)
    if isinstance(exc, PySparkException | Py4JJavaError):
        return reason_of(exc)[:500]
    lines = [line.strip() for line in str(exc).splitlines() if line.strip()] or [""]
    return f"{type(exc).__name__}: {lines[0]}"[:500]
