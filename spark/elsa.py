"""The data source ``elsa``: external systems as of a token as DataFrames, and look-ups of single records in tasks."""

from collections.abc import Iterable, Iterator, MutableMapping
from functools import partial
from itertools import islice
from typing import Any

import attrs
import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BinaryType, StringType, StructField, StructType, TimestampType

import neomodel as nm
from metamodels import elsa
from metamodels.elsa.values import told
from neomodel.errors import InvalidValue
from neomodel.sharing import shared
from neomodel.times import STABLE, Time, instant, parsed
from spark.options import flag, named
from spark.partitions import Part, parts_of
from spark.sentences import one_sentence
from spark.snapshots import reached

_OPTIONS = {"store", "system", "elsa", "token", "event", "ingest", "prefix", "without_erased"}
_BATCH = 8192  # rows
_KEYS = 1000  # looked up at once
_NOTHING = (None,) * 5

FOUND = StructType(
    [
        StructField("event", TimestampType()),
        StructField("ingest", TimestampType()),
        StructField("kind", StringType()),
        StructField("value", StringType()),
        StructField("data", BinaryType()),
    ]
)
SCHEMA = StructType([StructField("key", StringType(), nullable=False), *FOUND.fields])


@attrs.frozen
class Mirror:
    """A system as of a token, as it goes to every task: names, nothing live."""

    store: str
    name: str
    system: str
    token: str
    without_erased: bool = False

    def open(self) -> elsa.ExternalSystem:
        return elsa.open(shared(self.store), self.name, create=False).system(self.system)

    @classmethod
    def taken(
        cls,
        store: str,
        system: str,
        *,
        name: str = "elsa",
        token: "str | elsa.Token | None" = None,
        event: Time | None = None,
        ingest: Time | None = None,
        without_erased: bool = False,
    ) -> "Mirror":
        """That of a system as of a token, or as of times, by default all events as known at the stable time."""
        url = reached(store)
        opened = elsa.open(shared(url), name, create=False)
        if token is not None and (event is not None or ingest is not None):
            raise InvalidValue("option token", str(token), "none beside event and ingest, which it has")
        given = opened.token(event=event, ingest=ingest) if token is None else opened.parsed(token)
        opened.system(system).as_of(token=given)  # or it is not there, or not kept any more
        return cls(url, name, system, str(given), without_erased)


class ElsaSource(DataSource):
    """``session.read.format("elsa").options(store=…, system=…, token=…).load()``: the records of a system as of a
    token, one partition for each region.

    Columns: `key`; `event` and `ingest`, the times of the version; `kind`: ``text``, ``json``, ``element`` or
    ``bytes``; `value`: the text, or JSON; `data`: the bytes. Instead of a token, `event` and `ingest` times; without
    either, the stable time is taken once, when `load` is called. `prefix`: what keys begin with. `elsa`: the name of
    the ELSA in the store. `without_erased`: leave out keys that were erased since, instead of refusing to read.
    """

    @classmethod
    def name(cls) -> str:
        return "elsa"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._mirror: Mirror | None = None
        self._prefix = ""

    @one_sentence()
    def schema(self) -> StructType:
        given = named(self.options, _OPTIONS, ("store", "system"), "elsa")
        self._prefix = given.get("prefix", "")
        self._mirror = Mirror.taken(
            given["store"],
            given["system"],
            name=given.get("elsa", "elsa"),
            token=given.get("token"),
            event=_time(given, "event"),
            ingest=_time(given, "ingest"),
            without_erased=flag(given, "without_erased"),
        )
        return SCHEMA

    @one_sentence()
    def reader(self, schema: StructType) -> "ElsaReader":
        if self._mirror is None:
            raise InvalidValue("a schema for format elsa", schema.simpleString(), "none: all systems have the same")
        return ElsaReader(self._mirror, self._prefix)


class ElsaReader(DataSourceReader):
    """Plans partitions in the driver, and reads them in tasks."""

    def __init__(self, mirror: Mirror, prefix: str) -> None:
        self._mirror = mirror
        self._prefix = prefix

    @one_sentence()
    def partitions(self) -> list[Part]:
        system = self._mirror.open()
        table = shared(self._mirror.store).store.table(system.model_name)
        return parts_of(table, *system.rows(self._prefix)) or [Part(b"\0", b"\0")]

    def read(self, partition: Part) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        with one_sentence():
            yield from batches(self._mirror, partition)


def batches(mirror: Mirror, part: Part) -> Iterator[pa.RecordBatch]:
    """The records in a part, as Arrow. One scan."""
    found = mirror.open().entries((part.start, part.stop), token=mirror.token, without_erased=mirror.without_erased)
    alive = ((key, entry) for key, entry in found if not entry.retracted)
    while page := list(islice(alive, _BATCH)):
        arrays = [pa.array([key for key, _ in page], pa.string()), *_columns([entry for _, entry in page])]
        yield pa.RecordBatch.from_arrays(arrays, schema=to_arrow_schema(SCHEMA, timezone="UTC"))


def lookup(
    frame: DataFrame,
    key: str,
    *,
    store: str,
    system: str,
    name: str = "elsa",
    token: "str | elsa.Token | None" = None,
) -> DataFrame:
    """The frame with the columns of the record that each of its rows names by a key, null where there is none: by
    multi-gets in its tasks, 1,000 keys each. For few records of a large system; a join is for many."""
    taken = {field.name for field in frame.schema.fields} & set(FOUND.names)
    if taken or key not in frame.columns:
        expected = f"one with the column {key!r}, and without {', '.join(FOUND.names)}"
        raise InvalidValue("a frame to look records up for", sorted(frame.columns), expected)
    mirror = Mirror.taken(store, system, name=name, token=token)
    rows = frame.rdd.mapPartitions(partial(_looked_up, mirror, frame.columns.index(key)))
    schema = StructType([*frame.schema.fields, *FOUND.fields])
    return frame.sparkSession.createDataFrame(rows, schema, verifySchema=False)


def _looked_up(mirror: Mirror, column: int, rows: Iterable[Row]) -> Iterator[tuple[Any, ...]]:
    with one_sentence():
        system, left = mirror.open(), iter(rows)
        while page := list(islice(left, _KEYS)):
            keys = {row[column] for row in page if row[column] is not None}
            found = system.entries_of(keys, token=mirror.token) if keys else {}
            for row in page:
                entry = found.get(row[column])
                yield (*row, *(_NOTHING if entry is None or entry.retracted else _found(entry)))


def _found(entry: nm.Entry) -> tuple[Any, ...]:
    """The columns of `FOUND`."""
    return instant(entry.event), instant(entry.ingest or 0), *told(entry.value)


def _columns(entries: list[nm.Entry]) -> list[pa.Array]:
    """The same of many, as Arrow."""
    time = pa.timestamp("us", "UTC")
    kinds, values, data = zip(*(told(entry.value) for entry in entries), strict=True)
    return [
        pa.array([entry.event for entry in entries], time),
        pa.array([entry.ingest for entry in entries], time),
        pa.array(kinds, pa.string()),
        pa.array(values, pa.string()),
        pa.array(data, pa.binary()),
    ]


def _time(given: dict[str, str], name: str) -> Time | None:
    found = parsed(given[name]) if name in given else STABLE
    if isinstance(found, str):
        if name in given and name == "event":
            raise InvalidValue("option event", given[name], "a time; stable is an ingest time")
        return None
    return found
