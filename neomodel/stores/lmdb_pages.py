"""Columns of many rows at a time, straight from the pages of an LMDB file.

A cursor hands out one key and one value after another, and to look at them takes Python longer than it takes LMDB to
find them. Here some hundred leaf pages are taken at a time instead, and numpy looks at all their entries at once: which
are of a column that is wanted, which were there at the time, where a row begins, where values lie. Only those values
are copied, all of a column in one go.

It is the snapshot of a read transaction that is read, and only while that lasts: no writer touches its pages. What is
known here of the file is LMDB's data format 1, which `lmdb_file` insists on. All numbers in it are little-endian:

    page      number (8 bytes), unused (2), flags (2), end of the list of entries (2), unused (2), then that list:
              where each entry begins in the page (2)
    entry     of a leaf: length of the value (4), flags (2), length of the key (2), key, value, or, if it has pages of
              its own, the number of the first; of a branch: number of the page below (6), length of the key (2), key
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np
import pyarrow as pa

from neomodel.errors import CorruptStore
from neomodel.stores.blocks import Block
from neomodel.stores.encoding import escape, unescape
from neomodel.stores.lmdb_file import LmdbFile
from neomodel.stores.lmdb_parts import Numbers, binary
from neomodel.stores.lmdb_walk import ROW

PAGES = 512
"""Leaf pages that are read at a time, about: some thousand rows."""
MOST_BYTES = 1 << 26
"""Of values that have pages of their own, at a time."""
_BRANCHES = 4  # pages looked at together: they lead to some hundred leaves
_HEAD = 16  # of a page
_NODE = 8  # of an entry, before its key
_TIME = 8
_LEAF, _BIG = 0x02, 1 << 32  # in the flags of a page; in the head of an entry
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(9)], np.uint64).view(np.int64)


class Tree:
    """The entries of a snapshot, given the file, the size of its pages and the number of the topmost one."""

    def __init__(self, file: Any, page_size: int, root: int) -> None:
        self.bytes = np.frombuffer(file, np.uint8)
        self._words: Numbers = np.ndarray(len(file) - 7, "<u8", file, strides=(1,))
        self.page_size = page_size
        self._root = root

    def words(self, places: Numbers) -> Numbers:
        """The eight bytes at each of these places, as a number whose lowest byte is the first."""
        return self._words[places].view(np.int64)

    def entries(self, pages: Numbers) -> Numbers:
        """Where the entries of these pages begin, in their order."""
        starts = pages * self.page_size
        counts = ((self.words(starts + 8) >> 32 & 0xFFFF) - _HEAD) // 2
        firsts = np.cumsum(counts) - counts
        base = np.repeat(starts, counts)
        listed = np.arange(_HEAD, _HEAD + 2 * len(base), 2) + np.repeat(starts - 2 * firsts, counts)
        return base + (self.words(listed) & 0xFFFF)

    def key(self, entry: int) -> bytes:
        length = int(self._words[entry]) >> 48
        return self.bytes[entry + _NODE : entry + _NODE + length].tobytes()

    def leaves(self, start: bytes, stop: bytes, page: int | None = None) -> Iterator[Numbers]:
        """The numbers of the leaf pages that may have keys in a range, those below few branch pages at a time."""
        top = self._root if page is None else page
        if self._is_leaf(top):
            yield np.array([top])
            return
        entries = self.entries(np.array([top]))
        names = range(1, len(entries))  # what the first one leads to has no lower bound
        first = bisect_right(names, start, key=lambda at: self.key(entries[at]))
        last = bisect_left(names, stop, key=lambda at: self.key(entries[at]))
        below = self._below(entries[first : last + 1])
        if self._is_leaf(int(below[0])):
            yield below
            return
        yield from self.leaves(start, stop, int(below[0]))
        yield from self._all(below[1:-1])  # only the outermost may have some that are out of the range
        if len(below) > 1:
            yield from self.leaves(start, stop, int(below[-1]))

    def _all(self, branches: Numbers) -> Iterator[Numbers]:
        """The numbers of all leaf pages below these."""
        for at in range(0, len(branches), _BRANCHES):
            below = self._below(self.entries(branches[at : at + _BRANCHES]))
            if self._is_leaf(int(below[0])):
                yield below
            else:
                yield from self._all(below)

    def _below(self, entries: Numbers) -> Numbers:
        """The numbers of the pages that entries of branches lead to."""
        return self.words(entries) & 0xFFFF_FFFF_FFFF

    def _is_leaf(self, page: int) -> bool:
        return bool((int(self._words[page * self.page_size + 8]) >> 16) & _LEAF)


class Entries:
    """Entries of leaf pages as columns of numbers."""

    def __init__(self, tree: Tree, places: Numbers) -> None:
        self.tree = tree
        self.heads = tree.words(places)
        self.keys = places + _NODE  # where they begin, and end
        self.ends = self.keys + (self.heads >> 48 & 0xFFFF)

    def some(self, chosen: Numbers | slice) -> "Entries":
        """Some of them."""
        found = copy(self)
        found.heads, found.keys, found.ends = self.heads[chosen], self.keys[chosen], self.ends[chosen]
        return found

    def values(self, chosen: Numbers | slice = slice(None)) -> tuple[Numbers, Numbers]:
        """Where the values of some entries begin, or of all, and how long they are."""
        heads, starts = self.heads[chosen], self.ends[chosen]
        big = (heads & _BIG).astype(bool)
        if big.any():
            starts = starts.copy()
            starts[big] = self.tree.words(starts[big]) * self.tree.page_size + _HEAD
        return starts, heads & 0xFFFF_FFFF

    def fitting(self, most: int) -> int:
        """How many of them, from the first on, have values that are together not longer than so many bytes; those that
        have no pages of their own don't count."""
        (big,) = np.nonzero(self.heads & _BIG)
        over = np.cumsum(self.heads[big] & 0xFFFF_FFFF) > most
        return int(big[over][0]) if over.any() else len(self.heads)

    def since(self, chosen: Numbers, inverse: bytes) -> Numbers:
        """Which of some entries were there at an inverted time."""
        return self.tree.words(self.ends[chosen] - _TIME).byteswap() >= int.from_bytes(inverse, "big")

    def of_columns(self, columns: Sequence[bytes]) -> Numbers:
        """Of each the number of its column in the list, or -1."""
        found = np.full(len(self.keys), -1, np.int8 if len(columns) < 128 else np.int64)
        ends = self.ends - _TIME
        lasts = self.tree.words(ends - 8)
        for number, column in enumerate(columns):
            name = b"\0" + escape(column) + b"\0"
            (at,) = np.nonzero(_ends_with(lasts, name[-8:]))
            for stop in range(len(name) - 8, 0, -8):
                words = self.tree.words(ends[at] - len(name) + stop - 8)
                at = at[_ends_with(words, name[max(stop - 8, 0) : stop])]
            found[at] = number
        return found

    def row_numbers(self, chosen: Numbers, lengths: Numbers) -> Numbers:
        """Of the `chosen` entries, whose row keys are so long, the number of their row among those they belong to."""
        keys = self.keys[chosen] + ROW
        same = np.zeros(len(chosen), bool)
        same[1:] = lengths[1:] == lengths[:-1]
        done = 0
        while (rest := np.nonzero(same & (lengths > done))[0]).size:
            masks = _MASKS[np.minimum(lengths[rest] - done, 8)]
            differ = (self.tree.words(keys[rest] + done) ^ self.tree.words(keys[rest - 1] + done)) & masks
            same[rest[differ != 0]] = False
            done += 8
        return np.cumsum(~same) - 1


