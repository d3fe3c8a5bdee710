"""What tests of stores say all the time, said briefly."""

from neomodel.stores import Mutation, Table, Version
from neomodel.stores.base import Cells


def put(table: Table, key: bytes, cells: Cells, time: int | None = None) -> None:
    table.put_many([Mutation(key, cells, time)])


def versions(table: Table, key: bytes) -> list[Version]:
    """All versions of all cells of one row."""
    return list(table.history(key, key + b"\x00"))


def stamp(table: Table, key: bytes) -> int:
    """The latest time in a row's history."""
    return max(version.time for version in versions(table, key))


def span_keys(table: Table, span: tuple[bytes, bytes], at: int | None = None) -> list[bytes]:
    """The keys a scan of the span sees, in its order, without the span's own prefix."""
    return [key.removeprefix(span[0]) for key, _ in table.scan(*span, at=at)]
