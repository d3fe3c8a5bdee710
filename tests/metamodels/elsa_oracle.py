"""What the definition says, in a loop over all records: an oracle for ELSA."""

from collections.abc import Iterable
from random import Random
from typing import Any, NamedTuple

DELETED = object()


class Row(NamedTuple):
    """One operation and when it was ingested, in the columns of `ExternalSystem.load`."""

    key: str
    event: int
    ingest: int
    operation: str
    value: Any


def answer(rows: Iterable[Row], key: str, event: int, ingest: int) -> Any:
    """Of the records up to both times that of the greatest event, of its versions the newest; None if it deletes."""
    seen = [row for row in rows if row.key == key and row.event <= event and row.ingest <= ingest]
    last = max(seen, key=lambda row: (row.event, row.ingest), default=None)
    return None if last is None or last.operation == "delete" else last.value


def random_history(random: Random, keys: list[str], size: int, span: int) -> list[Row]:
    """Operations at random places: early, late, corrected, some with events after their ingest."""
    rows = {}
    for number in range(size):
        key, event, ingest = random.choice(keys), random.randrange(span), random.randrange(span)
        deletion = random.random() < 0.25
        rows[key, event, ingest] = Row(key, event, ingest, "delete", None) if deletion else Row(
            key, event, ingest, "insert", number
        )  # fmt: skip
    return list(rows.values())