def _ends_with(words: Numbers, end: bytes) -> Numbers:
    """Which words end with up to eight bytes."""
    unasked = 8 - len(end)
    mask = np.array([-1 << 8 * unasked], np.int64)
    return words & mask == int.from_bytes(bytes(unasked) + end, "little", signed=True)


def block(
    file: LmdbFile, txn: Any, start: bytes, stop: bytes, columns: Sequence[bytes], inverse: bytes
) -> tuple[Block, bytes | None]:
    """Rows with these columns from `start`, before `stop`, as of `inverse` if it is not empty, and where to go on, or
    None at the end: what lies in about `PAGES` leaf pages, but whole rows; none if the transaction does for nothing."""
    if start >= stop:
        return Block.of([], columns), None
    pages = file.pages(txn)
    if pages is None:
        return Block.of([], columns), start
    with within(file):
        return _rows(Tree(*pages), start, stop, columns, inverse)


def recent(
    file: LmdbFile, txn: Any, start: bytes, stop: bytes, newest: bytes, oldest: bytes
) -> tuple[list[tuple[bytes, bytes]], bytes | None]:
    """Key and stored value of every version in about `PAGES` leaf pages whose inverted time is `newest` or more, and
    less than `oldest`; and where to go on. Costs little for those that are older, which most are."""
    if start >= stop:
        return [], None
    pages = file.pages(txn)
    if pages is None:
        return [], start
    with within(file):
        tree = Tree(*pages)
        places, more = taken(tree, start, stop)
        entries = Entries(tree, places)
        times = tree.words(entries.ends - _TIME).byteswap()
        (chosen,) = np.nonzero((times >= int.from_bytes(newest, "big")) & (times < int.from_bytes(oldest, "big")))
        starts, lengths = entries.values(chosen)
        found = [
            (tree.key(place), tree.bytes[first : first + length].tobytes())
            for place, first, length in zip(places[chosen], starts, lengths, strict=True)
        ]
        return found, tree.key(places[-1]) + b"\0" if more else None


