"""What conditions mean, and what is none."""

import datetime
import re
import threading
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neomodel as nm
from metamodels.anna import conditions
from metamodels.anna.conditions import FAILED, Lookup
from metamodels.anna.conditions.evaluating import PARAMETERS, compiled
from metamodels.anna.conditions.templates import Templates
from metamodels.anna.types import BOOLEAN, DATE, DOUBLE, INTEGER, TEXT, TIMESTAMP, decimal
from tests.metamodels.anna_expressions import TYPES, expressions, rows
from tests.metamodels.anna_hostile import COLUMNS, HOSTILE

ROW = {
    "i": 5, "n": None, "m": Decimal("2.50"), "x": 1.5, "s": "Ann", "d": datetime.date(2024, 2, 29), "f": True,
    "t": datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.UTC),
}  # fmt: skip
KINDS = {
    "i": INTEGER, "n": INTEGER, "m": decimal(10, 2), "x": DOUBLE, "s": TEXT, "d": DATE, "f": BOOLEAN, "t": TIMESTAMP,
}  # fmt: skip


def _value(text: str) -> Any:
    return conditions.parse(text).typed(KINDS).python(ROW)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i = 5 and s = 'Ann'", True),
        ("n = 5", None),
        ("n = 5 and i = 6", False),
        ("n = 5 or i = 5", True),
        ("not (n = 5)", None),
        ("i in (1, null)", None),
        ("i in (1, null, 5)", True),
        ("i not in (1, 2)", True),
        ("i between 5 and 6", True),
        ("i not between 1 and n", None),
        ("s like 'A%'", True),
        ("s not like '_n_'", False),
        (r"s like 'A\%'", False),
        ("n is null and i is not null", True),
        ("case when n = 1 then false when i = 5 then true end", True),
        ("case i when 5 then s else 'x' end = 'Ann'", True),
        ("coalesce(n, i) = 5", True),
        ("nullif(i, 5) is null", True),
        ("m * 2 = 5", True),
        ("i / 2 = 2.5", True),
        ("1 / 3 < 0.334", True),
        ("-7 % 3 = -1", True),
        ("m + 0.005 = 2.505", True),
        ("x * 2 = 3", True),
        ("abs(-i) = 5", True),
        ("lower(s) || upper('ä') = 'annÄ'", True),
        ("upper('ß') = 'ß'", True),
        ("substring(s, 2, 5) = 'nn'", True),
        ("trim('  a ') = 'a' and length('ä😀') = 2", True),
        ("trim(both from ' a ') = 'a' and trim(leading from ' a ') = 'a '", True),
        ("d = date '2024-02-29' and year(d) + month(d) + day(d) = 2055", True),
        ("t < timestamp '2024-05-01T14:00:01+02:00'", True),
        ("f = true and f", True),
        ("i / 0 = 1", FAILED),
        ("not (i / 0 = 1)", FAILED),
        ("i = 6 and i / 0 = 1", False),
        ("i / 0 = 1 and i = 6", False),
        ("i / 0 = 1 or i = 5", True),
        ("i / 0 = 1 and n = 1", FAILED),
        ("n / 0 = 1", None),
        ("i / 0 is null", FAILED),
        ("coalesce(i / 0, 1) = 1", FAILED),
        ("case when i = 5 then 1 else 1 / 0 end = 1", True),
        ("9223372036854775807 + i > 0", FAILED),
        ("- (-9223372036854775807 - 1) > 0", FAILED),
        ("1e308 * 10 > 0", FAILED),
    ],
)
def test_a_condition_is_true_false_unknown_or_fails(text: str, expected: Any) -> None:
    assert _value(text) is expected


def test_nan_equals_itself_and_is_above_all_numbers() -> None:
    condition = conditions.parse("x = x and x > 1e308").typed(KINDS)

    assert condition.python(ROW | {"x": float("nan")}) is True
    assert condition.python(ROW | {"x": float("inf")}) is True


