"""What every store checks before it touches anything, in one place."""

import re
from collections.abc import Collection, Iterable

from neomodel.errors import InvalidValue, Purged
from neomodel.stores.base import MAX_TIME, VERSION, Cells, Columns

_TABLE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_FAMILY = re.compile(r"[A-Za-z]")


def check_name(name: str) -> str:
    if not _TABLE_NAME.fullmatch(name):
        raise InvalidValue(
            "a table's name", name, "up to 200 letters of ASCII, digits and _ . -, not starting with . or -"
        )
    return name


def check_families(families: Iterable[str]) -> frozenset[bytes]:
    """The families as the two bytes their columns start with."""
    names = list(families)
    if not names or not all(_FAMILY.fullmatch(name) for name in names):
        raise InvalidValue("a table's families", names, "one or more, each a single ASCII letter")
    return frozenset(name.encode() + b":" for name in names)


def check_key(key: bytes) -> bytes:
    if not key or not isinstance(key, bytes):
        raise InvalidValue("a row key", key, "1 or more bytes")
    return key


def check_cells(cells: Cells, families: Collection[bytes]) -> None:
    if not cells:
        raise InvalidValue("a mutation", cells, "one cell or more")
    for column, value in cells.items():
        if column[:2] not in families or len(column) < 3:
            raise InvalidValue("a column", column, _families_and(families, "a qualifier"))
        if type(value) is not bytes:
            check_value(column, value)


def check_value(column: bytes, value: bytes | None) -> None:
    if value is not None and not isinstance(value, bytes):
        raise InvalidValue(f"the value of {column!r}", value, "bytes, or None for a tombstone")


def check_swap(expected: bytes | None, cells: Cells) -> None:
    if cells.get(VERSION, expected) == expected:
        raise InvalidValue(
            f"{VERSION.decode()} in a swap", cells.get(VERSION), "a new value: successor(expected) makes one"
        )


def check_columns(columns: Columns, families: Collection[bytes]) -> list[bytes]:
    """The selection in order, without what a whole family in it covers anyway; None selects every family."""
    selected = sorted(families if columns is None else set(columns))
    for column in selected:
        if column[:2] not in families:
            raise InvalidValue("a column to read", column, _families_and(families, "if wanted a qualifier"))
    whole = {column for column in selected if len(column) == 2}
    return [column for column in selected if len(column) == 2 or column[:2] not in whole]


def check_named(columns: Collection[bytes], families: Collection[bytes]) -> list[bytes]:
    """The columns in order, each named in full, one at least."""
    if not columns or any(len(column) < 3 for column in columns):
        raise InvalidValue("the columns of blocks", columns, "one or more, each with a qualifier")
    return check_columns(columns, families)


def check_family(family: str, families: Collection[bytes]) -> bytes:
    """The family as the two bytes its columns start with."""
    head = family.encode() + b":"
    if head not in families:
        raise InvalidValue("a family", family, _families_and(families, "no more"))
    return head


def check_time(time: int, now: int, horizon: int = -1) -> int:
    """A time to write history at: in the past, and in the part of it that can still be read."""
    if not max(0, horizon + 1) <= time <= now:
        raise InvalidValue("a time of history", time, f"a past one, from {max(0, horizon + 1)} to {now}")
    return time


def check_at(at: int | None, horizon: int, where: str) -> int:
    """The time to read at: the end of time if None."""
    if at is None:
        return MAX_TIME
    if not 0 <= at <= MAX_TIME:
        raise InvalidValue("a time to read at", at, "microseconds since the epoch")
    if at < horizon:
        raise Purged(where, at, horizon)
    return at


def _families_and(families: Collection[bytes], more: str) -> str:
    names = ", ".join(sorted(family.decode() for family in families))
    return f"a family of the table ({names}) and {more}"
