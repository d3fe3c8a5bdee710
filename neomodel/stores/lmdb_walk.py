"""Walks over the versions in an LMDB file: what is live in a range of keys, forwards and backwards.

Everything here works on a cursor and on whole stored keys, ``01 number row 00 column 00 inverted-time`` (see `lmdb`),
and asks nothing else. `inverse` is the inverted time to read at, or nothing for the newest.

Versions that don't count (older ones, or newer than `inverse`) are stepped over, a few; then jumped over, so that a
cell with a million versions costs no more than one with ten.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from neomodel.stores.base import Cell, Row
from neomodel.stores.checks import check_key
from neomodel.stores.encoding import decode_live, decode_time, escape, unescape

ROW = 4  # where the row key starts
_TIME = 8  # how long the time at the end is
_PATIENCE = 3
_BETWEEN = 8  # cells between those that are wanted


def after(prefix: bytes) -> bytes:
    """The first key after all that start with `prefix`."""
    return (int.from_bytes(prefix, "big") + 1).to_bytes(len(prefix), "big")


WHOLE = [(b"\0", b"\1")]


def ranges(columns: list[bytes], families: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """What to read of a row, as ranges of what follows the row key in a stored key; all of it is `WHOLE`. Families
    that lie side by side are one range."""
    ordered = sorted(families)
    found: list[tuple[bytes, bytes]] = []
    before = -1  # where in the order of families the last one was, if it was asked for whole
    for column in columns:
        at = ordered.index(column[:2])
        if len(column) > 2:
            found.append(_column_range(column))
        elif found and at == before + 1 > 0:
            found[-1] = found[-1][0], b"\0" + after(column)
        else:
            found.append((b"\0" + column, b"\0" + after(column)))
        before = at if len(column) == 2 else -1
    return found


def _column_range(column: bytes) -> tuple[bytes, bytes]:
    return b"\0" + escape(column) + b"\0", b"\0" + escape(column) + b"\1"


def rows(
    cursor: Any, start: bytes, stop: bytes, inverse: bytes, limit: int, last: bytes = b"\1"
) -> tuple[list[tuple[bytes, Row]], bytes | None]:
    """Up to `limit` rows from `start`, before `stop`, and where to go on, or None at the end. Of each row, what lies
    before `last` (see `ranges`). If the limit is 1, all that lies before `stop` must be of one row.

    This is the innermost loop of every read, and what looks odd in it was measured: comparing keys is five times faster
    than `startswith`, a ready-made slice faster than a new one, looking for a byte by number ten times faster than by
    bytes. A value that starts with no zero is as it is, and so is its column: the rest is left for the end of the loop.
    """
    found: list[tuple[bytes, Row]] = []
    dead: list[tuple[Row, bytes]] = []
    row: Row = {}
    row_stop = b""
    end = ROW
    cut = slice(0)
    skipped = 0
    newest = not inverse
    partly = limit > 1 and last != b"\1"
    resume = None
    more = cursor.set_range(start)
    while more:
        more = False
        for key, value in cursor:
            if key < row_stop:
                column = key[cut]
                if value >= b"\1" and column not in row and (newest or key[-_TIME:] >= inverse):
                    row[column] = value
                    continue
            else:
                if key >= stop:
                    break
                if len(found) == limit:
                    resume = key
                    break
                head = key[ROW:end]
                if 0 in head or key[end]:  # the row key is not as long as the one before
                    end = key.index(0, ROW)
                    head = key[ROW:end]
                    cut = slice(end + 1, -_TIME - 1)
                row_stop = key[:end] + last if limit > 1 else stop
                if partly and key >= row_stop:  # what is left of this row was not asked for
                    more = cursor.set_range(key[:end] + b"\1")
                    break
                column = key[cut]
                row = {}
                found.append((unescape(head) if 1 in head else head, row))
                if value >= b"\1" and (newest or key[-_TIME:] >= inverse):
                    row[column] = value
                    continue
            column = unescape(column)
            if column not in row and key[-_TIME:] >= inverse:
                row[column] = decode_live(value)
                if not value:
                    dead.append((row, column))
                continue
            skipped += 1
            if skipped > _PATIENCE:
                skipped = 0
                more = cursor.set_range(key[: -_TIME - 1] + b"\1" if column in row else key[:-_TIME] + inverse)
                break
    return _living(found, dead) if dead or inverse else found, resume


def live(cursor: Any, start: bytes, stop: bytes, inverse: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Key and stored value of the version that counts of each cell, tombstones left out."""
    cell = b""
    skipped = 0
    more = cursor.set_range(start)
    while more:
        more = False
        for key, value in cursor:
            if key >= stop:
                return
            if key[:-_TIME] == cell or (inverse and key[-_TIME:] < inverse):
                skipped += 1
                if skipped > _PATIENCE:
                    skipped = 0
                    more = cursor.set_range(cell[:-1] + b"\1" if key[:-_TIME] == cell else key[:-_TIME] + inverse)
                    break
            else:
                cell = key[:-_TIME]
                if value:
                    yield key, value


