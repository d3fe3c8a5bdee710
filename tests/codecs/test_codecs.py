"""Every value of every data type is read back as it was written, and what is no value is refused."""

import enum
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neomodel.codecs import (
    NULL,
    codec,
    codec_of_java,
    decode_many,
    decode_refs,
    decode_single,
    encode_many,
    encode_refs,
    encode_single,
    enum_codec,
)
from tests.codecs.values import CODECS, COLOUR, OPAQUE, Colour, exact, named, values

every_codec = pytest.mark.parametrize("name", [name for name in CODECS if name not in OPAQUE])


def test_what_only_a_java_program_holds_is_kept_as_text() -> None:
    assert {"EJavaObject", "EJavaClass", "EMap", "EResource"} <= set(OPAQUE)
    for name in OPAQUE:
        form = CODECS[name]
        assert (form.name, form.encode, form.decode, form.native) == (name, str.encode, bytes.decode, str)


@every_codec
@given(st.data())
def test_a_checked_value_is_itself_and_every_form_gives_it_back(name: str, data: st.DataObject) -> None:
    value = data.draw(values(name))
    form = CODECS[name]

    assert exact(form.check(value)) == exact(value)
    assert exact(form.decode(form.encode(value))) == exact(value)
    assert exact(form.from_text(form.to_text(value))) == exact(value)


@every_codec
@given(st.data())
def test_a_cell_gives_back_the_value_or_none(name: str, data: st.DataObject) -> None:
    value = data.draw(st.none() | values(name))
    cell = encode_single(CODECS[name], value)

    assert exact(decode_single(CODECS[name], cell)) == exact(value)
    assert (cell == NULL) == (value is None)


@every_codec
@given(st.data())
def test_a_list_in_a_cell_gives_back_its_values_and_nones(name: str, data: st.DataObject) -> None:
    found = data.draw(st.lists(st.none() | values(name)))

    assert exact(decode_many(CODECS[name], encode_many(CODECS[name], found))) == exact(found)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters=","), min_size=1)))
def test_references_are_given_back(refs: list[str]) -> None:
    assert decode_refs(encode_refs(refs)) == refs


MOMENT = datetime(2024, 1, 31, 23, 59, 58, 120_000, timezone(timedelta(hours=1)))
GOLDEN: list[tuple[str, Any, bytes, bytes, str]] = [
    ("EString", "Grüße, \n", "Grüße, \n".encode(), '["Grüße, \\n"]'.encode(), "Grüße, \n"),
    ("EInt", -42, b"-42", b"[-42]", "-42"),
    ("EIntegerObject", 42, b"42", b"[42]", "42"),
    ("ELong", 2**63 - 1, b"9223372036854775807", b"[9223372036854775807]", "9223372036854775807"),
    ("ELongObject", 0, b"0", b"[0]", "0"),
    ("EShort", -32768, b"-32768", b"[-32768]", "-32768"),
    ("EShortObject", 1, b"1", b"[1]", "1"),
    ("EByte", 127, b"127", b"[127]", "127"),
    ("EByteObject", -128, b"-128", b"[-128]", "-128"),
    ("EBigInteger", 10**30, b"1" + b"0" * 30, b"[1" + b"0" * 30 + b"]", "1" + "0" * 30),
    ("EBigDecimal", Decimal("12.50"), b"12.50", b'["12.50"]', "12.50"),
    ("EFloat", 0.10000000149011612, b"0.1", b"[0.1]", "0.1"),
    ("EFloatObject", 2.0**-149, b"1e-45", b"[1e-45]", "1.4E-45"),
    ("EDouble", 1e22, b"1e+22", b"[1e+22]", "1.0E22"),
    ("EDouble", 5e-324, b"5e-324", b"[5e-324]", "4.9E-324"),
    ("EDouble", sys.float_info.max, b"1.7976931348623157e+308", b"[1.7976931348623157e+308]", "1.7976931348623157E308"),
    ("EDouble", -(2.0**-24), b"-5.960464477539063e-08", b"[-5.960464477539063e-08]", "-5.960464477539063E-8"),
    ("EDouble", 12345678.5, b"12345678.5", b"[12345678.5]", "1.23456785E7"),
    ("EDoubleObject", 0.001, b"0.001", b"[0.001]", "0.001"),
    ("EDouble", float("nan"), b"NaN", b'["NaN"]', "NaN"),
    ("EFloat", float("-inf"), b"-Infinity", b'["-Infinity"]', "-Infinity"),
    ("EBoolean", True, b"true", b"[true]", "true"),
    ("EBooleanObject", False, b"false", b"[false]", "false"),
    ("EChar", "a", b"a", b'["a"]', "97"),
    ("ECharacterObject", "€", "€".encode(), '["€"]'.encode(), "8364"),
    (
        "EDate",
        MOMENT,
        b"2024-01-31T23:59:58.120000+01:00",
        b'["2024-01-31T23:59:58.120000+01:00"]',
        "2024-01-31T23:59:58.120+0100",
    ),
    (
        "EDate",
        datetime(2024, 1, 31, 0, 0, 0, 1),
        b"2024-01-31T00:00:00.000001",
        b'["2024-01-31T00:00:00.000001"]',
        "2024-01-31T00:00:00.000001",
    ),
    ("EByteArray", b"\xca\xfe\0", b"\xca\xfe\0", b'["CAFE00"]', "CAFE00"),
    ("EJavaClass", "java.lang.String", b"java.lang.String", b'["java.lang.String"]', "java.lang.String"),
    ("EJavaObject", "x", b"x", b'["x"]', "x"),
    ("Colour", Colour.DARK_RED, b"DARK_RED", b'["DARK_RED"]', "dark-red"),
]


