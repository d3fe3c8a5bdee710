"""Dates, which in Ecore are points in time: Python's datetime, to the microsecond, naive or with an offset."""

import re
from datetime import datetime, timezone
from typing import Any

from neomodel.codecs.base import Codec, refuse, shown, text_of
from neomodel.codecs.keys import date_key

_EXPECTED = "a datetime.datetime"
_FORMS = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2}(:?[0-9]{2})?)?)?"
)


def date(name: str) -> Codec:
    """A datetime. Of its time zone the offset is kept, not the name: so it can't change with the zone's rules."""
    return Codec(
        name=name,
        scalar="time",
        expected=_EXPECTED,
        primitive=False,
        default=None,
        check=_check,
        to_text=_to_text,
        from_text=_from_text,
        encode=lambda value: value.isoformat().encode(),
        decode=lambda cell: datetime.fromisoformat(cell.decode()),
        key=date_key,
        to_json=datetime.isoformat,
        from_json=lambda found: datetime.fromisoformat(text_of(found)),
    )


def _check(value: Any) -> datetime:
    if not isinstance(value, datetime):
        refuse(value, _EXPECTED)
    if getattr(value, "nanosecond", 0):  # pandas.Timestamp is a datetime
        raise ValueError(f"{value!r} has nanoseconds, expected {_EXPECTED}")
    offset = value.utcoffset()
    if offset is not None and offset.microseconds:  # fromisoformat of Python 3.11 misreads these
        raise ValueError(f"{value!r} has an offset with parts of a second, expected {_EXPECTED}")
    day = (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
    return datetime(*day, tzinfo=None if offset is None else timezone(offset))


def _to_text(value: datetime) -> str:
    """``2024-01-31T23:59:59.000+0100``; without the offset for a naive one, which EMF takes for local time.

    EMF's form has milliseconds. Microseconds are written where there are any, as PyEcore does, rather than lost.
    """
    fraction = "microseconds" if value.microsecond % 1000 else "milliseconds"
    return value.replace(tzinfo=None).isoformat(timespec=fraction) + format(value, "%z")


def _from_text(text: str) -> datetime:
    """Any of EMF's forms: down to the day, the minute, the second or less, with an offset or without."""
    if not _FORMS.fullmatch(text):
        raise ValueError(f"{shown(text)} is no date like 2024-01-31T23:59:59.000+0100")
    return datetime.fromisoformat(text)
