"""Manual actions: told, retracted, read as of two times, on every store."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

import neomodel as nm
from metamodels import anna
from metamodels.anna.actions import retracted
from metamodels.anna.records import compound, parts_of
from metamodels.anna.types import BOOLEAN, DOUBLE, INTEGER, TEXT, decimal, other
from neomodel.repository import Repository
from neomodel.stores.wrappers import Counting


@pytest.fixture
def actions(repo: Repository) -> Iterator[anna.Actions]:
    name = f"a{uuid.uuid4().hex[:12]}"
    yield anna.open(repo, name).actions("income report")
    repo.drop(name)


def _told(**other_: Any) -> dict[str, Any]:
    told = {"run": "1", "step": "boss", "row": "42", "column": "income", "operation": ("multiply", 10)}
    return {**told, "precondition": "income < 1000", "who": "Ann", "why": "too low", **other_}


def _now(actions: anna.Actions) -> int:
    """An ingest time at which all that was written is known, and stable, since nobody else writes."""
    store = actions._store
    inner = store.repository.store
    settling, inner.settling = inner.settling, 0
    now = store.model.table.now()
    store.check_stable(now)
    inner.settling = settling
    return now


def _ids(actions: anna.Actions, **times: Any) -> list[str]:
    return [one.id for one in actions.as_of(**{"ingest": _now(actions), **times})]


def test_an_action_is_read_as_it_was_told(actions: anna.Actions) -> None:
    made = actions.add(**_told(event=1_496_746_276_031_000))
    (found,) = actions.as_of(ingest=_now(actions))

    assert found == made
    assert (found.process, found.run, found.step, found.row, found.column) == (
        "income report", "1", "boss", ("42",), "income",
    )  # fmt: skip
    assert (found.event, found.operation, found.precondition) == (
        1_496_746_276_031_000, anna.Operation("multiply", 10), "income < 1000",
    )  # fmt: skip
    assert (found.who, found.why, found.retracts) == ("Ann", "too low", None)
    assert found.ingest > 0


def test_actions_come_in_the_order_of_event_ingest_and_telling(actions: anna.Actions) -> None:
    actions.add(**_told(event=20, id="late"))
    actions.add(**_told(event=10, id="second"))
    actions.add_many([_told(event=5, id=name) for name in ("z", "y", "x")])

    assert _ids(actions) == ["z", "y", "x", "second", "late"]
    assert _ids(actions, event=10) == ["z", "y", "x", "second"]


def test_what_was_known_at_a_time_does_not_change(actions: anna.Actions) -> None:
    actions.add(**_told(id="first", event=10))
    before = _now(actions)
    actions.add(**_told(id="later", event=5))
    actions.retract("first", why="wrong", id="back")

    assert _ids(actions, ingest=before) == ["first"]
    assert _ids(actions) == ["later", "first", "back"]


def test_a_retraction_is_an_action_and_can_be_retracted(actions: anna.Actions) -> None:
    actions.add(**_told(id="a"))
    back = actions.retract("a", who="Bob", why="it was right")
    assert (back.retracts, back.step, back.row, back.operation) == ("a", "boss", ("42",), None)
    assert retracted(actions.as_of(ingest=_now(actions))) == {("boss", "a")}

    actions.retract(back.id, why="it was wrong after all")
    assert retracted(actions.as_of(ingest=_now(actions))) == {("boss", back.id)}


def test_an_action_whose_id_is_on_two_steps_is_retracted_on_the_one_that_is_named(actions: anna.Actions) -> None:
    for step in ("boss", "worker"):
        actions.add(**_told(id="a", step=step))

    with pytest.raises(nm.InvalidValue, match="there is one on boss, worker; name its step"):
        actions.retract("a", why="wrong")
    with pytest.raises(nm.InvalidValue, match="there is one on boss, worker; name its step"):
        actions.retract("a", step="nobody", why="wrong")
    assert actions.retract("a", step="worker", why="wrong").step == "worker"
    assert retracted(actions.as_of(ingest=_now(actions))) == {("worker", "a")}


def test_run_1_does_not_find_run_10_nor_other_processes(actions: anna.Actions) -> None:
    for run in ("1", "10", "1/0", "1=2F0"):
        actions.add(**_told(run=run, id=f"of {run}"))
    others = actions._store.actions("income report/1")
    others.add(**_told(id="other"))

    for run in ("1", "10", "1/0", "1=2F0"):
        assert _ids(actions, run=run) == [f"of {run}"]
    assert len(_ids(actions)) == 4
    assert _ids(others) == ["other"]


@pytest.mark.parametrize("parts", [("a", "b"), ("a/b", "c"), ("a", "/", "=", "=2F", "=3D/")])
def test_keys_tell_their_parts(parts: tuple[str, ...]) -> None:
    assert parts_of(compound(*parts)) == list(parts)


def test_an_action_that_is_told_again_by_its_id_is_one(actions: anna.Actions) -> None:
    first = actions.add(**_told(id="a", event=10))

    assert actions.add(**_told(id="a", event=99)) == first
    assert _ids(actions) == ["a"]
    with pytest.raises(nm.InvalidValue, match="take another id"):
        actions.add(**_told(id="a", why="another"))


def test_an_action_is_the_same_one_wherever_it_comes_among_others(actions: anna.Actions) -> None:
    """As of a file that is loaded again with a line more at its beginning."""
    actions.add_many([_told(id="a", event=10), _told(id="b", event=10)])
    actions.add_many([_told(id="new", event=5), _told(id="b", event=10), _told(id="a", event=10)])

    assert _ids(actions) == ["new", "a", "b"]


def test_an_id_that_an_action_of_another_run_has_is_refused(actions: anna.Actions) -> None:
    """Else no run could tell the outcomes of the two apart, and all would fail from then on."""
    actions.add(**_told(id="a"))

    with pytest.raises(nm.InvalidValue, match="is 'a', expected another one than that of an action of run 1"):
        actions.add(**_told(id="a", run="2"))
    with pytest.raises(nm.InvalidValue, match="a different one for each"):
        actions.add_many([_told(id="b", run="2"), _told(id="b", run="3")])
    actions.add(**_told(id="a", step="worker"))
    assert [(one.id, one.run, one.step) for one in actions.as_of(ingest=_now(actions))] == [
        ("a", "1", "boss"),
        ("a", "1", "worker"),
    ]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"operation": ("eval", "x")}, "an operation is 'eval'"),
        ({"precondition": "reflect('a', 'b')"}, "there is no function 'reflect'"),
        ({"why": " "}, "the why of an action"),
        ({"step": 5}, "the step of an action is 5"),
        ({"row": ()}, "the key of a row"),
        ({"row": "\ud800"}, "a part of the key of a row"),
        ({"event": "yesterday"}, "the event time"),
        ({"step": "s" * 200}, "process, run, step and id"),
        ({"colour": "red"}, "a field of an action is 'colour'"),
    ],
)
def test_an_action_that_is_wrong_is_refused_and_none_is_written(wrong: dict[str, Any], sentence: str) -> None:
    actions = anna.open(nm.connect("memory:")).actions("p")
    with pytest.raises((nm.InvalidValue, nm.InvalidCondition), match=sentence.replace("(", r"\(")):
        actions.add_many([_told(), {**_told(), **wrong}])

    assert actions.as_of() == []


def test_retracting_what_is_not_there_is_refused(actions: anna.Actions) -> None:
    with pytest.raises(nm.InvalidValue, match="an action of 'income report' is 'nobody'"):
        actions.retract("nobody", why="x")


def test_a_time_that_is_not_stable_is_refused(actions: anna.Actions) -> None:
    with pytest.raises(nm.NotStable):
        actions.as_of(ingest=4_000_000_000_000_000)


def test_reading_all_actions_is_one_scan_however_many_there_are() -> None:
    repo = nm.connect("memory:")
    store = anna.open(repo)
    counted = []
    for number in (10, 1000):
        store.actions("p").add_many([_told() for _ in range(number)])
        counting = Counting(repo.store)
        again = anna.open(Repository(counting)).actions("p")
        now = again._store.stable()
        counting.calls.clear()
        assert len(again.as_of(ingest=now)) >= number
        counted.append(dict(counting.calls))

    assert counted[0] == counted[1]
    assert sum(counted[0].values()) <= 2


def test_failing_cells_of_the_last_run_are_kept(repo: Repository) -> None:
    name = f"a{uuid.uuid4().hex[:12]}"
    store = anna.open(repo, name)
    types = {
        "id": INTEGER,
        "income": decimal(8, 2),
        "boss": BOOLEAN,
        "x": DOUBLE,
        "tags": other("array<int>"),
        "s": TEXT,
    }
    values = {"id": 42, "income": None, "boss": True, "x": float("nan"), "tags": [1], "s": "ä"}
    failure = anna.Failure("boss", ("42",), "income", "income is null", ("id",), values, types)
    assert store.failures("income report").last() is None
    store.failures("income report").record("1", [failure] * 2000)
    store.failures("income report").record("2", [failure])
    found = store.failures("income report").last()
    repo.drop(name)

    assert found is not None
    run, (again,) = found
    assert (run, again.types, again.row, again.check) == ("2", types, ("42",), "income is null")
    assert repr(again.values) == repr({name: value for name, value in values.items() if name != "tags"})
