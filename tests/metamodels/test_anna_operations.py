"""What operations do to a cell, and how they are stored."""

import datetime
import json
from decimal import Decimal
from typing import Any

import pytest

import neomodel as nm
from metamodels.anna import applying
from metamodels.anna.actions import Action
from metamodels.anna.applying import APPLIED, ERROR, NO_COLUMN
from metamodels.anna.operations import NAMES, Operation
from metamodels.anna.types import BOOLEAN, DATE, DOUBLE, INTEGER, TEXT, TIMESTAMP, Type, decimal, other

INT, MONEY = Type("integer", 32), decimal(6, 2)


def _done(kind: Type, cell: Any, name: str, value: Any = None) -> tuple[str, Any]:
    action = Action("a", "p", "1", "s", ("1",), "cell", 0, 0, 0, Operation(name, value), None, "Ann", "why")
    rows, outcomes = applying.applied([{"id": 1, "cell": cell}], {"id": INT, "cell": kind}, ["id"], [action])
    return outcomes["a"].outcome, rows[0]["cell"]


@pytest.mark.parametrize(
    ("kind", "cell", "name", "value", "expected"),
    [
        (INT, 900, "multiply", 10, 9000),
        (INT, 7, "divide", 2, 4),
        (INT, -7, "divide", 2, -4),
        (INT, 10, "multiply", "1.25", 13),
        (INT, 10, "add", "5", 15),
        (INTEGER, 2**62, "subtract", -(2**61), 2**62 + 2**61),
        (MONEY, Decimal("10.00"), "multiply", Decimal("1.005"), Decimal("10.05")),
        (MONEY, Decimal("0.01"), "divide", 2, Decimal("0.01")),
        (MONEY, Decimal("-0.01"), "divide", 1000, Decimal("0.00")),
        (MONEY, Decimal("0.00"), "multiply", -1, Decimal("0.00")),
        (MONEY, Decimal("1.00"), "set", 5, Decimal("5.00")),
        (decimal(38, 0), Decimal("9" * 38), "subtract", 1, Decimal("9" * 37 + "8")),
        (DOUBLE, 1.5, "add", Decimal("0.25"), 1.75),
        (DOUBLE, 1.5, "set", "2e3", 2000.0),
        (TEXT, "a", "append-text", "b", "ab"),
        (TEXT, None, "set", "04109", "04109"),
        (DATE, None, "set", "2024-02-29", datetime.date(2024, 2, 29)),
        (BOOLEAN, True, "set", "false", False),
        (TIMESTAMP, None, "set", "2024-05-01T02:00:00+02:00", datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC)),
        (other("array<int>"), [1], "set-null", None, None),
    ],
)
def test_an_operation_gives_a_cell_a_value_of_its_columns_type(
    kind: Type, cell: Any, name: str, value: Any, expected: Any
) -> None:
    outcome, found = _done(kind, cell, name, value)

    assert (outcome, repr(found)) == (APPLIED, repr(expected))  # so 0.00 and -0.00 are two values


@pytest.mark.parametrize(
    ("kind", "cell", "name", "value"),
    [
        (INT, 2**31 - 1, "add", 1),
        (INT, 5, "divide", 0),
        (INT, None, "add", 1),
        (MONEY, Decimal("9999.99"), "add", Decimal("0.01")),
        (DOUBLE, 1e308, "multiply", 10),
        (TEXT, None, "append-text", "b"),
    ],
)
def test_an_operation_without_a_result_is_an_error_and_leaves_the_cell(
    kind: Type, cell: Any, name: str, value: Any
) -> None:
    assert _done(kind, cell, name, value) == (ERROR, cell)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (INT, "set", 2**31),
        (INT, "set", "1.5"),
        (INT, "multiply", 1.5),
        (INT, "multiply", "much"),
        (MONEY, "set", "1.005"),
        (TEXT, "set", 5),
        (TEXT, "add", 5),
        (DATE, "add", 1),
        (INT, "append-text", "x"),
        (BOOLEAN, "set", "yes"),
        (other("array<int>"), "set", "x"),
    ],
)
def test_an_operation_that_a_column_can_t_have_is_told_from_an_error(kind: Type, name: str, value: Any) -> None:
    assert _done(kind, None, name, value) == (NO_COLUMN, None)


@pytest.mark.parametrize("value", [1, Decimal(2**80), Decimal("1.10"), 1.5, "text ä", True, datetime.date(2024, 5, 1)])
def test_what_is_stored_is_read_back(value: Any) -> None:
    stored = json.loads(json.dumps(Operation("set", value).json()))

    assert Operation.of_json(stored) == Operation("set", value)
    assert type(Operation.of_json(stored).value) is type(value)


def test_the_stored_form_is_this_one() -> None:
    """Golden: what is stored is read for years."""
    assert Operation("multiply", Decimal("1.10")).json() == {
        "version": 1, "operation": "multiply", "type": "decimal(18,2)", "value": "1.10",
    }  # fmt: skip
    assert Operation("set-null").json() == {"version": 1, "operation": "set-null"}
    assert NAMES == ("set", "add", "subtract", "multiply", "divide", "set-null", "append-text")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("eval", "1"),
        ("set", None),
        ("set-null", 1),
        ("add", True),
        ("append-text", 5),
        ("set", float("nan")),
        ("set", []),
    ],
)
def test_what_is_no_operation_is_refused(name: str, value: Any) -> None:
    with pytest.raises(nm.InvalidValue):
        Operation(name, value)


@pytest.mark.parametrize(
    "stored",
    [
        {"version": 2, "operation": "set", "type": "text", "value": "x"},
        {"version": 1, "operation": "set", "type": "text", "value": "x", "code": "y"},
        {"version": 1, "operation": "set", "value": "x"},
        {"version": 1, "operation": "set", "type": "integer", "value": "x"},
        {"version": 1, "operation": "set", "type": "code", "value": "x"},
        "set",
    ],
)
def test_a_stored_form_that_is_not_known_is_refused(stored: Any) -> None:
    with pytest.raises(nm.InvalidValue):
        Operation.of_json(stored)
