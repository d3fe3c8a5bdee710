"""The embedded store: one folder, one LMDB file, many processes at once.

Readers never wait. Writers wait for one another and never fail for it. A write that returned is on disk. Times are
stamped inside the write transaction, so they grow strictly over all processes, and `now` is complete at once.

What the file holds, by the first byte of the key; `encoding` says how a version's key and value are made:

    00 "format", 00 "clock"       the format's name; the last time given out
    00 "next"                     the number of the next table, 3 bytes
    00 "table" 00 NAME            number of the table, horizon of its purges (8 bytes), its families
    00 "dropped" 00 NUMBER        a table that is gone, while its space is being taken back
    01 NUMBER VERSION-KEY         one version of one cell
    02 NUMBER ESCAPED-ROW-KEY     a sample of one row in 256, for `regions`
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any
from zlib import crc32

import attrs

from neomodel.errors import InvalidStore, InvalidValue, TableExists
from neomodel.stores import lmdb_file, lmdb_sweep
from neomodel.stores import lmdb_walk as walk
from neomodel.stores.base import DURABLE, ORDERED, SHARED, VERSION, Cells, Mutation, Region, Row, Store, Table
from neomodel.stores.checks import (
    check_cells,
    check_families,
    check_family,
    check_key,
    check_name,
    check_swap,
    check_time,
)
from neomodel.stores.encoding import encode_time, escape, unescape
from neomodel.stores.lmdb_entry import CELLS, Entry, batches, row_of, writes
from neomodel.stores.lmdb_reading import TABLE_KEY, LmdbReading

_NEXT_KEY, _DROPPED_KEY = b"\0next", b"\0dropped\0"
_SAMPLES = b"\2"
_SAMPLED = 256  # of that many rows, one is a sample
_REGION_ROWS, _MOST_REGIONS = 8192, 16


class LmdbStore(Store):
    capabilities = frozenset({DURABLE, ORDERED, SHARED})

    def __init__(self, url: str, file: lmdb_file.LmdbFile) -> None:
        self.url = url
        self._file = file

    def table(self, name: str) -> Table:
        return LmdbTable(self.url, self._file, check_name(name))

    def tables(self) -> list[str]:
        with self._file.reading("listing tables") as txn:
            return [key.removeprefix(TABLE_KEY).decode() for key in walk.keys(txn.cursor(), TABLE_KEY)]

    def size(self) -> int:
        return self._file.size()

    def close(self) -> None:
        self._file.close()


Pairs = tuple[list[bytes], list[bytes]]
"""Stored keys, and the value of each."""


class LmdbTable(LmdbReading):
    # the table itself

    def create(self, families: Iterable[str], *, splits: Iterable[bytes] = ()) -> None:
        letters = check_families(families)
        for split in splits:
            check_key(split)  # and no more: ranges follow what is stored
        with self._file.writing("create") as txn:
            if txn.get(self._key) is not None:
                raise TableExists(self.name, self._url)
            number = txn.get(_NEXT_KEY, b"\0\0\1")
            txn.put(_NEXT_KEY, (int.from_bytes(number, "big") + 1).to_bytes(3, "big"))
            txn.put(self._key, Entry(number, 0, letters).stored())

    def drop(self) -> None:
        with self._file.writing("drop") as txn:
            number = self._entry(txn).number
            txn.delete(self._key)
            txn.put(_DROPPED_KEY + number, b"")
        self._take_back()

    def families(self) -> frozenset[str]:
        with self._file.reading("families") as txn:
            return frozenset(family[:1].decode() for family in self._entry(txn).families)

    def regions(self) -> list[Region]:
        """About equally many rows each: one range for every 8,192, 16 at the most."""
        with self._file.reading("regions") as txn:
            entry = self._entry(txn)
            keys = [key[walk.ROW :] for key in walk.keys(txn.cursor(), _SAMPLES + entry.number)]
            weight = _SAMPLED
            if len(keys) * weight < 8 * _REGION_ROWS:  # too few to judge by: look at the rows themselves
                keys, weight = walk.row_keys(txn.cursor(), entry.cells), 1
        count = max(1, min(_MOST_REGIONS, len(keys) * weight // _REGION_ROWS))
        cuts = [unescape(keys[len(keys) * cut // count]) for cut in range(1, count)]
        return [Region(start or b"", stop) for start, stop in itertools.pairwise([b"", *cuts, None])]

    def now(self) -> int:
        with self._file.reading("now") as txn:
            self._entry(txn)
            return lmdb_file.clock(txn)

    def mark(self) -> int:
        """The number of the last transaction in the file. Asked for with every object that is touched."""
        try:
            txn = (self._file.env or self._file.open()).begin()
            number: int = txn.id()
            txn.abort()  # a `with` would take as long as all of this
            return number  # noqa: TRY300
        except lmdb_file.ReadersFull:
            with self._file.reading("mark") as txn:
                return txn.id()  # type: ignore[no-any-return]
        except lmdb_file.DriverError as exc:
            raise lmdb_file.failure("mark", self._where(), exc) from exc

    # writing

    def swap(self, key: bytes, expected: bytes | None, cells: Cells) -> bool:
        check_swap(expected, cells)
        with self._file.writing("swap") as txn:
            entry = self._entry(txn)
            current = row_of(txn.cursor(), entry, key, entry.selected((VERSION,)), b"")
            if (current[VERSION] if current else None) != expected:
                check_cells(cells, entry.families)
                return False
            self._put(txn, entry, [Mutation(key, cells)])
            return True

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        for batch in batches(mutations):
            with self._file.writing("put_many") as txn:
                entry = self._entry(txn)
                self._put(txn, entry, batch)

    def put_cells(self, cells: Iterable[Any]) -> None:
        from neomodel.stores import lmdb_versions  # needs numpy and Arrow

        def ended(txn: Any, _: Entry, block: Any, made: Any) -> Pairs:
            return lmdb_versions.stamped(made, lmdb_file.tick(txn, len(block)))

        self._put_blocks(cells, lambda entry, block: lmdb_versions.prepared(entry, *block.columns), ended)

    def put_history(self, versions: Iterable[Any]) -> None:
        from neomodel.stores import lmdb_versions  # needs numpy and Arrow

        def ended(txn: Any, entry: Entry, block: Any, made: Pairs) -> Pairs:
            lmdb_versions.check_times(entry, block, lmdb_file.tick(txn, 1))
            return made

        self._put_blocks(versions, lambda entry, block: lmdb_versions.stored(entry, block), ended)

    def _put_blocks(
        self, blocks: Iterable[Any], prepare: Callable[[Entry, Any], Any], end: Callable[[Any, Entry, Any, Any], Pairs]
    ) -> None:
        """Write record batches. Each is prepared while others may be writing, and ended when it is its turn."""
        for block in blocks:
            with self._file.reading("put_many") as txn:
                entry = self._entry(txn)
            made = prepare(entry, block)
            sampled = list(_sampled(block.column(0).unique().to_pylist()))
            with self._file.writing("put_many") as txn:
                found = self._entry(txn)
                if found != entry:  # it was purged, or is another one
                    entry, made = found, prepare(found, block)
                self._write(txn, entry, partial(zip, *end(txn, entry, block, made), strict=True), sampled)

    def purge(self, before: int) -> int:
        with self._file.writing("purge") as txn:
            entry = self._entry(txn)
            check_time(before, lmdb_file.tick(txn, 1))
            horizon = max(before, entry.horizon)
            txn.put(self._key, attrs.evolve(entry, horizon=horizon).stored())
        gone = 0
        kept = b""
        position: bytes | None = entry.cells
        while position is not None:
            with self._file.writing("purge") as txn:
                self._entry(txn)
                removed, position, kept = lmdb_sweep.purge(
                    txn, position, walk.after(entry.cells), encode_time(horizon), kept
                )
            gone += removed
        return gone

    def erase(self, key: bytes, family: str, start: bytes, stop: bytes, until: int, instead: Row) -> int:
        with self._file.writing("erase") as txn:
            entry = self._entry(txn)
            at_horizon = Mutation(key, instead, entry.horizon)
            at_any_time, now = attrs.evolve(entry, horizon=0), lmdb_file.tick(txn, 1)
            self._write(txn, entry, lambda: writes(at_any_time, [at_horizon], now), ())
            first, last = walk.part(check_family(family, entry.families), start, stop)
            head = entry.cells + escape(key)
            kept = {head + b"\0" + escape(column) + b"\0" for column in instead}
            return lmdb_sweep.erase(txn, head + first, head + last, encode_time(until), kept)

    # how

    def _put(self, txn: Any, entry: Entry, batch: list[Mutation]) -> None:
        first = lmdb_file.tick(txn, len(batch))
        self._write(txn, entry, lambda: writes(entry, batch, first), _sampled(key for key, _, _ in batch))

    def _write(self, txn: Any, entry: Entry, pairs: Callable[[], Iterable[Any]], sampled: Iterable[bytes]) -> None:
        """Put stored keys and values, and the keys of rows that are samples."""
        try:
            txn.cursor().putmulti(pairs())
        except lmdb_file.BadLength as exc:
            raise InvalidValue(
                "the length of a row key with its column, as LMDB stores them,",
                max(len(key) for key, _ in pairs()),
                f"at most {lmdb_file.LONGEST_KEY}",
            ) from exc
        for key in sampled:
            txn.put(_SAMPLES + entry.number + escape(key), b"")

    def _take_back(self) -> None:
        """Free the space of dropped tables, also of those whose dropper did not come to it."""
        with self._file.reading("drop") as txn:
            numbers = [key.removeprefix(_DROPPED_KEY) for key in walk.keys(txn.cursor(), _DROPPED_KEY)]
        for number, kind in itertools.product(numbers, (_SAMPLES, CELLS)):
            left = True
            while left:
                with self._file.writing("drop") as txn:
                    left = lmdb_sweep.delete(txn, kind + number)
                    if not left and kind == CELLS:
                        txn.delete(_DROPPED_KEY + number)


def _sampled(keys: Iterable[bytes]) -> Iterator[bytes]:
    """Those that are samples: one in `_SAMPLED`, and always the same."""
    return (key for key in keys if not crc32(key) % _SAMPLED)


def open_url(url: str, rest: str, *, create: bool) -> Store:
    """`rest` is what follows ``lmdb:``: a folder."""
    if not rest:
        raise InvalidStore(url, "name a folder, as in lmdb:my.db")
    return LmdbStore(url, lmdb_file.use(rest, create=create))
