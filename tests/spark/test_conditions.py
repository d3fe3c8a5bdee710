"""Conditions on Spark are what they are in Python."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

import neomodel as nm
from metamodels.anna import conditions
from metamodels.anna.conditions import FAILED, Condition
from metamodels.anna.types import written
from spark.conditions import Computed, compiled, spark_type
from tests.metamodels.anna_expressions import TYPES, expressions, rows

SCHEMA = T.StructType([T.StructField(name, spark_type(kind)) for name, kind in TYPES.items()])
TOGETHER = 25  # conditions in one job
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]  # the assertion tells which of them, with its row


def _typed(text: str) -> Condition | None:
    """None where numbers have no common type."""
    try:
        return conditions.parse(text).typed(TYPES)
    except nm.InvalidCondition as exc:
        if any(reason in exc.reason for reason in ("no common type", "is for integers", "nested", "nulls only")):
            return None
        raise


def _by_literals(condition: Condition) -> Computed:
    return compiled(condition.root)


def _by_parameters(condition: Condition) -> Computed:
    shape, values = condition.lifted()
    texts = [F.lit(None if value is None else written(value)).cast("string") for value in values]
    return compiled(shape, None, F.array(*texts))


def _answers(session: SparkSession, given: list[dict[str, Any]], computed: list[Computed]) -> list[list[Any]]:
    frame = session.createDataFrame([tuple(row[name] for name in TYPES) for row in given], SCHEMA)
    columns = [(one.value, F.lit(False) if one.failed is None else one.failed) for one in computed]
    found = frame.select(
        *(F.when(failed, 3).when(value.isNull(), 2).otherwise(value.cast("int")) for value, failed in columns)
    )
    meanings = [False, True, None, FAILED]
    return [[meanings[code] for code in row] for row in found.collect()]


def _check(session: SparkSession, given: list[dict[str, Any]], texts: list[str], ansi: bool) -> None:
    typed = [found for found in map(_typed, texts) if found is not None]
    if not typed:
        return
    session.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        literals = _answers(session, given, [_by_literals(one) for one in typed])
        parameters = _answers(session, given, [_by_parameters(one) for one in typed])
    finally:
        session.conf.unset("spark.sql.ansi.enabled")
    for row, first, second in zip(given, literals, parameters, strict=True):
        for one, by_literals, by_parameters in zip(typed, first, second, strict=True):
            expected = one.python(row)
            assert (by_literals, by_parameters) == (expected, expected), (one.text, row)


@pytest.mark.parametrize("ansi", [True, False])
def test_decimals_of_38_digits_are_turned_to_the_last_digit(session: SparkSession, ansi: bool) -> None:
    ends = [
        None,
        *(Decimal(f"{sign}{digits}") for sign in ("", "-") for digits in ("9" * 28 + "." + "9" * 10, "1E-10")),
    ]
    row = dict.fromkeys(TYPES)
    given = [{**row, "w": w} for w in ends]
    texts = ["(- (- w)) = w", "abs(w) = abs(- w)", "(- w) <> w", "abs(w) = w or abs(w) = (- w)", "abs(w) >= 0"]

    _check(session, given, texts, ansi)

    typed = [conditions.parse(text).typed(TYPES) for text in texts]
    assert [[one.python(row) for one in typed] for row in given] == [[None] * 5] + [[True] * 5] * 4


together = given(rows, st.lists(expressions, min_size=TOGETHER, max_size=TOGETHER), st.booleans())
quiet = [
    HealthCheck.too_slow,
    HealthCheck.function_scoped_fixture,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]


@settings(max_examples=6, suppress_health_check=quiet, phases=PHASES)
@together
def test_conditions_mean_the_same_on_spark_and_in_python(
    session: SparkSession, given: Any, texts: Any, ansi: Any
) -> None:
    _check(session, given, texts, ansi)


@pytest.mark.soak
@settings(max_examples=300, suppress_health_check=quiet, phases=PHASES)
@together
def test_conditions_mean_the_same_on_spark_and_in_python_many_times(
    session: SparkSession, given: Any, texts: Any, ansi: Any
) -> None:
    _check(session, given, texts, ansi)
