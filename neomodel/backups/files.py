"""Files of cells: Parquet with the columns of `blocks.VERSIONS`, sorted by key and column, the newest version first.

A file is written beside its place, under a name that nobody takes for it, and put there when it is on disk. One that is
full is followed by another, which begins with the next row.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neomodel.backups.manifest import REMEDY, File
from neomodel.errors import DamagedBackup
from neomodel.stores.blocks import VERSIONS

CELLS = 2_000_000
"""In a file, or those of a row more."""
BYTES = 128 << 20
"""Of a file, about."""
_GROUP_CELLS, _GROUP_BYTES = 1 << 17, 8 << 20  # of a row group, which is held in memory
_PAGE = 1 << 16  # cells read at a time
_HASHED = 1 << 20  # bytes at a time


class Hashing:
    """A stream to write to that knows the checksum of what was written."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.hash = hashlib.sha256()
        self.bytes = 0
        self.closed = False

    def write(self, data: Any) -> int:
        self.hash.update(data)
        self.bytes += len(data)
        return self._stream.write(data)

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        self.closed = True


@contextmanager
def whole(path: Path, *, durable: bool = True) -> Iterator[Hashing]:
    """Write a file: it is there when the block ends, on disk and under its name, or not at all. One that need not be
    `durable` may be lost, or broken, if the machine fails."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as stream:
            yield Hashing(stream)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    with whole(path, durable=durable) as stream:
        stream.write(text.encode())


def on_disk(folder: Path) -> None:
    """Have the names in a folder on disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


class Shelf:
    """Where a part of a table is put: files of one name with numbers, in a backup's folder. What is there already,
    since somebody who did the same was interrupted, is not written again. With None for `cells` all of it is one
    file, however much that is."""

    def __init__(self, folder: Path, table: str, name: str, *, cells: int | None = CELLS) -> None:
        self._folder = folder
        self._stem = f"{table}/{name}"
        self._most = cells
        self.files: list[File] = []
        self.notes: list[dict[str, Any]] = []
        """What was noted with each of them."""
        (folder / table).mkdir(exist_ok=True)
        (folder / JOURNAL / table).mkdir(parents=True, exist_ok=True)
        while (found := self._noted()) is not None:
            self._add(*found)

    @property
    def resume(self) -> bytes | None:
        """From which key on to write; None: from the beginning."""
        return self.files[-1].range[1] + b"\0" if self.files else None

    def put(self, blocks: Iterable[Any], note: Callable[[], dict[str, Any]] = dict) -> None:
        """Write blocks of versions, those of a row one after another. What `note` says when a file is complete is noted
        with it."""
        waiting = iter(blocks)
        block = next(waiting, None)
        while block is not None:
            path = self._path(".parquet")
            with whole(self._folder / path) as stream, _Filling(stream) as filling:
                while block is not None:
                    block = filling.add(block, self._most)
                    if block is not None:
                        break
                    block = next(waiting, None)
            file = filling.file(path)
            said = note()
            noted = json.dumps([attrs.asdict(file), said])
            # a note that is lost costs no more than to write its file again
            write_text(self._folder / JOURNAL / self._path(".json"), noted, durable=False)
            self._add(file, said)

    def _add(self, file: File, said: dict[str, Any]) -> None:
        self.files.append(file)
        self.notes.append(said)

    def _path(self, suffix: str) -> str:
        return f"{self._stem}-{len(self.files):04}{suffix}"

    def _noted(self) -> tuple[File, dict[str, Any]] | None:
        """The next file that is there, as it was noted, and whole."""
        try:
            about, said = json.loads((self._folder / JOURNAL / self._path(".json")).read_bytes())
            file = File(**about)
            check(self._folder, file)
        except (OSError, ValueError, TypeError):  # a damaged one is one of these
            return None
        return file, said


JOURNAL = "journal"
"""The folder of notes on files that are complete, while others are not."""


class _Filling:
    """One file that is being written."""

    def __init__(self, stream: Hashing) -> None:
        self._stream = stream
        self._writer = pq.ParquetWriter(
            stream, VERSIONS, compression="zstd", use_dictionary=["column"], write_statistics=["key"]
        )
        self._waiting: list[Any] = []
        self._cells = self._bytes = self._rows = self._total = 0
        self._first = self._last = b""

    def __enter__(self) -> "_Filling":
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        if kind is None:
            self._flush()
        self._writer.close()

    def add(self, block: Any, most: int | None) -> Any:
        """Take a block; what of it belongs into the next file, if this one is full, is returned."""
        keys = block.column(0)
        same = bool(self._total) and keys[0].as_py() == self._last
        begins = pa.concat_arrays([pa.array([not same]), pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1))])
        room = len(block) if most is None else self._room(most)
        later = begins.slice(room).index(True).as_py() if room < len(block) else -1
        taken = len(block) if later < 0 else room + later
        if taken:
            self._take(block.slice(0, taken), pc.sum(begins.slice(0, taken)).as_py())
        return block.slice(taken) if taken < len(block) else None

    def _room(self, most: int) -> int:
        """For how many more cells there is room in a file that is not to have more than some."""
        return 0 if self._stream.bytes >= BYTES else max(most - self._total, 0)

    def _take(self, block: Any, rows: int) -> None:
        keys = block.column(0)
        if not self._total:
            self._first = keys[0].as_py()
        self._last = keys[len(keys) - 1].as_py()
        self._rows += rows
        self._total += len(block)
        self._waiting.append(block)
        self._cells += len(block)
        self._bytes += block.nbytes
        if self._cells >= _GROUP_CELLS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def file(self, path: str) -> File:
        stream = self._stream
        digest = stream.hash.hexdigest()
        return File(path, digest, stream.bytes, self._rows, self._total, self._first.hex(), self._last.hex())

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting, VERSIONS), row_group_size=self._cells)
        self._waiting, self._cells, self._bytes = [], 0, 0


def check(folder: Path, file: File) -> None:
    """Return if a file is what was written; `DamagedBackup` names it otherwise. Reads all of it."""
    path = folder / file.path
    digest = hashlib.sha256()
    try:
        size = path.stat().st_size
        if size != file.size:
            raise DamagedBackup(str(path), f"it has {size:,} bytes, and had {file.size:,}", REMEDY)
        with path.open("rb") as stream:
            while data := stream.read(_HASHED):
                digest.update(data)
    except FileNotFoundError as exc:
        raise DamagedBackup(str(path), "it is missing", REMEDY) from exc
    if digest.hexdigest() != file.sha256:
        raise DamagedBackup(str(path), "its bytes are not those that were written", REMEDY)
    with pq.ParquetFile(path) as found:
        if found.metadata.num_rows != file.cells:
            reason = f"it has {found.metadata.num_rows:,} cells, and its manifest says {file.cells:,}"
            raise DamagedBackup(str(path), reason, REMEDY)


def blocks(folder: Path, file: File) -> Iterator[Any]:
    """What a file holds, a part at a time."""
    with pq.ParquetFile(folder / file.path) as found:
        yield from found.iter_batches(_PAGE)