@pytest.mark.parametrize(("name", "value", "cell", "many", "text"), GOLDEN)
def test_golden_bytes(name: str, value: Any, cell: bytes, many: bytes, text: str) -> None:
    form = CODECS[name]

    assert encode_single(form, value) == cell
    assert encode_many(form, [value]) == many
    assert form.to_text(value) == text


def test_every_kind_of_value_has_golden_bytes() -> None:
    assert {name for name, *_ in GOLDEN} >= CODECS.keys() - set(OPAQUE)


def test_an_integer_longer_than_python_writes_is_kept_and_where_refused_shown_in_part() -> None:
    huge, digits = -(10**5000), b"-1" + b"0" * 5000
    form = named("EBigInteger")

    assert form.encode(huge) == digits
    assert encode_many(form, [huge]) == b'["' + digits + b'"]'
    for name in CODECS.keys() - {"EBigInteger", "EBigDecimal"}:
        with pytest.raises((TypeError, ValueError), match=r"-10+\.\.\. \(5002 characters\)"):
            CODECS[name].check(huge)


def test_null_and_leading_zero_bytes_have_these_bytes() -> None:
    form = named("EByteArray")

    assert [encode_single(form, value) for value in (None, b"", b"\0", b"\0\0", b"a\0")] == [
        *(b"\0", b"", b"\0\0", b"\0\0\0", b"a\0")
    ]
    assert encode_single(named("EString"), "") == b""
    assert encode_many(form, [None]) == b"[null]"
    assert encode_many(form, []) == b"[]"
    assert encode_refs(["a", "@m/b"]) == b"a,@m/b"
    assert encode_refs([]) == b""


REFUSED: list[tuple[str, Any]] = [
    ("EString", 1),
    ("EString", b"x"),
    ("EString", "\ud800"),
    ("EInt", True),
    ("EInt", "1"),
    ("EInt", 1.0),
    ("EInt", 2**31),
    ("ELong", -(2**63) - 1),
    ("EShort", 32768),
    ("EByte", 128),
    ("EByte", -129),
    ("EBigInteger", 1.0),
    ("EBigInteger", False),
    ("EBigDecimal", 1.5),
    ("EBigDecimal", True),
    ("EBigDecimal", Decimal("NaN")),
    ("EBigDecimal", Decimal("-Infinity")),
    ("EBigDecimal", Decimal("1e9999999999")),
    ("EFloat", 1e39),
    ("EFloat", 2**24 + 1),
    ("EFloat", 10**400),
    ("EDouble", "1"),
    ("EDouble", True),
    ("EDouble", Decimal(1)),
    ("EDouble", 2**53 + 1),
    ("EDouble", 10**400),
    ("EBoolean", 1),
    ("EBoolean", "true"),
    ("EChar", ""),
    ("EChar", "ab"),
    ("EChar", "😀"),
    ("EChar", "\udfff"),
    ("EChar", 97),
    ("EDate", date(2024, 1, 31)),
    ("EDate", "2024-01-31"),
    ("EDate", 0),
    ("EDate", datetime(2024, 1, 31, tzinfo=timezone(timedelta(microseconds=1)))),
    ("EByteArray", "x"),
    ("EByteArray", 3),
    ("EByteArray", [1]),
    ("EJavaObject", object()),
    ("Colour", "BLUE"),
    ("Colour", "dark red"),
    ("Colour", 0),
    ("Colour", []),
]


