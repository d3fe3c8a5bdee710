"""Values of every codec, and when two are the same value: to the last bit, and in type."""

import enum
import math
import struct
from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from neomodel.codecs import NAMES, Codec, codec, enum_codec


class Colour(enum.Enum):
    RED = "red"
    DARK_RED = "dark red"


COLOUR = enum_codec("Colour", dict(Colour.__members__), {"DARK_RED": "dark-red"})


def named(name: str) -> Codec:
    found = codec(name)
    assert found
    return found


CODECS = {name: named(name) for name in NAMES} | {"Colour": COLOUR}

OPAQUE = [name for name in NAMES if CODECS[name].expected == "text (str)" and name != "EString"]

texts = st.text(st.characters(exclude_categories=["Cs"]))
offsets = st.integers(-86_399, 86_399).map(lambda seconds: timezone(timedelta(seconds=seconds)))
whole_offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
huge = st.integers(0, 3000).flatmap(lambda bits: st.integers(-(2**bits), 2**bits))
limits = st.builds(
    lambda digits, sign, off: sign * 10**digits + off,
    st.integers(630, 5000),
    st.sampled_from([1, -1]),
    st.integers(-1, 1),
)

_BITS = {"EInt": 32, "EIntegerObject": 32, "ELong": 64, "ELongObject": 64, "EShort": 16, "EShortObject": 16, "EByte": 8}
_BITS["EByteObject"] = 8

_OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "EBigInteger": huge | limits,
    "EBigDecimal": st.decimals(allow_nan=False, allow_infinity=False)
    | huge.map(lambda n: named("EBigDecimal").check(n)),
    "EFloat": st.floats(width=32),
    "EFloatObject": st.floats(width=32),
    "EDouble": st.floats(),
    "EDoubleObject": st.floats(),
    "EBoolean": st.booleans(),
    "EBooleanObject": st.booleans(),
    "EChar": st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]),
    "ECharacterObject": st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]),
    "EDate": st.datetimes() | st.datetimes(timezones=offsets) | st.datetimes(timezones=whole_offsets),
    "EByteArray": st.binary(),
    "Colour": st.sampled_from(Colour),
}


def values(name: str) -> st.SearchStrategy[Any]:
    """Values of that codec, as `check` would return them."""
    if name in _BITS:
        return st.integers(-(2 ** (_BITS[name] - 1)), 2 ** (_BITS[name] - 1) - 1)
    return _OTHERS.get(name, texts)


def exact(value: Any) -> Any:
    """Equal for the same value only: 1 is not True, -0.0 not 0.0, 1.0 not 1.00, an instant not that of another zone."""
    if isinstance(value, list):
        return [exact(one) for one in value]
    if isinstance(value, float):
        return "float", "nan" if math.isnan(value) else struct.pack("<d", value)
    if isinstance(value, datetime):
        return type(value), value.isoformat()
    return type(value), str(value) if not isinstance(value, int) else value
