"""Scans of columns that are named, and blocks of them: the same as what a scan of everything has in them."""

import random
import threading
from collections.abc import Collection, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neomodel.errors import CorruptStore, InvalidValue
from neomodel.stores import Mutation, Row, Store, Table, lmdb_pages, open_store
from neomodel.stores.lmdb_file import LmdbFile

KEYS = [b"a", b"a\0", b"ab", b"b\1c", b"z"]
COLUMNS = [b"p:%02d" % number for number in range(30)] + [b"p:\0", b"p:\1x", b"t:a", b"t:b", b"c:z"]
VALUES = [b"", b"\0", b"x", b"\0y", None]

mutations = st.builds(
    Mutation,
    st.sampled_from(KEYS),
    st.dictionaries(st.sampled_from(COLUMNS), st.sampled_from(VALUES), min_size=1, max_size=30),
    st.none(),
)
names = count()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("columns")
    with open_store(f"lmdb:{folder}/db") as opened:
        yield opened


def in_blocks(table: Table, columns: Collection[bytes], *bounds: Any, at: int | None = None) -> list[tuple[bytes, Row]]:
    return [row for block in table.blocks(columns, *bounds, at=at) for row in block.rows()]


@given(
    written=st.lists(mutations, max_size=25),
    columns=st.sets(st.sampled_from(COLUMNS), min_size=2, max_size=6),
    back=st.integers(0, 30),
    start=st.sampled_from([b"", *KEYS]),
    stop=st.sampled_from([None, *KEYS]),
)
def test_named_columns_are_those_of_whole_rows(
    store: Store, written: list[Mutation], columns: set[bytes], back: int, start: bytes, stop: bytes | None
) -> None:
    table = store.table(f"t{next(names)}")
    table.create("pct")
    times = [table.now()]
    for mutation in written:
        table.put_many([mutation])
        times.append(table.now())
    for at in (None, times[max(0, len(times) - 1 - back)]):
        whole = [(key, {c: v for c, v in row.items() if c in columns}) for key, row in table.scan(start, stop, at=at)]

        assert list(table.scan(start, stop, at=at, columns=columns)) == [(key, row) for key, row in whole if row]
        assert in_blocks(table, columns, start, stop, at=at) == [(key, row) for key, row in whole if row]
    table.drop()


# blocks


@pytest.mark.parametrize(("pages", "most"), [(1, 1 << 26), (3, 20_000), (512, 1)])
def test_blocks_end_anywhere_and_rows_are_whole(
    store: Store, monkeypatch: pytest.MonkeyPatch, pages: int, most: int
) -> None:
    monkeypatch.setattr(lmdb_pages, "PAGES", pages)
    monkeypatch.setattr(lmdb_pages, "MOST_BYTES", most)
    chance = random.Random(pages)
    table = store.table(f"t{next(names)}")
    table.create("pct")
    keys = [chance.randbytes(chance.choice((1, 2, 3, 4, 5, 8, 9, 16, 17, 40))) for _ in range(400)]
    for _ in range(3):
        table.put_many(
            Mutation(key, {column: chance.choice((b"", b"\0x", b"x" * chance.choice((1, 50, 1500, 9000)), None))})
            for key in keys
            for column in chance.sample(COLUMNS, 4)
        )
    table.put_many(Mutation(keys[7], {b"p:%08d" % number: b"y" * 100}) for number in range(2000))  # over many pages
    for at in (None, table.now() - 1000):
        for columns in (COLUMNS[-8:], [b"p:00"], [b"p:00000000", b"p:00001999"]):
            assert in_blocks(table, columns, at=at) == list(table.scan(at=at, columns=columns))


def test_blocks_are_of_their_time_while_others_write(store: Store) -> None:
    table = store.table(f"t{next(names)}")
    table.create("p")
    table.put_many(Mutation(b"%06d" % number, {b"p:a": b"old", b"p:b": b"1"}) for number in range(20_000))
    at, done = table.now(), threading.Event()

    def write() -> None:
        number = 0
        while not done.is_set():
            table.put_many([Mutation(b"%06d" % (number * 7919 % 20_000), {b"p:a": b"new"})])
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            found = in_blocks(table, [b"p:a"], at=at)
            assert len(found) == 20_000
            assert {row[b"p:a"] for _, row in found} == {b"old"}
    finally:
        done.set()
        writer.join()


@pytest.mark.parametrize("columns", [[], [b"p:"], [b"q:x"], [b"p:x", b"t:"]])
def test_blocks_are_of_columns_that_are_named_in_full(store: Store, columns: list[bytes]) -> None:
    table = store.table(f"t{next(names)}")
    table.create("pt")

    with pytest.raises(InvalidValue):
        list(table.blocks(columns))


def test_a_page_that_leads_nowhere_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    table = store.table(f"t{next(names)}")
    table.create("p")
    found = LmdbFile.pages
    monkeypatch.setattr(LmdbFile, "pages", lambda *given: (*found(*given)[:2], 1 << 40))

    with pytest.raises(CorruptStore):
        list(table.blocks([b"p:a"]))