@pytest.mark.parametrize(("name", "value"), [*REFUSED, *((name, None) for name in CODECS)])
def test_what_is_no_value_is_refused_with_a_sentence(name: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"\w+ \w+ \w+") as caught:
        CODECS[name].check(value)

    assert len(str(caught.value)) < 300


BAD_TEXTS = [
    *((name, text) for name in ("EInt", "EBigInteger") for text in ("", " 1", "1_0", "1.0", "0x1", "٣", "--1")),
    *((name, text) for name in ("EDouble", "EBigDecimal") for text in ("", ".", "1_0", " 1", "1e", "٣", "e5")),
    *(("EDouble", text) for text in ("1ff", "f", "1e999", "infinity")),
    *(("EFloat", text) for text in ("1e39", "1e999")),
    *(("EBigDecimal", text) for text in ("NaN", "Infinity", "1e9999999999", "1e99999999999999999999", "1d")),
    *(("EBoolean", text) for text in ("", "1", "yes", " true")),
    *(("EChar", text) for text in ("", "ab", "65536", "55296", "-1", "99999999999")),
    *(
        ("EDate", text)
        for text in ("", "2024", "2024-1-1", "2024-13-01", "2024-01-01 00:00", "2024-01-01T00:00:00.1234567")
    ),
    *(("EByteArray", text) for text in ("0", "0g", "00 00", " 00")),
    *(("Colour", text) for text in ("", "red", "dark_red")),
    ("EInt", "2147483648"),
    ("EString", "\ud800"),
]


@pytest.mark.parametrize(("name", "text"), BAD_TEXTS)
def test_text_that_stands_for_no_value_is_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+ \w+|month must be"):
        CODECS[name].from_text(text)


GOOD_TEXTS: list[tuple[str, str, Any]] = [
    ("EInt", "+007", 7),
    ("EDouble", "1.f", 1.0),
    ("EDouble", ".5D", 0.5),
    ("EDouble", "1E-3", 0.001),
    ("EDouble", "+Infinity", float("inf")),
    ("EFloat", "0.1", 0.10000000149011612),
    ("EBigDecimal", "1E+5", Decimal("1E+5")),
    ("EBoolean", "True", True),
    ("EBoolean", "FALSE", False),
    ("EChar", "x", "x"),
    ("EChar", "5", "\5"),
    ("EByteArray", "cafe", b"\xca\xfe"),
    ("EByteArray", "", b""),
    ("EDate", "2024-01-31", datetime(2024, 1, 31)),
    ("EDate", "2024-01-31T23:59", datetime(2024, 1, 31, 23, 59)),
    ("EDate", "2024-01-31T23:59:58", datetime(2024, 1, 31, 23, 59, 58)),
    ("EDate", "2024-01-31T23:59:58.120", datetime(2024, 1, 31, 23, 59, 58, 120_000)),
    ("EDate", "2024-01-31T23:59:58.120+0100", MOMENT),
    ("EDate", "2024-01-31T23:59:58.120000+01:00", MOMENT),
    ("EDate", "2024-01-31T22:59:58Z", datetime(2024, 1, 31, 22, 59, 58, tzinfo=UTC)),
    ("Colour", "DARK_RED", Colour.DARK_RED),
]


@pytest.mark.parametrize(("name", "text", "value"), GOOD_TEXTS)
def test_other_texts_that_stand_for_a_value_are_read(name: str, text: str, value: Any) -> None:
    assert exact(CODECS[name].from_text(text)) == exact(value)


