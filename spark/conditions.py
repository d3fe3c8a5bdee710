"""Typed conditions as Columns of Spark, equal to what `metamodels.anna.conditions` computes in Python.

Nothing here throws, whether Spark is in ANSI mode or not: what may fail is computed by functions that give null
instead, and beside every value there is a Column that tells whether it failed, or None where that can't be. Those never
nest into each other beyond what the limits on conditions allow, so plans stay small.
"""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  as everybody calls it
from pyspark.sql import types as T  # noqa: N812

from metamodels.anna import types
from metamodels.anna.conditions import Condition, Node, evaluating
from metamodels.anna.types import DOUBLE, Type, written
from spark.names import quoted


class Computed(NamedTuple):
    """A value, null where it failed; and whether it did, None if it can't have."""

    value: Column
    failed: Column | None


Names = Callable[[str], Column]


def column(condition: Condition) -> Column:
    """The value of a condition for each row; null where it is unknown, or failed."""
    return compiled(condition.root).value


def failed(condition: Condition) -> Column | None:
    """Whether it failed, never null; None if it can't fail."""
    return compiled(condition.root).failed


def compiled(node: Node, names: Names | None = None, parameters: Column | None = None) -> Computed:
    """The Columns of a typed tree, with columns by name, and for a shape (`Condition.lifted`) an array of the texts of
    its parameters."""
    return _Compiler(names or _named, parameters)(node)


def spark_type(kind: Type) -> T.DataType:
    match kind.name:
        case "decimal":
            return T.DecimalType(kind.size, kind.scale)
        case "integer":
            return {8: T.ByteType(), 16: T.ShortType(), 32: T.IntegerType(), 64: T.LongType()}[kind.size]
    return _TYPES[kind.name]


def type_of(found: T.DataType) -> Type:
    """The type of a column of Spark; `types.other` for what cells can't be computed with."""
    match found:
        case T.ByteType() | T.ShortType() | T.IntegerType() | T.LongType():
            return Type("integer", {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}[found.simpleString()])
        case T.DecimalType():
            return types.decimal(found.precision, found.scale)
    names = {kind.simpleString(): name for name, kind in _TYPES.items()}
    name = names.get(found.simpleString())  # of a text with a collation, another
    return types.other(found.simpleString()) if name is None else Type(name)


def types_of(schema: T.StructType) -> types.Types:
    """The types of all columns."""
    return {field.name: type_of(field.dataType) for field in schema.fields}


_TYPES: dict[str, T.DataType] = {
    "double": T.DoubleType(),
    "text": T.StringType(),
    "boolean": T.BooleanType(),
    "date": T.DateType(),
    "timestamp": T.TimestampType(),
}


def _named(name: str) -> Column:
    return F.col(quoted(name))


def _any(columns: Sequence[Column | None]) -> Column | None:
    there = [one for one in columns if one is not None]
    return functools.reduce(operator.or_, there) if there else None


