"""What references may name, and what it is: from texts to ids. In memory while there is little, then on disk.

On disk it is a hash table in a file that is mapped into memory, 24 bytes a slot: two independent hashes of the text,
which take its place, and where in another file the id is. The hashes are Python's own, which are keyed anew in each
process; that two of 10**9 texts have both in common has a chance below 10**-20.
"""

import mmap
import os
import struct
import tempfile
from typing import IO

ROOM = 50_000
"""How many texts are known in memory."""

_SLOT = 24
_PACK = struct.Struct("<qqQ")
_DIGEST = struct.Struct("<qq").pack
_WHERE = struct.Struct("<Q")
_EMPTY = bytes(16)
_HEAP = 1 << 20


class Targets:
    """Texts, each with another: the id of an object after a mark of its class."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._known: dict[str, str] | None = {}
        self._table: _Table | None = None

    def define(self, text: str, target: str) -> bool:
        """Know what a text names; False, and nothing changes, if it names something already."""
        known = self._known
        if known is not None:
            if text in known:
                return False
            known[text] = target
            if len(known) > self._room:
                self._table = _Table(8 * self._room)
                for one, other in known.items():
                    self._table.define(one, other)
                self._known = None
            return True
        assert self._table is not None
        return self._table.define(text, target)

    def find(self, text: str) -> str | None:
        """What a text names."""
        if self._known is not None:
            return self._known.get(text)
        assert self._table is not None
        return self._table.find(text)

    def close(self) -> None:
        self._known = {}
        if self._table is not None:
            self._table.close()
            self._table = None


class _Table:
    def __init__(self, slots: int) -> None:
        self._heap: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        self._waiting = bytearray()
        self._written = 0
        self._read: mmap.mmap | None = None
        self._count = 0
        self._map = self._room(1 << (slots - 1).bit_length())

    def _room(self, slots: int) -> mmap.mmap:
        self._mask = slots - 1
        self._end = slots * _SLOT
        with tempfile.TemporaryFile() as file:
            os.posix_fallocate(file.fileno(), 0, self._end)  # a full disk is told now, and not by a signal later
            return mmap.mmap(file.fileno(), self._end)

    def define(self, text: str, target: str) -> bool:
        first = hash(text)
        digest = _DIGEST(first, hash(text + "\0"))
        at, slots, end = (first & self._mask) * _SLOT, self._map, self._end
        while (found := slots[at : at + 16]) != _EMPTY:
            if found == digest:
                return False
            at += _SLOT
            if at == end:
                at = 0
        encoded = target.encode()
        slots[at : at + _SLOT] = digest + _WHERE.pack(self._written + len(self._waiting))
        self._waiting += bytes((len(encoded),)) + encoded
        if len(self._waiting) > _HEAP:
            self._flush()
        self._count += 1
        if 2 * self._count > self._mask:
            self._grow()
        return True

    def find(self, text: str) -> str | None:
        first = hash(text)
        digest = _DIGEST(first, hash(text + "\0"))
        at, slots = (first & self._mask) * _SLOT, self._map
        while (found := slots[at : at + 16]) != digest:
            if found == _EMPTY:
                return None
            at += _SLOT
            if at == self._end:
                at = 0
        where = _WHERE.unpack_from(slots, at + 16)[0]
        heap = self._read or self._mapped()
        if where >= len(heap):
            heap = self._mapped()
        return heap[where + 1 : where + 1 + heap[where]].decode()

    def close(self) -> None:
        if self._read is not None:
            self._read.close()
        self._map.close()
        self._heap.close()

    def _flush(self) -> None:
        self._heap.write(self._waiting)
        self._written += len(self._waiting)
        self._waiting.clear()

    def _mapped(self) -> mmap.mmap:
        self._flush()
        self._heap.flush()
        if self._read is not None:
            self._read.close()
        self._read = mmap.mmap(self._heap.fileno(), 0, prot=mmap.PROT_READ)
        return self._read

    def _grow(self) -> None:
        before, end = self._map, self._end
        after = self._room(4 * (self._mask + 1))
        for at in range(0, end, _SLOT):
            first, second, where = _PACK.unpack_from(before, at)
            if first or second:
                to = (first & self._mask) * _SLOT
                while after[to : to + 16] != _EMPTY:
                    to = (to + _SLOT) % self._end
                _PACK.pack_into(after, to, first, second, where)
        self._map = after
        before.close()
