"""Scans of columns that are named: the same as what a scan of everything has in them."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neomodel.stores import Mutation, Store, open_store

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
    table.drop()
