"""A part of a backup: the versions of the cells of a range of rows, put into files.

**An increment** has the versions that were written after a time, and that alone would miss one thing: the entries that
an object had in its timelines when it came from another model, which keep their times (`entries.carry`). Where a cell
with the life of a timeline is new, what there is of it from before is put into a file of its own.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from neomodel import layout
from neomodel.backups.files import CELLS, Shelf
from neomodel.backups.manifest import File
from neomodel.stores import Store, Table
from neomodel.stores.blocks import versions_of

_LIFE = re.compile(rb"[0-9a-f]{8}")
_PROPERTY = layout.column("")


@attrs.frozen
class Put:
    """What was put into files; and the namespaces that it names classes of."""

    files: tuple[File, ...]
    namespaces: tuple[str, ...]

    @property
    def cells(self) -> int:
        return sum(file.cells for file in self.files)


@attrs.frozen
class Range:
    """The rows of a table with `start` <= key < `stop`, with what was written after `since` up to `until`."""

    folder: str
    table: str
    name: str
    start: bytes
    stop: bytes | None
    since: int | None
    until: int
    most: int = CELLS

    def run(self, store: Store) -> Put:
        table = store.table(self.table)
        shelf = Shelf(Path(self.folder), self.table, self.name, cells=self.most)
        seen = _Seen(self.since is not None)
        found = table.history_blocks(shelf.resume or self.start, self.stop, since=self.since, until=self.until)
        if shelf.resume is not None and self.stop is not None and shelf.resume >= self.stop:
            found = iter(())
        shelf.put((seen.look(block) for block in found), seen.note)
        files = shelf.files
        lives = [life for note in shelf.notes for life in note["lives"]]
        if self.since is not None and lives:
            carried = Shelf(Path(self.folder), self.table, f"{self.name}-carried", cells=self.most)
            left = [life for life in lives if bytes.fromhex(life[0]) >= (carried.resume or b"")]
            if left:
                carried.put(_carried(table, left, self.since))
            files = [*files, *carried.files]
        return Put(tuple(files), tuple(sorted({uri for note in shelf.notes for uri in note["namespaces"]})))


@attrs.frozen
class Rows:
    """Some rows of a table, whole, up to a time."""

    folder: str
    table: str
    name: str
    keys: tuple[bytes, ...]
    until: int

    def run(self, store: Store) -> Put:
        table, seen = store.table(self.table), _Seen(False)
        shelf = Shelf(Path(self.folder), self.table, self.name)
        left = [key for key in self.keys if shelf.resume is None or key >= shelf.resume]
        blocks = (block for key in left for block in table.history_blocks(key, key + b"\0", until=self.until))
        shelf.put((seen.look(block) for block in blocks), seen.note)
        return Put(tuple(shelf.files), tuple(sorted({uri for note in shelf.notes for uri in note["namespaces"]})))


class _Seen:
    """What is noted of blocks as they pass: namespaces, and if wanted lives of timelines."""

    def __init__(self, lives: bool) -> None:
        self._wanted = lives
        self._namespaces: set[str] = set()
        self._lives: list[tuple[str, str, str]] = []

    def look(self, block: Any) -> Any:
        columns = block.column(1)
        named = block.column(3).filter(pc.equal(columns, pa.scalar(layout.NSURI, pa.binary())))
        self._namespaces.update(uri.decode() for uri in pc.unique(named).to_pylist() if uri is not None)
        if not self._wanted:
            return block
        eight = pc.and_(pc.starts_with(columns, _PROPERTY), pc.equal(pc.binary_length(block.column(3)), 8))
        for key, column, _, value in zip(*(part.to_pylist() for part in block.filter(eight).columns), strict=True):
            if _LIFE.fullmatch(value):
                self._lives.append((key.hex(), column.removeprefix(_PROPERTY).hex(), value.decode()))
        return block

    def note(self) -> dict[str, Any]:
        """What was seen since it was last asked for."""
        said = {"namespaces": sorted(self._namespaces), "lives": self._lives}
        self._namespaces, self._lives = set(), []
        return said


def _carried(table: Table, lives: list[tuple[str, str, str]], until: int) -> Iterator[Any]:
    """The entries of timelines, by row, feature and life, that have times up to `until`. One scan of the rows between
    the first and the last."""
    rows: dict[bytes, list[bytes]] = {}
    for key, feature, life in lives:
        head = layout.extent(bytes.fromhex(feature) + b"\0" + life.encode())
        rows.setdefault(bytes.fromhex(key), []).append(head)
    found = table.history(min(rows), max(rows) + b"\0", columns=[layout.extent(b"")], until=until)
    wanted = (version for version in found if version.column.startswith(tuple(rows.get(version.key, ()))))
    yield from versions_of(wanted)