_COMPARED: dict[str, Callable[[Column, Column], Column]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_COMPUTED: dict[str, Callable[[Column, Column], Column]] = {
    "add": F.try_add, "subtract": F.try_subtract, "multiply": F.try_multiply, "divide": F.try_divide,
    "modulo": F.try_mod,
}  # fmt: skip
_TEXTS: dict[str, Callable[..., Column]] = {
    "length": lambda one: F.length(one).cast("bigint"),
    "lower": lambda one: F.translate(one, evaluating.LARGE, evaluating.SMALL),
    "upper": lambda one: F.translate(one, evaluating.SMALL, evaluating.LARGE),
    "trim": F.trim, "ltrim": F.ltrim, "rtrim": F.rtrim, "concat": F.concat,
    "year": lambda one: F.year(one).cast("bigint"),
    "month": lambda one: F.month(one).cast("bigint"),
    "day": lambda one: F.dayofmonth(one).cast("bigint"),
    "not": operator.invert,
}  # fmt: skip


class _Compiler:
    def __init__(self, names: Names, parameters: Column | None) -> None:
        self._names = names
        self._parameters = parameters

    def __call__(self, node: Node) -> Computed:
        made = getattr(self, f"_{node.op}", None)
        if made is not None:
            return made(node)  # type: ignore[no-any-return]
        args = [self(arg) for arg in node.args]
        values, fails = [arg.value for arg in args], _any([arg.failed for arg in args])
        if node.op in _COMPARED:
            return Computed(_COMPARED[node.op](values[0], values[1]), fails)
        if node.op in _COMPUTED:
            return _checked(_finite(node, _COMPUTED[node.op](values[0], values[1])), values, fails)
        return Computed(_TEXTS[node.op](*values), fails)

    # leaves

    def _literal(self, node: Node) -> Computed:
        kind = spark_type(node.type)
        if node.value is None or node.type == types.TEXT:
            return Computed(F.lit(node.value).cast(kind), None)
        return Computed(F.lit(written(node.value)).cast(kind), None)

    def _parameter(self, node: Node) -> Computed:
        return Computed(self._text_of(node).try_cast(spark_type(node.type)), None)

    def _text_of(self, node: Node) -> Column:
        assert self._parameters is not None
        return F.get(self._parameters, F.lit(node.value))

    def _column(self, node: Node) -> Computed:
        found = self._names(node.value)
        return Computed(found.cast("bigint") if node.type.name == "integer" else found, None)

    # logic

    def _and(self, node: Node) -> Computed:
        return self._decided([self(arg) for arg in node.args], operator.and_)

    def _or(self, node: Node) -> Computed:
        return self._decided([self(arg) for arg in node.args], operator.or_)

    def _decided(self, args: Sequence[Computed], joined: Callable[[Column, Column], Column]) -> Computed:
        """A value that failed is null; so what SQL makes of the values is null if nothing decides it."""
        value = functools.reduce(joined, (arg.value for arg in args))
        fails = _any([arg.failed for arg in args])
        return Computed(value, None if fails is None else fails & value.isNull())

    def _in(self, node: Node) -> Computed:
        one, *others = (self(arg) for arg in node.args)
        equals = [Computed(one.value == other.value, _any([one.failed, other.failed])) for other in others]
        return self._decided(equals, operator.or_)

    def _between(self, node: Node) -> Computed:
        one, low, high = (self(arg) for arg in node.args)
        bounds = [
            Computed(one.value >= low.value, _any([one.failed, low.failed])),
            Computed(one.value <= high.value, _any([one.failed, high.failed])),
        ]
        return self._decided(bounds, operator.and_)

    def _is_null(self, node: Node) -> Computed:
        one = self(node.args[0])
        found = one.value.isNull()
        return Computed(found if one.failed is None else F.when(~one.failed, found), one.failed)

    def _case(self, node: Node) -> Computed:
        args = [self(arg) for arg in node.args]
        nothing, never = F.lit(None).cast(spark_type(node.type)), F.lit(False)
        value, fails = F.when(never, nothing), F.when(never, never)
        for when, then in zip(args[:-1:2], args[1:-1:2], strict=True):
            if when.failed is not None:
                value, fails = value.when(when.failed, nothing), fails.when(when.failed, F.lit(True))
            value = value.when(when.value, then.value)
            fails = fails.when(when.value, never if then.failed is None else then.failed)
        default = args[-1]
        fails = fails.otherwise(never if default.failed is None else default.failed)
        can_fail = any(arg.failed is not None for arg in args)
        return Computed(value.otherwise(default.value), fails if can_fail else None)

    def _coalesce(self, node: Node) -> Computed:
        args = [self(arg) for arg in node.args]
        if all(arg.failed is None for arg in args):
            return Computed(F.coalesce(*(arg.value for arg in args)), None)
        nothing, never = F.lit(None).cast(spark_type(node.type)), F.lit(False)
        value, fails = F.when(never, nothing), F.when(never, never)
        for arg in args:
            if arg.failed is not None:
                value, fails = value.when(arg.failed, nothing), fails.when(arg.failed, F.lit(True))
            value, fails = value.when(arg.value.isNotNull(), arg.value), fails.when(arg.value.isNotNull(), never)
        return Computed(value, fails.otherwise(never))

    # numbers

    def _convert(self, node: Node) -> Computed:
        one = self(node.args[0])
        return Computed(one.value.cast(spark_type(node.type)), one.failed)

    def _assign(self, node: Node) -> Computed:
        """Spark rounds a decimal half up to fewer digits, and cuts it off to an integer."""
        one = self(node.args[0])
        value = one.value
        if node.type.name == "integer" and node.args[0].type.name == "decimal":
            value = value.try_cast(T.DecimalType(types.DIGITS, 0))
        return _checked(value.try_cast(spark_type(node.type)), [one.value], one.failed)

    def _negate(self, node: Node) -> Computed:
        one = self(node.args[0])
        negated = _negated(node.type, one.value)
        return (
            _checked(negated, [one.value], one.failed) if node.type.name == "integer" else Computed(negated, one.failed)
        )

    def _abs(self, node: Node) -> Computed:
        one = self(node.args[0])
        if node.type == DOUBLE:
            return Computed(F.abs(one.value), one.failed)
        found = F.when(one.value < 0, _negated(node.type, one.value)).otherwise(one.value)
        return _checked(found, [one.value], one.failed) if node.type.name == "integer" else Computed(found, one.failed)

    # texts

    def _like(self, node: Node) -> Computed:
        one = self(node.args[0])
        return Computed(F.rlike(one.value, F.lit(evaluating.regex(node.value))), one.failed)

    def _matches(self, node: Node) -> Computed:
        one = self(node.args[0])
        return Computed(F.rlike(one.value, self._text_of(node)), one.failed)

    def _substring(self, node: Node) -> Computed:
        one, (start, length) = self(node.args[0]), node.value
        return Computed(F.substring(one.value, start, length), one.failed)


_NEGATED_EXACTLY = 34
"""Digits of a decimal that Spark negates as they are: it rounds to as many (Scala's numbers do), or fails."""


def _negated(kind: Type, value: Column) -> Column:
    if kind.name == "integer":
        return F.try_subtract(F.lit(0).cast("bigint"), value)
    if kind == DOUBLE or kind.size <= _NEGATED_EXACTLY:
        return F.negative(value)
    text = value.cast("string")
    turned = F.when(value < 0, F.substring(text, 2, types.DIGITS * 2)).otherwise(F.concat(F.lit("-"), text))
    return turned.try_cast(spark_type(kind))


def _finite(node: Node, value: Column) -> Column:
    """NaN is above infinity, as Spark compares."""
    return F.when(F.abs(value) < F.lit(float("inf")), value) if node.type == DOUBLE else value


def _checked(value: Column, operands: Sequence[Column], fails: Column | None) -> Computed:
    """A value that is null although no operand is has failed."""
    there = functools.reduce(operator.and_, (operand.isNotNull() for operand in operands))
    own = value.isNull() & there
    return Computed(value, own if fails is None else fails | own)
