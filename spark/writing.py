"""``df.write.format("neomodel").mode("append")``: objects made and changed in bulk, by id.

A job is planned in the driver (`plan`), where all that is wrong with its columns is refused; tasks write rows (`rows`);
then the driver links them (`linking`). Until that is done a batch is open, so that who reads what is stable sees
nothing of the job; if anything fails, all of it is undone (`undoing`). `jobs` has the record.
"""

from collections.abc import Iterator, Sequence

import attrs
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import NullType, StringType, StructType

from neomodel.class_names import class_named, classes_in
from neomodel.errors import FeatureNotFound, InvalidValue, near
from neomodel.kinds import EClass
from neomodel.model import Model
from neomodel.repository import Repository
from neomodel.sharing import shared
from neomodel.stores import signed
from spark.cells import check_type
from spark.columns import CLASS, CONTAINER, FEATURE, SYSTEM, columns_of
from spark.jobs import Job, Jobs
from spark.linking import Linking
from spark.options import Options
from spark.rows import Rows, Written
from spark.sentences import one_sentence
from spark.snapshots import reached
from spark.undoing import undo_rows


@attrs.frozen
class Attempt:
    """Which partition a task writes, and which attempt at it that is."""

    partition: int = 0
    number: int = 0

    @classmethod
    def current(cls) -> "Attempt":
        context = TaskContext.get()
        return cls() if context is None else cls(context.partitionId(), context.taskAttemptId())


class ModelWriter(DataSourceArrowWriter):
    """Writes the objects of one job: `write` in tasks, the others in the driver, each in a process of its own."""

    def __init__(self, store: str, kind: str | None, job: Job) -> None:
        self._store = store
        self._kind = kind
        self.job = job

    @one_sentence()
    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        attempt, rows = Attempt.current(), self._rows()
        jobs = Jobs(self._repository)
        batches = (batch for batch in iterator if batch.num_rows)
        first = next(batches, None)
        if first is None:
            return Written(attempt.partition)
        with jobs.working(self.job, attempt.partition, attempt.number) as again:
            written = rows.begin(attempt.partition, again=again)
            rows.take(first)
            for batch in batches:
                jobs.check(self.job)
                rows.take(batch)
        return written

    @one_sentence()
    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        written = [message for message in messages if isinstance(message, Written)]
        jobs = Jobs(self._repository)
        job = jobs.load(self.job)
        if job.since is not None:
            with jobs.writing(job):
                model = Model(self._repository, job.model, None)
                if jobs.attempts(job.token) > sum(one.begun for one in written):
                    _sweep(model, job, written)
                with signed(job.token):
                    Linking(model, written).complete()
        jobs.close(job)

    @one_sentence()
    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:  # noqa: ARG002  all is on record
        if Jobs(self._repository).get(self.job.token) is not None:
            undo(self._repository, self.job.token)

    @property
    def _repository(self) -> Repository:
        return shared(self._store)

    def _rows(self) -> Rows:
        kinds = classes_in(self._repository)
        kind = None if self._kind is None else class_named(kinds, self._kind, self._store)
        return Rows(Model(self._repository, self.job.model, None), kind, _concrete(kinds, kind), self.job.token)


def plan(options: Options, schema: StructType, *, overwrite: bool) -> ModelWriter:
    """A job that writes a DataFrame with that schema, on record; refused if it makes no sense."""
    if overwrite:
        raise InvalidValue("the mode of a write to format neomodel", "overwrite", "append")
    repository = shared(reached(options.store))
    repository.open(options.model)
    wanted = options.type
    kind = None if wanted is None else class_named(classes_in(repository), wanted, options.store)
    _check_columns(kind, schema)
    job = Jobs(repository).begin(options.model, None if kind is None else str(kind), options.given.get("job"))
    return ModelWriter(options.store, None if kind is None else str(kind.type_name), job)


def _check_columns(kind: EClass | None, schema: StructType) -> None:
    names = schema.fieldNames()
    columns_of(kind, names)
    if kind is None and CLASS not in names:
        raise InvalidValue("option type", None, f"the class of the objects that are written, or a column {CLASS}")
    for field in schema.fields:
        if kind is not None and field.name not in SYSTEM:
            check_type(kind.features[field.name], field.dataType)
        elif not isinstance(field.dataType, StringType | NullType):
            raise InvalidValue(f"the type of column {field.name}", field.dataType.simpleString(), "string; cast it")
    if (CONTAINER in names) != (FEATURE in names):
        raise InvalidValue("the columns of a DataFrame to write", names, f"both of {CONTAINER} and {FEATURE}, or none")


def _concrete(kinds: list[EClass], above: EClass | None) -> dict[str, EClass]:
    """The classes that objects may be of, by all their names that are clear."""
    fitting = [kind for kind in kinds if (above is None or above.type_name in kind.names) and not kind.abstract]
    simple = [kind.name for kind in fitting]
    found = {str(kind.type_name): kind for kind in fitting} | {str(kind): kind for kind in fitting}
    return found | {kind.name: kind for kind in fitting if simple.count(kind.name) == 1}


def _sweep(model: Model, job: Job, written: list[Written]) -> None:
    """Take back what attempts have written that failed and what those that were successful have not written as well."""
    assert job.since is not None
    known = {oid.encode() for one in written for oids in one.created.values() for oid in oids}
    known.update(oid.encode() for one in written for oid in one.updated)
    for _ in undo_rows(model, job.token, job.since, chosen=lambda key: key not in known):
        pass


# jobs that did not come to their end


def unfinished_jobs(repository: Repository) -> list[Job]:
    """The jobs that are running, or were cut short: each says in which model, and since when. One scan."""
    return list(Jobs(repository).find())


def undo(repository: Repository, token: str) -> int:
    """Take back all that a job has written, whoever began it, and take it off the record; returns how many rows that
    were. If it is running, it fails. What others have written since to the same rows stays as it is."""
    jobs = Jobs(repository)
    job = jobs.get(token)
    if job is None:
        raise FeatureNotFound(f"store {repository.store.url}", token, _nearest(token, jobs))
    jobs.stop(job)
    job = jobs.get(token) or job  # it may have begun to write meanwhile
    count = 0
    if job.since is not None:
        count = sum(1 for _ in undo_rows(Model(repository, job.model, None), token, job.since))
        if job.batch is not None:
            repository.batches.close(job.batch)  # whether it has expired or not: there is nothing of it any more
    jobs.end(token)
    return count


def _nearest(token: str, jobs: Jobs) -> str:
    return " among its unfinished jobs" + near(token, [job.token for job in jobs.find()])
