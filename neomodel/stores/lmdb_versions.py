"""Versions by column: all of those in some hundred pages of an LMDB file at a time (see `lmdb_pages`), and such as are
to be stored.

A stored key without its time is a row key, a zero and a column, both escaped so that they have no zero of their own. So
of many keys, one after another, the zeros tell where each of them is divided.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neomodel.errors import InvalidValue
from neomodel.stores.base import MAX_TIME
from neomodel.stores.blocks import VERSIONS
from neomodel.stores.checks import check_cells, check_key, check_time
from neomodel.stores.lmdb_entry import Entry
from neomodel.stores.lmdb_file import LmdbFile
from neomodel.stores.lmdb_pages import MOST_BYTES, Entries, Tree, taken, within
from neomodel.stores.lmdb_parts import Numbers, binary
from neomodel.stores.lmdb_walk import ROW

_END = 9  # of a stored key: a zero and the time


def block(
    file: LmdbFile, txn: Any, start: bytes, stop: bytes, newest: bytes, oldest: bytes
) -> tuple[Any, bytes | None]:
    """Every version from `start`, before `stop`, whose inverted time is `newest` or more and less than `oldest`, if
    these are not empty, as a record batch, or None if there is none; and where to go on, or None at the end: what lies
    in about `PAGES` leaf pages."""
    if start >= stop:
        return None, None
    pages = file.pages(txn)
    if pages is None:
        return None, start
    with within(file):
        tree = Tree(*pages)
        places, more = taken(tree, start, stop)
        entries = Entries(tree, places)
        count = entries.fitting(MOST_BYTES) or 1
        if count < len(places):
            entries, more = entries.some(slice(count)), True
        found = _versions(entries, newest, oldest) if len(places) else None
        return found, tree.key(places[min(count, len(places)) - 1]) + b"\0" if more else None


def _versions(entries: Entries, newest: bytes, oldest: bytes) -> Any:
    tree = entries.tree
    times = tree.words(entries.ends - 8).byteswap()
    chosen = np.ones(len(times), bool)
    if newest:
        chosen &= times >= int.from_bytes(newest, "big")
    if oldest:
        chosen &= times < int.from_bytes(oldest, "big")
    if not chosen.all():  # a full backup takes them as they are
        entries, times = entries.some(chosen), times[chosen]
    starts, lengths = entries.values()
    tombstones = lengths == 0  # nothing at all; a zero in front is no part of a value: `encoding`
    marked = np.zeros(len(times), bool)
    marked[~tombstones] = tree.bytes[starts[~tombstones]] == 0
    values = binary(tree.bytes, starts + marked, np.where(tombstones, -1, lengths - marked))
    names = binary(tree.bytes, entries.keys + ROW, entries.ends - entries.keys - ROW - _END)
    keys, columns = _divided(names)
    return pa.RecordBatch.from_arrays([keys, columns, pa.array(MAX_TIME - times), values], schema=VERSIONS)


def _divided(names: Any) -> tuple[Any, Any]:
    """The row keys and the columns of stored keys without their times."""
    offsets = np.frombuffer(names.buffers()[1], np.int32)[: len(names) + 1].astype(np.int64)
    data = np.frombuffer(names.buffers()[2], np.uint8)[: offsets[-1]]
    (zeros,) = np.nonzero(data == 0)
    cuts = np.empty(3 * len(names) + 1, np.int64)
    cuts[0::3], cuts[1::3], cuts[2::3] = offsets, zeros, zeros + 1
    if 1 in data:
        data, cuts = _unescaped(data, cuts)
    buffers = [None, pa.py_buffer(cuts.astype(np.int32)), pa.py_buffer(data)]
    parts = pa.Array.from_buffers(pa.binary(), 3 * len(names), buffers, 0)
    return parts.take(pa.array(np.arange(0, 3 * len(names), 3))), parts.take(pa.array(np.arange(2, 3 * len(names), 3)))


def _unescaped(data: Numbers, places: Numbers) -> tuple[Numbers, Numbers]:
    """Escaped bytes as they were, and where these places are among them. Of ones in a row, each second one is what an
    escape stands for; a last one without a second has a two behind it."""
    (ones,) = np.nonzero(data == 1)
    begins = np.diff(ones, prepend=-2) > 1
    first = np.maximum.accumulate(np.where(begins, ones, 0))
    escapes = ones[(ones - first) % 2 == 0]
    plain = data.copy()
    plain[escapes + 1] -= 1
    gone = np.zeros(len(data) + 1, np.int64)
    gone[escapes + 1] = 1
    return np.delete(plain, escapes), places - np.cumsum(gone)[places]


def stored(entry: Entry, versions: Any) -> tuple[list[bytes], list[bytes]]:
    """The stored keys and values of versions in a record batch (`encoding` says how they are made), in its order.
    Raises what storing them one by one would, but for what `check_times` does."""
    keys, columns, times, values = versions.columns
    if times.null_count:
        raise InvalidValue("a version", None, "one with a time")
    beginnings, found = prepared(entry, keys, columns, values)
    return _ended(beginnings, times.to_numpy()), found


def prepared(entry: Entry, keys: Any, columns: Any, values: Any) -> tuple[Any, list[bytes]]:
    """What the stored keys of cells begin with, all but the times, as an array; and the stored values. Raises what
    storing them one by one would."""
    if columns.null_count or keys.null_count:
        raise InvalidValue("a cell", None, "one with a key and a column")
    named = columns.dictionary_encode()  # most have many cells
    _check(entry, keys, named.dictionary)
    names, escaped = _escaped(named.dictionary)
    names = pc.binary_join_element_wise(_binary(b"\0"), names, _binary(b"")).take(named.indices)
    heads, _ = _escaped(keys)
    found = pc.binary_join_element_wise(_binary(entry.cells), heads, names, _binary(b""))
    marked = _empty_or_zero(values) | escaped[named.indices.to_numpy()]
    if marked.any():
        values = pc.if_else(pa.array(marked), pc.binary_join_element_wise(_binary(b"\0"), values, _binary(b"")), values)
    return found, pc.fill_null(values, b"").to_pylist()


def stamped(made: tuple[Any, list[bytes]], first: int) -> tuple[list[bytes], list[bytes]]:
    """The stored keys and values of cells that were prepared, from that time on, one after another."""
    beginnings, values = made
    return _ended(beginnings, np.arange(first, first + len(values))), values


def _ended(beginnings: Any, times: Numbers) -> list[bytes]:
    found: list[bytes] = pc.binary_join_element_wise(beginnings, _moments(times), _binary(b"")).to_pylist()
    return found


def check_times(entry: Entry, versions: Any, now: int) -> None:
    """Raise what storing versions one by one would for their times."""
    for time in pc.min_max(versions.column(2)).as_py().values():
        check_time(time, now, entry.horizon or -1)


def _check(entry: Entry, keys: Any, columns: Any) -> None:
    if pc.min(pc.binary_length(keys)).as_py() == 0:
        check_key(b"")
    heads = pc.unique(pc.binary_slice(columns, 0, 2)).to_pylist()
    if not entry.families.issuperset(heads) or pc.min(pc.binary_length(columns)).as_py() < 3:
        for column in columns.to_pylist():
            check_cells({column: b""}, entry.families)


def _moments(times: Numbers) -> Any:
    """A zero and the inverted time, as stored keys end."""
    found = np.zeros((len(times), _END), np.uint8)
    found[:, 1:] = (MAX_TIME - times).astype(">i8").view(np.uint8).reshape(-1, 8)
    return pa.Array.from_buffers(pa.binary(_END), len(times), [None, pa.py_buffer(found)]).cast(pa.binary())


def _escaped(parts: Any) -> tuple[Any, Numbers]:
    """Row keys or columns as stored keys have them; and of which that differs."""
    offsets, data = _raw(parts)
    if not (data[offsets[0] : offsets[-1]] <= 1).any():
        return parts, np.zeros(len(parts), bool)
    odd = pc.or_(pc.match_substring(parts, b"\0"), pc.match_substring(parts, b"\1"))
    ones = pc.replace_substring(parts, b"\1", b"\1\2")
    return pc.replace_substring(ones, b"\0", b"\1\1"), odd.to_numpy(zero_copy_only=False)


def _empty_or_zero(values: Any) -> Numbers:
    """Which are there, and have nothing in them, or a zero in front."""
    offsets, data = _raw(values)
    found = np.ones(len(values), bool)
    (filled,) = np.nonzero(np.diff(offsets))
    found[filled] = data[offsets[filled]] == 0
    return found & values.is_valid().to_numpy(zero_copy_only=False)


def _raw(parts: Any) -> tuple[Numbers, Numbers]:
    """Where each of an array of bytes begins, and the last one ends; and these bytes."""
    _, offsets, data = parts.buffers()
    whole = np.frombuffer(offsets, np.int32)
    return whole[parts.offset : parts.offset + len(parts) + 1], np.frombuffer(data or b"", np.uint8)


def _binary(data: bytes) -> Any:
    return pa.scalar(data, pa.binary())