def part(family: bytes, start: bytes, stop: bytes | None) -> tuple[bytes, bytes]:
    """A slice of a family, as a range of what follows the row key in a stored key."""
    return b"\0" + family + escape(start), b"\0" + (after(family) if stop is None else family + escape(stop))


def firsts(
    cursor: Any, prefix: bytes, keys: Iterable[bytes], part: tuple[bytes, bytes], inverse: bytes
) -> dict[bytes, Cell]:
    """The first live cell in a part of each of these rows. Mostly that is the first one a seek comes to."""
    found: dict[bytes, Cell] = {}
    first, last = part
    for key in keys:
        head = prefix + escape(check_key(key))
        if not cursor.set_range(head + first):
            continue
        stored, value = cursor.item()
        stop = head + last
        if stored >= stop:
            continue
        if not value or (inverse and stored[-_TIME:] < inverse):
            stored, value = next(live(cursor, head + first, stop, inverse), (b"", b""))
        if stored:
            found[key] = _cell(stored, value, len(head) + 3)
    return found


def _cell(stored: bytes, value: bytes, skip: int) -> Cell:
    return Cell(unescape(stored[skip : -_TIME - 1]), decode_time(stored[-_TIME:]), decode_live(value))


def rows_firsts(
    cursor: Any, start: bytes, stop: bytes, part: tuple[bytes, bytes], inverse: bytes, limit: int
) -> tuple[list[tuple[bytes, Cell]], bytes | None]:
    """As `firsts`, of up to `limit` rows from `start`, before `stop`, and where to go on, or None at the end."""
    found: list[tuple[bytes, Cell]] = []
    first, last = part
    more = cursor.set_range(start)
    for _ in range(limit):
        key = cursor.key() if more else stop
        if key >= stop:
            return found, None
        head = key[: key.index(b"\0", ROW)]
        stored, value = next(live(cursor, head + first, head + last, inverse), (b"", b""))
        if stored:
            found.append((unescape(head[ROW:]), _cell(stored, value, len(head) + 3)))
        more = cursor.set_range(head + b"\1")
    return found, cursor.key() if more else None


