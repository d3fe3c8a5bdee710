"""Manual actions on Spark do what they do in plain Python, in one join and without Python in tasks."""

import datetime
import itertools
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812

import neomodel as nm
from metamodels.anna import applying
from metamodels.anna.actions import Action
from metamodels.anna.applying import (
    APPLIED,
    ERROR,
    NO_COLUMN,
    NO_TARGET,
    NOT_MET,
    RETRACTED,
    SUPERSEDED,
    applied,
)  # fmt: skip
from metamodels.anna.operations import Operation
from metamodels.anna.types import Types
from spark import corrected, corrections
from spark.cell_changes import MARKS
from spark.conditions import spark_type
from tests.metamodels import anna_expressions
from tests.metamodels.anna_expressions import TYPES, expressions

_numbers = itertools.count()
_PEOPLE = "id int, name string, income int"


def _action(row: Any, column: str, operation: Operation | None, precondition: str | None = None, **more: Any) -> Action:
    number = next(_numbers)
    told = {"id": f"a{number}", "event": number, "ingest": number, "sequence": 0, "who": "Ann", "why": "test", **more}
    key = row if isinstance(row, tuple) else (str(row),)
    return Action(process="p", run="1", step="s", row=key, column=column, operation=operation,
                  precondition=precondition, **told)  # fmt: skip


def _outcomes(done: Any, *actions: Action) -> list[str]:
    found = {row.action: row.outcome for row in done.outcomes.collect()}
    assert len(found) == len(actions)
    return [found[one.id] for one in actions]


def test_the_papers_example(session: SparkSession) -> None:
    """Figure 6: the boss's income is too low, the worker's is not."""
    frame = session.createDataFrame([(42, "boss", 900), (43, "worker", 2000)], _PEOPLE)
    actions = [_action(row, "income", Operation("multiply", 10), "income < 1000") for row in (42, 43)]
    done = corrected(frame, ["id"], actions)

    assert {tuple(row) for row in done.frame.collect()} == {(42, "boss", 9000), (43, "worker", 2000)}
    assert done.frame.schema == frame.schema
    assert _outcomes(done, *actions) == [APPLIED, NOT_MET]


def test_every_action_ends_in_one_outcome(session: SparkSession) -> None:
    frame = session.createDataFrame([(42, "boss", 900), (43, "worker", None)], _PEOPLE)
    gone = _action(42, "name", Operation("set", "x"))
    actions = [
        _action(42, "income", Operation("add", 1)),
        _action(42, "income", Operation("set", 5), "income = 900"),
        _action(42, "income", Operation("add", 1), "income = 900"),
        _action(42, "income", Operation("add", 1), "income = 5"),
        _action(99, "income", Operation("add", 1)),
        _action("x", "income", Operation("add", 1)),
        _action((42, "y"), "income", Operation("add", 1)),
        _action(42, "wage", Operation("add", 1)),
        _action(42, "name", Operation("add", 1)),
        _action(42, "id", Operation("set", 1)),
        _action(43, "income", Operation("add", 1)),
        _action(43, "name", Operation("set", "y"), "id / 0 = 1"),
        _action(43, "name", Operation("set", "y"), "wage = 1"),
        gone,
        _action(42, "name", None, retracts=gone.id),
        _action(42, "name", None, retracts="nobody"),
        _action(43, "name", Operation("append-text", "!"), "lookup('42', 'income') = 900"),
        _action(43, "name", Operation("append-text", "?"), "lookup('99', 'income') is null"),
    ]
    done = corrected(frame, ["id"], actions)

    assert _outcomes(done, *actions) == [
        SUPERSEDED, APPLIED, APPLIED, NOT_MET, NO_TARGET, NO_TARGET, NO_TARGET, NO_COLUMN, NO_COLUMN, NO_COLUMN, ERROR,
        ERROR, ERROR, RETRACTED, APPLIED, NO_TARGET, APPLIED, APPLIED,
    ]  # fmt: skip
    assert {tuple(row) for row in done.frame.collect()} == {(42, "boss", 6), (43, "worker!?", None)}
    details = {row.action: row.detail for row in done.outcomes.collect()}
    assert "there is no column 'wage'" in details[actions[12].id]
    assert details[actions[11].id] == applying.CONDITION_FAILED


def test_preconditions_are_tested_before_any_action(session: SparkSession) -> None:
    frame = session.createDataFrame([(1, "a", 1), (2, "b", 2)], _PEOPLE)
    actions = [
        _action(1, "income", Operation("set", 100)),
        _action(1, "name", Operation("set", "z"), "income = 1"),
        _action(2, "name", Operation("set", "y"), "lookup('1', 'income') = 1"),
    ]
    done = corrected(frame, ["id"], actions)

    assert _outcomes(done, *actions) == [APPLIED] * 3


