"""Jobs that write: what the store has on record of each, from before its first write until it is complete or undone.

The row of a job in `TABLE` has its token as key. ``p:job`` says which model it writes to, who began it and when;
``p:batch`` in which batch it writes and since when, from its first write on: the first task to write opens the batch,
the others and `commit` join it. An attempt at a partition leaves ``p:task`` + partition + its number when it begins,
and says there when it has ended. ``p:undo`` says that the job is being undone: then no task begins to write any more.

A job that is not on record is complete, or nothing is left of it.
"""

import json
import os
import platform
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from neomodel import batches
from neomodel.batches import Batch
from neomodel.errors import BatchExpired, JobEnded, TableNotFound
from neomodel.repository import Repository
from neomodel.stores import VERSION, Mutation, Row, ensured, successor
from neomodel.stores.clock import wall
from neomodel.times import told

TABLE = "_jobs"
FAMILIES = "pt"
LEASE = 600.0
"""Seconds that others wait for a job of which nobody hears: longer than Spark takes to miss an executor."""
GRACE = 10.0
"""Seconds after which a task that was told to end writes no more: Spark looks every two, and gives it two."""

_JOB, _BATCH, _UNDO, _TASK = b"p:job", b"p:batch", b"p:undo", b"p:task"
_BEGUN, _DONE = b"begun", b"done"


@attrs.frozen
class Job:
    """A job that is not complete: it is running, or was cut short. `since` is a time before its first write, in
    microseconds since the epoch; None while it has written nothing."""

    token: str
    model: str
    type: str | None
    name: str | None
    owner: str
    began: str
    since: int | None = None
    batch: str | None = None


class Jobs:
    """The jobs of a repository that are not complete."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._table = repository.store.table(TABLE)

    def begin(self, model: str, kind: str | None, name: str | None) -> Job:
        """Put a job on record. A read and a write; the first one ever makes the tables that all tasks use at once."""
        owner = f"{platform.node()}:{os.getpid()}"
        job = Job(secrets.token_hex(6), model, kind, name, owner, told(wall()))
        about = {name: value for name, value in attrs.asdict(job).items() if name not in ("token", "since", "batch")}
        store = self._repository.store
        there = store.tables()
        for table, families in ((TABLE, FAMILIES), (batches.TABLE, batches.FAMILIES)):
            if table not in there:
                ensured(store.table(table), families)
        cells = {_JOB: json.dumps(about).encode(), VERSION: successor(None)}
        self._table.put_many([Mutation(job.token.encode(), cells)])
        return job

    def find(self) -> Iterator[Job]:
        """Those on record. One scan."""
        try:
            for key, row in self._table.scan():
                if _JOB in row:
                    yield _loaded(key, row)
        except TableNotFound:
            return

    def get(self, token: str) -> Job | None:
        """The job of that token; None if it is not on record. One read."""
        row = self._row(token)
        return _loaded(token.encode(), row) if _JOB in row else None

    def load(self, job: Job) -> Job:
        """The job as it is on record by now; `JobEnded` if it is not. One read."""
        found = self.get(job.token)
        if found is None:
            raise self._ended(job, "has ended")
        return found

    def end(self, token: str) -> None:
        """It is complete, or nothing is left of it. A read and a write."""
        row = self._row(token)
        if row:
            self._table.put_many([Mutation(token.encode(), dict.fromkeys(row))])

    # writing in one

    @contextmanager
    def writing(self, job: Job) -> Iterator[Batch]:
        """Write in the batch of a job, which is opened if it has none; it stays open. `JobEnded` if the job is no more,
        `BatchExpired` if others did not wait for it."""
        batch = self._enter(job)
        before, self._repository.batch = self._repository.batch, batch
        try:
            yield batch
        finally:
            self._repository.batch = before
            batch.abandon()

    @contextmanager
    def working(self, job: Job, partition: int, attempt: int) -> Iterator[bool]:
        """As `writing`, on record as an attempt at a partition that has begun, and then has ended; tells whether it is
        not the first one. A read and two writes."""
        column = _TASK + b"%d.%d" % (partition, attempt)
        with self.writing(job):
            self._note(job, column, _BEGUN)
            try:
                others = self._live_row(job)  # again: who undoes it now sees the note, who did before is seen here
                yield any(one.startswith(_TASK + b"%d." % partition) and one != column for one in others)
            finally:
                self._note(job, column, _DONE)

    def check(self, job: Job) -> None:
        """Raise `JobEnded` if the job is no more. One read."""
        self._live_row(job)

    def attempts(self, token: str) -> int:
        """How many attempts at partitions have begun. One read."""
        return sum(column.startswith(_TASK) for column in self._row(token))

    # ending one

    def stop(self, job: Job) -> None:
        """Let no task of the job begin to write any more, and wait for those that are at it. Reads until they have
        ended, or `GRACE` is over."""
        self._note(job, _UNDO, told(wall()).encode())
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline and any(
            value == _BEGUN for column, value in self._row(job.token).items() if column.startswith(_TASK)
        ):
            time.sleep(0.1)

    def close(self, job: Job) -> None:
        """Let readers of what is stable see what was written. A read and a swap, and so for the record."""
        if job.batch is not None and not self._repository.batches.close(job.batch):
            raise BatchExpired(job.owner, job.began, LEASE)
        self.end(job.token)

    # how

    def _enter(self, job: Job) -> Batch:
        row = self._live_row(job)
        if _BATCH not in row:
            opened = self._repository.batches.open(LEASE)
            cell = json.dumps({"batch": opened.token, "since": opened.since}).encode()
            version = row[VERSION]
            if self._table.swap(job.token.encode(), version, {_BATCH: cell, VERSION: successor(version)}):
                return opened
            opened.close()  # another task was first
            row = self._live_row(job)
        return self._repository.batches.join(json.loads(row[_BATCH])["batch"], LEASE)

    def _live_row(self, job: Job) -> Row:
        row = self._row(job.token)
        if _JOB not in row or _UNDO in row:
            raise self._ended(job, "is being undone" if _UNDO in row else "has ended")
        return row

    def _ended(self, job: Job, state: str) -> JobEnded:
        return JobEnded(job.token, job.model, self._repository.store.url, state)

    def _note(self, job: Job, column: bytes, value: bytes) -> None:
        self._table.put_many([Mutation(job.token.encode(), {column: value})])

    def _row(self, token: str) -> Row:
        try:
            return self._table.get(token.encode()) or {}
        except TableNotFound:
            return {}


def _loaded(key: bytes, row: Row) -> Job:
    batch = json.loads(row[_BATCH]) if _BATCH in row else {}
    return Job(key.decode(), **json.loads(row[_JOB]), **batch)
