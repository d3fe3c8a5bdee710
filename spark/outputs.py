"""Rows as files that depend on nothing but the rows: sorted by key, so many to a file, written with fixed settings.

The same rows give the same bytes, in whatever partitions and order they come, on however many cores. Spark sorts the
rows and keeps them; each has a place then, and rows of one file go to one task. Each file has two hashes: of its bytes,
which another version of pyarrow may change, and of its content (`content`).
"""

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.pandas.types import to_arrow_schema

from metamodels.anna.keys import key_text
from neomodel.errors import InvalidValue
from spark.content import combined, content_of, hashed
from spark.names import quoted
from spark.sentences import one_sentence

T = TypeVar("T")

BLOCK = 200_000
"""Rows of a file."""
_INDEX = "_neomodel_index"
_MANIFEST = ".written.json"
_IN_PARTITION = 2**31 - 1  # Spark counts up to there in each partition
_PARTS = 200  # tasks that write, at most
_SETTINGS: dict[str, Any] = {
    "version": "2.6",
    "compression": "zstd",
    "compression_level": 3,
    "use_dictionary": False,
    "write_statistics": True,
    "store_schema": False,
    "data_page_version": "1.0",
    "coerce_timestamps": "us",
}
KEYS = (
    t.StringType,
    t.IntegralType,
    t.BooleanType,
    t.DateType,
    t.TimestampType,
    t.DecimalType,
)
"""Types that key columns may have: those that actions can name rows by."""
PLAIN = (*KEYS, t.BinaryType, t.FloatType, t.DoubleType)


@attrs.frozen
class Output:
    """What was written: the files in their order, and a hash of all content."""

    rows: int
    content: str
    files: list[dict[str, Any]]


