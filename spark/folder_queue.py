"""A queue that is a folder of JSON Lines files, as a stream: the data source ``elsa-folder``.

A file is in the queue when its name ends in ``.jsonl``, ``.ndjson`` or ``.json`` and begins with neither ``.`` nor
``_``: write it under another name, in the same file system, and rename it when it is complete. It is never changed or
removed here. Messages are its lines, byte for byte; empty ones are none. They are in the queue in the order of file
names, and in a file in that of lines: a message's `place` is both.

What has come is on record in a file beside Spark's checkpoint, *arrivals*: which file, from which byte to which. An
offset is how much of these was read. So a file that comes later than others with greater names is not missed, and one
that has grown since it was read is read from there on.
"""

import hashlib
import json
import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from neomodel.errors import InvalidFile, InvalidValue
from spark.options import check_positive, named
from spark.queues import LINES, LINES_ARROW, LONGEST_FILE, LONGEST_QUEUE, write_state
from spark.sentences import one_sentence

SUFFIXES = (".jsonl", ".ndjson", ".json")
_OPTIONS = {"folder", "log", "bytes", "messages", "queue"}
_AT_ONCE = 32 * 2**20  # bytes of a micro-batch
_OF_A_TASK = _AT_ONCE // 4 + 2**20  # so that the rest of the last line makes no eight tasks of four
_BYTES = 2**20  # of a row, and the rest of a line
_CHUNK = 2**20


class Arrival(NamedTuple):
    """A piece of a file that is in the queue."""

    file: str
    start: int
    stop: int


class Arrivals:
    """What has come into a folder, on record in a file of its own."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._folder = folder
        self._log = log
        self.all: list[Arrival] = []
        self._known: dict[str, int] = {}
        self._load()

    def _load(self) -> None:
        if not self._log.exists():
            return
        whole = 0
        with self._log.open("rb") as stream:
            for line in stream:
                if not line.endswith(b"\n"):  # it was being written when something was killed, and nobody went by it
                    break
                whole += len(line)
                self._add(Arrival(*json.loads(line)))
        os.truncate(self._log, whole)

    def look(self) -> None:
        """Put down what is new in the folder, by name."""
        with os.scandir(self._folder) as entries:
            sizes = {entry.name: entry.stat().st_size for entry in entries if _is_queued(entry)}
        new = [
            Arrival(name, self._known.get(name, 0), size)
            for name, size in sorted(sizes.items())
            if size > self._known.get(name, 0)
        ]
        if new:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            with self._log.open("ab") as stream:
                stream.write(b"".join(json.dumps(one).encode() + b"\n" for one in new))
                stream.flush()
                os.fsync(stream.fileno())
            for one in new:
                self._add(one)

    def _add(self, one: Arrival) -> None:
        self.all.append(one)
        self._known[one.file] = one.stop

    def pieces(self, start: dict[str, int], end: dict[str, int]) -> Iterator[Arrival]:
        """What lies between two offsets."""
        for number in range(start["arrival"], min(end["arrival"] + 1, len(self.all))):
            file, low, high = self.all[number]
            low = max(low, start["byte"]) if number == start["arrival"] else low
            high = min(high, end["byte"]) if number == end["arrival"] else high
            if low < high:
                yield Arrival(file, low, high)

    def end(self) -> dict[str, int]:
        return {"arrival": len(self.all), "byte": 0}

    def until(self, start: dict[str, int], last: dict[str, int], most: int, messages: int | None) -> dict[str, int]:
        """The offset up to which a micro-batch goes: so many bytes or messages after `start`, and to the end of a
        line."""
        for number in range(start["arrival"], last["arrival"]):
            file, low, high = self.all[number]
            low = max(low, start["byte"]) if number == start["arrival"] else low
            end, most, messages = _advanced(self._folder / file, low, high, most, messages)
            if end < high:
                return {"arrival": number, "byte": end}
            if most <= 0 or messages == 0:
                return {"arrival": number + 1, "byte": 0}
        return last


def _is_queued(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(SUFFIXES) and entry.name[0] not in "._" and entry.is_file()


def _advanced(path: Path, start: int, stop: int, most: int, messages: int | None) -> tuple[int, int, int | None]:
    """Where the line ends at which either is used up, and what is left of both."""
    if messages is None:
        if stop - start <= most:
            return stop, most - (stop - start), None
        with _opened(path) as stream:
            stream.seek(start + most)
            return min(start + most + _rest_of_line(stream), stop), 0, None
    with _opened(path) as stream:
        stream.seek(start)
        at = start
        while at < stop and messages > 0 and most > 0:
            length = _rest_of_line(stream)
            at, most, messages = at + length, most - length, messages - 1
        return min(at, stop), most, messages


def _rest_of_line(stream: Any) -> int:
    """How many bytes there are up to the end of a line, with it."""
    length = 0
    while chunk := stream.readline(_CHUNK):
        length += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return length


def _opened(path: Path) -> Any:
    try:
        return path.open("rb")
    except FileNotFoundError as exc:
        raise InvalidFile(str(path), "it was taken away before it was read; put it back") from exc


class FolderSource(DataSource):
    """``session.readStream.format("elsa-folder").options(folder=…, log=…).load()``: the messages in a folder.

    `log`: a folder for what is on record of it, the checkpoint's best. `queue`: what the queue is called, by default
    its path; messages are told from one another by that and their place. `bytes` and `messages`: how much a micro-batch
    takes in at most, 32 MB if nothing is said."""

    @classmethod
    def name(cls) -> str:
        return "elsa-folder"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)

    @one_sentence()
    def schema(self) -> StructType:
        given = named(self.options, _OPTIONS, (), "elsa-folder")
        for name in ("folder", "log"):
            if not given.get(name):
                raise InvalidValue(f"option {name}", given.get(name), "the path of a folder")
        check_positive(given, "bytes", "messages")
        return LINES

    def streamReader(self, schema: StructType) -> "FolderReader":  # noqa: ARG002, N802  Spark's name
        return FolderReader({name.lower(): value for name, value in self.options.items()})


class Piece(NamedTuple):
    """The lines that begin in a range of bytes of a file; `whole`: its first byte begins a line."""

    file: str
    start: int
    stop: int
    whole: bool


class Pieces(InputPartition):
    """What one task reads."""

    def __init__(self, pieces: tuple[Piece, ...]) -> None:
        super().__init__(pieces)
        self.pieces = pieces


class FolderReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Says in the driver which messages come next, and reads them in tasks."""

    def __init__(self, given: dict[str, str]) -> None:
        self._folder = Path(given["folder"]).absolute()
        self._log = Path(given["log"])
        self._queue = given.get("queue") or short(str(self._folder), LONGEST_QUEUE)
        self._most = int(given.get("bytes") or _AT_ONCE)
        self._messages = int(given["messages"]) if given.get("messages") else None
        self._found: Arrivals | None = None
        self._last: dict[str, int] | None = None

    @property
    def _arrivals(self) -> Arrivals:
        if self._found is None:
            self._found = Arrivals(self._folder, self._log / "arrivals")
        return self._found

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  Spark's name, as those below
        return {"arrival": 0, "byte": 0}

    @one_sentence()
    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """A folder that can't be read is one in which nothing is new, for now: what is wrong is put down."""
        down = self._look() if self._last is None else {}
        last = self._arrivals.end() if self._last is None else self._last
        most = 2**62 if isinstance(limit, ReadAllAvailable) else self._most
        found = self._arrivals.until(start, last, most, self._messages)
        left = sum(one.stop - one.start for one in self._arrivals.pieces(found, self._arrivals.end()))
        write_state(self._log, {"left": left, "unit": "bytes", **down})
        return found

    def _look(self) -> dict[str, str]:
        try:
            self._arrivals.look()
        except OSError as exc:
            return {"down": f"{self._folder} can't be read: {exc.strerror or exc}"}
        return {}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(2**62)

    @one_sentence()
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """What is there in this moment is all there is."""
        self._look()
        self._last = self._arrivals.end()

    @one_sentence()
    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """Read from the record, which a restarted driver has too. Long files are cut, to be read by several tasks, and
        short ones put together: a task takes longer to begin than to read some thousand lines."""
        return [Pieces(tuple(some)) for some in shares(list(self._arrivals.pieces(start, end)))]

    def read(self, partition: Pieces) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        from neomodel.garbage import settled  # in tasks only: the process that plans loads as little as it can

        with one_sentence():
            settled()
            for piece in partition.pieces:
                yield from batches(self._folder, self._queue, piece)


