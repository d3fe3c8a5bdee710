"""Runs on record: begun, claimed, carried on after a crash, found again.

Whoever computes a run has claimed it by a compare-and-swap of its row, and renews the claim while the process lives. If
it dies, others may carry on: at once where its process can be seen to be gone, else when the claim has run out. A step
that is done is on record whole, or not at all.
"""

import json
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

import neomodel as nm
from metamodels.anna.run_records import Check, FailingCell, Run, State, Step, anna_runs
from neomodel.errors import RunTaken
from neomodel.times import instant

MODEL = "anna.runs"
LEASE = 60.0
_SECOND = 1_000_000


@attrs.frozen
class Arguments:
    """What a run is computed from: the same ones give the same bytes."""

    token: str
    event: int
    """Of actions, up to which event time they count,"""
    ingest: int
    """and up to which time they were known."""
    block: int

    @classmethod
    def of(cls, run: Run) -> "Arguments":
        return cls(run.token or "", run.actions_event, run.actions_ingest, run.block)


class Runs:
    """The runs of all processes in a repository. For one thread at a time."""

    def __init__(self, repository: nm.Repository, *, create: bool = True) -> None:
        self.repository = repository
        self.model = self._opened(create)

    def _opened(self, create: bool) -> nm.Model:
        if not create and MODEL not in self.repository.models():
            hint = ": nothing was run there yet; `neomodel anna run MODULE:PROCESS` computes a run"
            raise nm.ModelNotFound(MODEL, self.repository.store.url, hint)
        self.repository.register(anna_runs)
        try:
            return self.repository.open(MODEL)
        except nm.ModelNotFound:
            try:
                return self.repository.create(MODEL)
            except nm.ModelExists:  # by somebody else, in this moment
                return self.repository.open(MODEL)

    # finding

    def of(self, process: str) -> list[Run]:
        """The runs of a process, the latest last. One scan."""
        found = [run for run in self.model.find(Run, process=process) if run.state is not State.NEW]
        return sorted(found, key=lambda run: run.number)

    def all(self) -> list[Run]:
        """The runs of all processes. One scan."""
        found = [run for run in self.model.find(Run) if run.state is not State.NEW]
        return sorted(found, key=lambda run: (run.process, run.number))

    def last(self, process: str) -> Run | None:
        """The latest run of a process that is done, with its steps; None if there is none."""
        return next((run for run in reversed(self.of(process)) if run.done), None)

    def get(self, process: str, number: int) -> Run:
        """A run; `InvalidValue` if there is none of that number. One read."""
        found = self._found(process, number)
        if found is None or found.state is State.NEW:
            there = ", ".join(str(run.number) for run in self.of(process)[-5:]) or "none yet"
            raise nm.InvalidValue(f"a run of {process!r}", number, f"one that there is, such as the latest: {there}")
        return found

    def _found(self, process: str, number: int) -> Run | None:
        return next(self.model.find(Run, process=process, number=number), None)

    # claiming

    def begin(self, process: str, arguments: Arguments, folder: str, *, of: int = 0, lease: float = LEASE) -> "Claim":
        """A new run, with the next number, claimed. A scan, and a few writes."""
        taken = [run.number for run in self.model.find(Run, process=process)]
        number = max(taken, default=0)
        while True:
            number += 1
            try:
                return self._claimed(process, number, arguments, folder, of, lease, fresh=True)
            except RunTaken:  # somebody else has begun one in this moment
                continue

    def start(self, process: str, number: int, arguments: Arguments, folder: str, *, lease: float = LEASE) -> "Claim":
        """The run of that number, claimed: a new one, or one that was begun with the same arguments and is not done.
        `RunTaken` if somebody else is at it."""
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**62:
            raise nm.InvalidValue("the number of a run", number, "1 or more")
        return self._claimed(process, number, arguments, folder, 0, lease, fresh=False)

    def _claimed(
        self, process: str, number: int, arguments: Arguments, folder: str, of: int, lease: float, *, fresh: bool
    ) -> "Claim":
        run = self._found(process, number)
        if run is None:
            self.model.roots.append(
                anna_runs.Run(process=process, number=number)
            )  # says nothing yet that could be lost
            run = self._found(process, number)
        assert run is not None
        owner = this_process()
        claim = Claim(self, run, owner, lease)

        def take() -> None:
            with nm.edit(element(run)):
                if fresh and run.state is not State.NEW:
                    raise claim.taken()
                _check_free(run, self.now())
                if run.state is State.NEW:
                    run.token, run.block = arguments.token, arguments.block
                    run.actions_event, run.actions_ingest = arguments.event, arguments.ingest
                    run.folder, run.of, run.began = folder, of, self.now()
                elif Arguments.of(run) != arguments or run.folder != folder:
                    found = json.dumps({**attrs.asdict(Arguments.of(run)), "folder": run.folder})
                    raise nm.InvalidValue(f"what {run.name} is computed from", found, "the same; or start another run")
                run.state, run.owner, run.reason = State.RUNNING, owner, None
                run.until = self.now() + int(lease * _SECOND)

        nm.redo(take, attempts=20)
        return claim

    def now(self) -> int:
        return self.model.table.now()


