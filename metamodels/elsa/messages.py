"""Messages of a queue, and the operations that they tell: their own format, one JSON object each.

    {"key": "customer-7", "event": "2024-05-01T12:00:00Z", "operation": "insert", "value": {"city": "Leipzig"}}

`event` is a time as people write it, with an offset, or microseconds since the epoch; `operation` is ``insert`` or
``delete``, and ``insert`` if it is left out. Two more are for order and identity:

- `sequence`, a number or a text of up to 100 bytes that grows with every change that the source makes of a key: of two
  operations for one key and event that with the greater one is the newer, in whatever order they come. The same key,
  event and sequence twice, with the same `id` or, without one, the same content: that is one message that came twice.
- `id`, up to 200 bytes of text: without a sequence, where the order of the queue counts, two messages with the same
  key, event and id are one that came twice."""

import hashlib
import json
from collections.abc import Callable
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import neomodel as nm
from metamodels.elsa.versions import DELETE, INSERT, event_time, is_deletion
from neomodel.operations import Operation, prepared
from neomodel.times import STABLE, parsed

LARGEST = 8 * 2**20
"""Bytes of a message, unless something else is said: what every store takes in one cell."""
_FIELDS = {"key", "event", "operation", "value", "sequence", "id"}
_LONGEST_ID, _LONGEST_SEQUENCE = 200, 100
_LONGEST_TIME = 20  # of a number of 64 bits
_SEQUENCES = (int, str, type(None))  # as JSON has them
_QUEUED, _SEQUENCED = b"\1", b"\2"


class Message(NamedTuple):
    """A message as a queue holds it. Those of one `queue` follow one another as their `place` sorts, which is text of
    up to 240 bytes; a value of None is a tombstone."""

    queue: str
    place: str
    key: bytes | None
    value: bytes | None


class Change(NamedTuple):
    """What a message tells."""

    key: str
    event: int
    deletion: bool
    value: bytes | None
    """As it is stored."""
    sequence: int | str | None = None
    id: str | None = None


Format = Callable[[Message], Change | None]
"""What a message tells; None if that is nothing; `nm.InvalidValue` if it can't be told."""


def plain(message: Message) -> Change:
    """What a message tells in the format above."""
    found = read_json(message.value)
    if not isinstance(found, dict) or not _FIELDS.issuperset(found):
        raise nm.InvalidValue("a message", shown(found), f"an object with {', '.join(sorted(_FIELDS))}")
    if "key" not in found or "event" not in found:
        missing = "event" if "key" in found else "key"
        raise nm.InvalidValue("a message", shown(found), f"one that has the field {missing!r}")
    key, event, operation = found["key"], found["event"], found.get("operation", INSERT)
    if operation == INSERT and "value" not in found:
        raise nm.InvalidValue("the value of an insert", None, "one; null must be written down")
    deletion = operation != INSERT and is_deletion(operation, found.get("value"))
    event = event_time(key, event if type(event) is int else time_of(event))
    return Change(key, event, deletion, None if deletion else stored(found["value"]), *_order(found))


def time_of(given: Any) -> Any:
    """A time as a message has it: a number, or a text as people write times."""
    if not isinstance(given, str):
        return given
    if given == STABLE:
        raise nm.InvalidValue("a time", given, "such as 2024-05-01T12:00:00+02:00")
    number = len(given) <= _LONGEST_TIME and given.removeprefix("-").isdecimal()
    return int(given) if number else parsed(given)


def stored(value: Any) -> bytes:
    """The stored form of a value that JSON was read into, see `values`."""
    if isinstance(value, str):
        return b"t" + value.encode()
    return b"j" + "".join(_CHUNKS(value, 0)).encode()