def test_cells_of_other_rows_are_asked_for_and_put_in() -> None:
    condition = conditions.parse("lookup('7', 'i') = i and lookup('a', 'b', 'm') is null").typed(KINDS)
    one, other = Lookup(("7",), "i"), Lookup(("a", "b"), "m")

    assert condition.lookups == {one, other}
    assert condition.resolved({one: 5, other: None}).python(ROW) is True
    assert condition.resolved({one: 6, other: None}).python(ROW) is False
    with pytest.raises(nm.InvalidCondition, match="not resolved"):
        condition.python(ROW)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("inkome < 1", "there is no column 'inkome'; did you mean 'income'?"),
        ("name < 1", "1 is integer, expected text"),
        ("name", "'name' is text, expected boolean"),
        ("reflect('a', 'b') = 1", "there is no function 'reflect'; there are abs, "),
        ("income < 1 -- x", "comments, as at character 12, are not part of the language"),
        ("income = 1 or", "it makes no sense"),
        ("(income = 1", "its brackets don't match"),
        ("income is true", "IS can be followed by NULL and NOT NULL only"),
        ("length(name, name) = 1", "LENGTH can't have BINARY here"),
        ("substring(name, true, 3) = 'a'", "a first character from 1 on, and a length"),
    ],
)
def test_what_is_no_condition_is_told_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(nm.InvalidCondition) as caught:
        conditions.parse(text).typed(COLUMNS)

    assert sentence in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_no_hostile_text_is_accepted_and_none_hangs() -> None:
    assert len(set(HOSTILE)) >= 200
    accepted: list[str] = []

    def tried() -> None:
        for text in HOSTILE:
            try:
                conditions.parse(text).typed(COLUMNS)
            except nm.InvalidCondition:
                continue
            accepted.append(text)

    thread = threading.Thread(target=tried, daemon=True)
    thread.start()
    thread.join(60)

    assert not thread.is_alive()
    assert accepted == []


def test_a_pattern_of_many_wildcards_takes_no_longer_than_a_text_is_long() -> None:
    condition = conditions.parse("s like '" + "%a" * 100 + "%b'").typed(KINDS)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(condition.python(ROW | {"s": "a" * 20_000})), daemon=True)
    thread.start()
    thread.join(60)

    assert found == [False]


@settings(max_examples=60)
@given(expressions, rows)
def test_a_template_means_what_each_of_its_conditions_means(text: str, given: list[dict[str, Any]]) -> None:
    templates = Templates(TYPES)
    try:
        condition = conditions.parse(text).typed(TYPES)
        marked = templates.shaped(text)
    except nm.InvalidCondition:
        return
    if marked is None:
        return
    shape, values = marked
    if any(node.op == "matches" for node in shape.root.walk()):
        return  # patterns are regular expressions by now, for Spark only
    function = compiled(shape.root)
    for row in given:
        assert function({**row, PARAMETERS: values}) is condition.python(row)


def _shaped(templates: Templates, text: str) -> Any:
    """What templates make of a text: a tree and parameters, nothing, or what is said when it is refused."""
    try:
        found = templates.shaped(text)
    except nm.InvalidCondition as refused:
        return str(refused)
    return found and (found[0].root, [repr(value) for value in found[1]])


@settings(max_examples=150)
@given(
    expressions,
    st.sampled_from(["0", "7", "123456789", "1234567890", "1.5", "1.2345678", "1" * 19, "1e3", "٣", "1x"]),
    st.sampled_from(["", "a", "it''s", "1", '"', '" 5 "', "-- x", "ä", "\0", "\ud800", "x' or 'y", "'"]),
)
def test_a_text_means_the_same_whatever_texts_were_read_before(text: str, number: str, word: str) -> None:
    """Also if only its numbers and texts are others than those of a text before."""
    other = re.sub(r"(?<![\w.])[\d.]+(?![\w.])", number, re.sub("'[^']*'", lambda _: f"'{word}'", text))
    templates = Templates(TYPES)
    _shaped(templates, text)

    assert _shaped(templates, other) == _shaped(Templates(TYPES), other)
    assert _shaped(templates, text) == _shaped(Templates(TYPES), text)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("s = 'a'", "s = '\0'"),
        ("s = 'a'", "s = '\ud800'"),
        ("s = 'a'", f"s = '{'a' * 4000}'"),
        ("s like 'a%'", "s like 'b%'"),
        ("d < date '2024-01-01'", "d < date '2024-02-01'"),
        ("i = 1", "i = 1.5"),
        ("i = 1", "i = 12345678901"),
        ("i in (1, 2)", "i in (3, 4)"),
        ("\"s\" = 'a'", "\"s\" = 'b'"),
        ("m > -1.5", "m > -2.5"),
    ],
)
def test_a_text_of_a_sketch_that_is_known_is_read_as_if_it_were_the_first(before: str, text: str) -> None:
    templates = Templates(KINDS)
    assert not isinstance(_shaped(templates, before), str)

    assert _shaped(templates, text) == _shaped(Templates(KINDS), text)


def test_conditions_that_differ_by_values_only_have_one_shape() -> None:
    templates = Templates(KINDS)
    found = [templates.shaped(f"i = {n} and s <> 'x{n}' or m > -{n}.5") for n in (1, 20, 300)]

    assert [one and one[0] for one in found] == [found[0] and found[0][0]] * 3
    assert [one and one[1] for one in found] == [(n, f"x{n}", -Decimal(f"{n}.5")) for n in (1, 20, 300)]


def test_a_template_that_is_refused_tells_the_values_of_each_text() -> None:
    templates = Templates(KINDS)
    for number in (1, 2):
        with pytest.raises(nm.InvalidCondition, match=f"{number} is integer, expected text"):
            templates.shaped(f"s = {number}")