def shares(arrivals: list[Arrival]) -> Iterator[list[Piece]]:
    """What each task reads: as much as all others, and there are 1, 2, 4, 8 … of them, so that no core of 2, 4 or 8
    waits for another."""
    size = sum(stop - start for _, start, stop in arrivals)
    each = max(1, -(-size // (1 << (max(1, -(-size // _OF_A_TASK)) - 1).bit_length())))
    found: list[Piece] = []
    left = each
    for file, low, high in arrivals:
        first = low
        while first < high:
            last = min(first + left, high)
            found.append(Piece(file, first, last, first == low))
            left -= last - first
            first = last
            if not left:
                yield found
                found, left = [], each
    if found:
        yield found


def batches(folder: Path, queue: str, piece: Piece) -> Iterator[pa.RecordBatch]:
    """The lines of a piece, many in a row; these are in memory whole."""
    name = short(piece.file)
    with _opened(folder / piece.file) as stream:
        stream.seek(piece.start if piece.whole else piece.start - 1)
        at = piece.start if piece.whole else piece.start - 1 + _rest_of_line(stream)
        while at < piece.stop:
            data = stream.read(min(_BYTES, piece.stop - at))
            if not data:
                raise InvalidFile(str(folder / piece.file), f"it ends at byte {at:,}, and had more; put it back whole")
            if not data.endswith(b"\n"):
                data += stream.readline()
            yield pa.RecordBatch.from_pylist(
                [{"queue": queue, "file": name, "start": at, "lines": data}], schema=LINES_ARROW
            )
            at += len(data)


def short(name: str, longest: int = LONGEST_FILE) -> str:
    """A file's name as it is in places: of a very long one the beginning, and what tells it from others."""
    encoded = name.encode(errors="backslashreplace")
    if len(encoded) <= longest:
        return encoded.decode()
    return encoded[: longest - 17].decode(errors="ignore") + "~" + hashlib.sha256(encoded).hexdigest()[:16]
