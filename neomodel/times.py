"""Times as people and programs give them: aware datetimes, or microseconds since the epoch, as stores keep them."""

import datetime

from neomodel.errors import InvalidValue

STABLE = "stable"
FIRST, LAST = -(2**63), 2**63 - 1
"""The ends of time. Stores begin at 0, events may lie before that."""

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)

Time = int | datetime.datetime


def micros(what: str, value: object, *, first: int = 0) -> int:
    """The time in microseconds, exactly; `InvalidValue` if `value`, which is `what`, is none from `first` on."""
    found = (value - _EPOCH) // _MICROSECOND if isinstance(value, datetime.datetime) and value.tzinfo else value
    if isinstance(found, int) and not isinstance(found, bool) and first <= found <= LAST:
        return found
    since = "" if first < 0 else ", from 1970 on"
    raise InvalidValue(what, value, f"an aware datetime or microseconds since the epoch{since}")


def instant(time_: int) -> datetime.datetime:
    """The time as an aware datetime, in UTC."""
    return _EPOCH + time_ * _MICROSECOND


def told(time_: int) -> str:
    """The time for a sentence: in numbers, and as people write it where the calendar reaches that far."""
    try:
        return f"{time_} ({instant(time_).isoformat()})"
    except OverflowError:
        return str(time_)


def parsed(text: str) -> Time | str:
    """What was typed as a time: `STABLE`, microseconds, or as ISO 8601 has it, with its offset from UTC."""
    if text == STABLE:
        return STABLE
    try:
        if text.isdecimal():
            return int(text)  # of which Python reads some thousand digits
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        expected = "one such as 2024-05-01T12:00:00+02:00, microseconds since the epoch, or stable"
        raise InvalidValue("a time", text, expected)
    return found
