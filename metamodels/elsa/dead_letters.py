"""Messages that could not be applied: none is lost, each is kept with the reason, until somebody has mended that.

A row of the system's intake table for each, by queue and place, so that a message which comes again is the same one.
``p:reason``, ``p:seen`` (microseconds), ``p:size`` and, where it has one, ``p:key`` say what it is; its bytes are in
``p:raw`` and a number, in pieces that every store takes. ``p:ended`` says what became of it.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import attrs

from metamodels.elsa.messages import Message
from neomodel.errors import TableNotFound
from neomodel.stores import Mutation, Row, Table
from neomodel.stores.clock import wall

HEAD = b"dead\0"
_REASON, _SEEN, _SIZE, _KEY, _ENDED, _RAW = b"p:reason", b"p:seen", b"p:size", b"p:key", b"p:ended", b"p:raw"
_ABOUT = (_REASON, _SEEN, _SIZE, _KEY, _ENDED)
_PIECE = 2**19
_NULL = b"-"
_LETTERS, _BYTES = 500, 2**24  # of a page


@attrs.frozen
class DeadLetter:
    """A message that could not be applied, and why. `seen` is when it was put aside, in microseconds; `ended` what
    became of it: None while it waits, ``replayed`` or ``dismissed``."""

    queue: str
    place: str
    reason: str
    seen: int
    size: int | None
    """Bytes; None if it was a tombstone."""
    ended: str | None


class DeadLetters:
    """Those of a system. Made by `Intake`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, rejected: Iterable[tuple[Message, str]]) -> int:
        """Keep messages with reasons. Keeping one again changes nothing but the reason. Returns how many. Some calls
        for some thousand, or for one that is large."""
        given = list(rejected)
        rows = [_row(message.queue, message.place) for message, _ in given]
        there = self._table.get_many(rows, columns=(_SEEN,)) if rows else {}
        seen = [there[row][_SEEN] if row in there else b"%d" % wall() for row in rows]
        told = zip(given, seen, strict=True)
        self._table.put_many(one for (message, reason), when in told for one in _mutations(message, reason, when))
        return len(rows)

    def find(self, *, ended: bool = False) -> Iterator[DeadLetter]:
        """Those that wait, in the order of queues; with `ended` the others too. Streams, without the messages."""
        try:
            for key, row in self._table.scan(HEAD, HEAD[:-1] + b"\1", columns=_ABOUT):
                if _REASON in row and (ended or _ENDED not in row):
                    yield _loaded(key, row)
        except TableNotFound:
            return

    def messages(self, letters: Iterable[DeadLetter]) -> Iterator[list[tuple[DeadLetter, Message]]]:
        """These with the messages themselves, byte for byte, in pages of some hundred, or some megabytes. One read each
        page."""
        left = iter(letters)
        while page := list(_page(left)):
            rows = self._table.get_many([_row(letter.queue, letter.place) for letter in page])
            yield [(letter, _message(letter, rows[_row(letter.queue, letter.place)])) for letter in page]

    def end(self, letters: Iterable[DeadLetter], how: str) -> None:
        """Say what became of some. One call for some thousand."""
        self._table.put_many(Mutation(_row(one.queue, one.place), {_ENDED: how.encode()}) for one in letters)


def _mutations(message: Message, reason: str, seen: bytes) -> Iterator[Mutation]:
    row, raw = _row(message.queue, message.place), message.value
    for number, start in enumerate(range(0, len(raw or b""), _PIECE)):
        yield Mutation(row, {_RAW + b"%06d" % number: (raw or b"")[start : start + _PIECE]})
    size = _NULL if raw is None else b"%d" % len(raw)
    about: dict[bytes, bytes | None] = {_REASON: _told(reason), _SEEN: seen, _SIZE: size}
    yield Mutation(row, about if message.key is None else {**about, _KEY: message.key})


def _told(reason: str) -> bytes:
    text = " ".join(reason.split())
    return (text if len(text) <= 1000 else f"{text[:1000]}…").encode(errors="backslashreplace")


def _row(queue: str, place: str) -> bytes:
    return HEAD + queue.encode() + b"\0" + place.encode()


def _loaded(key: bytes, row: Row) -> DeadLetter:
    queue, _, place = key[len(HEAD) :].decode().partition("\0")
    ended = row[_ENDED].decode() if _ENDED in row else None
    size: Any = None if row[_SIZE] == _NULL else int(row[_SIZE])
    return DeadLetter(queue, place, row[_REASON].decode(), int(row[_SEEN]), size, ended)


def _page(letters: Iterator[DeadLetter]) -> Iterator[DeadLetter]:
    size = 0
    for letter in islice(letters, _LETTERS):
        yield letter
        size += letter.size or 0
        if size >= _BYTES:
            return


def _message(letter: DeadLetter, row: Row) -> Message:
    raw = b"".join(value for column, value in row.items() if column.startswith(_RAW))
    return Message(letter.queue, letter.place, row.get(_KEY), None if letter.size is None else raw)
