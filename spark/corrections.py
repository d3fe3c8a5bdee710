"""Manual actions applied to a DataFrame in one pass: one join, no Python in its tasks.

The actions go along as a small table with a row for each row of the frame that any of them is about: of each column, an
array of what is to be done to the cell, in order. What actions have in common is part of the plan, how they differ is
data: literals of preconditions, and values of operations, are texts in that array, and the plan has a branch for each
*shape* that is left, of each column. A plan may have `MOST_SHAPES` of them. If there are more, the preconditions of the
rarest shapes are decided before, in Python: the rows they are about are read, by one more pass over the frame, and
what came of it goes along as data. Look-ups of other cells take such a pass, too. So a frame must give the same rows
whenever it is computed.

`metamodels/anna/applying.py` does the same in plain Python; a test holds the two equal.
"""

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  as everybody calls it
from pyspark.sql import types as T  # noqa: N812

import neomodel as nm
from metamodels.anna import applying, conditions
from metamodels.anna.actions import Action
from metamodels.anna.applying import Key, Outcome, Ready
from metamodels.anna.conditions import Condition, Lookup
from metamodels.anna.conditions.templates import Shape, Templates
from metamodels.anna.types import Types
from neomodel.garbage import undisturbed
from spark import cell_changes
from spark.cell_changes import (
    BROKEN,
    DONE,
    FAILED,
    KINDS,
    MARK,
    MARKS,
    MET,
    NOT_MET,
    REPLACED,
    UNFIT,
    UNMET,
    Shapes,
    arrow,
    sent,
)
from spark.conditions import types_of
from spark.names import quoted

MOST_SHAPES = 100
"""Of preconditions, in one plan."""

_OUTCOMES = {
    DONE: Outcome(applying.APPLIED),
    UNMET: Outcome(applying.NOT_MET),
    BROKEN: Outcome(applying.ERROR, applying.CONDITION_FAILED),
    UNFIT: Outcome(applying.ERROR, applying.OPERATION_FAILED),
    REPLACED: Outcome(applying.SUPERSEDED),
}
_TOLD = T.StructType(
    [
        T.StructField("number", T.IntegerType()),
        T.StructField("action", T.StringType(), nullable=False),
        T.StructField("outcome", T.StringType(), nullable=False),
        T.StructField("detail", T.StringType()),
    ]
)


@attrs.frozen
class Corrected:
    """A frame with manual actions applied, and what became of each. `marked` has both in one frame: the corrected rows,
    and in the column `MARKS` what was tried on a row, null where nothing was. To have all computed once, write that,
    and `split` what was written."""

    marked: DataFrame
    _settled: DataFrame = attrs.field(repr=False)
    """Outcomes of all actions; of those that rows decide, their numbers, and the outcome if there is no such row."""
    _count: int

    @property
    def frame(self) -> DataFrame:
        """The corrected rows, in the schema that the frame had; columns that are corrected may have nulls."""
        return self.marked.drop(MARKS)

    @property
    def outcomes(self) -> DataFrame:
        """A row for every action: `action`, its id, `outcome` and `detail`."""
        return self.split(self.marked)[1]

    def split(self, marked: DataFrame) -> tuple[DataFrame, DataFrame]:
        """The corrected rows and the outcomes, from what `marked` was written to."""
        one = F.col("one")
        tried = marked.where(F.col(MARKS).isNotNull()).select(F.explode(MARKS).alias("one"))
        number = F.expr(f"one div {KINDS}").cast("int").alias("number")
        found = tried.groupBy(number).agg(F.max(one % KINDS).alias("mark"), F.count("*").alias("rows"))
        told = F.when(F.col("rows") > 1, applying.ERROR)
        detail = F.when(F.col("rows") > 1, F.format_string("%d rows have this key", "rows"))
        for mark, outcome in _OUTCOMES.items():
            told = told.when(F.col("mark") == mark, outcome.outcome)
            detail = detail.when(F.col("mark") == mark, F.lit(outcome.detail))
        found = sent(found.select("number", told.alias("told"), detail.alias("said")), self._count)
        joined = self._settled.join(found, "number", "left")
        there = F.col("told").isNotNull()
        outcomes = joined.select(
            "action",
            F.coalesce("told", "outcome").alias("outcome"),
            F.when(there, F.col("said")).otherwise(F.col("detail")).alias("detail"),
        )
        return marked.drop(MARKS), outcomes


@undisturbed()
def corrected(frame: DataFrame, keys: Sequence[str], actions: Iterable[Action]) -> Corrected:
    """The frame with these actions, which are of its step, applied: see `applying`. `keys` are the columns that tell
    its rows apart. Costs nothing until it is read, but a pass over the frame if preconditions look up cells of other
    rows, or are of too many shapes."""
    session = frame.sparkSession
    _check(session, frame, keys)
    types = types_of(frame.schema)
    reader = _Reader(types, keys)
    ready, settled = applying.prepared(types, keys, actions, reader)
    cells = _cells(frame, types, keys, ready)
    tries = [
        attrs.evolve(one, condition=reader.resolved(one.condition, cells)) if one.condition else one for one in ready
    ]
    shapes, left = _shapes(tries)
    decided = _decided(frame, keys, left, reader)
    marked = frame.withColumn(MARKS, F.lit(None).cast(MARK))
    if tries:
        columns = sorted({one.action.column for one in tries})
        table = cell_changes.table(session, types, keys, columns, tries, shapes, decided)
        marked = cell_changes.joined(frame, keys, table, columns, tries, shapes)
    told: list[tuple[int | None, str, str, str | None]]
    told = [(None, action, one.outcome, one.detail) for action, one in settled.items()]
    told += [(number, one.action.id, applying.NO_TARGET, None) for number, one in enumerate(ready)]
    return Corrected(marked, session.createDataFrame(arrow(told, _TOLD), _TOLD), len(told))


