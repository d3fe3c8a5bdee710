"""Operations of others on a ledger: many at once, each applied once, and in their own order whatever order they come
in.

An operation says where it stands among those of its source: its *position*, bytes that are compared. Of several for one
key and event, a later position is a newer version. So one that came already is recognised by its position, and one that
comes after a later one was outdated before it came: neither is written. Positions begin with a *lane*, those of one
queue, or of one source; of different lanes nobody can say which is later, so what came later is. Where positions only
tell the order in which a queue holds operations, which may hold one twice, each may have a *name* as well, by which it
is recognised too.

The cell of such an entry begins with ``s``, a byte for the length of the position, that, the same of the name, and then
is an entry as others are (see `ledgers`).

Looking at what is there costs about as much as writing. It is done where something may be there: who knows up to which
position of each lane operations have ever been written need not look at later ones.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from operator import eq, itemgetter
from typing import NamedTuple

import attrs

from neomodel.batches import Batch, batch
from neomodel.errors import InvalidValue
from neomodel.ledgers import Fact, Ledger
from neomodel.stores import Mutation
from neomodel.stores.base import ORDERED

LONGEST = 255
"""Bytes of a position, and of a name."""
_PAGE = 1000  # operations that are looked at in one call, and the rest of a cell
_AT_ONCE = 40_000  # operations that are written by column, in one call
_MUCH = 1 << 28  # bytes: more are not held in memory twice
_CELL, _ENTRY = itemgetter(0, 1), itemgetter(4)
_LENGTHS = [bytes([length]) for length in range(LONGEST + 1)]
_SIGNED = [b"s" + length for length in _LENGTHS]


class Operation(NamedTuple):
    """An entry of a ledger as it will be stored, with its position and, if it has one, its name."""

    row: bytes
    column: bytes
    position: bytes
    name: bytes
    entry: bytes


@attrs.frozen
class Applied:
    """What became of operations: so many were written, had been written before, or came after later ones. `stamped` is
    the last time that was given to one, 0 if the store gives times."""

    written: int = 0
    doubled: int = 0
    superseded: int = 0
    stamped: int = 0


def prepared(ledger: Ledger, fact: Fact, position: bytes, name: bytes = b"") -> Operation:
    """The operation that writes a fact. Costs no call."""
    if not 0 < len(position) <= LONGEST or len(name) > LONGEST:
        raise InvalidValue("the position and name of an operation", (position, name), f"up to {LONGEST} bytes each")
    row, column, entry = ledger.stored(*fact[:4])
    return Operation(row, column, position, name, entry)


def lane(position: bytes) -> bytes:
    """What positions have in common that are compared with one another: one byte, if that is not 1, else seven."""
    return position[:7] if position[0] == 1 else position[:1]


def spans(operations: Iterable[Operation]) -> dict[bytes, tuple[bytes, bytes]]:
    """The first and the last position of each lane."""
    positions = sorted(map(itemgetter(2), operations))
    found: dict[bytes, tuple[bytes, bytes]] = {}
    end = len(positions)
    while end:  # lanes are few, and each lies together
        last = positions[end - 1]
        start = bisect_left(positions, lane(last), hi=end)
        found[lane(last)] = positions[start], last
        end = start
    return found


def apply(
    ledger: Ledger, operations: Iterable[Operation], *, written: Mapping[bytes, bytes] | None = None, after: int = 0
) -> Applied:
    """Write those operations that are neither there nor outdated, as one batch, or in the one that is open.

    `written`: by lane the last position that may ever have been written; without it all are looked up. Where the store
    does not stamp in order, they are stamped later than `after`. Nobody else may apply operations to these rows
    meanwhile. Done again after a failure it writes what is missing. All operations are in memory; one call to look at a
    thousand events, and some for some thousand writes.
    """
    ordered = sorted(operations)
    counts = _Counts()

    with batch(ledger.model) as opened:
        if ORDERED in ledger.model.repository.store.capabilities:
            stamps = None
            _put_in_order(ledger, ordered, written, counts)
        else:
            stamps = _Stamps(opened, after)
            ledger.put(_mutations(ledger, ordered, written, counts), stamps)
    return Applied(counts.written, counts.doubled, counts.superseded, 0 if stamps is None else stamps.last)


class _Counts:
    written = doubled = superseded = 0


class _Stamps:
    """The times of a batch, later than another, and the last of them."""

    def __init__(self, opened: Batch, after: int) -> None:
        self._times = opened.stamps(after=after)
        self.last = 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        self.last = next(self._times)
        return self.last


def _put_in_order(
    ledger: Ledger, ordered: list[Operation], written: Mapping[bytes, bytes] | None, counts: _Counts
) -> None:
    """Write many at a time; those among which there is nothing to choose, by column."""
    new = written is not None and _all_new(ordered, written)
    for page in _pages(ordered, _AT_ONCE):
        if new and len(page) >= _PAGE and sum(map(len, map(_ENTRY, page))) < _MUCH and _distinct(page):
            counts.written += len(page)
            ledger.put_new([one[0] for one in page], [one[1] for one in page], [*map(_cell, page)])
        else:
            ledger.put(_mutations(ledger, page, written, counts), None)


def _mutations(
    ledger: Ledger, ordered: list[Operation], written: Mapping[bytes, bytes] | None, counts: _Counts
) -> Iterator[Mutation]:
    new = written is not None and _all_new(ordered, written)
    for page in _pages(ordered, _PAGE):
        if new and _distinct(page):  # as most are: there is nothing to choose
            ledger.model.writable()  # or somebody else has gone on with this by now
            counts.written += len(page)
            yield from map(_mutation, page)
        else:
            yield from _chosen(ledger, page, written, counts)


def _all_new(ordered: list[Operation], written: Mapping[bytes, bytes]) -> bool:
    """Whether no operation may have been written before."""
    if any(map(itemgetter(3), ordered)):  # names
        return False
    return all(first > written.get(name, b"") for name, (first, _) in spans(ordered).items())


def _distinct(page: list[Operation]) -> bool:
    """Whether no two are of one cell, where those of one row follow one another; mostly no two are even of one row."""
    rows = [one[0] for one in page]
    return not any(map(eq, rows, islice(rows, 1, None))) or len(set(map(_CELL, page))) == len(page)


def _pages(ordered: list[Operation], size: int) -> Iterator[list[Operation]]:
    """About so many at a time, those of a cell together."""
    start = 0
    while start < len(ordered):
        stop = start + size
        while stop < len(ordered) and _CELL(ordered[stop]) == _CELL(ordered[stop - 1]):
            stop += 1
        yield ordered[start:stop]
        start = stop


def _chosen(
    ledger: Ledger, page: list[Operation], written: Mapping[bytes, bytes] | None, counts: _Counts
) -> Iterator[Mutation]:
    """Those that are neither there nor outdated."""
    cells = [(cell, list(some)) for cell, some in groupby(page, key=_CELL)]
    asked = [cell for cell, some in cells if written is None or _may_be_there(some, written)]
    there = ledger.signatures(asked) if asked else {}
    ledger.model.writable()  # or somebody else has gone on with this by now
    for cell, some in cells:
        yield from _newer(some, there.get(cell) or [], counts)


def _newer(some: list[Operation], known: list[tuple[bytes, bytes]], counts: _Counts) -> Iterator[Mutation]:
    """Those operations on a cell that are neither there nor outdated."""
    last = _lasts(position for position, _ in known)
    positions, names = {position for position, _ in known}, {name for _, name in known if name}
    for one in some:
        if one.position in positions or one.name in names:
            counts.doubled += 1
        elif one.position < last.get(lane(one.position), b""):
            counts.superseded += 1
        else:
            counts.written += 1
            yield _mutation(one)
            last[lane(one.position)] = one.position
            positions.add(one.position)
            names |= {one.name} - {b""}


def _lasts(positions: Iterable[bytes]) -> dict[bytes, bytes]:
    """The last of each lane."""
    return {lane(position): position for position in sorted(positions)}


def _may_be_there(some: list[Operation], seen: Mapping[bytes, bytes]) -> bool:
    """Whether any operation on a cell may have been written before."""
    for _, _, position, name, _ in some:  # noqa: SIM110  it is asked for every cell: `any` takes twice as long
        if name or position <= seen.get(lane(position), b""):
            return True
    return False


def _mutation(one: Operation) -> Mutation:
    return Mutation(one[0], {one[1]: _cell(one)})


def _cell(one: Operation) -> bytes:
    """What it writes."""
    _, _, position, name, entry = one
    return _SIGNED[len(position)] + position + _LENGTHS[len(name)] + name + entry
