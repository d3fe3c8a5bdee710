"""What steps of a process are given: systems and models as of the token of a run, and what earlier steps gave."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from metamodels import elsa
from metamodels.anna.processes import ModelSource, Process, Source, Step, System
from metamodels.anna.run_records import Run
from metamodels.anna.run_records import Step as Done
from neomodel.errors import InvalidValue, near
from spark.names import quoted
from spark.outputs import KEYS, PLAIN, FileSink
from spark.session import know
from spark.snapshots import reached
from spark.source import register

_SETTINGS = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}
"""What would change results, and so is the same in all runs."""


@contextmanager
def settled(session: SparkSession) -> Iterator[None]:
    """Have the settings that results depend on be the same in all runs while the block runs, then as they were."""
    before: dict[str, str | None] = {name: session.conf.get(name, None) for name in _SETTINGS}
    register(session)
    know(session, FileSink)
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, past in before.items():
            session.conf.unset(name) if past is None else session.conf.set(name, past)


def read(session: SparkSession, store: str, source: Source, token: elsa.Token, *, elsa_name: str = "elsa") -> DataFrame:
    """A source as of a token."""
    if isinstance(source, System):
        options = {"store": reached(store), "system": source.system, "elsa": elsa_name, "token": str(token)}
        return _taken_apart(session.read.format("elsa").options(**options).load(), source)
    assert isinstance(source, ModelSource)
    options = {"store": reached(store), "model": source.model, "as_of": str(token.ingest_of(source.model))}
    if source.type is not None:
        options["type"] = source.type
    if source.columns is not None:
        options["columns"] = ",".join(source.columns)
    return session.read.format("neomodel").options(**options).load()


def _taken_apart(frame: DataFrame, source: System) -> DataFrame:
    """The columns of a schema of the JSON objects that records hold. What is no such object fails the job."""
    if source.schema is None:
        return frame
    schema = _parsed(source.schema)
    if "key" in schema.names:
        raise InvalidValue(f"the schema of system {source.system!r}", "key", "other columns; that is the record's key")
    value = f.from_json("value", schema, {"mode": "FAILFAST"})
    return frame.select("key", value.alias("value")).select("key", "value.*")


def output_folder(run: Run, step: str) -> Path:
    """Where the files of a step are."""
    return Path(run.folder or "") / f"{run.number:06}" / step


def output(session: SparkSession, run: Run, step: str) -> DataFrame:
    """What a step of a run gave."""
    return files(session, output_folder(run, step), run.step(step))


def files(session: SparkSession, folder: Path, done: Done) -> DataFrame:
    """The rows of a step that was done, whose files are in a folder."""
    schema = t.StructType.fromJson(json.loads(done.schema))
    return session.read.schema(schema).parquet(*(str(folder / one["name"]) for one in done.written))


def declared(process: Process, step: Step) -> t.StructType:
    """The schema of a step. `InvalidValue` if it has a column that files can't have the same each time."""
    where = f"the schema of step {step.name!r} of process {process.name!r}"
    schema = _parsed(step.schema)
    for column in step.key:
        if column not in schema.names:
            raise InvalidValue(where, schema.names, f"one with the key column {column!r}{near(column, schema.names)}")
        if not isinstance(schema[column].dataType, KEYS):
            raise InvalidValue(
                f"key column {column!r} in {where}",
                schema[column].dataType.simpleString(),
                "text, a whole number, a decimal, a boolean, a date or a timestamp",
            )
    for field in schema.fields:
        _check_type(f"column {field.name!r} in {where}", field.dataType)
    return schema


def _parsed(text: str) -> t.StructType:
    """A schema in SQL's words, or `InvalidValue`."""
    try:
        found = t.StructType.fromDDL(text)
    except PySparkException as exc:
        raise InvalidValue("a schema", text, "columns and types in SQL's words, such as: id long, name string") from exc
    assert isinstance(found, t.StructType)
    return found


def _check_type(where: str, kind: t.DataType) -> None:
    if isinstance(kind, t.ArrayType):
        _check_type(where, kind.elementType)
    elif isinstance(kind, t.StructType):
        for field in kind.fields:
            _check_type(where, field.dataType)
    elif not isinstance(kind, PLAIN):
        raise InvalidValue(where, kind.simpleString(), "a plain type, an array or a struct; a map has no order")


def conformed(frame: object, schema: t.StructType) -> DataFrame:
    """The frame, if it has the columns of the schema, in the order of that."""
    if not isinstance(frame, DataFrame):
        raise InvalidValue("what it returned", type(frame).__name__, "a DataFrame")
    found = {field.name: field.dataType for field in frame.schema.fields}
    wanted = {field.name: field.dataType for field in schema.fields}
    if found.keys() != wanted.keys() or len(found) != len(frame.columns):
        raise InvalidValue("its columns", ", ".join(frame.columns), f"those of its schema: {', '.join(wanted)}")
    for name, kind in wanted.items():
        if kind.simpleString() != found[name].simpleString():
            raise InvalidValue(
                f"its column {name!r}", found[name].simpleString(), f"{kind.simpleString()}, as its schema says"
            )
    return frame.select(*map(quoted, wanted))