def write(
    frame: DataFrame,
    schema: t.StructType,
    key: tuple[str, ...],
    folder: Path,
    block: int,
    aside: Callable[[DataFrame], T],
) -> tuple[Output, T]:
    """Write the columns of a schema of the rows of a frame into a folder that all executors see. Files that are there
    are replaced one by one, by the same ones if the rows are the same; others are removed at the end. `aside` is called
    with the frame, computed once for all; what it returns is returned. `InvalidValue` if a key is null or twice."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = [*map(quoted, schema.names)]
    ordered = frame.sort(*map(quoted, key)).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        counts = {row[0]: row[1] for row in ordered.groupBy(f.spark_partition_id()).count().collect()}
        total = sum(counts.values())
        writer = FileWriter(str(folder), block, list(key), _indexed(schema))
        if total <= block:
            written = [writer.put(_placed(ordered.select(*columns).toArrow()))]
        else:
            written = _spread(ordered.select(*columns, _place(counts)), total, writer)
        found = aside(ordered)
    finally:
        ordered.unpersist()
    _check_whole(written, total, block)
    described = [{name: one[name] for name in ("name", "rows", "bytes", "sha256", "content")} for one in written]
    _tidied(folder, described)
    content = combined(to_arrow_schema(schema, timezone="UTC"), key, block, [one["content"] for one in described])
    return Output(total, content, described), found


def _spread(placed: DataFrame, total: int, writer: "FileWriter") -> list[dict[str, Any]]:
    """Have rows that know their places written in tasks, whole files to each."""
    parts = min(-(-total // writer.block), _PARTS)
    sorted_parts = placed.repartition(parts, f.expr(f"{_INDEX} div {writer.block}")).sortWithinPartitions(_INDEX)
    sorted_parts.write.format(FileSink.name()).mode("append").options(**writer.options()).save()
    found: list[dict[str, Any]] = json.loads((Path(writer.folder) / _MANIFEST).read_text())
    return found


def _place(counts: dict[int, int]) -> Column:
    """The place of a row among all, given how many each partition has."""
    starts, total = [], 0
    for number in range(max(counts) + 1):
        starts.append(total)
        total += counts.get(number, 0)
    inside = f.monotonically_increasing_id().bitwiseAND(_IN_PARTITION)
    return (f.lit(starts)[f.spark_partition_id()] + inside).cast("long").alias(_INDEX)


def _placed(table: pa.Table) -> pa.Table:
    """The same for rows that are all here."""
    return table.append_column(_INDEX, pa.array(range(table.num_rows), pa.int64()))


def _indexed(schema: t.StructType) -> t.StructType:
    return t.StructType([*schema.fields, t.StructField(_INDEX, t.LongType())])


def _check_whole(written: list[dict[str, Any]], total: int, block: int) -> None:
    """Refuse rows whose keys don't tell them apart, and rows that were others when they were written than when they
    were counted."""
    last = None
    for number, one in enumerate(written):
        if one["fault"] is not None or (last is not None and one["first"] == last):
            fault = one["fault"] or last
            raise InvalidValue("the key of a row", fault, "one that no other row has, without null")
        last = one["last"]
        if one["start"] != number * block or one["end"] - one["start"] != one["rows"]:
            total = -1
    if sum(one["rows"] for one in written) != total:
        raise InvalidValue("the rows of a frame", "others each time", "the same whenever they are computed")


def same_bytes(folder: Path, files: Iterable[dict[str, Any]]) -> bool:
    """Whether all files are there and are what was written. Reads them."""
    try:
        return all(hashed((folder / one["name"]).read_bytes()) == one["sha256"] for one in files)
    except OSError:
        return False


# in tasks


@attrs.frozen
class Files(WriterCommitMessage):
    """The files that a task has written."""

    files: list[dict[str, Any]]


class FileSink(DataSource):
    """Where Spark hands rows over that have places: sorted by these in each partition, whole files to each."""

    @classmethod
    def name(cls) -> str:
        return "neomodel_files"

    def writer(self, schema: t.StructType, overwrite: bool) -> "FileWriter":  # noqa: ARG002
        given = self.options
        return FileWriter(given["folder"], int(given["block"]), json.loads(given["key"]), schema)


class FileWriter(DataSourceArrowWriter):
    """Writes files in tasks, and in the driver a list of them."""

    def __init__(self, folder: str, block: int, key: list[str], schema: t.StructType) -> None:
        self.folder = folder
        self.block = block
        self._key = key
        self._arrow = to_arrow_schema(schema, timezone="UTC")

    def options(self) -> dict[str, str]:
        """What `FileSink` makes the same one of."""
        return {"folder": self.folder, "block": str(self.block), "key": json.dumps(self._key)}

    @one_sentence()
    def write(self, iterator: Iterator[pa.RecordBatch]) -> Files:
        waiting: list[pa.Table] = []
        files = []
        for batch in iterator:
            left = pa.Table.from_batches([batch])
            while left.num_rows:
                start = (waiting[0] if waiting else left).column(_INDEX)[0].as_py()
                end = start // self.block * self.block + self.block
                taken = min(left.num_rows, max(1, end - left.column(_INDEX)[0].as_py()))
                waiting.append(left.slice(0, taken))
                left = left.slice(taken)
                if waiting[-1].column(_INDEX)[-1].as_py() >= end - 1:
                    files.append(self.put(pa.concat_tables(waiting)))
                    waiting = []
        if waiting:
            files.append(self.put(pa.concat_tables(waiting)))
        return Files(files)

    @one_sentence()
    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        found = [one for message in messages if isinstance(message, Files) for one in message.files]
        _kept(Path(self.folder), _MANIFEST, json.dumps(sorted(found, key=lambda one: one["start"])).encode())

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Files stay: those of the next attempt take their place, or nobody names them."""

    def put(self, table: pa.Table) -> dict[str, Any]:
        """Write a file: it is there whole, or not at all."""
        table = table.combine_chunks().cast(self._arrow)
        places, rows = table.column(_INDEX), table.drop_columns([_INDEX])
        start = places[0].as_py() if len(places) else 0
        name = f"part-{start // self.block:06}.parquet"
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink, row_group_size=self.block, **_SETTINGS)
        data = sink.getvalue()
        _kept(Path(self.folder), name, data)
        first, last, fault = _keys(rows.select(self._key))
        return {
            "name": name,
            "rows": rows.num_rows,
            "bytes": data.size,
            "sha256": hashed(data),
            "content": content_of(rows),
            "start": start,
            "end": places[-1].as_py() + 1 if len(places) else 0,
            "first": first,
            "last": last,
            "fault": fault,
        }


def _keys(keys: pa.Table) -> tuple[str | None, str | None, str | None]:
    """The first key of sorted rows, the last, and one that is null or is there twice, if there is one."""
    if not keys.num_rows:
        return None, None, None

    def text(row: int) -> str:
        return key_text([column[row].as_py() for column in keys.columns])

    for column in keys.columns:
        if column.null_count:
            return None, None, text(pc.index(column.is_null(), True).as_py())
    same = None
    for column in keys.columns:
        equal = pc.equal(column[1:], column[:-1])
        same = equal if same is None else pc.and_(same, equal)
    twice = pc.index(same, True).as_py() if keys.num_rows > 1 else -1
    return text(0), text(keys.num_rows - 1), None if twice < 0 else text(twice)


# in folders


def _kept(folder: Path, name: str, data: Any) -> None:
    """Write a file that is there whole, on disk, or not at all."""
    aside = folder / f".{name}.{secrets.token_hex(6)}"
    with aside.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    aside.replace(folder / name)


def _tidied(folder: Path, files: list[dict[str, Any]]) -> None:
    """Remove what attempts that died have left, and make sure that names are on disk."""
    kept = {one["name"] for one in files}
    for path in folder.iterdir():
        if path.name not in kept:
            path.unlink(missing_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
