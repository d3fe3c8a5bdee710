"""The one way to lose the past: asked for by name, and on record for ever.

Records are in a table of their own, `TABLE`, which is made by the first purge of a store: a row for each, keyed by
model and time, with the cells ``p:before``, ``p:by``, ``p:began`` and, once it is done, ``p:versions``, how many
versions went. They outlive the model.
"""

import getpass
import os
import socket

import attrs

from neomodel.errors import InvalidValue, TableNotFound
from neomodel.model import Model
from neomodel.stores import VERSION, Row, Table, ensured, successor
from neomodel.times import Time, micros

TABLE = "_purges"
FAMILIES = "pt"
BEFORE, BY, BEGAN, VERSIONS = b"p:before", b"p:by", b"p:began", b"p:versions"


@attrs.frozen
class Purge:
    """A purge on record: of what lay before `before` (microseconds since the epoch, as `began`), by whom, and how many
    versions of cells went; None if it did not come to its end, and some may still be there: purge again."""

    model: str
    before: int
    by: str
    began: int
    versions: int | None


def purge(model: Model, *, before: Time, by: str | None = None) -> Purge:
    """Forget what only reads before a time could see; from that time on everything reads as ever.

    `before` is an aware datetime or microseconds since the epoch, not later than the stable time: `InvalidValue`.
    It is on record who (`by`; the user and machine, if not given) began, before anything goes. The past of a reference
    tells which of its ends is right when a crash has left only one: repair a model before, not after.
    """
    model.writable()
    horizon = micros("the time to purge before", before)
    table = model.repository.snapshots.table(model.name)  # which forgets what it keeps of that time
    began = table.now()
    stable = model.repository.stable(model.name)
    if horizon > stable:
        raise InvalidValue("the time to purge before", horizon, f"one that is stable, up to {stable}")
    record = Purge(model.name, horizon, by or _whoever(), began, None)
    records = _records(model)
    key = b"%b/%020d-%b" % (model.name.encode(), began, successor(None)[2:])
    version = successor(None)
    records.swap(key, None, {**_cells(record), VERSION: version})
    versions = table.purge(horizon)
    records.swap(key, version, {VERSIONS: b"%d" % versions, VERSION: successor(version)})
    return attrs.evolve(record, versions=versions)


def purges(model: Model) -> list[Purge]:
    """The purges of a model, and of others that had its name, the oldest first. One scan of their records."""
    prefix = model.name.encode() + b"/"
    table = model.repository.store.table(TABLE)
    try:
        return [_purge(model.name, row) for _, row in table.scan(prefix, prefix + b":")]  # a colon comes after digits
    except TableNotFound:
        return []


def _whoever() -> str:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # in a container, a number may be all there is
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}"


def _records(model: Model) -> Table:
    return ensured(model.repository.store.table(TABLE), FAMILIES)


def _cells(record: Purge) -> Row:
    return {BEFORE: b"%d" % record.before, BY: record.by.encode(), BEGAN: b"%d" % record.began}


def _purge(model: str, row: Row) -> Purge:
    versions = int(row[VERSIONS]) if VERSIONS in row else None
    return Purge(model, int(row[BEFORE]), row[BY].decode(), int(row[BEGAN]), versions)