def test_a_key_of_several_columns_of_other_types(session: SparkSession) -> None:
    schema = "day date, `odd ``name` string, amount decimal(8,2), at timestamp"
    noon = datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.UTC)
    frame = session.createDataFrame([(noon.date(), "x y", Decimal("1.00"), noon)], schema)
    actions = [
        _action(("2024-05-01", "x y"), "amount", Operation("multiply", "2.5"), "\"odd `name\" = 'x y'"),
        _action(("2024-05-01", "x y"), "at", Operation("set-null"), "at = timestamp '2024-05-01T14:00:00+02:00'"),
        _action(("2024-05-01", "x"), "amount", Operation("set", 1)),
    ]
    done = corrected(frame, ["day", "odd `name"], actions)

    assert _outcomes(done, *actions) == [APPLIED, APPLIED, NO_TARGET]
    assert [tuple(row) for row in done.frame.collect()] == [(noon.date(), "x y", Decimal("2.50"), None)]


def test_cells_of_other_types_can_be_made_null_and_asked_for_that(session: SparkSession) -> None:
    frame = session.createDataFrame([(1, [1], 1.5), (2, [2], 2.5)], "id int, tags array<int>, f float")
    actions = [
        _action(1, "tags", Operation("set-null"), "tags is not null"),
        _action(1, "f", Operation("set-null")),
        _action(2, "f", Operation("set", 1)),
    ]
    done = corrected(frame, ["id"], actions)

    assert sorted(map(tuple, done.frame.collect())) == [(1, None, None), (2, [2], 2.5)]
    assert _outcomes(done, *actions) == [APPLIED, APPLIED, NO_COLUMN]


def test_the_plan_has_one_join_and_no_python(session: SparkSession) -> None:
    frame = session.range(1000).selectExpr("id", "cast(id as string) name", "cast(id % 7 as int) income")
    actions = [
        _action(n, ("income", "name")[n % 2], Operation(*(("add", n), ("set", f"x{n}"))[n % 2]), f"income < {n + 1}")
        for n in range(300)
    ]
    plan = str(corrected(frame, ["id"], actions).marked._jdf.queryExecution().toString())

    assert plan.partition("== Physical Plan ==")[2].count("Join") == 1
    assert not [word for word in ("Python", "ArrowEval", "BatchEval", "MapInArrow") if word in plan]
    assert plan.partition("== Physical Plan ==")[2].count("try_cast") < 100  # shapes, and not actions


def test_code_that_spark_generates_stays_small_enough_to_be_compiled_however_many_shapes_there_are(
    session: SparkSession,
) -> None:
    """HotSpot compiles no method beyond 8,000 bytes (HugeMethodLimit); then all rows would be slow."""
    frame = session.range(1000).selectExpr("id", "cast(id as string) name", "cast(id % 7 as int) income")
    shapes = [f"income {sign} {'1 + ' * more}1" for sign in ("=", "<", ">", "<>") for more in range(8)]
    operations = [Operation("add", 1), Operation("set", 1), Operation("multiply", Decimal("2.5"))]
    actions = [_action(n, "income", operations[n % 3], shapes[n % 32]) for n in range(96)]
    before = session.conf.get("spark.sql.adaptive.enabled")
    session.conf.set("spark.sql.adaptive.enabled", "false")  # with it, code is made when stages run
    try:
        plan = corrected(frame, ["id"], actions).marked._jdf.queryExecution()
        code = session._jvm.PythonSQLUtils.explainString(plan, "codegen")  # type: ignore[union-attr]
    finally:
        session.conf.set("spark.sql.adaptive.enabled", before)

    sizes = [int(size) for size in re.findall(r"maxMethodCodeSize:(\d+)", code)]
    assert 0 < max(sizes) < 8000


def test_actions_beyond_the_shapes_of_a_plan_are_decided_before(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corrections, "MOST_SHAPES", 2)
    frame = session.createDataFrame([(n, f"n{n}", n) for n in range(10)], _PEOPLE)
    shapes = [
        "income = 1",
        "income < 2",
        "income / 0 = 1",
        "name like 'n_'",
        "income in (4, 5)",
        "lookup('1', 'id') = 2",
    ]
    actions = [_action(n, "income", Operation("add", 100), shapes[n % 6]) for n in range(12)]
    done = corrected(frame, ["id"], actions)
    rows, outcomes = applied([row.asDict() for row in frame.collect()], _types(frame), ["id"], actions)

    assert _outcomes(done, *actions) == [outcomes[one.id].outcome for one in actions]
    assert Counter(map(tuple, done.frame.collect())) == Counter(tuple(row.values()) for row in rows)
    assert Counter(one.outcome for one in outcomes.values())[ERROR] == 2


def test_what_is_written_once_gives_rows_and_outcomes(session: SparkSession, tmp_path: Path) -> None:
    frame = session.createDataFrame([(42, "boss", 900), (43, "worker", 2000)], _PEOPLE)
    actions = [_action(row, "income", Operation("multiply", 10), "income < 1000") for row in (42, 43, 44)]
    done = corrected(frame, ["id"], actions)
    done.marked.write.parquet(str(tmp_path / "step"))
    rows, outcomes = done.split(session.read.parquet(str(tmp_path / "step")))

    assert sorted(map(tuple, rows.collect())) == [(42, "boss", 9000), (43, "worker", 2000)]
    assert Counter(row.outcome for row in outcomes.collect()) == {APPLIED: 1, NOT_MET: 1, NO_TARGET: 1}
    assert done.marked.columns == [*frame.columns, MARKS]


