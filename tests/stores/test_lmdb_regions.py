"""The ranges an LMDB table is cut into are about equal, however unevenly its keys lie."""

from pathlib import Path

import pytest

from neomodel.stores import Mutation, Region, Table, open_store


def counted(table: Table, regions: list[Region]) -> list[int]:
    return [sum(1 for _ in table.scan(region.start, region.stop)) for region in regions]


@pytest.mark.parametrize("rows", [20_000, 120_000], ids=["few enough to look at", "judged by samples"])
def test_ranges_hold_about_equally_many_rows(tmp_path: Path, rows: int) -> None:
    with open_store(f"lmdb:{tmp_path}") as store:
        table = store.table("jdt")
        table.create("p")
        # Nine tenths of the keys lie close together, and the rest far apart.
        keys = (b"\x00near %09d" % n if n % 10 else b"%c far %09d" % (n % 256, n) for n in range(rows))
        table.put_many(Mutation(key, {b"p:x": b""}) for key in keys)

        counts = counted(table, table.regions())

    assert sum(counts) == rows
    assert len(counts) == min(16, rows // 8192)
    assert max(counts) <= 1.6 * rows / len(counts)


def test_a_small_table_is_one_range(tmp_path: Path) -> None:
    with open_store(f"lmdb:{tmp_path}") as store:
        store.table("jdt").create("p")
        assert store.table("jdt").regions() == [Region(b"", None)]
