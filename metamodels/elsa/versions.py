"""What is known of a record: versions, and the operations they came by."""

from typing import Any

import attrs

import neomodel as nm
from neomodel.ledgers import EARLIEST
from neomodel.times import Time, micros

INSERT, DELETE = "insert", "delete"
LATEST = 253_402_300_799_999_999
"""The last microsecond of the year 9999. Later events are mistakes, such as nanoseconds."""


@attrs.frozen
class Version:
    """From `event` on there is this value, or with the operation `DELETE` none; known since `ingest`. Times are
    microseconds since the epoch."""

    key: str
    event: int
    ingest: int
    operation: str
    value: Any


def event_time(key: Any, given: Time) -> int:
    """The event time of an operation, or `InvalidValue`."""
    if type(given) is int and EARLIEST <= given <= LATEST:
        return given
    found = micros(f"the event time of {key!r}", given, first=EARLIEST)
    if found > LATEST:
        raise nm.InvalidValue(f"the event time of {key!r}", given, "one up to the year 9999, in microseconds")
    return found


def is_deletion(operation: Any, value: Any) -> bool:
    """Whether this is a deletion and no insertion; `InvalidValue` if it is neither."""
    if operation not in (INSERT, DELETE):
        raise nm.InvalidValue("an operation", operation, f"{INSERT!r} or {DELETE!r}")
    if operation == DELETE and value is not None:
        raise nm.InvalidValue("the value of a delete", value, "None")
    return bool(operation == DELETE)
