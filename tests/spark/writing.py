"""Writing without a Spark: the same calls that it makes, in this process; and what a model holds, to compare."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import from_arrow_schema

import neomodel as nm
from spark import ModelSource, unfinished_jobs, writing
from spark.writing import Attempt, ModelWriter

Everything = list[tuple[bytes, dict[bytes, bytes]]]


def planned(home: nm.Model, schema: pa.Schema, **options: str | None) -> ModelWriter:
    """The writer of a job, as the driver makes it."""
    given = {"store": home.repository.store.url, "model": home.name, "type": "Thing", **options}
    some = {name: value for name, value in given.items() if value is not None}
    return ModelSource(some).writer(from_arrow_schema(schema), False)


def attempted(writer: ModelWriter, table: pa.Table, partition: int = 0, number: int = 0, *, size: int = 100) -> Any:
    """One attempt at a partition, by a task."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing.Attempt, "current", classmethod(lambda _: Attempt(partition, number)))
        return writer.write(iter(table.to_batches(max_chunksize=size)))


def write(home: nm.Model, *partitions: pa.Table, size: int = 100, **options: str | None) -> str:
    """A whole job: its partitions one after another, then it is committed, or aborted; returns its token."""
    writer = planned(home, partitions[0].schema, **options)
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
def unchanged(model: nm.Model) -> Iterator[None]:
    """Nothing is there afterwards that was not there before, not even a record of a job."""
    before = everything(model)
    yield
    assert everything(model) == before
    assert not unfinished_jobs(model.repository)
