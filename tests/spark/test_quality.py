"""Quality checks: each rule finds the rows that a loop finds."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from metamodels import anna
from metamodels.anna.quality import Rule
from spark import checks
from tests.spark.products import mirrored, turnover

ROWS = [
    {
        "id": n,
        "name": [None, "Ann", "Bob", "x\ny", ""][n % 5],
        "pay": None if n % 7 == 3 else n * 10,
        "boss": n % 4 or None,
    }
    for n in range(40)
]
OTHERS = {1, 3}
NAMES = Counter(row["name"] for row in ROWS)

RULES: list[tuple[Rule, Any]] = [
    (anna.not_null("name"), lambda row: row["name"] is None),
    (anna.unique("pay"), lambda _: False),
    (anna.unique("name", severity="warning"), lambda row: row["name"] is not None and NAMES[row["name"]] > 1),
    (anna.between("pay", 50, 300), lambda row: row["pay"] is not None and not 50 <= row["pay"] <= 300),
    (anna.between("pay", high=90), lambda row: row["pay"] is not None and row["pay"] > 90),
    (anna.matches("name", "[A-Z].*"), lambda row: row["name"] is not None and not re.fullmatch("[A-Z].*", row["name"])),
    (anna.holds("pay < 200 or name is null"), lambda row: (row["pay"] or 0) >= 200 and row["name"] is not None),
    (anna.holds("1000 / id > 40", name="a quotient"), lambda row: row["id"] == 0 or 1000 / row["id"] <= 40),
    (anna.refers("boss", "others", "n"), lambda row: row["boss"] is not None and row["boss"] not in OTHERS),
]


def test_each_rule_finds_the_rows_that_a_loop_finds(session: SparkSession) -> None:
    frame = session.createDataFrame([tuple(row.values()) for row in ROWS], "id long, name string, pay long, boss long")
    others = session.createDataFrame([(one,) for one in OTHERS], "n long")
    rules = [rule for rule, _ in RULES] + [anna.row_count(1, 39), anna.row_count(40)]

    found = checks.check(frame, ["id"], rules, {"others": others}, len(ROWS))

    for (rule, fails), told in zip(RULES, found, strict=False):
        wrong = [str(row["id"]) for row in ROWS if fails(row)]
        assert ([cell.row for cell in told.cells], told.failed) == (wrong, len(wrong)), rule.name
    assert [(one.failed, one.detail) for one in found[-2:]] == [(1, "there are 40 rows"), (0, None)]
    ann = next(cell for cell in found[5].cells if cell.value == "x\ny")
    assert (ann.column, ann.row_values) == ("name", {"id": 3, "name": "x\ny", "pay": None, "boss": 3})


def test_failure_cases_of_pandera_are_taken_in() -> None:
    """As pandera 0.24 has them: `SchemaErrors.failure_cases`, by `to_dict("records")`."""
    of_column = {"schema_context": "Column", "column": "pay", "check": "ge(0)", "check_number": 0}
    of_all = {"schema_context": "DataFrameSchema", "column": None, "check": "dtype", "check_number": None}
    cases = [
        {**of_column, "failure_case": -5, "index": 7},
        {**of_column, "failure_case": -1, "index": 9},
        {**of_all, "failure_case": "x", "index": None},
    ]

    found = checks.reported(anna.reported("pandera", lambda _: cases), cases)

    assert [(cell.row, cell.column, cell.value) for cell in found.cells] == [("7", "pay", "-5"), ("9", "pay", "-1")]
    assert (found.failed, found.detail) == (2, "dtype, ge(0)")
    assert checks.reported(anna.reported("pandera", lambda _: []), []).failed == 0
    with pytest.raises(nm.InvalidValue, match="a failure case of check 'pandera'"):
        checks.reported(anna.reported("pandera", lambda _: [7]), [7])


def test_a_fatal_check_ends_the_run_and_the_others_do_not(session: SparkSession, tmp_path: Path) -> None:
    store = mirrored(f"lmdb:{tmp_path}/db")
    fatal = turnover(checks=[anna.between("amount", 0, 50, severity="warning"), anna.row_count(1000, severity="fatal")])
    made = spark.Pipeline(fatal, store.repository, tmp_path / "products", session=session)

    with pytest.raises(nm.StepFailed, match="check '1000 or more rows', which is fatal"):
        made.run()

    (run,) = made.runs.of("turnover")
    assert (run.state, [step.step for step in run.steps]) == (anna.State.FAILED, ["placed"])
    with pytest.raises(nm.StepFailed, match="which is fatal"):
        made.resume(run)
    found = anna.open(store.repository).failures("turnover").last()
    assert found is not None
    assert (found[0], {(one.step, one.column) for one in found[1]}) == ("1", {("placed", "amount")})


BAD: list[tuple[Any, str]] = [
    (lambda: anna.between("a"), "the range of a is None, expected a lower end"),
    (
        lambda: anna.not_null("a", severity="bad"),
        "the severity of a check is 'bad', expected one of warning, error, fatal",
    ),
    (lambda: anna.unique(), "columns that are unique"),
    (lambda: anna.holds("reflect('java.lang.System', 'exit')"), "reflect"),
    (lambda: anna.refers(["a", "b"], "t", "c"), "columns that are referred to"),
    (lambda: turnover(checks=[anna.not_null("a"), anna.not_null("a")]), "it has two checks of the name 'a is there'"),
    (lambda: turnover(checks=[anna.refers("shop", "elsewhere")]), "'elsewhere', which is none of its inputs"),
    (lambda: anna.Process("a/b"), "the name of a process is 'a/b'"),
    (lambda: anna.Process(".."), "what a folder can be called"),
    (
        lambda: anna.Process("p").step(key="a", schema="a long", name="s")(lambda nothing: nothing),
        "it asks for 'nothing'",
    ),
]


@pytest.mark.parametrize(("make", "told"), BAD)
def test_what_makes_no_sense_is_refused_when_it_is_declared(make: Any, told: str) -> None:
    with pytest.raises((nm.NeomodelError, ValueError)) as refused:
        make()

    assert told in str(refused.value)
