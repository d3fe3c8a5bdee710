"""What the history of a row costs on LMDB, by counting the versions that are walked over; a deep tree; and
versions that are written while others write."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neomodel.errors import InvalidValue
from neomodel.stores import Mutation, Version, lmdb_pages, lmdb_versions, lmdb_walk, open_store
from neomodel.stores.blocks import versions_of

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


def test_versions_are_prepared_while_others_write_and_go_where_the_table_is_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = lmdb_versions.stored
    with open_store(f"lmdb:{tmp_path}") as store:
        table = store.table("t")
        table.create("p")
        versions = [Version(b"k%04d" % number, b"p:x", 5, b"1") for number in range(1000)]

        def meanwhile(*args: Any) -> Any:
            monkeypatch.setattr(lmdb_versions, "stored", stored)
            table.drop()
            table.create("pc")
            return stored(*args)

        monkeypatch.setattr(lmdb_versions, "stored", meanwhile)
        writer = threading.Thread(target=table.put_history, args=[versions_of(iter(versions))], daemon=True)
        writer.start()
        writer.join(30)  # never ends if it keeps others from writing

        assert not writer.is_alive()
        assert list(table.history()) == versions


def test_a_purge_while_versions_are_prepared_refuses_those_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = lmdb_versions.stored
    with open_store(f"lmdb:{tmp_path}") as store:
        table = store.table("t")
        table.create("p")

        def meanwhile(*args: Any) -> Any:
            monkeypatch.setattr(lmdb_versions, "stored", stored)
            table.purge(10)
            return stored(*args)

        monkeypatch.setattr(lmdb_versions, "stored", meanwhile)
        with pytest.raises(InvalidValue, match="a past one, from 11"):
            table.put_history(versions_of(iter([Version(b"k", b"p:x", 10, b"1")])))

        assert list(table.history()) == []
