"""Taking space back in an LMDB file: the only deletes there are. Each call does what fits one transaction, so that
other writers get their turn."""

from typing import Any

_TIME = 8
_MOST = 5_000


def purge(txn: Any, position: bytes, stop: bytes, inverse: bytes, kept: bytes) -> tuple[int, bytes | None, bytes]:
    """Remove what nobody can see at or after the horizon, for one transaction: how many, where to go on, and the
    cell whose version at the horizon has been seen."""
    cursor = txn.cursor()
    cursor.set_range(position)
    removed = 0
    for _ in range(_MOST):
        key = cursor.key()
        if not key or key >= stop:
            return removed, None, kept
        seen, kept_before = key[-_TIME:] >= inverse, key[:-_TIME] == kept
        if seen:
            kept = key[:-_TIME]
        if seen and (kept_before or not cursor.value()):
            cursor.delete()
            removed += 1
        else:
            cursor.next()
    return removed, cursor.key() or None, kept


def delete(txn: Any, prefix: bytes) -> bool:
    """Delete what starts with `prefix`, as much as fits one transaction; True if some is left."""
    cursor = txn.cursor()
    cursor.set_range(prefix)
    for _ in range(_MOST):
        if not cursor.key().startswith(prefix):
            return False
        cursor.delete()
    return True


def erase(txn: Any, start: bytes, stop: bytes, inverse: bytes, kept: set[bytes]) -> int:
    """Delete the versions in a range that are of the time `inverse` or older, but for those cells; how many."""
    cursor = txn.cursor()
    cursor.set_range(start)
    removed = 0
    while (key := cursor.key()) and key < stop:
        if key[-_TIME:] >= inverse and key[:-_TIME] not in kept:
            cursor.delete()
            removed += 1
        else:
            cursor.next()
    return removed
