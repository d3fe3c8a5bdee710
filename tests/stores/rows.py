"""Rows that show whether they are the right ones: each has its own key in it, a number, and a checksum of both.

Whoever reads one knows whether it is whole and belongs to the key that was asked for.
"""

import zlib
from collections.abc import Iterable

from neomodel.stores import VERSION, Mutation, Row, Table, successor

KEY, NUMBER, SUM = b"p:key", b"p:number", b"p:sum"


def checked(key: bytes, number: int) -> Row:
    """The cells of a row that shows what it is."""
    return {KEY: key, NUMBER: b"%d" % number, SUM: b"%d" % _sum(key, b"%d" % number)}


def mutations(keys: Iterable[bytes], number: int) -> list[Mutation]:
    return [Mutation(key, checked(key, number)) for key in keys]


def number_of(key: bytes, row: Row) -> int:
    """The number in a row, which must be whole and that of the key."""
    assert {KEY, NUMBER, SUM} <= set(row) <= {KEY, NUMBER, SUM, VERSION}, (key, row)
    assert row[KEY] == key, (key, row)
    assert row[SUM] == b"%d" % _sum(key, row[NUMBER]), (key, row)
    return int(row[NUMBER])


def _sum(key: bytes, number: bytes) -> int:
    return zlib.crc32(key + b"\0" + number)


def swapped_versions(table: Table, key: bytes) -> list[bytes | None]:
    """Every value that `VERSION` of a row has had, the newest first."""
    return [version.value for version in table.history(key, key + b"\0", columns=[VERSION])]


def resolve(table: Table, key: bytes, version: bytes) -> bool:
    """Whether the swap to `version`, whose outcome was unknown, was or will be done: the answer is for ever.

    If it can't be seen, the row is swapped to another version with the same cells. Where that succeeds a swap that is
    still under way comes too late, as it expects what the row had before.
    """
    while version not in swapped_versions(table, key):
        row = table.get(key) or {}
        before = row.get(VERSION)
        if before == version:
            return True
        if table.swap(key, before, {**row, VERSION: successor(before)}):
            return version in swapped_versions(table, key)
    return True
