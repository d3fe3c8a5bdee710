"""What a walk over stored versions looks at: steps of the cursor are counted, since seconds depend on the machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lmdb
import pytest

from neomodel.stores import lmdb_walk as walk
from neomodel.stores.encoding import encode_time

PREFIX = b"\1\0\0\1"
VERSIONS = 1000


class Counted:
    """A cursor that counts where it went."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self.steps = 0

    def set_range(self, key: bytes) -> bool:
        self.steps += 1
        return bool(self._cursor.set_range(key))

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for item in self._cursor:
            self.steps += 1
            yield item


@pytest.fixture
def cursor(tmp_path: Path) -> Iterator[Counted]:
    """On a row with one version of a cell, and then a thousand of two others."""
    with lmdb.open(str(tmp_path)) as env:
        with env.begin(write=True) as txn:
            txn.put(PREFIX + b"k\0p:a\0" + encode_time(1), b"once")
            for column in (b"p:b", b"t:version"):
                for time in range(1, VERSIONS + 1):
                    txn.put(PREFIX + b"k\0" + column + b"\0" + encode_time(time), b"%d" % time)
        with env.begin() as txn:
            yield Counted(txn.cursor())


def test_the_newest_cells_of_a_row_are_found_without_a_look_at_all_versions(cursor: Counted) -> None:
    (part,) = walk.WHOLE

    assert walk.newest(cursor, PREFIX, [b"k"], *part) == {
        b"k": {b"p:a": b"once", b"p:b": b"1000", b"t:version": b"1000"}
    }
    assert cursor.steps < 30


def test_cells_as_of_a_time_are_found_without_a_look_at_all_versions(cursor: Counted) -> None:
    assert walk.row_at(cursor, PREFIX + b"k", walk.WHOLE, encode_time(500)) == {
        b"p:a": b"once",
        b"p:b": b"500",
        b"t:version": b"500",
    }
    assert cursor.steps < 30
