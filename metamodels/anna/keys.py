"""Row keys as text, as actions, checks and reports name rows: the value itself where there is one key column (``42``),
a JSON array where there are several (``["a","7"]``). Rows are named by what they are about, never by position."""

import datetime
import decimal
import json
from collections.abc import Sequence
from typing import Any

from metamodels.anna.types import written
from neomodel.errors import InvalidValue


def key_text(values: Sequence[Any]) -> str:
    """The text of a key, given its values in the order of the key columns."""
    texts = [value_text(value) for value in values]
    return texts[0] if len(texts) == 1 else json.dumps(texts, ensure_ascii=False, separators=(",", ":"))


def key_values(text: str, count: int) -> list[str]:
    """The texts of the values of a key of so many columns; `InvalidValue` if the text is of no such key."""
    if count == 1:
        return [text]
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or len(found) != count or any(isinstance(one, list | dict) for one in found):
        raise InvalidValue("a row key", text, f'a JSON array of {count} values, such as ["a","7"]')
    return [one if isinstance(one, str) else value_text(one) for one in found]


def value_text(value: Any) -> str:
    """A value as text: as actions have it in keys, and whatever else there is. A time without an offset is one that
    Spark has handed over, which is in the time of this machine."""
    match value:
        case bytes() | bytearray():
            return bytes(value).hex()
        case datetime.datetime():
            return written(value.astimezone(datetime.UTC))
        case str() | bool() | int() | float() | decimal.Decimal() | datetime.date():
            return written(value)
    return str(value)
