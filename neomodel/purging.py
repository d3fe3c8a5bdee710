"""The one way to lose the past: asked for by name, and on record for ever.

Records are in a table of their own, `TABLE`, which is made by the first purge of a store: a row for each, keyed by
model and time, with the cells ``p:before``, ``p:by``, ``p:began``, ``p:key`` if it is about one row alone, and, once it
is done, ``p:versions``, how many versions went. They outlive the model.
"""

import getpass
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from neomodel.errors import InvalidValue, TableNotFound
from neomodel.model import Model
from neomodel.stores import VERSION, Row, Table, ensured, successor
from neomodel.times import Time, micros, told

TABLE = "_purges"
FAMILIES = "pt"
BEFORE, BY, BEGAN, VERSIONS, KEY = b"p:before", b"p:by", b"p:began", b"p:versions", b"p:key"


@attrs.frozen
class Purge:
    """A purge on record: of what lay before `before` (microseconds since the epoch, as `began`), by whom, and how many
    versions of cells went; None if it did not come to its end, and some may still be there: purge again."""

    model: str
    before: int
    by: str
    began: int
    versions: int | None
    key: str | None = None
    """The id of the row that it was about alone, if it was one."""


def purge(model: Model, *, before: Time, by: str | None = None) -> Purge:
    """Forget what only reads before a time could see; from that time on everything reads as ever.

    `before` is an aware datetime or microseconds since the epoch, not later than the stable time: `InvalidValue`.
    It is on record who (`by`; the user and machine, if not given) began, before anything goes. The past of a reference
    tells which of its ends is right when a crash has left only one: repair a model before, not after.
    """
    model.writable()
    horizon = micros("the time to purge before", before)
    table = model.repository.snapshots.table(model.name)  # which forgets what it keeps of that time
    stable = model.repository.stable(model.name)
    if horizon > stable:
        raise InvalidValue("the time to purge before", told(horizon), f"one that is stable, up to {told(stable)}")
    with recorded(model, horizon, by) as done:
        done.versions = table.purge(horizon)
    return done.purge()


class Done:
    """What is being purged: `versions` is to be set to how many went."""

    def __init__(self, record: Purge) -> None:
        self._record = record
        self.versions = 0

    def purge(self) -> Purge:
        return attrs.evolve(self._record, versions=self.versions)


@contextmanager
def recorded(model: Model, before: int, by: str | None, *, key: str | None = None) -> Iterator[Done]:
    """Have on record what is done in the block before it begins, and what it came to when it has ended."""
    began = model.table.now()
    record = Purge(model.name, before, by or _whoever(), began, None, key)
    records = _records(model)
    row = b"%b/%020d-%b" % (model.name.encode(), began, successor(None)[2:])
    version = successor(None)
    records.swap(row, None, {**_cells(record), VERSION: version})
    done = Done(record)
    yield done
    records.swap(row, version, {VERSIONS: b"%d" % done.versions, VERSION: successor(version)})


def purges(model: Model) -> list[Purge]:
    """The purges of a model, and of others that had its name, the oldest first; erasures of single keys are among
    them. One scan of their records."""
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
    key = {} if record.key is None else {KEY: record.key.encode()}
    return {BEFORE: b"%d" % record.before, BY: record.by.encode(), BEGAN: b"%d" % record.began, **key}


def _purge(model: str, row: Row) -> Purge:
    versions = int(row[VERSIONS]) if VERSIONS in row else None
    key = row[KEY].decode() if KEY in row else None
    return Purge(model, int(row[BEFORE]), row[BY].decode(), int(row[BEGAN]), versions, key)
