"""Random conditions as text, and random rows for them: with nulls, the ends of every type, numbers of all kinds."""

import datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from metamodels.anna.types import BOOLEAN, DATE, DOUBLE, INTEGER, TEXT, TIMESTAMP, Type, decimal, written

TYPES = {
    "i": Type("integer", 32), "l": INTEGER, "m": decimal(10, 2), "w": decimal(38, 10), "x": DOUBLE, "y": DOUBLE,
    "s": TEXT, "u": TEXT, "d": DATE, "e": DATE, "f": BOOLEAN, "g": BOOLEAN, "t": TIMESTAMP,
}  # fmt: skip

LETTERS = "ab%_\\ Zß'\"Äéσ\n😀"


def integers(bits: int) -> st.SearchStrategy[int]:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    return st.sampled_from([0, 1, -1, 2, 10, low, high]) | st.integers(-100, 100) | st.integers(low, high)


def decimals(size: int, scale: int) -> st.SearchStrategy[Decimal]:
    top = 10**size - 1
    numbers = st.sampled_from([0, 1, -1, 5, 25, top, -top]) | st.integers(-1000, 1000) | st.integers(-top, top)
    return numbers.map(lambda number: Decimal((number < 0, tuple(map(int, str(abs(number)))), -scale)))


doubles = st.sampled_from([0.0, -0.0, 0.1, 1e308, float("inf"), float("nan")]) | st.floats() | st.floats(-100, 100)
texts = st.text(LETTERS, max_size=6)
dates = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 12, 31))
times = st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2050, 1, 1), timezones=st.just(datetime.UTC))

_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "i": integers(32), "l": integers(64), "m": decimals(10, 2), "w": decimals(38, 10), "x": doubles, "y": doubles,
    "s": texts, "u": texts, "d": dates, "e": dates, "f": st.booleans(), "g": st.booleans(), "t": times,
}  # fmt: skip
rows = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, values in _VALUES.items()}), min_size=1, max_size=12
)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _plain(number: Any) -> str:
    return format(number, "f") if isinstance(number, Decimal) else repr(number)


numbers_written = (
    integers(64).map(str)
    | decimals(6, 2).map(_plain)
    | decimals(20, 4).map(_plain)
    | st.floats(-1e300, 1e300, allow_subnormal=False).map(lambda x: f"{x:.6e}")
)


def _joined(*parts: Any) -> st.SearchStrategy[str]:
    return st.tuples(*(st.just(part) if isinstance(part, str) else part for part in parts)).map("".join)


def _numbers(deeper: Any) -> st.SearchStrategy[str]:
    number, text, date, truth = deeper
    two = _joined("(", number, " ", st.sampled_from("+-*/%"), " ", number, ")")
    return st.one_of(
        two,
        two,
        _joined("(- ", number, ")"),
        _joined("abs(", number, ")"),
        _joined("length(", text, ")"),
        _joined(st.sampled_from(["year", "month", "day"]), "(", date, ")"),
        _joined("case when ", truth, " then ", number, " else ", number, " end"),
        _joined("coalesce(", number, ", ", number, ")"),
        _joined("nullif(", number, ", ", number, ")"),
    )


def _texts(deeper: Any) -> st.SearchStrategy[str]:
    _, text, _, truth = deeper
    return st.one_of(
        _joined("(", text, " || ", text, ")"),
        _joined(st.sampled_from(["lower", "upper", "trim", "ltrim", "rtrim"]), "(", text, ")"),
        _joined("substring(", text, ", ", st.integers(1, 5).map(str), ", ", st.integers(0, 5).map(str), ")"),
        _joined("case when ", truth, " then ", text, " end"),
        _joined("coalesce(", text, ", ", text, ")"),
    )


def _truths(deeper: Any) -> st.SearchStrategy[str]:
    number, text, date, truth = deeper
    compared = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
    patterns = st.lists(st.sampled_from(["a", "b", "%", "_", r"\%", r"\_", r"\\", "ß", "\n"]), max_size=5).map("".join)
    pairs = [_joined(kind, " ", compared, " ", kind) for kind in (number, text, date)]
    return st.one_of(
        *pairs,
        _joined("t ", compared, " ", times.map(lambda at: f"timestamp '{written(at)}'")),
        _joined("(", truth, ") ", st.sampled_from(["and", "or"]), " (", truth, ")"),
        _joined("not (", truth, ")"),
        _joined(number, " between ", number, " and ", number),
        _joined(text, " in (", text, ", ", text, ", ", text, ")"),
        _joined(number, " not in (", number, ", ", number, ")"),
        _joined(text, st.sampled_from([" like ", " not like "]), patterns.map(_quoted)),
        _joined(st.one_of(number, text, date), st.sampled_from([" is null", " is not null"])),
        _joined("coalesce(", truth, ", ", truth, ")"),
        _joined("case when ", truth, " then ", truth, " else ", truth, " end"),
        _joined("(", truth, ") = (", truth, ")"),
    )


def _grown() -> st.SearchStrategy[str]:
    date = st.sampled_from(["d", "e", "null"]) | dates.map(lambda day: f"date '{day}'")
    level: Any = (
        st.sampled_from(["i", "l", "m", "w", "x", "y", "null"]) | numbers_written,
        st.sampled_from(["s", "u", "null"]) | texts.map(_quoted),
        date,
        st.sampled_from(["f", "g", "true", "false", "null"]),
    )
    for _ in range(3):
        number, text, _, truth = level
        level = number | _numbers(level), text | _texts(level), date, truth | _truths(level)
    return _truths(level)


expressions = _grown()
