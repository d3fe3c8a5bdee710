"""The texts of keys sort as the values do, and are equal for equal values only."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neomodel.codecs import NAMES, key_text
from tests.codecs.values import CODECS, OPAQUE, Colour, named, offsets, texts, values

ORDERED = [name for name in NAMES if name not in ("EDate", *OPAQUE)]


def assert_sorted_as(name: str, low: Any, high: Any) -> None:
    one, other = key_text(named(name), low).encode(), key_text(named(name), high).encode()

    assert (one < other) == (low < high)
    assert (one == other) == (low == high)


@pytest.mark.parametrize("name", ORDERED)
@given(st.data())
def test_texts_sort_as_values_do(name: str, data: st.DataObject) -> None:
    one = values(name).filter(lambda value: value == value)
    assert_sorted_as(name, data.draw(one), data.draw(one))


near = st.integers(-200, 200)


@given(st.integers(0, 1000), st.integers(0, 1000), near, near, st.sampled_from([1, -1]), st.sampled_from([1, -1]))
@example(24, 25, 0, 0, 1, 1)
@example(25, 26, -1, -1, -1, -1)
def test_integers_near_powers_of_ten_sort(one: int, other: int, up: int, down: int, sign: int, its: int) -> None:
    assert_sorted_as("EBigInteger", sign * 10**one + up, its * 10**other + down)


short = st.builds(Decimal, st.builds("{}E{}".format, st.integers(-1200, 1200), st.integers(-12, 12)))


@given(short, short)
def test_decimals_of_like_size_sort(one: Decimal, other: Decimal) -> None:
    assert_sorted_as("EBigDecimal", one, other)


moments = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=offsets)


@given(moments, moments)
def test_dates_sort_by_instant_whatever_their_offset(one: datetime, other: datetime) -> None:
    assert_sorted_as("EDate", one, other)
    assert_sorted_as("EDate", one, one.astimezone(UTC))


@given(texts)
def test_text_is_its_own_key(text: str) -> None:
    assert key_text(named("EString"), text) == text


GOLDEN: list[tuple[str, Any, str]] = [
    ("EInt", 0, "a0"),
    ("EInt", 42, "b42"),
    ("EInt", -42, "Y57"),
    ("ELong", 42, "b42"),
    ("EBigInteger", 10**29, "zb301" + "0" * 29),
    ("EBigInteger", -(10**29), "AY698" + "9" * 29),
    ("EBoolean", True, "true"),
    ("EDouble", 1.0, "bff0000000000000"),
    ("EDouble", -0.0, "8000000000000000"),
    ("EFloat", -1.0, "400fffffffffffff"),
    ("EBigDecimal", Decimal("12.50"), "pa1.125"),
    ("EBigDecimal", Decimal("0.00"), "o"),
    ("EBigDecimal", Decimal("-0.015"), "na2.84z"),
    ("EChar", "x", "x"),
    ("EDate", datetime(2024, 1, 31, 23, 59, tzinfo=timezone(timedelta(hours=1))), "2024-01-31T22:59:00.000000Z"),
    ("EByteArray", b"\xca\xfe", "CAFE"),
    ("Colour", Colour.DARK_RED, "DARK_RED"),
]


@pytest.mark.parametrize(("name", "value", "text"), GOLDEN)
def test_golden_keys(name: str, value: Any, text: str) -> None:
    assert key_text(CODECS[name], value) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EString", None),
        ("EDouble", float("nan")),
        ("EFloat", float("nan")),
        ("EDate", datetime(2024, 1, 31)),
        ("EDate", datetime.min.replace(tzinfo=timezone(timedelta(hours=1)))),
        ("EDate", datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))),
    ],
)
def test_what_has_no_place_in_the_order_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match="can't be part of a key"):
        key_text(named(name), value)