class Level(enum.IntEnum):
    LOW = 1


class Name(str):
    __slots__ = ()


BERLIN = datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1)
KEPT: list[tuple[str, Any, Any]] = [
    ("EDouble", 3, 3.0),
    ("EFloat", 3, 3.0),
    ("EFloat", 0.1, 0.10000000149011612),
    ("EInt", Level.LOW, 1),
    ("EBigDecimal", 10**30, Decimal(10**30)),
    ("EString", Name("x"), "x"),
    ("EByteArray", bytearray(b"x"), b"x"),
    ("EByteArray", memoryview(b"x"), b"x"),
    ("EDate", BERLIN, datetime(2024, 10, 27, 2, 30, tzinfo=timezone(timedelta(hours=1)))),
    ("Colour", "DARK_RED", Colour.DARK_RED),
    ("Colour", "dark-red", Colour.DARK_RED),
]


@pytest.mark.parametrize(("name", "given_value", "kept"), KEPT)
def test_what_stands_for_a_value_is_kept_as_that_value(name: str, given_value: Any, kept: Any) -> None:
    assert exact(CODECS[name].check(given_value)) == exact(kept)


DAMAGED = {
    "EInt": b"x",
    "EBigInteger": b"1.5",
    "EDouble": b"",
    "EBigDecimal": b"1,5",
    "EBoolean": b"True",
    "EDate": b"today",
    "EString": b"\xff",
    "Colour": b"BLUE",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_cell_that_was_never_written_is_a_value_error(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_single(CODECS[name], DAMAGED[name])


@pytest.mark.parametrize("cell", [b"", b"{}", b"1", b"[", b"[[]]", b"\xff", b'[{"a":1}]'])
@every_codec
def test_a_list_that_was_never_written_is_a_value_error(name: str, cell: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_many(CODECS[name], cell)


def test_defaults_are_those_of_ecore() -> None:
    found = {name: form.default for name, form in CODECS.items() if form.primitive}

    assert exact(list(found.values())) == exact([DEFAULTS[name] for name in found])
    assert found.keys() == DEFAULTS.keys()
    assert {form.default for name, form in CODECS.items() if not form.primitive} == {None, Colour.RED}


DEFAULTS = {
    **dict.fromkeys(("EInt", "ELong", "EShort", "EByte"), 0),
    **dict.fromkeys(("EFloat", "EDouble"), 0.0),
    "EBoolean": False,
    "EChar": "\0",
}


def test_a_java_class_stands_for_the_codec_of_its_values_and_an_unknown_one_for_text() -> None:
    assert codec_of_java("int") is codec("EInt")
    assert codec_of_java("java.lang.Integer") is codec("EIntegerObject")
    assert codec_of_java("byte[]") is codec("EByteArray")
    assert codec_of_java("java.util.Date") is codec("EDate")
    assert codec_of_java("org.example.Money") is codec_of_java(None) is codec("EString")
    assert codec("Money") is None


def test_a_name_that_is_another_literals_text_means_the_name_in_code_and_the_text_in_a_file() -> None:
    swapped = enum_codec("Swapped", {"A": Level.LOW, "B": Colour.RED}, {"A": "B", "B": "A"})

    assert swapped.check("A") is Level.LOW
    assert swapped.from_text("A") is Colour.RED
    assert swapped.from_text(swapped.to_text(Level.LOW)) is Level.LOW


def test_the_number_of_a_literal_is_not_the_literal() -> None:
    levels = enum_codec("Level", dict(Level.__members__))

    assert levels.check(Level.LOW) is Level.LOW
    for number in (1, 1.0, True):
        with pytest.raises(TypeError, match="expected one of LOW"):
            levels.check(number)


def test_an_enum_without_literals_has_no_values() -> None:
    empty = enum_codec("Empty", {})

    assert empty.default is None
    with pytest.raises(ValueError, match="Empty has no literals"):
        empty.check("x")


def test_colours_are_read_by_name_only_in_cells() -> None:
    assert COLOUR.decode(b"DARK_RED") is Colour.DARK_RED
    with pytest.raises(ValueError, match="no literal of Colour"):
        COLOUR.decode(b"dark-red")