@contextmanager
def within(file: LmdbFile) -> Iterator[None]:
    try:
        yield
    except IndexError as exc:
        raise CorruptStore(file.folder, "a page of data.mdb leads to one that is not there") from exc


def taken(tree: Tree, start: bytes, stop: bytes) -> tuple[Numbers, bool]:
    """The entries of a range, those in about `PAGES` leaf pages, and whether there may be more."""
    taken: list[Numbers] = []
    more = False
    for some in tree.leaves(start, stop):
        more = sum(map(len, taken)) >= PAGES
        if more:
            break
        taken.append(some)
    return _between(tree, np.concatenate(taken), start, stop), more


def _rows(
    tree: Tree, start: bytes, stop: bytes, columns: Sequence[bytes], inverse: bytes
) -> tuple[Block, bytes | None]:
    places, more = taken(tree, start, stop)
    entries = Entries(tree, places)
    count = entries.fitting(MOST_BYTES)
    if not more and count == len(places):
        return _block(entries, columns, inverse), None
    last = tree.key(places[min(count, len(places) - 1)])
    row = last[: last.index(0, ROW)]
    count = bisect_left(places, row + b"\0", key=tree.key)
    if count:
        return _block(entries.some(slice(count)), columns, inverse), row + b"\0"
    whole = np.concatenate(list(tree.leaves(start, row + b"\1")))  # one row is more than what is read at a time
    return _block(Entries(tree, _between(tree, whole, start, row + b"\1")), columns, inverse), row + b"\1"


def _between(tree: Tree, pages: Numbers, start: bytes, stop: bytes) -> Numbers:
    """The entries of these pages that lie in a range."""
    found = tree.entries(pages)
    return found[bisect_left(found, start, key=tree.key) : bisect_left(found, stop, key=tree.key)]


def _block(entries: Entries, columns: Sequence[bytes], inverse: bytes) -> Block:
    numbers = entries.of_columns(columns)
    (chosen,) = np.nonzero(numbers >= 0)
    if inverse:
        chosen = chosen[entries.since(chosen, inverse)]
    numbers = numbers[chosen]
    names = np.array([len(escape(column)) + 2 for column in columns])
    lengths = entries.ends[chosen] - entries.keys[chosen] - ROW - _TIME - names[numbers]
    rows = entries.row_numbers(chosen, lengths)
    count = int(rows[-1]) + 1 if len(rows) else 0
    found = [_Cells(entries, chosen[numbers == at], rows[numbers == at], count) for at in range(len(columns))]
    living = np.logical_or.reduce([one.lengths >= 0 for one in found])
    firsts = np.nonzero(np.diff(rows, prepend=-1))[0][living]
    keys = binary(entries.tree.bytes, entries.keys[chosen[firsts]] + ROW, lengths[firsts])
    if 1 in np.frombuffer(keys.buffers()[2], np.uint8):
        keys = pa.array([unescape(key) for key in keys.to_pylist()], pa.binary())
    return Block(keys, {column: one.binary(living) for column, one in zip(columns, found, strict=True)})


class _Cells:
    """Where the cells of one column lie; of rows that have none the length is -1."""

    def __init__(self, entries: Entries, places: Numbers, rows: Numbers, count: int) -> None:
        newest = np.diff(rows, prepend=-1) != 0
        places, rows = places[newest], rows[newest]
        self._tree = entries.tree
        self._starts = np.zeros(count, np.int64)
        self.lengths = np.full(count, -1)
        starts, lengths = entries.values(places)
        alive = lengths > 0  # nothing at all is a tombstone, a zero in front no part of a value: `encoding`
        rows, lengths, starts = rows[alive], lengths[alive], starts[alive]
        marked = self._tree.bytes[starts] == 0
        self._starts[rows] = starts + marked
        self.lengths[rows] = lengths - marked

    def binary(self, living: Numbers) -> Any:
        return binary(self._tree.bytes, self._starts[living], self.lengths[living])