def test_an_action_on_a_key_that_several_rows_have_is_an_error(session: SparkSession) -> None:
    frame = session.createDataFrame([(1, "a", 1), (1, "b", 2)], _PEOPLE)
    action = _action(1, "income", Operation("add", 1))
    (row,) = corrected(frame, ["id"], [action]).outcomes.collect()

    assert (row.outcome, row.detail) == (ERROR, "2 rows have this key")


def test_without_actions_nothing_changes(session: SparkSession) -> None:
    frame = session.createDataFrame([(1, "a", 1)], _PEOPLE)
    done = corrected(frame, ["id"], [])

    assert done.frame.collect() == frame.collect()
    assert done.outcomes.collect() == []


@pytest.mark.parametrize(("keys", "columns"), [([], ["id", "a"]), (["x"], ["id", "a"]), (["id"], ["id", MARKS])])
def test_frames_that_can_t_be_corrected_are_refused(session: SparkSession, keys: Any, columns: Any) -> None:
    with pytest.raises(nm.InvalidValue):
        corrected(session.createDataFrame([(1, 1)], columns), keys, [])


# random actions


def _types(frame: DataFrame) -> Types:
    from spark.conditions import types_of

    return types_of(frame.schema)


_ALL: Types = {"key": TYPES["i"], **TYPES}
_SCHEMA = T.StructType([T.StructField(name, spark_type(kind)) for name, kind in _ALL.items()])
_values = st.one_of(
    anna_expressions.integers(32), anna_expressions.decimals(6, 3), st.floats(-10, 10), anna_expressions.texts,
    anna_expressions.dates, st.sampled_from(["1", "2.5", "-3", "true", "2024-05-01", "0"]),
)  # fmt: skip


@st.composite
def _random_actions(draw: Any) -> list[Action]:
    made: list[Action] = []
    for number in range(draw(st.integers(1, 25))):
        retracts = draw(st.sampled_from([one.id for one in made])) if made and draw(st.integers(0, 7)) == 0 else None
        name = draw(st.sampled_from(["set", "add", "subtract", "multiply", "divide", "set-null", "append-text"]))
        try:
            operation = None if retracts else Operation(name, None if name == "set-null" else draw(_values))
        except nm.InvalidValue:
            operation = Operation("set", "5")
        precondition = draw(st.none() | expressions | st.sampled_from([f"lookup('{n}', 'i') = i" for n in range(3)]))
        made.append(
            _action(
                draw(st.integers(0, 7)),
                draw(st.sampled_from([*_ALL, "none"])),
                operation,
                precondition,
                id=f"r{number}",
                event=draw(st.integers(0, 3)),
                ingest=number // 3,
                sequence=number % 3,
                retracts=retracts,
            )
        )
    return made


def _same(session: SparkSession, given: list[dict[str, Any]], actions: list[Action]) -> None:
    rows = [{"key": number, **{name: row[name] for name in TYPES}} for number, row in enumerate(given)]
    frame = session.createDataFrame([tuple(row.values()) for row in rows], _SCHEMA)
    done = corrected(frame, ["key"], actions)
    expected, outcomes = applied(rows, _ALL, ["key"], actions)

    assert {row.action: (row.outcome, row.detail) for row in done.outcomes.collect()} == {
        name: (one.outcome, one.detail) for name, one in outcomes.items()
    }
    assert len(outcomes) == len(actions)
    found = {row["key"]: row.asDict() for row in done.frame.collect()}
    for row in expected:
        assert [(name, _shown(found[row["key"]][name])) for name in _ALL] == [
            (name, _shown(row[name])) for name in _ALL
        ]


def _shown(value: Any) -> str:
    """By which NaN is equal to itself, times are of one zone, and numbers are equal whatever zeros they end in."""
    if isinstance(value, Decimal):
        return format(value, ".10f")
    if isinstance(value, datetime.datetime):
        value = value.astimezone(datetime.UTC).replace(fold=0)
    return repr(value + 0.0 if isinstance(value, float) else value)


quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]


@settings(max_examples=4, suppress_health_check=quiet, phases=PHASES)
@given(anna_expressions.rows, _random_actions())
def test_random_actions_do_the_same_on_spark_and_in_python(session: SparkSession, given: Any, actions: Any) -> None:
    _same(session, given, actions)


@pytest.mark.soak
@settings(max_examples=200, suppress_health_check=quiet, phases=PHASES)
@given(anna_expressions.rows, _random_actions())
def test_random_actions_do_the_same_on_spark_and_in_python_many_times(
    session: SparkSession, given: Any, actions: Any
) -> None:
    _same(session, given, actions)