def _check(session: SparkSession, frame: DataFrame, keys: Sequence[str]) -> None:
    known = {name for name, kind in types_of(frame.schema).items() if not kind.name.startswith("other ")}
    if not keys or not known.issuperset(keys):
        expected = f"columns of it that can be written as text: {', '.join(sorted(known))}"
        raise nm.InvalidValue("the key of a frame to correct", list(keys), expected)
    if len(set(frame.columns)) < len(frame.columns) or MARKS in frame.columns:
        expected = f"different names, and none {MARKS!r}"
        raise nm.InvalidValue("the columns of a frame to correct", frame.columns, expected)
    if session.conf.get("spark.sql.decimalOperations.allowPrecisionLoss", "true") != "true":
        expected = "true, as it is by default: actions are computed by these rules everywhere"
        raise nm.InvalidValue("spark.sql.decimalOperations.allowPrecisionLoss", "false", expected)


@attrs.frozen
class _Read:
    """The precondition of an action: a shape and its parameters, or one that is typed, and looks cells up."""

    text: str
    shape: Shape | None
    parameters: tuple[Any, ...]
    typed: Condition | None = None


class _Reader:
    """Reads preconditions: those of one template at the cost of one."""

    def __init__(self, types: Types, keys: Sequence[str]) -> None:
        self._types = types
        self._keys = keys
        self._templates = Templates(types)

    def __call__(self, text: str) -> _Read:
        found = self._templates.shaped(text)
        return _Read(text, *found) if found else _Read(text, None, (), self.typed(text))

    def typed(self, text: str) -> Condition:
        return applying.typed(text, self._types, self._keys)

    def resolved(self, read: _Read, cells: dict[Lookup, Any]) -> _Read:
        """With the cells that it looks up put in."""
        if read.typed is None:
            return read
        condition = read.typed.resolved(cells)
        root, parameters = condition.lifted()
        return _Read(read.text, self._templates.shape(root), parameters, condition)


def _shapes(ready: Sequence[Ready]) -> tuple[Shapes, list[Ready]]:
    """The most frequent shapes, and what has others."""
    counts = Counter((one.action.column, one.condition.shape) for one in ready if one.condition)
    shapes = {pair for pair, _ in counts.most_common(MOST_SHAPES)}
    return shapes, [one for one in ready if one.condition and (one.action.column, one.condition.shape) not in shapes]


# what has to be known before


def _cells(frame: DataFrame, types: Types, keys: Sequence[str], ready: Sequence[Ready]) -> dict[Lookup, Any]:
    """The cells that preconditions look up."""
    typed = (one.condition.typed for one in ready if one.condition and one.condition.typed)
    wanted = {lookup for condition in typed for lookup in condition.lookups}
    found: dict[Lookup, Any] = dict.fromkeys(wanted)
    by_key: dict[Key, list[Lookup]] = defaultdict(list)
    for lookup in wanted:
        key = applying.lookup_key(lookup, types, keys)
        if key is not None:
            by_key[key].append(lookup)
    columns = sorted({lookup.column for lookup in wanted})
    for key, row in _rows(frame, keys, list(by_key), columns):
        found |= {lookup: row[lookup.column] for lookup in by_key[key]}
    return found


def _decided(frame: DataFrame, keys: Sequence[str], left: Sequence[Ready], reader: _Reader) -> dict[str, int]:
    """Whether preconditions hold that are not in the plan."""
    by_key: dict[Key, list[tuple[str, Condition]]] = defaultdict(list)
    named: set[str] = set()
    for one in left:
        condition = one.condition.typed or reader.typed(one.condition.text)
        by_key[one.key].append((one.action.id, condition))
        named |= {node.value for node in condition.root.walk() if node.op == "column"}
    decided: dict[str, int] = {}
    for key, row in _rows(frame, keys, list(by_key), sorted(named)):
        for action, condition in by_key[key]:
            found = condition.python(row)
            decided[action] = FAILED if found is conditions.FAILED else MET if found is True else NOT_MET
    return decided


def _rows(
    frame: DataFrame, keys: Sequence[str], wanted: Sequence[Key], columns: Sequence[str]
) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Those rows of a frame, with their keys: one pass over it, if any are wanted."""
    if not wanted:
        return
    schema = T.StructType([frame.schema[name] for name in keys])
    table = frame.sparkSession.createDataFrame(arrow(wanted, schema), schema)
    needed = [F.col(quoted(name)) for name in dict.fromkeys([*keys, *columns])]
    for row in frame.select(*needed).join(sent(table, len(wanted)), list(keys), "left_semi").toLocalIterator():
        found = {name: _plain(value) for name, value in row.asDict().items()}
        yield tuple(found[name] for name in keys), found


def _plain(value: Any) -> Any:
    """A time as conditions have it; Spark hands it over in the time of this machine, without saying so."""
    return value.astimezone(datetime.UTC) if isinstance(value, datetime.datetime) else value
