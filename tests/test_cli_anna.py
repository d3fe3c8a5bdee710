"""`neomodel anna …`; `fix` through a real pseudo-terminal."""

import json
import os
import pty
import select
import signal
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
import spark
from metamodels import anna
from metamodels.anna import Failure, applying
from metamodels.anna.suggestions import column_text, still
from metamodels.anna.types import BOOLEAN, DOUBLE, INTEGER, TEXT, Type, decimal
from tests.metamodels.finished_runs import finished

REPORT = "spark.examples.income:report"
ACT = ("anna", "act", "income report", "--step", "boss", "--row", "42", "--column", "income", "--why", "too low")
CSV = """id,step,row,column,operation,value,precondition,why
one,boss,42,income,multiply,10,income < 1000,too low
two,zip,"[""42"", ""home""]",code,set,04109,,leading zero
three,boss,43,income,set-null,,,unknown
"""
TYPES = {
    "id": Type("integer", 32),
    "name": TEXT,
    "income": Type("integer", 32),
    "bonus": decimal(8, 2),
    "boss": BOOLEAN,
}
VALUES = {"id": 42, "name": "Ann's", "income": 900, "bonus": None, "boss": True}


def _failure(**other: Any) -> Failure:
    told = {"step": "boss", "row": ("42",), "column": "income", "check": "income is below 1000", "keys": ("id",)}
    return Failure(**{**told, "values": VALUES, "types": TYPES, **other})


def _known(repository: nm.Repository, process: str = "income report") -> list[anna.Action]:
    return anna.open(repository).actions(process).as_of()


def test_a_cell_is_corrected_by_flags(repository: nm.Repository, run: Any) -> None:
    anna.open(repository).failures("income report").record("7", [])
    named = run(
        *ACT, "--operation", "multiply", "--value", "10", "--precondition", "income < 1000", "--who", "Ann"
    ).strip()
    (found,) = _known(repository)

    assert (found.id, found.run, found.row, found.who, found.why) == (named, "7", ("42",), "Ann", "too low")
    assert (found.operation, found.precondition) == (anna.Operation("multiply", "10"), "income < 1000")


def test_actions_are_listed_and_retracted(repository: nm.Repository, run: Any) -> None:
    run(*ACT, "--operation", "set", "--value", "5", "--id", "first")
    back = run("anna", "retract", "income report", "first", "--why", "it was right").strip()
    lines = run("anna", "actions", "income report").splitlines()

    assert lines[0].split() == ["id", "event", "step", "row", "column", "action", "if", "who", "why"]
    assert "set 5 (retracted)" in lines[1]
    assert lines[2].startswith(back)
    assert "retract first" in lines[2]
    listed = json.loads(run("anna", "actions", "income report", "--json"))
    assert [(one["id"], one["retracted"], one["retracts"]) for one in listed] == [
        ("first", True, None), (back, False, "first"),
    ]  # fmt: skip


def test_of_two_steps_with_an_action_of_one_id_one_is_named(repository: nm.Repository, run: Any) -> None:
    for step in ("boss", "worker"):
        anna.open(repository).actions("p").add(
            run=1, step=step, row="1", column="c", operation="set-null", why="x", id="a"
        )
    run("anna", "retract", "p", "a", "--step", "worker", "--why", "it was right")
    listed = json.loads(run("anna", "actions", "p", "--json"))

    assert [(one["step"], one["retracted"]) for one in listed] == [("boss", False), ("worker", True), ("worker", False)]


def test_a_file_of_actions_is_loaded_once(repository: nm.Repository, run: Any, tmp_path: Path) -> None:
    (tmp_path / "actions.csv").write_text(CSV)
    for _ in range(2):
        said = run("anna", "load", "income report", str(tmp_path / "actions.csv"), "--run", "3")
        assert said == "income report: 3 actions loaded\n"
    found = {one.id: one for one in _known(repository)}

    assert len(found) == 3
    assert (found["two"].row, str(found["two"].operation)) == (("42", "home"), "set 04109")
    assert (found["three"].operation, found["three"].precondition) == (anna.Operation("set-null"), None)
    assert {one.run for one in found.values()} == {"3"}


