"""What the history of a row costs on LMDB, by counting the versions that are walked over; and that of a deep tree."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neomodel.stores import Mutation, lmdb_pages, lmdb_walk, open_store

COLUMNS = [b"x:%04d" % number for number in range(5000)]


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The keys of all versions that were walked over so far."""
    seen: list[bytes] = []
    versions = lmdb_walk.versions

    def noted(*args: Any) -> Iterator[tuple[bytes, bytes]]:
        for key, value in versions(*args):
            seen.append(key)
            yield key, value

    monkeypatch.setattr(lmdb_walk, "versions", noted)
    return seen


def test_the_history_of_some_columns_of_one_row_passes_over_the_rest(tmp_path: Path, walked: list[bytes]) -> None:
    with open_store(f"lmdb:{tmp_path}") as store:
        table = store.table("t")
        table.create("px")
        for key in (b"a", b"row", b"z"):
            table.put_many([Mutation(key, {b"p:a": b"1", **dict.fromkeys(COLUMNS, b"1")})])
        table.put_many([Mutation(b"row", {COLUMNS[2001]: b"2"})])

        found = list(table.history(b"row", b"row\0", columns=COLUMNS[2000:2003]))

        assert [(one.column, one.value) for one in found] == [
            (COLUMNS[2000], b"1"),
            (COLUMNS[2001], b"2"),
            (COLUMNS[2001], b"1"),
            (COLUMNS[2002], b"1"),
        ]
        assert len(walked) == 4


@pytest.mark.parametrize("pages", [2, 40, 512])
def test_versions_below_any_number_of_branches_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    """Long keys make a deep tree: some eight entries in a page."""
    monkeypatch.setattr(lmdb_pages, "PAGES", pages)
    chance = random.Random(pages)
    keys = sorted({b"%d" % chance.randrange(10**9) + b"k" * 450 for _ in range(12_000)})
    with open_store(f"lmdb:{tmp_path}") as store:
        table = store.table("t")
        table.create("p")
        table.put_many(Mutation(key, {b"p:x": key[:9]}) for key in keys)
        bounds = [(keys[0], keys[-1]), *(sorted(chance.sample(keys, 2)) for _ in range(20))]

        for start, stop in [(b"", None), *bounds]:
            found = [key for block in table.history_blocks(start, stop) for key in block.column(0).to_pylist()]

            assert found == [key for key in keys if start <= key and (stop is None or key < stop)]
