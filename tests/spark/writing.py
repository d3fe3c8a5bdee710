"""Writing without a Spark: the same calls that it makes, in this process; and what a model holds, to compare."""

from collections.abc import Iterable
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import from_arrow_schema

import neomodel as nm
from spark import ModelSource, writing
from spark.writing import Attempt, ModelWriter

Everything = list[tuple[bytes, dict[bytes, bytes]]]


def planned(model: nm.Model, schema: pa.Schema, *, overwrite: bool = False, **options: str) -> ModelWriter:
    """The writer of a job, as the driver makes it."""
    given = {"store": model.repository.store.url, "model": model.name, "type": "Thing", **options}
    return ModelSource(given).writer(from_arrow_schema(schema), overwrite)


def attempted(writer: ModelWriter, table: pa.Table, partition: int = 0, number: int = 0, *, size: int = 100) -> Any:
    """One attempt at a partition, by a task."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing.Attempt, "current", classmethod(lambda _: Attempt(partition, number)))
        return writer.write(iter(table.to_batches(max_chunksize=size)))


def write(model: nm.Model, *partitions: pa.Table, size: int = 100, **options: str) -> str:
    """A whole job: its partitions one after another, then it is committed, or aborted; returns its token."""
    writer = planned(model, partitions[0].schema, **options)
    try:
        writer.commit([attempted(writer, table, at, at, size=size) for at, table in enumerate(partitions)])
    except BaseException:
        writer.abort([])
        raise
    return writer.job.token


def everything(model: nm.Model) -> Everything:
    """All rows, with all cells, as they are now."""
    return list(model.table.scan())


def sound(model: nm.Model) -> bool:
    return not nm.check(model).findings


@contextmanager
def unchanged(model: nm.Model) -> Any:
    """Nothing is there afterwards that was not there before, not even a record of a job."""
    before = everything(model)
    yield
    assert everything(model) == before
    assert not list(jobs_of(model))


def jobs_of(model: nm.Model) -> Iterable[Any]:
    from spark import unfinished_jobs

    return unfinished_jobs(model.repository)
