"""The join of a frame with the manual actions on its rows, and what is done to a cell: all of it expressions of Spark.

Of the actions on the cell of a row there is an array. Their preconditions are tested first, all on the row as it is;
then comes a fold over the array, of a pair: the cell's value, and the marks of the actions so far. It is only computed
for rows that have such an array.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  as everybody calls it
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema

from metamodels.anna.applying import Key, Ready
from metamodels.anna.conditions import Node
from metamodels.anna.conditions.templates import Shape
from metamodels.anna.types import Types, written
from spark.conditions import compiled, spark_type
from spark.names import quoted

MARKS = "anna_outcomes"
"""The column that has what was tried on a row."""
BROADCAST = 2_000_000
"""Rows up to which a table is sent whole to every executor, instead of sorting the frame by its key."""

MET, NOT_MET, FAILED = -1, -2, -3
"""In the place of the number of a shape: there is no precondition, or it was decided before."""
DONE, UNMET, BROKEN, UNFIT, REPLACED = range(5)
"""What became of an action on a cell: it was done; its precondition did not hold, or failed; the operation failed; a
later one replaced what it did."""
KINDS = 8
MARK = T.ArrayType(T.IntegerType())
"""Marks: each is the number of an action, times `KINDS`, and what became of it."""
_DO = T.StructType(
    [
        T.StructField("number", T.IntegerType()),
        T.StructField("shape", T.IntegerType()),
        T.StructField("parameters", T.ArrayType(T.StringType())),
        T.StructField("operation", T.IntegerType()),
        T.StructField("values", T.ArrayType(T.StringType())),
        T.StructField("replacing", T.BooleanType()),
    ]
)
_DONE = ("number", "operation", "values", "replacing")  # of an action, what counts once its precondition is tested
_HEAD = "__anna "  # of columns that are there in between

Shapes = set[tuple[str, Shape]]
"""Of columns, the shapes of preconditions that are in the plan."""


def table(
    session: SparkSession,
    types: Types,
    keys: Sequence[str],
    columns: Sequence[str],
    tries: Sequence[Ready],
    shapes: Shapes,
    decided: dict[str, int],
) -> DataFrame:
    """A row for each row that actions are about, with what is to be done to the cells of each column. Actions are
    numbered as they are given."""
    operations = _operations(tries)
    tests = [_test(one, shapes, decided) for one in tries]
    rows: dict[Key, int] = {}
    places = [rows.setdefault(one.key, len(rows)) for one in tries]
    orders: dict[str, list[int]] = {column: [] for column in columns}
    for number in sorted(range(len(tries)), key=places.__getitem__):
        orders[tries[number].action.column].append(number)
    fields = [T.StructField(f"{_HEAD}key {at}", spark_type(types[name])) for at, name in enumerate(keys)]
    fields += [T.StructField(f"{_HEAD}do {at}", T.ArrayType(_DO)) for at in range(len(columns))]
    schema = T.StructType(fields)
    wanted = to_arrow_schema(schema, timezone="UTC")
    done = wanted.field(len(keys)).type.value_type
    parts = [
        range(len(tries)),
        [number for number, _ in tests],
        [_texts(parameters) for _, parameters in tests],
        [operations[one.action.column, one.tree] for one in tries],
        [_texts(one.values) for one in tries],
        [one.replacing for one in tries],
    ]
    told = pa.StructArray.from_arrays(
        [pa.array(part, f.type) for part, f in zip(parts, done, strict=True)], fields=done
    )
    arrays = [pa.array([key[at] for key in rows], wanted.field(at).type) for at in range(len(keys))]
    arrays += [_by_row(told, orders[column], places, len(rows)) for column in columns]
    return sent(session.createDataFrame(pa.Table.from_arrays(arrays, schema=wanted), schema), len(rows))


def _test(one: Ready, shapes: Shapes, decided: dict[str, int]) -> tuple[int, Sequence[Any]]:
    """The number of the shape of a precondition and its parameters, or what is known of it."""
    if one.condition is None:
        return MET, ()
    if (one.action.column, one.condition.shape) in shapes:
        return one.condition.shape.number, one.condition.parameters
    return decided.get(one.action.id, NOT_MET), ()  # there is no such row if it was not decided


def _by_row(told: pa.StructArray, order: Sequence[int], places: Sequence[int], rows: int) -> pa.Array:
    """Some of the actions, given in the order of their rows, as lists: one for each row, null where there are none."""
    counts = Counter(places[number] for number in order)
    ends = [0, *accumulate(counts[row] for row in range(rows))]
    missing = pa.array([row not in counts for row in range(rows)])
    kind = pa.list_(pa.field("element", told.type))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), told.take(pa.array(order)), type=kind, mask=missing)


def _operations(tries: Sequence[Ready]) -> dict[tuple[str, Node], int]:
    found = dict.fromkeys((one.action.column, one.tree) for one in tries)
    return {pair: number for number, pair in enumerate(found)}


def _texts(values: Sequence[Any]) -> list[str | None]:
    return [None if value is None else written(value) for value in values]


def joined(
    frame: DataFrame,
    keys: Sequence[str],
    table: DataFrame,
    columns: Sequence[str],
    tries: Sequence[Ready],
    shapes: Shapes,
) -> DataFrame:
    """The frame with what is in the table done to the cells of these columns, and the column `MARKS`."""
    equal = [F.col(quoted(name)) == F.col(f"`{_HEAD}key {at}`") for at, name in enumerate(keys)]
    joined = frame.join(table, reduce(lambda one, other: one & other, equal), "left")
    operations = _operations(tries)
    results = {}
    for at, column in enumerate(columns):
        todo = F.col(f"`{_HEAD}do {at}`")
        tested = sorted((shape.number, shape.root) for of, shape in shapes if of == column)
        done = [(number, tree) for (of, tree), number in operations.items() if of == column]
        folded = _folded(column, frame.schema[column].dataType, todo, tested, done)
        joined = joined.withColumn(f"{_HEAD}result {at}", F.when(todo.isNotNull(), folded))
        results[column] = F.col(f"`{_HEAD}result {at}`")
    marks = [F.coalesce(result["marks"], F.array().cast(MARK)) for result in results.values()]
    touched = reduce(lambda one, other: one | other, (result.isNotNull() for result in results.values()))
    return joined.select(
        *(
            F.when(results[name].isNull(), F.col(quoted(name))).otherwise(results[name]["cell"]).alias(name)
            if name in results
            else F.col(quoted(name))
            for name in frame.columns
        ),
        F.when(touched, F.concat(*marks)).alias(MARKS),
    )


def _folded(
    column: str,
    kind: T.DataType,
    todo: Column,
    tested: Sequence[tuple[int, Node]],
    done: Sequence[tuple[int, Node]],
) -> Column:
    """What comes of the actions on a cell: its new value, and their marks. One after another, over a pair of both."""

    def test(one: Column) -> Column:
        """1 if the precondition holds, 0 if not, -1 if it failed."""
        chosen = F.when(one["shape"] == MET, 1).when(one["shape"] == NOT_MET, 0).when(one["shape"] == FAILED, -1)
        for number, shape in tested:
            value, failed = compiled(shape, None, one["parameters"])
            found = F.when(value, 1).otherwise(0)
            chosen = chosen.when(
                one["shape"] == number, found if failed is None else F.when(failed, -1).otherwise(found)
            )
        return chosen

    def changed(one: Column, cell: Column) -> Column:
        chosen = F.when(F.lit(False), F.lit(None).cast(kind))
        for number, tree in done:
            only_null = tree.type.name.startswith("other ")  # nothing else is done to such cells
            value = F.lit(None) if only_null else compiled(tree, lambda _: cell, one["values"]).value
            chosen = chosen.when(one["operation"] == number, value.cast(kind))
        return chosen

    def decided(one: Column) -> Column:
        return F.struct(*(one[name].alias(name) for name in _DONE), test(one).alias("met"))

    def next_(sofar: Column, one: Column) -> Column:
        met, new = one["met"], changed(one, sofar["cell"])
        applies = (met == 1) & (one["replacing"] | new.isNotNull())
        mark = F.when(met == 0, UNMET).when(met == -1, BROKEN).when(applies, DONE).otherwise(UNFIT)
        before = F.when((met == 1) & one["replacing"], F.transform(sofar["marks"], _replaced)).otherwise(sofar["marks"])
        cell = F.when(applies, new).otherwise(sofar["cell"])
        marks = F.concat(before, F.array(one["number"] * KINDS + mark)).cast(MARK)
        return F.struct(cell.alias("cell"), marks.alias("marks"))

    start = F.struct(F.col(quoted(column)).alias("cell"), F.array().cast(MARK).alias("marks"))
    return _interpreted(todo, lambda given: F.aggregate(F.transform(given, decided), start, next_))


def _interpreted(given: Column, function: Callable[[Column], Column]) -> Column:
    """The same as the function of the column, but no code is generated for it. Spark would put that into one method
    with the code of the frame itself, and the JVM compiles no method beyond 8,000 bytes: all rows would be slow, for
    the sake of few. For `zip_with` Spark 4.3 generates none."""
    return F.zip_with(F.array(given), F.array(F.lit(0)), lambda one, _: function(one))[0]


def _replaced(mark: Column) -> Column:
    """The mark of an action, when a later one sets the cell."""
    kind = mark % KINDS
    return F.when(kind.isin(DONE, UNFIT), mark - kind + REPLACED).otherwise(mark)


def sent(table: DataFrame, count: int) -> DataFrame:
    """A table that others are joined with, as it goes to executors."""
    return F.broadcast(table) if count <= BROADCAST else table


def arrow(rows: Sequence[Sequence[Any]], schema: T.StructType) -> pa.Table:
    """Rows of values as a table of Arrow."""
    wanted = to_arrow_schema(schema, timezone="UTC")
    arrays = [pa.array([row[at] for row in rows], field.type) for at, field in enumerate(wanted)]
    return pa.Table.from_arrays(arrays, schema=wanted)