def live_backwards(cursor: Any, start: bytes, stop: bytes, inverse: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The same from the end."""
    before = stop
    while cursor.prev() if cursor.set_range(before) else cursor.last():
        if cursor.key() < start:
            return
        before = cursor.key()[:-_TIME]
        if cursor.set_range(before + inverse) and cursor.key()[:-_TIME] == before and cursor.value():
            yield cursor.item()


def versions(cursor: Any, start: bytes, stop: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Key and stored value of every version."""
    if cursor.set_range(start):
        for key, value in cursor:
            if key >= stop:
                return
            yield key, value


def row_at(cursor: Any, head: bytes, parts: list[tuple[bytes, bytes]], inverse: bytes) -> Row | None:
    """The live cells in `parts` of the row whose stored keys start with `head`."""
    found = [rows(cursor, head + first, head + last, inverse, 1)[0] for first, last in parts]
    if len(found) == 1:
        return found[0][0][1] if found[0] else None
    return {column: value for part in found for _, row in part for column, value in row.items()} or None


def newest(cursor: Any, prefix: bytes, keys: Iterable[bytes], first: bytes, last: bytes) -> dict[bytes, Row]:
    """What is live in one part of each of these rows; those that have nothing there are left out.

    Most rows have one version of each cell, and none that is stored in a special way. They are read here, since every
    walk over objects waits for this loop; the others by `row_at`.
    """
    found: dict[bytes, Row] = {}
    columns: dict[bytes, bytes] = {}  # each once, however many rows have it
    for key in keys:
        if not key or type(key) is not bytes:
            check_key(key)
        head = prefix + (escape(key) if 0 in key or 1 in key else key)
        row: Row = {}
        stop = head + last
        cut = slice(len(head) + 1, -_TIME - 1)
        if cursor.set_range(head + first):
            for stored, value in cursor:
                if stored >= stop:
                    break
                column = stored[cut]
                column = columns.setdefault(column, column)
                if value < b"\1" or column in row:  # stored in a special way, or an older version: there may be many
                    row = row_at(cursor, head, [(first, last)], b"") or {}
                    break
                row[column] = value
        if row:
            found[key] = row
    return found


def selected_rows(
    cursor: Any, start: bytes, stop: bytes, parts: list[tuple[bytes, bytes]], inverse: bytes, limit: int
) -> tuple[list[tuple[bytes, Row]], bytes | None]:
    """As `rows`, of some columns of up to `limit` rows. What is not asked for is jumped over."""
    found: list[tuple[bytes, Row]] = []
    more = cursor.set_range(start)
    for _ in range(limit):
        key = cursor.key() if more else stop
        if key >= stop:
            return found, None
        head = key[: key.index(b"\0", ROW)]
        row = row_at(cursor, head, parts, inverse)
        if row:
            found.append((unescape(head[ROW:]), row))
        more = cursor.set_range(head + b"\1")
    return found, cursor.key() if more else None


def chosen_rows(
    cursor: Any, start: bytes, stop: bytes, columns: Iterable[bytes], inverse: bytes, limit: int
) -> tuple[list[tuple[bytes, Row]], bytes | None]:
    """As `selected_rows`, of columns that are named one by one: what lies between them is stepped over, a few cells,
    which is quicker, and jumped over if it is more."""
    wanted = {escape(column): column for column in columns}
    firsts = sorted(_column_range(column)[0] for column in wanted.values())
    found: list[tuple[bytes, Row]] = []
    dead: list[tuple[Row, bytes]] = []
    row: Row = {}
    row_stop = b""
    end, cut, skipped = ROW, slice(0), 0
    more = cursor.set_range(start)
    while more:
        more = False
        for key, value in cursor:
            if key >= row_stop:
                if key >= stop:
                    break
                if len(found) == limit:
                    return _living(found, dead), key
                end = key.index(0, ROW)
                cut = slice(end + 1, -_TIME - 1)
                row, row_stop, skipped = {}, key[:end] + b"\1", 0
                found.append((unescape(key[ROW:end]), row))
            stored = key[cut]
            column = wanted.get(stored)
            if column is not None and column not in row:
                if not inverse or key[-_TIME:] >= inverse:
                    skipped = 0
                    if value >= b"\1":
                        row[column] = value
                        continue
                    row[column] = decode_live(value)
                    if not value:
                        dead.append((row, column))
                    continue
                more = cursor.set_range(key[:-_TIME] + inverse)
                break
            skipped += 1
            if skipped > _BETWEEN:
                skipped = 0
                after_it = bisect_right(firsts, key[end:])
                more = cursor.set_range(key[:end] + (firsts[after_it] if after_it < len(firsts) else b"\1"))
                break
    return _living(found, dead), None


def _living(found: list[tuple[bytes, Row]], dead: list[tuple[Row, bytes]]) -> list[tuple[bytes, Row]]:
    """The rows that have something, without their tombstones."""
    for row, column in dead:
        del row[column]
    return [item for item in found if item[1]]


def keys(cursor: Any, prefix: bytes) -> list[bytes]:
    return [key for key, _ in versions(cursor, prefix, after(prefix))]


def row_keys(cursor: Any, prefix: bytes) -> list[bytes]:
    """The escaped keys of all rows."""
    found: list[bytes] = []
    while cursor.set_range(prefix + found[-1] + b"\1" if found else prefix) and cursor.key().startswith(prefix):
        key = cursor.key()
        found.append(key[ROW : key.index(b"\0", ROW)])
    return found
