"""check: what is wrong with a model, mended or not, as words, JSON and a status."""

import json
from typing import Any

import pytest

import neomodel as nm
from neomodel.cli import main
from neomodel.stores import Mutation

GONE = "entry: library.Library.books of id0 lists gone, which is not there"
ODD = "cell: id2 has a cell for odd, which library.Book does not store"


@pytest.fixture
def damaged(city: nm.Model) -> nm.Model:
    """The city with an entry that a crash could have left in its list of books, and a cell that none could."""
    books = city.table.get(b"id0")[b"p:books"]  # type: ignore[index]
    city.table.put_many([Mutation(b"id0", {b"p:books": books + b",gone"}), Mutation(b"id2", {b"p:odd": b"1"})])
    return city


@pytest.fixture
def answered(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command; returns its status and what it printed."""

    def answered(*arguments: str) -> tuple[int, list[str]]:
        status = main(arguments)
        captured = capsys.readouterr()
        assert captured.err == ""
        return status, captured.out.splitlines()

    return answered


def test_a_model_that_is_whole_is_said_to_be(city: nm.Model, answered: Any) -> None:
    assert answered("check", "city") == (0, ["4 objects, 0 findings: nothing is wrong"])


def test_what_is_wrong_is_told_and_ends_with_status_1(damaged: nm.Model, answered: Any) -> None:
    assert answered("check", "city") == (1, [GONE, ODD, "4 objects, 2 findings: 2 left"])
    assert answered("check", "city") == (1, [GONE, ODD, "4 objects, 2 findings: 2 left"])


def test_a_repair_mends_what_a_crash_can_leave_and_tells_the_rest(damaged: nm.Model, answered: Any) -> None:
    mended = GONE.replace("entry:", "entry (mended):")

    assert answered("check", "city", "--repair", "--patience", "0") == (
        1,
        [mended, ODD, "4 objects, 2 findings, 1 mended: 1 left"],
    )
    assert answered("check", "city", "--repair", "--patience", "0") == (
        1,
        [ODD, "4 objects, 1 findings, 0 mended: 1 left"],
    )


def test_a_repair_that_mends_all_ends_well(damaged: nm.Model, answered: Any) -> None:
    damaged.table.put_many([Mutation(b"id2", {b"p:odd": None})])

    assert answered("check", "city", "--repair", "--patience", "0")[0] == 0
    assert answered("check", "city")[0] == 0


def test_findings_as_json_have_the_same(damaged: nm.Model, answered: Any) -> None:
    status, (line,) = answered("check", "city", "--json")

    found = json.loads(line)
    assert (status, found["model"], found["objects"], found["number"], found["left"]) == (1, "city", 4, 2, 2)
    assert found["findings"][0] == {
        "kind": "entry",
        "oid": "id0",
        "feature": "books",
        "sentence": GONE.removeprefix("entry: "),
        "mended": False,
    }


def test_more_than_the_limit_is_counted(damaged: nm.Model, answered: Any) -> None:
    last = "4 objects, 2 findings: 2 left"

    assert answered("check", "city", "--limit", "1") == (1, [GONE, "… 1 more; --limit shows them", last])
    assert len(json.loads(answered("check", "city", "--json", "--limit", "1")[1][0])["findings"]) == 1


def test_a_model_that_is_not_there_is_bad_input(city: nm.Model, refused: Any) -> None:
    assert "did you mean 'city'?" in refused("check", "cty")
    assert "--limit" in refused("check", "city", "--limit", "-1")


def test_control_characters_of_what_was_found_are_shown_not_obeyed(city: nm.Model, answered: Any) -> None:
    city.table.put_many([Mutation(b"id2", {b"p:\x1b[31m": b"1"})])

    assert "\\x1b" in answered("check", "city")[1][0]


def test_what_is_mended_was_wrong_for_two_seconds_unless_told_otherwise(
    damaged: nm.Model, answered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)

    answered("check", "city", "--repair", "--patience", "0.5")
    answered("check", "city", "--repair")

    assert waited == [0.5, 0.5, 2]
