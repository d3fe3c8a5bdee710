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

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple

import attrs

from neomodel.batches import Batch, batch
from neomodel.errors import InvalidValue
from neomodel.ledgers import Fact, Ledger
from neomodel.stores import Mutation
from neomodel.stores.base import ORDERED

LONGEST = 255
"""Bytes of a position, and of a name."""
_PAGE = 1000  # cells that are looked at in one call


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
    row, column, entry = ledger.stored(fact)
    return Operation(row, column, position, name, entry)


def lane(position: bytes) -> bytes:
    """What positions have in common that are compared with one another: one byte, if that is not 1, else seven."""
    return position[:7] if position[0] == 1 else position[:1]


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
    seen = {} if written is None else written
    counts = _Counts()

    with batch(ledger.model) as opened:
        stamps = None if ORDERED in ledger.model.repository.store.capabilities else _Stamps(opened, after)
        ledger.put(_mutations(ledger, ordered, seen, counts, look=written is None), stamps)
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


def _mutations(
    ledger: Ledger, ordered: list[Operation], seen: Mapping[bytes, bytes], counts: _Counts, *, look: bool
) -> Iterator[Mutation]:
    cells = ((cell, list(some)) for cell, some in groupby(ordered, key=itemgetter(0, 1)))
    while page := list(islice(cells, _PAGE)):
        asked = [cell for cell, some in page if look or _may_be_there(some, seen)]
        there = ledger.signatures(asked) if asked else {}
        ledger.model.writable()  # or somebody else has gone on with this by now
        for cell, some in page:
            known = there.get(cell)
            if len(some) == 1 and not known:
                counts.written += 1
                yield _mutation(some[0])
            else:
                yield from _newer(some, known or [], counts)


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
    row, column, position, name, entry = one
    return Mutation(row, {column: b"s%c%b%c%b%b" % (len(position), position, len(name), name, entry)})
