"""A ledger: the timelines of a class by natural key alone, for more of them than anybody wants as objects.

The entries of a key lie in the row of its id, as those of an object's timeline do, but with a *life* that all know
(`layout.LEDGER`): so one seek finds an entry, and writing one asks nothing first. A row holds nothing else, no class
and no container; it is no object, and nothing that goes through objects sees it. Beside `+` and `-` (see `layout`)
there are more kinds of cells: ``o``, a byte for the length of an operation's id, that id, and the entry; ``s``, an
entry that is signed (see `operations`); and ``!`` and a time, in the place of the earliest event there is, in every
past: what was known before that time was erased.

**Ingest times.** Where the store stamps in order, it stamps. Elsewhere nobody may give two entries of an event the same
time, as one of them would be lost. Single entries are compare-and-swaps, whose times are their own (`clock.LANES`);
many at once are put in a batch, which has times that no other batch has (`Batch.stamps`).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from neomodel import codecs, ids, layout
from neomodel.batches import batch
from neomodel.checks import checked
from neomodel.codecs import key_text
from neomodel.editing import redo
from neomodel.entries import Entry, inserted, retracted
from neomodel.errors import Conflict, CorruptRow, InvalidValue, Purged
from neomodel.kinds import EClass
from neomodel.purging import recorded
from neomodel.stores import VERSION, Cell, Mutation, Table, successor
from neomodel.stores.base import ORDERED
from neomodel.times import FIRST, LAST

if TYPE_CHECKING:
    from neomodel.model import Model

EARLIEST = FIRST + 1
"""The earliest event of a ledger: the one before is where erasures are."""

_ATTEMPTS = 20
_LONGEST_OPERATION = 200
_INSERTED, _RETRACTED, _OPERATION, _SIGNED, _ERASED = b"+-os!"


class Fact(NamedTuple):
    """What is to be written: from `event` on the key has this value, or none. Times are microseconds; `ingest` is for
    history that comes with its own."""

    key: Any
    event: int
    value: Any = None
    retracted: bool = False
    ingest: int | None = None


class Ledger:
    """The timelines of a feature, of a class with a natural key of one text, in a model. Costs nothing to make.

    Reads are as of times that are given; whether these are stable is for the caller to know (`Repository.stable`).
    Event times are from `EARLIEST` on.
    """

    def __init__(self, model: "Model", cls: Any, name: str) -> None:
        kind: EClass = cls if isinstance(cls, EClass) else cls.eClass
        feature = kind.feature(name)
        if not feature.timeline or len(kind.key) != 1 or kind.key[0].codec.native is not str:
            raise InvalidValue("the feature of a ledger", str(feature), "a timeline of a class whose key is one text")
        self.model = model
        self.feature = feature
        self._table: Table = model.repository.store.table(model.name)
        self._key = kind.key[0]
        self._names = kind.ePackage.nsPrefix, kind.name
        self._plain = ids.beginning(*self._names, "")[0]
        self._room = ids.LIMIT - len(self._plain)
        self._head = layout.timeline(feature.name, layout.LEDGER)
        self._columns = layout.extent(self._head)
        self._stop = layout.entry(self._head, FIRST) + b"\0"
        self._binary = feature.codec.scalar == "bytes"  # all of them are values

    def row(self, key: Any) -> bytes:
        """The key of the row of a key; `InvalidValue` if it is none, or too long to be told from others by its row."""
        if type(key) is str and len(key) <= self._room and ids.is_plain(key):
            return self._plain + key.encode()  # as most are
        if not isinstance(key, str) or not key:
            raise InvalidValue(f"a key of {self.feature}", key, "text that is not empty; write binary keys as hex")
        oid = ids.natural(*self._names, [key_text(self._key.codec, key)])
        if not ids.is_whole(oid):
            limit = f"one whose row key is not longer than {ids.LIMIT} bytes, with all up to the comma escaped as three"
            raise InvalidValue(f"a key of {self.feature}", key if len(key) <= 50 else f"{key[:50]}…", limit)
        return oid.encode()

    def bounds(self, prefix: str = "", start: str | None = None, stop: str | None = None) -> tuple[bytes, bytes]:
        """The range of rows of the keys that begin with `prefix`, from `start` to before `stop`."""
        low, high = ids.beginning(*self._names, prefix)
        return (
            low if start is None else max(low, ids.beginning(*self._names, start)[0]),
            high if stop is None else min(high, ids.beginning(*self._names, stop)[0]),
        )

    def key_of(self, row: bytes) -> str:
        """The key that `row` made it of."""
        return ids.natural_parts(row.decode())[0]

    # writing

    def write(self, fact: Fact, *, operation: str | None = None) -> bool:
        """Add an entry, by a compare-and-swap of its row: a read and a swap. With the id of an operation, one read
        more, and nothing is written, which False tells, if an entry of that event came by this operation already."""
        self.model.writable()
        row, column, cell = self.stored(*fact[:4])
        if operation is not None:
            named = operation.encode() if isinstance(operation, str) else b""
            if not 0 < len(named) <= _LONGEST_OPERATION:
                raise InvalidValue("the id of an operation", operation, f"text of 1 to {_LONGEST_OPERATION} bytes")
            head = b"o" + bytes([len(named)]) + named
            cell = head + cell
        table = self._table

        def swapped() -> bool:
            found = (table.get(row, columns=(VERSION,)) or {}).get(VERSION)
            if operation is not None and any(
                (version.value or b"").startswith(head) for version in table.history(row, row + b"\0", columns=[column])
            ):
                return False
            if not table.swap(row, found, {VERSION: successor(found), column: cell}):
                raise Conflict(f"{row.decode()} of {self.model!r}", str(found), "another")
            return True

        return redo(swapped, attempts=_ATTEMPTS)

    def write_many(self, facts: Iterable[Fact]) -> int:
        """Add entries, in the order given: of an event, the last counts. They are seen as stable all at once, if the
        store is read as of stable times. If it fails some may have been written; done again, those of the same values
        are versions more. Returns how many. Streams: some calls for some thousand entries."""
        count = 0

        def mutations() -> Iterator[Mutation]:
            nonlocal count
            for count, fact in enumerate(facts, 1):  # noqa: B007  it is read when all are written
                row, column, cell = self.stored(*fact[:4])
                yield Mutation(row, {column: cell})

        with batch(self.model) as opened:
            ordered = ORDERED in self.model.repository.store.capabilities
            self.put(mutations(), None if ordered else opened.stamps())
        return count

    def put(self, mutations: Iterable[Mutation], stamps: Iterator[int] | None) -> None:
        """Write cells in the batch that is open, with its `Batch.stamps` where the store does not stamp in order: no
        two of a cell get the same."""
        self.model.writable()
        self._table.put_many(mutations if stamps is None else self._stamped(mutations, stamps))

    def put_new(self, rows: Sequence[bytes], columns: Sequence[bytes], cells: Sequence[bytes]) -> None:
        """Write the cell of a column of each row, in the batch that is open, where the store stamps in order."""
        from neomodel.stores.blocks import cells_of  # needs Arrow, which takes long to import

        self.model.writable()
        self._table.put_cells([cells_of(rows, columns, cells)])

    def _stamped(self, mutations: Iterable[Mutation], stamps: Iterator[int]) -> Iterator[Mutation]:
        stamp: int | None = None
        stamped: set[tuple[bytes, bytes]] = set()
        for row, cells, _ in mutations:
            (column,) = cells
            if stamp is None or (row, column) in stamped or len(stamped) > 1000:
                stamp, stamped = next(stamps), set()
                self.model.writable()
            stamped.add((row, column))
            yield Mutation(row, cells, stamp)

    def stored(self, key: Any, event: int, value: Any, retracted: bool) -> tuple[bytes, bytes, bytes]:
        """Row, column and cell of a fact. Costs no call."""
        return self.row(key), layout.entry(self._columns, event), self._cell(value, retracted)

    def signatures(
        self, cells: Collection[tuple[bytes, bytes]]
    ) -> dict[tuple[bytes, bytes], list[tuple[bytes, bytes]]]:
        """Position and name of all signed entries in these cells. One call for each region, up to 1,000 rows each."""
        found = self._table.histories(cells)
        return {
            cell: [_signature(one.value) for one in versions if _signed(one.value)] for cell, versions in found.items()
        }

    def load(self, facts: Iterable[Fact]) -> int:
        """Write entries of the past with their own ingest times, into a model that nobody reads yet. `InvalidValue` if
        two are of one key, event and ingest time. Returns how many; reads all of them again to see that."""
        self.model.writable()
        count = 0

        def mutations() -> Iterator[Mutation]:
            nonlocal count
            for count, fact in enumerate(facts, 1):  # noqa: B007  it is read when all are written
                row, column, cell = self.stored(*fact[:4])
                yield Mutation(row, {column: cell}, fact.ingest)

        self._table.put_many(mutations())
        there = sum(1 for _ in self._table.history(*self.bounds(), columns=[layout.extent(b"")]))
        if there != count:
            expected = f"as many of different key, event and ingest time, but there are {there}"
            raise InvalidValue("the number of entries to load", count, expected)
        return count

    def erase(self, key: str, *, by: str | None = None) -> int:
        """Forget all that was known of a key until now, for good: reads of it as of earlier are refused with `Purged`,
        later ones find what came since. On record (`nm.purges`) who did it. Returns how many entries went."""
        self.model.writable()
        row, table = self.row(key), self.model.repository.snapshots.table(self.model.name)
        now = table.now()
        instead = {layout.entry(self._columns, FIRST): b"!%d" % (now + 1)}
        with recorded(self.model, now + 1, by, key=row.decode()) as done:
            done.versions = table.erase(row, layout.EXTENT, self._head, self._stop, now, instead)
        return done.versions

    # reading

    def at(self, key: str, *, event: int = LAST, ingest: int) -> Entry | None:
        """The entry that holds at a time, as far as it was known at another, which may be a retraction. One seek."""
        row = self.row(key)
        found = self._firsts((row,), event, ingest)
        return self._entry(row, found[row], ingest) if found else None

    def at_many(self, keys: Iterable[str], *, event: int = LAST, ingest: int) -> dict[str, Entry]:
        """The same of many keys, of those that have one. One call for each region, up to 1,000 keys each."""
        rows = {self.row(key): key for key in keys}
        found = self._firsts(rows, event, ingest)
        entries = ((rows[row], self._entry(row, cell, ingest)) for row, cell in found.items())
        return {key: entry for key, entry in entries if entry is not None}

    def scan(
        self, rows: tuple[bytes, bytes | None], *, event: int = LAST, ingest: int, without_erased: bool = False
    ) -> Iterator[tuple[str, Entry]]:
        """The same of all keys in a range (`bounds`), in order. Streams. Refused where a key was erased since `ingest`,
        unless these are to be left out."""
        table, start, stop = self._table, layout.entry(self._head, event), self._stop
        bounds = () if event == LAST else (start, stop)
        for row, first in table.scan_firsts(rows, layout.EXTENT, *bounds, at=ingest):
            cell: Cell | None = first
            if not start <= first.qualifier < stop:
                cell = table.firsts((row,), layout.EXTENT, start, stop, at=ingest).get(row)
            if cell is None:
                continue
            if without_erased and cell.value[:1] == b"!":
                continue
            entry = self._entry(row, cell, ingest)
            if entry is not None:
                yield self.key_of(row), entry

    def versions(self, rows: tuple[bytes, bytes], *, ingest: int) -> Iterator[tuple[str, Entry]]:
        """All that was written of the keys in a range up to `ingest`: by key, the latest event first, and of each the
        newest first. Streams. Refused where a key was erased since."""
        for row, found, time, cell in self._table.history(*rows, columns=[layout.extent(b"")], until=ingest):
            if found.startswith(self._columns) and cell is not None:
                entry = self._decoded(row, layout.event_of(found), time, cell, ingest)
                if entry is not None:
                    yield self.key_of(row), entry

    def _firsts(self, rows: Collection[bytes], event: int, ingest: int) -> dict[bytes, Cell]:
        """The first cells from an event on. Of all events they are mostly the first of their rows, which servers find
        without being told of bounds; where others lie before them, they are looked for again."""
        start = layout.entry(self._head, event)
        if event < LAST:
            return self._table.firsts(rows, layout.EXTENT, start, self._stop, at=ingest)
        found = self._table.firsts(rows, layout.EXTENT, at=ingest)
        others = [row for row, cell in found.items() if not start <= cell.qualifier < self._stop]
        if others:
            found = {row: cell for row, cell in found.items() if row not in others}
            found |= self._table.firsts(others, layout.EXTENT, start, self._stop, at=ingest)
        return found

    def _entry(self, row: bytes, found: Any, ingest: int) -> Entry | None:
        qualifier, time, cell = found
        return self._decoded(row, layout.event_of(qualifier), time, cell, ingest)

    def _decoded(self, row: bytes, event: int, time: int, cell: bytes, ingest: int) -> Entry | None:
        """None where there was something that was erased before `ingest`."""
        try:
            kind = cell[0]
            if kind == _SIGNED:
                named = 2 + cell[1]
                cell = cell[named + 1 + cell[named] :]
                kind = cell[0]
            elif kind == _OPERATION:
                cell = cell[2 + cell[1] :]
                kind = cell[0]
        except IndexError as exc:
            raise self._corrupt(row, event, cell) from exc
        if kind == _INSERTED:
            try:
                return Entry(event, time, codecs.decode_single(self.feature.codec, cell[1:]))
            except ValueError as exc:
                raise self._corrupt(row, event, cell) from exc
        if kind == _RETRACTED:
            return Entry(event, time, None, retracted=True)
        if kind != _ERASED or not cell[1:].isdigit():
            raise self._corrupt(row, event, cell)
        if ingest < int(cell[1:]):
            raise Purged(f"{self.feature} of {self.key_of(row)!r} in {self.model!r}", ingest, int(cell[1:]))
        return None

    def _corrupt(self, row: bytes, event: int, cell: bytes) -> CorruptRow:
        where = f"{row.decode()} of {self.model!r}"
        return CorruptRow(where, f"{self.feature} at {event}", cell, f"an entry of {self.feature.codec.expected}")

    def _cell(self, value: Any, is_retracted: bool) -> bytes:
        if is_retracted:
            return retracted()
        if not self._binary or type(value) is not bytes:
            value = checked(self.feature, value)
        return inserted(self.feature, value)


def _signed(cell: bytes | None) -> bool:
    return bool(cell) and cell[0] == _SIGNED  # type: ignore[index]


def _signature(cell: Any) -> tuple[bytes, bytes]:
    named = 2 + cell[1]
    return cell[2:named], cell[named + 1 : named + 1 + cell[named]]
