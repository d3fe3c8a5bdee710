"""Records in order, more of them than there is room for: sorted some at a time, laid aside on disk, then merged."""

import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from neomodel.xmi.spool import Spool

ROOM = 64 * 2**20
"""Bytes of cells that are held while they are sorted; what Python needs for them comes to two or three times that."""

_HUNDRED = 4096  # bytes that count as much as the records of one page share, see `Spool.add`

Record = tuple[Any, ...]


def in_order(records: Iterable[tuple[Record, int]], *, room: int | None = None) -> Iterator[Record]:
    """The records, each given with its size, in the order of what they begin with, which no two may have alike.

    Held are `ROOM` bytes of them at a time and, if there are more, about 2 MB for each time that was filled; the rest
    is in temporary files, which are gone when the iterator is.
    """
    limit = ROOM if room is None else room
    with ExitStack() as open_files:
        runs: list[Spool] = []
        held: list[Record] = []
        size = 0
        for record, weight in records:
            held.append(record)
            size += weight
            if size >= limit:
                runs.append(_laid_aside(held, size // len(held)))
                open_files.callback(runs[-1].close)
                held, size = [], 0
        held.sort()
        yield from heapq.merge(*runs, held)


def _laid_aside(records: list[Record], size: int) -> Spool:
    found = Spool()
    for record in sorted(records):
        found.add(record, 1 + size // _HUNDRED)
    return found