def read_json(data: bytes | None) -> Any:
    """What JSON says, or `InvalidValue`."""
    if data is None:
        raise nm.InvalidValue("a message", None, "one that is not empty")
    try:
        text = data.decode()
        try:
            found, end = _DECODER.scan_once(text, 0)  # type: ignore[attr-defined]
        except StopIteration:
            end = -1
        return found if end == len(text) else _DECODER.decode(text)  # which knows of blanks, and says what is wrong
    except UnicodeDecodeError as exc:
        raise nm.InvalidValue("a message", data[:60], f"UTF-8: {exc.reason} at byte {exc.start}") from exc
    except ValueError as exc:
        raise nm.InvalidValue("a message", data[:60], f"JSON: {exc}") from exc


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not in it")


# The encoder in C that `json.JSONEncoder` makes anew for each value, which takes as long as to use it: no check for
# circles, as what was read from JSON has none; no indent; keys in order, none skipped; no NaN.
_CHUNKS: Any = c_make_encoder(None, None, encode_basestring, None, ":", ",", True, False, False)
_DECODER = json.JSONDecoder(parse_constant=_refused)


def _order(found: dict[str, Any]) -> tuple[int | str | None, str | None]:
    sequence, name = found.get("sequence"), found.get("id")
    if type(sequence) not in _SEQUENCES:
        raise nm.InvalidValue("the sequence of a message", sequence, "a number or a text")
    if name is not None and (not isinstance(name, str) or not 0 < len(name.encode()) <= _LONGEST_ID):
        raise nm.InvalidValue("the id of a message", name, f"text of 1 to {_LONGEST_ID} bytes")
    return sequence, name


# operations


class Reader:
    """Makes operations of messages: those of one format, up to a size."""

    def __init__(self, ledger: nm.Ledger, form: Format, largest: int = LARGEST) -> None:
        self._ledger = ledger
        self._form = form
        self._largest = largest
        self._queues: dict[str, bytes] = {}

    def read(self, message: Message) -> Operation | str | None:
        """The operation that a message tells; the reason why not, in a sentence; or None if it tells of nothing."""
        try:
            size = len(message.value or b"")
            if size > self._largest:
                return f"the message has {size:,} bytes, expected at most {self._largest:,}; that can be raised"
            change = self._form(message)
            return None if change is None else self._operation(message, change)
        except (ValueError, RecursionError, OverflowError) as exc:
            return str(exc) if isinstance(exc, nm.NeomodelError) else f"the message can't be read: {exc}"

    def _operation(self, message: Message, change: Change) -> Operation:
        key, event, deletion, value, sequence, name = change
        if sequence is None:
            queue = self._queues.get(message.queue)
            if queue is None:
                queue = self._queues[message.queue] = _QUEUED + hashlib.sha256(message.queue.encode()).digest()[:6]
            fact = nm.Fact(key, event, value, deletion)
            return prepared(self._ledger, fact, queue + message.place.encode(), (name or "").encode())
        row, column, entry = self._ledger.stored(key, event, value, deletion)
        which = entry if name is None else name.encode()
        position = _SEQUENCED + _sequence(sequence) + hashlib.sha256(which).digest()[:8]
        return Operation(row, column, position, b"", entry)


def _sequence(given: int | str) -> bytes:
    """Bytes that sort as sequences do: numbers before texts."""
    if isinstance(given, str):
        text = given.encode()
        if len(text) > _LONGEST_SEQUENCE or b"\0" in text:
            raise nm.InvalidValue("the sequence of a message", given, f"text of up to {_LONGEST_SEQUENCE} bytes")
        return b"t" + text + b"\0"
    if not -(2**63) <= given < 2**63:
        raise nm.InvalidValue("the sequence of a message", given, "a number of 64 bits, or a text")
    return b"n" + (given + 2**63).to_bytes(8, "big")


def shown(found: Any) -> str:
    """What JSON was read into, in a few words."""
    text = json.dumps(found, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"


__all__ = ["DELETE", "INSERT", "LARGEST", "Change", "Format", "Message", "Reader", "plain"]
