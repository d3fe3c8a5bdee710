"""All versions of many cells, `Table.histories`."""

import pytest

from neomodel.errors import InvalidValue
from neomodel.stores import Mutation, Table
from tests.stores.shorthand import put


def test_all_versions_of_each_cell_are_read_the_newest_first(table: Table, key: bytes) -> None:
    rows = [key + bytes([number]) for number in range(3)]
    table.put_many(Mutation(row, {b"p:a": b"1", b"p:a\0": b"x", b"p:b": b"2"}) for row in rows)
    put(table, rows[0], {b"p:a": b"3"})
    put(table, rows[1], {b"p:b": None})
    put(table, rows[2], {b"p:b\xff\0'": b"4"})

    asked = [(rows[0], b"p:a"), (rows[1], b"p:b"), (rows[2], b"p:b\xff\0'"), (rows[2], b"p:c"), (b"none", b"p:a")]
    found = table.histories([*asked, (rows[0], b"p:b")])
    assert {cell: [version.value for version in versions] for cell, versions in found.items()} == {
        asked[0]: [b"3", b"1"],
        asked[1]: [None, b"2"],
        asked[2]: [b"4"],
        (rows[0], b"p:b"): [b"2"],
    }
    for (row, column), versions in found.items():
        assert versions == list(table.history(row, row + b"\0", columns=[column]))
    assert table.histories([]) == {}


def test_more_cells_than_one_call_takes_are_read(table: Table, key: bytes) -> None:
    rows = [key + b"%05d" % number for number in range(2500)]
    table.put_many(Mutation(row, {b"p:a": row}) for row in rows)

    found = table.histories([(row, b"p:a") for row in rows])
    assert {row: versions[0].value for (row, _), versions in found.items()} == {row: row for row in rows}


def test_a_family_that_is_not_there_is_refused(table: Table, key: bytes) -> None:
    with pytest.raises(InvalidValue):
        table.histories([(key, b"x:a")])
