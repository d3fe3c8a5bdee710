"""`show` and `stats` of a model as it was."""

import json
from typing import Any

import pytest

import neomodel as nm
from neomodel.times import instant


@pytest.fixture
def before(city: nm.Model) -> int:
    """A time when the city had two books; it has one now, of another title."""
    then: int = city.table.now()
    nm.delete(city["id2"])
    city["id1"].title = "Dune Messiah"
    return then


def test_a_model_is_shown_as_it_was(before: int, run: Any) -> None:
    for time in (str(before), instant(before).isoformat()):
        assert "Heretics" in run("show", "city", "--as-of", time)
    assert "Heretics" not in run("show", "city", "--as-of", "stable")
    assert "Dune Messiah" in run("show", "city", "id1", "--as-of", "stable")
    assert "Dune Messiah" not in run("show", "city", "id1", "--as-of", str(before))


def test_a_model_is_counted_as_it_was(before: int, run: Any) -> None:
    then = json.loads(run("stats", "city", "--json", "--as-of", str(before)))
    now = json.loads(run("stats", "city", "--json"))

    assert (then["objects"], now["objects"]) == (4, 3)


def test_the_present_is_shown_also_while_a_batch_is_open(city: nm.Model, run: Any) -> None:
    with nm.batch(city):
        city["id1"].title = "Dune Messiah"

        assert "Dune Messiah" in run("show", "city")
        assert "Dune Messiah" not in run("show", "city", "--as-of", "stable")


@pytest.mark.parametrize("command", ["show", "stats"])
@pytest.mark.parametrize(
    ("time", "told"),
    [
        ("yesterday", "such as 2024-05-01T12:00:00"),
        ("2024-05-01T12:00:00", "such as 2024-05-01T12:00:00"),
        ("9" * 5000, "such as 2024-05-01T12:00:00"),
        ("1", "created later"),
        ("2999-01-01T00:00:00+00:00", "stable up to"),
    ],
)
def test_a_time_that_can_not_be_read_is_refused_in_a_sentence(
    before: int, refused: Any, command: str, time: str, told: str
) -> None:
    assert told in refused(command, "city", "--as-of", time)
