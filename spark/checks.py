"""Quality checks held against the rows of a step: all of them in one job, which tells the rows that fail by key."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import attrs
from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as f

from metamodels.anna import conditions
from metamodels.anna.keys import key_text, value_text
from metamodels.anna.quality import Between, Holds, Matches, NotNull, Refers, Reported, RowCount, Rule, Unique
from metamodels.anna.run_records import FailingCell
from neomodel.errors import InvalidValue, near
from spark.conditions import column as computed
from spark.conditions import failed, types_of
from spark.names import quoted

MOST = 1000
"""Rows that fail a check that are told."""
_MARKS, _NUMBER, _COUNT, _ROW, _THERE = (f"_neomodel_{name}" for name in ("marks", "number", "count", "row", "there"))


@attrs.frozen
class Found:
    """What a rule found: how many rows fail, and the first of them."""

    rule: Rule
    failed: int
    cells: list[FailingCell]
    detail: str | None = None


def check(
    frame: DataFrame, key: Sequence[str], rules: Sequence[Rule], tables: Mapping[str, DataFrame], rows: int
) -> list[Found]:
    """What each of the rules finds in the rows of a frame, of which there are so many. `tables` are the inputs of the
    step. One job for all rules about rows, however many there are."""
    asked = [rule for rule in rules if not isinstance(rule, RowCount | Reported)]
    marked = _marked(frame, asked, tables) if asked else None
    told = _told(marked, frame.columns, key, asked) if marked is not None else {}
    found = []
    for rule in rules:
        if isinstance(rule, RowCount):
            bad = rows < rule.low or (rule.high is not None and rows > rule.high)
            found.append(Found(rule, int(bad), [], f"there are {rows:,} rows" if bad else None))
        elif isinstance(rule, Reported):
            found.append(reported(rule, rule.function(frame)))
        else:
            found.append(told.get(asked.index(rule)) or Found(rule, 0, []))
    return found


def _marked(frame: DataFrame, rules: Sequence[Rule], tables: Mapping[str, DataFrame]) -> DataFrame:
    """The frame with a column of the numbers of rules that a row fails."""
    joined, bad = frame, []
    for number, rule in enumerate(rules):
        if isinstance(rule, Refers):
            there = f"{_THERE}_{number}"
            joined = _looked_up(joined, rule, tables[rule.table], there)
            bad.append(f.col(there).isNull() & _all_there(rule.columns))
        else:
            bad.append(_fails(rule, frame))
    marks = f.array(*(f.when(one, f.lit(number)) for number, one in enumerate(bad)))
    return joined.withColumn(_MARKS, f.filter(marks, lambda mark: mark.isNotNull()))


def _fails(rule: Rule, frame: DataFrame) -> Column:
    """Whether a row fails a rule that asks for nothing but the frame."""
    match rule:
        case NotNull(column=name):
            return _column(rule, frame, name).isNull()
        case Between(column=name, low=low, high=high):
            value = _column(rule, frame, name)
            ends = ([value < f.lit(low)] if low is not None else []) + (
                [value > f.lit(high)] if high is not None else []
            )
            return f.coalesce(reduce(lambda one, other: one | other, ends), f.lit(False))
        case Matches(column=name, pattern=pattern):
            whole = _column(rule, frame, name).rlike(f"\\A(?:{pattern})\\z")
            return f.coalesce(~whole, f.lit(False))
        case Unique(columns=columns):
            several = f.count(f.lit(1)).over(Window.partitionBy(*(_column(rule, frame, one) for one in columns))) > 1
            return several & _all_there(columns)
        case Holds(expression=expression):
            condition = conditions.parse(expression).typed(types_of(frame.schema))
            if condition.lookups:
                raise InvalidValue(f"check {rule.name!r}", "with look-ups", "a condition on the row alone")
            broken = failed(condition)
            wrong = f.coalesce(~computed(condition), f.lit(False))
            return wrong if broken is None else wrong | broken
    raise InvalidValue("a rule", rule, "one of those in metamodels.anna.quality")


def _looked_up(frame: DataFrame, rule: Refers, table: DataFrame, there: str) -> DataFrame:
    for column in rule.columns:
        _column(rule, frame, column)
    for column in rule.others:
        _column(rule, table, column)
    names = [f"{there}_{at}" for at in range(len(rule.others))]
    known = table.select(*(f.col(quoted(one)).alias(name) for one, name in zip(rule.others, names, strict=True)))
    known = known.distinct().withColumn(there, f.lit(True))
    pairs = zip(rule.columns, names, strict=True)
    same = reduce(lambda one, other: one & other, (f.col(quoted(own)) == f.col(name) for own, name in pairs))
    return frame.join(known, same, "left").drop(*names)


def _told(marked: DataFrame, columns: Sequence[str], key: Sequence[str], rules: Sequence[Rule]) -> dict[int, Found]:
    """What was marked, by the number of the rule. One job."""
    failing = marked.where(f.size(_MARKS) > 0).select(
        f.explode(_MARKS).alias(_NUMBER), f.struct(*map(quoted, columns)).alias(_ROW)
    )
    window = Window.partitionBy(_NUMBER)
    first = f.row_number().over(window.orderBy(*(f.col(_ROW)[one] for one in key)))
    rows = (
        failing.withColumn(_COUNT, f.count(f.lit(1)).over(window))
        .withColumn("_place", first)
        .where(f.col("_place") <= MOST)
        .sort(_NUMBER, "_place")
        .collect()
    )
    found: dict[int, Found] = {}
    for row in rows:
        number = row[_NUMBER]
        if number not in found:
            found[number] = Found(rules[number], row[_COUNT], [])
        found[number].cells.append(_cell(rules[number], row[_ROW], key))
    return found


def _cell(rule: Rule, row: Row, key: Sequence[str]) -> FailingCell:
    columns = getattr(rule, "columns", None) or (getattr(rule, "column", None),)
    column = columns[0] if len(columns) == 1 else None
    value = None if column is None or row[column] is None else value_text(row[column])
    return FailingCell(key_text([row[one] for one in key]), column, value, plain(row))


def plain(row: Row) -> dict[str, Any]:
    """A row as JSON has it; what JSON has no form for, as text."""
    return dict(json.loads(json.dumps(row.asDict(recursive=True), default=value_text)))


# of other libraries


def reported(rule: Rule, cases: Any) -> Found:
    """What another library found: failure cases in the form that pandera has them, as a frame of pandas or as dicts.
    `index` is the key of the row, a tuple or list where there are several columns; None where all rows are meant."""
    records: Iterable[Any] = cases.to_dict("records") if hasattr(cases, "to_dict") else list(cases or ())
    cells: dict[tuple[str, str | None], FailingCell] = {}
    said: list[str] = []
    for case in records:
        if not isinstance(case, Mapping) or "check" not in case:
            expected = "a mapping with index, column, check and failure_case, as pandera has them"
            raise InvalidValue(f"a failure case of check {rule.name!r}", case, expected)
        index, column, value = (case.get(name) for name in ("index", "column", "failure_case"))
        said.append(str(case["check"]))
        if index is None or index != index:
            continue
        row = key_text(index if isinstance(index, tuple | list) else [index])
        text = None if value is None else value_text(value)
        cells[row, column] = FailingCell(row, column, text, {} if column is None else {column: text})
    detail = ", ".join(sorted(set(said))) or None
    rows = len({row for row, _ in cells}) or int(bool(said))
    return Found(rule, rows, [cells[place] for place in sorted(cells, key=str)][:MOST], detail)


# how


def _column(rule: Rule, frame: DataFrame, name: str) -> Column:
    if name not in frame.columns:
        raise InvalidValue(f"a column of check {rule.name!r}", name, f"one that there is{near(name, frame.columns)}")
    return f.col(quoted(name))


def _all_there(columns: Sequence[str]) -> Column:
    return reduce(lambda one, other: one & other, (f.col(quoted(column)).isNotNull() for column in columns))