def test_a_line_of_a_file_ends_where_csv_says(repository: nm.Repository, run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("step,row,column,operation,why\ns,1,c,set-null,one\u2028two\x0cthree\n")
    run("anna", "load", "p", str(tmp_path / "a.csv"))

    assert [one.why for one in _known(repository, "p")] == ["one\u2028two\x0cthree"]


def test_a_file_of_json_is_loaded(repository: nm.Repository, run: Any, tmp_path: Path) -> None:
    told = {"step": "s", "row": ["a", 1], "column": "c", "operation": "multiply", "value": 1.1, "why": "x", "run": "2"}
    (tmp_path / "actions.json").write_text(json.dumps([told]))
    run("anna", "load", "p", str(tmp_path / "actions.json"))
    (found,) = _known(repository, "p")

    assert (found.row, found.run, found.operation) == (("a", "1"), "2", anna.Operation("multiply", Decimal("1.1")))


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("a.csv", "step,row,column,operation,why\ns,1,c,eval,x\n", "a.csv, line 2: an operation is 'eval'"),
        ("a.csv", "step,row,column,operation,colour,why\ns,1,c,set-null,red,x\n", "there is no column 'colour'"),
        ("a.csv", "step,row,column,operation\ns,1,c,set-null\n", "a.csv, line 2: why is missing"),
        ("a.csv", "step,row,column,operation,why\ns,[1,c,set-null,x\n", "line 2: row begins with ["),
        ("a.csv", f"step,row,column,operation,why\ns,{'[' * 100_000},c,set-null,x\n", "line 2: row begins with ["),
        (
            "a.csv",
            "step,row,row,column,operation,why\ns,1,2,c,set-null,x\n",
            "line 1: there is more than one column 'row'",
        ),
        ("a.csv", "step,row,column,operation,why\ns,1\n", "line 2: expected 5 columns"),
        ("a.json", "{}", "a.json: expected a list of objects"),
        ("a.json", "[1]", "a.json, action 1: expected an object"),
        ("a.json", "[", "a.json: it is no JSON"),
        (
            "a.csv",
            "step,row,column,operation,precondition,why\ns,1,c,set-null,,x\ns,1,c,set-null,reflect('a'),x\n",
            "there is no function 'reflect'",
        ),
    ],
)
def test_a_file_that_is_wrong_is_told_and_leaves_nothing(
    repository: nm.Repository, refused: Any, tmp_path: Path, file: str, content: str, sentence: str
) -> None:
    (tmp_path / file).write_text(content)

    assert sentence in refused("anna", "load", "p", str(tmp_path / file))
    assert _known(repository, "p") == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((*ACT, "--operation", "eval"), "an operation is 'eval'"),
        ((*ACT, "--operation", "set"), "the value of set is None"),
        ((*ACT, "--operation", "set-null", "--precondition", "1 +"), "it makes no sense"),
        ((*ACT, "--operation", "set-null", "--event", "stable"), "--event stable makes no sense"),
        (("anna", "retract", "p", "x", "--why", "y"), "an action of 'p' is 'x'"),
        (("anna", "fix", "p"), "no run of 'p' is on record"),
    ],
)
def test_what_makes_no_sense_is_refused(repository: nm.Repository, refused: Any, arguments: Any, sentence: str) -> None:
    anna.open(repository)

    assert sentence in refused(*arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("recompute", REPORT, "9"),
            "a run of 'income report' is 9, expected one that there is, such as the latest: 1",
        ),
        (("diff", REPORT, "1", "9"), "a run of 'income report' is 9"),
        (("recompute", REPORT, "1", "--ingest", "payroll"), "--ingest payroll names no system and time"),
        (("recompute", REPORT, "1", "--ingest", "payroll=may"), "a time is 'may'"),
        (("recompute", REPORT, "1", "--actions-event", "stable"), "stable is an ingest time"),
        (("run", REPORT, "--actions-ingest", "may"), "a time is 'may'"),
        (("run", REPORT, "--token", "may"), "a token is 'may'"),
    ],
)
def test_no_spark_is_started_and_nothing_written_for_what_makes_no_sense(
    repository: nm.Repository, refused: Any, monkeypatch: pytest.MonkeyPatch, arguments: Any, sentence: str
) -> None:
    finished(repository, "income report")
    there = repository.models()
    monkeypatch.setattr(spark, "session", lambda _: pytest.fail("a Spark is started"))

    assert sentence in refused("anna", *arguments)
    assert repository.models() == there


