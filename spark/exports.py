"""Systems that only have state: two exports of one are compared, and what changed between them becomes operations.

An export is a DataFrame with the columns of a key; the record's value is a JSON object of all columns but those that
are null, with times in UTC, to the microsecond, and with decimals that may have more than 15 digits as texts. The
comparison is a full join by key, in Spark: a key that is new or has another value is inserted, one that is gone is
deleted, all at the time of the later export. Operations go into the system as messages that were given a sequence, that
time: so the same comparison done again changes nothing, and comparisons that are done in another order leave what the
latest export says.
"""

import re
from collections.abc import Collection, Sequence
from functools import reduce

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from neomodel.errors import InvalidFile, InvalidValue, SyncFailed
from neomodel.times import Time, micros
from spark.names import quoted
from spark.queues import QUEUED
from spark.sentences import reason_of
from spark.synchronizing import Batch, Target, synchronize_frame

_KEY, _BEFORE, _AFTER, _TIMES = "_key", "_before", "_after", "_times"
_SHOWN = 60  # characters of a key, as the place of its message
_DIGITS = 15  # that a double keeps
_TIME = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
_WRITTEN = {"timestampFormat": f"{_TIME}XXX", "timestampNTZFormat": _TIME, "timeZone": "UTC"}
"""Or Spark would leave out what is less than a millisecond, and write times in the zone of whoever runs it."""


def read_export(session: SparkSession, path: str) -> DataFrame:
    """An export in files: CSV with titles, all columns text, or Parquet, by the end of the name; a folder of either."""
    lower = path.rstrip("/").lower()
    if not lower.endswith((".csv", ".parquet")):
        raise InvalidValue("an export", path, "a file or folder whose name ends in .csv or .parquet")
    reader = session.read.options(header="true", mode="FAILFAST", multiLine="true")
    try:
        return reader.csv(path) if lower.endswith(".csv") else session.read.parquet(path)
    except PySparkException as exc:
        raise InvalidFile(path, reason_of(exc)) from exc


def differences(before: DataFrame | None, after: DataFrame, key: Sequence[str], event: Time) -> DataFrame:
    """What changed from one export to a later one, as messages with the columns of `queues.QUEUED`: at the time
    `event`. Without an earlier one all of it is new. `InvalidValue` if columns differ, or a key is there twice or
    null."""
    time = micros("the time of an export", event)
    frames = [after] if before is None else [before, after]
    for frame in frames:
        _check(frame, key)
    if before is not None and {*before.columns} != {*after.columns}:
        differing = sorted({*before.columns} ^ {*after.columns})
        raise InvalidValue("the columns of two exports", differing, "the same in both; leave out others by select")
    new = _records(after, key, _AFTER)
    if before is None:
        changed = new.withColumn(_BEFORE, f.lit(None).cast("string"))
    else:
        joined = _records(before, key, _BEFORE).join(new, _KEY, "full_outer")
        changed = joined.where(~f.col(_BEFORE).eqNullSafe(f.col(_AFTER)))
    return changed.select(*_message(time))


def _message(time: int) -> list[Column]:
    """A message in the plain format; the value is JSON already, and is put in as it is."""
    head = f.concat(f.lit('{"key":'), _as_json(f.col(_KEY)), f.lit(f',"event":{time},"sequence":{time},"operation":"'))
    insertion = f.concat(f.lit('insert","value":'), f.col(_AFTER), f.lit("}"))
    text = f.concat(head, f.when(f.col(_AFTER).isNull(), f.lit('delete"}')).otherwise(insertion))
    names = (field.name for field in QUEUED.fields)
    place = f.when(f.length(_KEY) <= _SHOWN, f.col(_KEY)).otherwise(
        f.concat(f.substring(_KEY, 1, _SHOWN - 17), f.lit("~"), f.substring(f.sha2(_KEY, 256), 1, 16))
    )
    values = (f.lit("diff-load"), place, f.lit(None).cast("binary"), text.cast("binary"))
    return [value.alias(name) for name, value in zip(names, values, strict=True)]


def _as_json(text: Column) -> Column:
    """A text as JSON has it."""
    return f.regexp_extract(f.to_json(f.struct(text.alias("k"))), r'(?s)^\{"k":(.*)\}$', 1)


def _records(frame: DataFrame, key: Sequence[str], name: str) -> DataFrame:
    """Key and value of each row, as texts."""
    text = _text(frame, key[0]) if len(key) == 1 else _object(key)
    value = _object(frame.columns, {name for name, told in frame.dtypes if _is_long(told)})
    return frame.select(text.alias(_KEY), value.alias(name))


def _text(frame: DataFrame, column: str) -> Column:
    """What a column holds as texts, those of times as Spark has them where it is UTC."""
    held = f.col(quoted(column))
    if dict(frame.dtypes)[column] == "timestamp":
        held = f.timestamp_add("MICROSECOND", f.unix_micros(held), f.lit("1970-01-01").cast("timestamp_ntz"))
    return held.cast("string")


def _object(columns: Sequence[str], texts: Collection[str] = ()) -> Column:
    """What columns hold, as a JSON object; some of them as texts."""
    held = {column: f.col(quoted(column)) for column in sorted(columns)}
    told = (one.cast("string").alias(column) if column in texts else one for column, one in held.items())
    return f.to_json(f.struct(*told), _WRITTEN)


def _is_long(told: str) -> bool:
    """Whether a type is of decimals that may have more digits than a number of JSON keeps in most hands, Python's too:
    a double."""
    found = re.fullmatch(r"decimal\((\d+),\d+\)", told)
    return found is not None and int(found[1]) > _DIGITS


def _check(frame: DataFrame, key: Sequence[str]) -> None:
    """One pass over the keys."""
    missing = [column for column in key if column not in frame.columns]
    if not key or missing:
        raise InvalidValue("the key of an export", list(key), f"some of its columns: {', '.join(frame.columns)}")
    null = reduce(lambda one, other: one | other, (f.col(quoted(column)).isNull() for column in key))
    for row in frame.where(null).limit(1).collect():
        raise InvalidValue(f"the key of a row of an export, {row.asDict()}", None, "one that is not null")
    named = f.struct(*(quoted(column) for column in key)).alias(_KEY)
    counted = frame.groupBy(named).agg(f.count("*").alias(_TIMES))
    for found, times in counted.where(f.col(_TIMES) > 1).limit(1).collect():
        raise InvalidValue("a key of an export", found.asDict(), f"one that is there once, not {times} times")


def diff_load(before: DataFrame | None, after: DataFrame, key: Sequence[str], event: Time, target: Target) -> Batch:
    """Compare two exports and apply what changed, as one round: all of it is stable at once. `SyncFailed` if an export
    can't be read to its end; then nothing was applied, or done again the rest will be."""
    try:
        changed = differences(before, after, key, event)
    except (PySparkException, Py4JJavaError) as exc:
        raise SyncFailed("the comparison", reason_of(exc)) from exc
    return synchronize_frame(changed, target)
