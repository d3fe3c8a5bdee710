"""Change events of Debezium as operations: with the schema in the message or without, from Kafka or from a file.

A message's value is an envelope, ``{"before", "after", "source", "op", "ts_ms"}``, or has it in ``payload`` beside its
``schema``; its key is a struct of the primary key's columns, likewise. In a file, where a message is one text, it is an
object with ``key`` and ``value``. The operations ``c`` (create), ``u`` (update) and ``r`` (read, in a snapshot) are
insertions of `after`, ``d`` is a deletion. A tombstone, a value of null that follows a deletion, tells nothing more;
nor does ``m``, a message that is of no record. ``t`` (truncate) names no key and can't be applied.

*Key*: the text of the one column, or a JSON object of several. *Event time*: when the source made the change
(`source.ts_us`, or `ts_ms`), else when the connector saw it. *Order*: the position in the source's log, see `_LOGS`.
Where there is none the order of the queue counts, and a message is told from others by its times, operation and
content."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import neomodel as nm
from metamodels.elsa.messages import Change, Message, read_json, shown, stored
from metamodels.elsa.versions import event_time

_MILLISECOND = 1000
_INSERTIONS, _DELETION, _TRUNCATION, _MESSAGE = ("c", "u", "r"), "d", "t", "m"


def debezium(message: Message) -> Change | None:
    """What a change event tells; None if that is nothing of any record."""
    key, value = _parts(message)
    if value is None and key is not None:
        return None
    envelope = _payload(value)
    if not isinstance(envelope, dict) or "op" not in envelope:
        raise nm.InvalidValue("a change event", shown(envelope), "an envelope with op, before and after")
    operation = envelope["op"]
    if operation == _MESSAGE:
        return None
    if operation not in (*_INSERTIONS, _DELETION):
        known = "; a truncation names no record" if operation == _TRUNCATION else ""
        raise nm.InvalidValue("the op of a change event", operation, f"c, u, d or r{known}")
    name = _key(_payload(key))
    event = event_time(name, _time(envelope))
    deletion = operation == _DELETION
    after = envelope.get("after")
    if not deletion and not isinstance(after, dict):
        raise nm.InvalidValue(f"what a change event with op {operation} has after", shown(after), "a row")
    sequence = _sequence(envelope)
    identity = _identity(envelope) if sequence is None else None
    return Change(name, event, deletion, None if deletion else stored(after), sequence, identity)


def _parts(message: Message) -> tuple[Any, Any]:
    """Key and value: those of the message, or what it has as such."""
    value = None if message.value is None else read_json(message.value)
    if message.key is not None:
        return read_json(message.key), value
    if isinstance(value, dict) and value.keys() <= {"key", "value"} and "key" in value:
        return value["key"], value.get("value")
    return None, value


def _payload(found: Any) -> Any:
    """What is in it, with the schema beside it or not."""
    if isinstance(found, dict) and found.keys() == {"schema", "payload"}:
        return found["payload"]
    return found


def _key(found: Any) -> str:
    if isinstance(found, dict) and len(found) == 1:
        (found,) = found.values()
    if isinstance(found, dict) and found:
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    if isinstance(found, str) and found:
        return found
    if isinstance(found, int | float) and not isinstance(found, bool):
        return str(found)
    raise nm.InvalidValue(
        "the key of a change event", shown(found), "the columns of a primary key; the table needs one"
    )


def _time(envelope: dict[str, Any]) -> Any:
    source = envelope.get("source")
    for found, unit in (
        (source, ("ts_us", 1)),
        (source, ("ts_ms", _MILLISECOND)),
        (envelope, ("ts_us", 1)),
        (envelope, ("ts_ms", _MILLISECOND)),
    ):
        name, scale = unit
        given = found.get(name) if isinstance(found, dict) else None
        if isinstance(given, int) and not isinstance(given, bool):
            return given * scale
    raise nm.InvalidValue("the times of a change event", shown(source), "ts_ms, in source or beside it")


# where in the source's log


def _number(source: dict[str, Any], name: str) -> int | None:
    """The number that a part of `source` is, 0 where there is none; None if it is something else."""
    found = source.get(name) or 0
    return found if isinstance(found, int) else None


def _mysql(source: dict[str, Any]) -> str | None:
    row = _number(source, "row")
    if not isinstance(source.get("file"), str) or not isinstance(source.get("pos"), int) or row is None:
        return None
    return f"{source['file']}/{source['pos']:020}/{row:010}"


def _postgres(source: dict[str, Any]) -> int | None:
    return source["lsn"] if isinstance(source.get("lsn"), int) else None


def _sql_server(source: dict[str, Any]) -> str | None:
    commit, change, number = source.get("commit_lsn"), source.get("change_lsn"), _number(source, "event_serial_no")
    if not isinstance(commit, str) or number is None:
        return None
    return f"{commit}/{change or ''}/{number:010}"


def _oracle(source: dict[str, Any]) -> str | None:
    scn, number = str(source.get("scn")), _number(source, "ssn")
    return f"{int(scn):025}/{number:010}" if scn.isdecimal() and number is not None else None


def _mongodb(source: dict[str, Any]) -> str | None:
    if not isinstance(source.get("ord"), int) or not isinstance(source.get("ts_ms"), int):
        return None
    return f"{source['ts_ms']:020}/{source['ord']:010}"


_LOGS: dict[str, Callable[[dict[str, Any]], int | str | None]] = {
    "mysql": _mysql,
    "mariadb": _mysql,
    "postgresql": _postgres,
    "sqlserver": _sql_server,
    "oracle": _oracle,
    "mongodb": _mongodb,
}
"""By connector, what in `source` says where in the log a change is."""


def _sequence(envelope: dict[str, Any]) -> int | str | None:
    source = envelope.get("source")
    if not isinstance(source, dict):
        return None
    log = _LOGS.get(str(source.get("connector")))
    return None if log is None else log(source)


def _identity(envelope: dict[str, Any]) -> str:
    """What tells a change from others where there is no log: when, what, and in which place of its transaction."""
    source = envelope.get("source")
    times = {name: source.get(name) for name in ("ts_ms", "ts_us", "ts_ns")} if isinstance(source, dict) else {}
    about = [times, *(envelope.get(name) for name in ("op", "ts_ms", "ts_us", "before", "after", "transaction"))]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:32]