class Claim:
    """A run that this process computes. `working` around the work renews the claim meanwhile."""

    def __init__(self, runs: Runs, run: Run, owner: str, lease: float) -> None:
        self.run = run
        self.owner = owner
        self._runs = runs
        self._lease = lease
        self._lost = False

    def taken(self) -> RunTaken:
        return RunTaken(self.run.name, _who(self.run.owner), instant(self.run.until).isoformat(timespec="seconds"))

    def check(self) -> None:
        """Raise `RunTaken` if somebody else has taken over."""
        if self._lost or self.run.owner != self.owner:
            raise self.taken()

    def commit(self, step: Step) -> None:
        """Put a step on record that is done, with all it contains: in batches, and seen when all is there."""
        self.check()
        self.run.steps.append(step)

    def end(self, state: State, **more: Any) -> None:
        """The run is done, or has failed."""

        def change() -> None:
            with nm.edit(element(self.run)):
                self.check()
                self.run.state, self.run.ended, self.run.until = state, self._runs.now(), 0
                for name, value in more.items():
                    element(self.run).eSet(name, value)

        nm.redo(change, attempts=20)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Renew the claim while the block runs; if it raises, the run is on record as failed, and may be resumed."""
        ended = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(ended,), name="neomodel-run", daemon=True)
        renewing.start()
        try:
            yield
        except RunTaken:
            raise
        except BaseException as exc:
            ended.set()
            renewing.join()
            self.end(State.FAILED, reason=f"{type(exc).__name__}: {exc}"[:2000])
            raise
        finally:
            ended.set()
            renewing.join()

    def _renew(self, ended: threading.Event) -> None:
        while not self._lost and not ended.wait(self._lease / 3):
            try:
                self._renew_once()
            except (nm.StoreUnavailable, nm.OutcomeUnknown, nm.Conflict):
                continue  # it is tried again; if that goes on, the claim runs out, which is told to who commits

    def _renew_once(self) -> None:
        """By a connection of its own: a model is for one thread at a time."""
        with nm.connect(self._runs.repository.store.url, create=False) as repository:
            runs = Runs(repository)
            run: Any = runs.get(self.run.process, self.run.number)

            def change() -> None:
                with nm.edit(run):
                    self._lost = run.owner != self.owner
                    if not self._lost and run.state is State.RUNNING:
                        run.until = runs.now() + int(self._lease * _SECOND)

            nm.redo(change, attempts=20)


def element(run: Run) -> Any:
    """A run as the element it is, which a type checker does not see."""
    return run


def failing(run: Run) -> list[tuple[str, Check, FailingCell]]:
    """The rows that fail checks, up to 1,000 for each check: the step, the check, the row with the cell to blame."""
    return [(step.step, check, cell) for step in run.steps for check in step.checks for cell in check.cells]


# who computes


def this_process() -> str:
    return json.dumps([socket.gethostname(), os.getpid(), _place(), _started(os.getpid()), secrets.token_hex(4)])


def _check_free(run: Run, now: int) -> None:
    if run.state is State.DONE:
        raise nm.InvalidValue(f"{run.name}", "done", "one that is not; recompute it, which is another run")
    if run.state is State.RUNNING and run.until > now and not _gone(run.owner):
        raise RunTaken(run.name, _who(run.owner), instant(run.until).isoformat(timespec="seconds"))


def _gone(owner: str | None) -> bool:
    """Whether the process that is the owner is known to have ended: it was of this machine, and is not there."""
    _, process, place, started, _ = json.loads(owner or "[null, null, null, null, null]")
    return bool(place) and place == _place() and _started(process) != started


def _who(owner: str | None) -> str:
    host, process, *_ = json.loads(owner or '["nobody", 0]')
    return f"process {process} on {host}"


def _place() -> str | None:
    """What tells where process ids mean the same; None where that can't be told."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return None


def _started(process: int) -> str | None:
    """When a process began, as the system counts; None if there is none, or it has ended and nobody has looked."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


Progress = Callable[[str, int, int], Any]
"""Called with the step that begins, how many are done, and of how many."""
