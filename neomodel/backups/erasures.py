"""What was forgotten of a model: the time before which it was purged, and single keys that were erased.

Both change the past, so a backup has to know. What a purge removed follows from its time alone, if all was copied
before. An erasure is found by its record (`purging`), and its row is copied anew.
"""

import attrs

from neomodel import purging
from neomodel.errors import Purged, TableNotFound
from neomodel.stores import Store, Table


@attrs.frozen
class Erasure:
    """One row of which something was erased; `complete` is that if nothing is left to be done."""

    key: bytes
    complete: bool


def erasures(store: Store, model: str) -> dict[str, Erasure]:
    """Those on record of a model, and of others that had its name, by record. One scan."""
    prefix = model.encode() + b"/"
    try:
        rows = list(store.table(purging.TABLE).scan(prefix, prefix + b":"))
    except TableNotFound:
        return {}
    return {key.decode(): Erasure(row[purging.KEY], purging.VERSIONS in row) for key, row in rows if purging.KEY in row}


def horizon(table: Table) -> int:
    """The time before which a table was purged; 0 if it never was. One read, which is refused if there is one."""
    try:
        table.get(b"\0", at=0)
    except Purged as exc:
        return exc.horizon
    return 0
