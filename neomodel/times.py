"""Times: what users give, as the numbers that are kept."""

import datetime

from neomodel.errors import InvalidValue

Time = int | datetime.datetime
"""A time as users give it: an aware datetime, or microseconds since the epoch, before which they are negative."""

FIRST, LAST = -(2**63), 2**63 - 1

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


def microseconds(given: object, what: str, *, otherwise: str = "") -> int:
    """The time in microseconds since the epoch, to the last one. `InvalidValue`, of what `what` names, if it is none;
    `otherwise` says what else may be given there."""
    if isinstance(given, datetime.datetime) and given.tzinfo is not None:
        return (given - _EPOCH) // _MICROSECOND
    if isinstance(given, int) and not isinstance(given, bool) and FIRST <= given <= LAST:
        return given
    raise InvalidValue(what, given, f"an aware datetime, or microseconds since the epoch{otherwise}")
