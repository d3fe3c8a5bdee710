"""Parts of a restore: a file of a backup that is checked, and one that is written into a table."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

from neomodel.backups.files import blocks, check
from neomodel.backups.manifest import File
from neomodel.batches import Batches
from neomodel.stores import Store
from neomodel.stores.blocks import without
from neomodel.unfinished import Unfinished


@attrs.frozen
class Done:
    """A file of so many cells was dealt with."""

    cells: int


@attrs.frozen
class Check:
    """A file that is to be what was written: `DamagedBackup` if it is not."""

    folder: str
    file: File

    def run(self, store: Store) -> Done:  # noqa: ARG002  as of all parts
        check(Path(self.folder), self.file)
        return Done(self.file.cells)


@attrs.frozen
class Write:
    """The cells of a file, written to a table with their own times, without rows that others replace. `label` is what
    it is noted by when it is done; `token` that of the batch in which the table may be written to."""

    folder: str
    file: File
    table: str
    without: frozenset[bytes]
    label: str
    token: str

    def run(self, store: Store) -> Done:
        marks = Unfinished(store, Batches(store))
        found = without(blocks(Path(self.folder), self.file), self.without)
        store.table(self.table).put_history(self._watched(found, marks))
        marks.note(self.table, self.label)
        return Done(self.file.cells)

    def _watched(self, found: Iterable[Any], marks: Unfinished) -> Iterator[Any]:
        for block in found:
            marks.still(self.table, self.token)
            yield block