def test_where_there_is_nothing_to_list_a_sentence_says_so(repository: nm.Repository, run: Any) -> None:
    finished(repository, "income report")
    anna.open(repository)

    assert run("anna", "actions", "p\x1b", said="neomodel: there are no actions of p\\x1b\n") == ""
    assert run("anna", "runs", "p\x1b", said="neomodel: there are no runs of p\\x1b\n") == ""


def test_conditions_are_suggested_for_any_column_and_value() -> None:
    assert [column_text(name) for name in ("income", "Net income", "select", 'a"b', "date")][1:4] == [
        '"Net income"', '"select"', '"a""b"',
    ]  # fmt: skip
    assert still("name", "Ann's", TEXT) == "name = 'Ann''s'"
    assert still("income", None, INTEGER) == "income is null"
    assert still("x", float("nan"), DOUBLE) is None
    assert still("x", "a" * 5000, TEXT) is None


# a person at a terminal


class Person:
    """Runs a command on a pseudo-terminal, and answers what it asks."""

    def __init__(self, *arguments: str) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.environ |= {"TERM": "dumb", "COLUMNS": "120"}
            os.execv(sys.executable, [sys.executable, "-m", "neomodel", *arguments])
        self.seen = ""

    def answers(self, question: str, answer: str) -> None:
        """Wait for a question, and type the answer."""
        self.waits(question)
        os.write(self._terminal, answer.encode() + b"\n")

    def waits(self, text: str) -> None:
        end = time.monotonic() + 60
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            self._read()
        self.seen = self.seen.partition(text)[2]

    def _read(self) -> bool:
        if select.select([self._terminal], [], [], 1)[0]:
            try:
                self.seen += os.read(self._terminal, 4096).decode(errors="replace")
            except OSError:  # it has ended
                return False
        return True

    def leaves(self, *, pressing: bytes = b"") -> int:
        """Its exit status, and all it said in `seen`. A key is pressed until it has left: an interrupt that comes just
        before Python waits for a line is seen by it when the next one comes."""
        again = 0.0
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > again:
                os.write(self._terminal, pressing)
                again = time.monotonic() + 20
            if not self._read():
                break
        while select.select([self._terminal], [], [], 0)[0] and self._read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def failing(tmp_path: Path) -> Iterator[tuple[str, nm.Repository]]:
    """A store with a process in whose last run two cells of one row failed."""
    url = f"lmdb:{tmp_path}/db"
    with nm.connect(url) as repository:
        bonus = _failure(column="bonus", check="bonus is null")
        anna.open(repository).failures("income report").record("7", [_failure(), bonus])
        yield url, repository


