"""Records that wait to be used again, in the order in which they came: in memory while they are few, then on disk."""

import marshal
import struct
import tempfile
from collections.abc import Iterator
from typing import Any

_PAGE = 500  # records, or fewer large ones
_IN_MEMORY = 1 << 22
_LENGTH = struct.Struct("<Q")


class Spool:
    """Tuples of plain values. All are added first and then read, as often as need be."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  closed by `close`
        self._page: list[Any] = []
        self._room = _PAGE

    def add(self, record: tuple[Any, ...], weight: int = 1) -> None:
        """Keep a record; `weight` is about how many texts it has in it, by hundreds."""
        self._page.append(record)
        self._room -= weight
        if self._room <= 0:
            self._flush()

    def __iter__(self) -> Iterator[Any]:
        self._flush()
        at = 0
        while True:
            self._file.seek(at)  # several may be reading
            head = self._file.read(_LENGTH.size)
            if not head:
                return
            page = self._file.read(_LENGTH.unpack(head)[0])
            at = self._file.tell()
            yield from marshal.loads(page)

    def close(self) -> None:
        self._file.close()

    def _flush(self) -> None:
        if self._page:
            page = marshal.dumps(self._page)
            self._file.write(_LENGTH.pack(len(page)))
            self._file.write(page)
            self._page = []
            self._room = _PAGE