def test_a_person_is_guided_through_failing_cells(failing: tuple[str, nm.Repository]) -> None:
    url, repository = failing
    person = Person("anna", "fix", "income report", "--who", "Ann", "--store", url)
    person.waits("1 of 2: step boss, row 42: income is below 1000")
    person.waits("->  income")
    person.answers("operation [", "double")
    person.waits("there are set, add,")
    person.answers("operation [", "multiply")
    person.answers("value (integer(32)): ", "much")
    person.waits("multiply much can't be done on income, which is integer(32)")
    person.answers("value (integer(32)): ", "10000000000")
    person.waits("has no result that fits income")
    person.answers("value (integer(32)): ", "10")
    person.answers("only if [income = 900] (always: no matter what): ", "inkome < 1000")
    person.waits("there is no column 'inkome'; did you mean 'income'?")
    person.answers("only if [income = 900]", "income > 1000")
    person.waits("it does not hold of this row")
    person.answers("only if [income = 900]", "income < 1000 and name = 'Ann''s'")
    person.answers("reason: ", "")
    person.waits("a reason is needed")
    person.answers("reason: ", "a zero is missing")
    person.waits("income: 900 -> 9000")
    person.answers("store it? [yes, no]: ", "yes")
    person.waits("stored as ")
    person.waits("2 of 2: step boss, row 42: bonus is null")
    person.answers("operation [", "add")
    person.waits("bonus is null, so there is nothing to add")
    person.answers("operation [", "set")
    person.answers("value (decimal(8,2)): ", "12.5")
    person.answers("only if [bonus is null]", "")
    person.answers("reason: ", "as agreed")
    person.waits("bonus: null -> 12.50")
    person.answers("store it? [yes, no]: ", "")

    assert person.leaves() == 0
    assert "2 of 2 cells corrected" in person.seen
    first, second = _known(repository)
    assert (first.run, first.step, first.row, first.column, first.who) == ("7", "boss", ("42",), "income", "Ann")
    assert (str(first.operation), first.precondition) == ("multiply 10", "income < 1000 and name = 'Ann''s'")
    assert (str(second.operation), second.precondition, second.why) == ("set 12.5", "bonus is null", "as agreed")
    rows, outcomes = applying.applied([VALUES], TYPES, ["id"], [first, second])
    assert rows[0] == VALUES | {"income": 9000, "bonus": Decimal("12.50")}
    assert [one.outcome for one in outcomes.values()].count(applying.APPLIED) == 2


def test_what_a_failing_cell_says_is_shown_and_not_obeyed(
    repository: nm.Repository, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna.open(repository).failures("p").record("7", [_failure(row=("\x1b[2J",), check="\x1b[31mlow")])
    monkeypatch.setattr("builtins.input", lambda _: "quit")

    out = run("anna", "fix", "p")

    assert r"row \x1b[2J: \x1b[31mlow" in out
    assert "\x1b" not in out


def test_cells_are_skipped_declined_and_left(failing: tuple[str, nm.Repository]) -> None:
    url, repository = failing
    person = Person("anna", "fix", "income report", "--store", url)
    person.answers("operation [", "set-null")
    person.answers("only if [income = 900]", "always")
    person.answers("reason: ", "nobody knows")
    person.waits("income: 900 -> null")
    person.answers("store it? [yes, no]: ", "no")
    person.waits("2 of 2")
    person.answers("operation [", "quit")

    assert person.leaves() == 0
    assert "0 of 2 cells corrected" in person.seen
    assert _known(repository) == []


def test_what_was_stored_stays_when_the_walk_is_interrupted(failing: tuple[str, nm.Repository]) -> None:
    url, repository = failing
    person = Person("anna", "fix", "income report", "--store", url)
    person.answers("operation [", "set")
    person.answers("value", "1000")
    person.answers("only if", "")
    person.answers("reason: ", "minimum")
    person.answers("store it?", "yes")
    person.waits("2 of 2")
    person.waits("operation [")

    assert person.leaves(pressing=b"\x03") == 128 + signal.SIGINT
    assert [str(one.operation) for one in _known(repository)] == ["set 1000"]


def test_what_was_corrected_before_is_not_suggested(failing: tuple[str, nm.Repository]) -> None:
    url, repository = failing
    told = {"run": "6", "step": "boss", "row": "42", "column": "income", "operation": ("set", 900), "why": "x"}
    anna.open(repository).actions("income report").add(**told)
    person = Person("anna", "fix", "income report", "--store", url)
    person.answers("operation [", "set")
    person.answers("value", "1000")
    person.waits("income was corrected before; preconditions are tested on what was there before that")
    person.answers("only if [always]: ", "income = 3")
    person.answers("reason: ", "quit")

    assert person.leaves() == 0
    assert len(_known(repository)) == 1
