"""Cells: what the columns of a DataFrame become in the rows of a model. The other direction of `columns`.

A null is None where the feature takes that, and is refused elsewhere; a collection takes none, but may be empty. As
with objects, a feature that can't be unset has no cell while it holds its default. Whole columns are turned into cells
at once where their types allow it, value by value elsewhere, and then it can be told whose value is refused.
"""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types

from neomodel import codecs, ids
from neomodel.checks import check_bound, checked, or_default, same
from neomodel.errors import InvalidValue
from neomodel.kinds import EFeature
from neomodel.states import encode, encode_inline
from neomodel.stores import Cells

Cell = bytes | Cells | None
"""What a row gets of a feature: a cell, None for none, or several of a long collection."""
Where = Callable[[int], str]
"""Names the object of a row, for messages."""
Encode = Callable[[pa.Array, Where], list[Cell]]

_WHOLE = (types.ByteType, types.ShortType, types.IntegerType, types.LongType)
_TAKEN: dict[str, tuple[type[types.DataType], ...]] = {
    "int8": _WHOLE,
    "int16": _WHOLE,
    "int32": _WHOLE,
    "int64": _WHOLE,
    "integer": (types.DecimalType, *_WHOLE, types.StringType),
    "decimal": (types.DecimalType, *_WHOLE, types.StringType),
    "float32": (types.FloatType, types.DoubleType),
    "float64": (types.FloatType, types.DoubleType),
    "boolean": (types.BooleanType,),
    "text": (types.StringType,),
    "enum": (types.StringType,),
    "bytes": (types.BinaryType,),
    "time": (types.TimestampType, types.TimestampNTZType, types.StringType),
}


def check_type(feature: EFeature, found: types.DataType) -> None:
    """Raise `InvalidValue` if a feature can't be written from a column of that type; one of nulls alone will do."""
    taken = (types.StringType,) if feature.reference else _TAKEN[feature.codec.scalar]
    one = found.elementType if feature.many and isinstance(found, types.ArrayType) else found
    if isinstance(found, types.NullType):
        return
    if feature.many != isinstance(found, types.ArrayType) or not isinstance(one, (*taken, types.NullType)):
        names = " or ".join(dict.fromkeys(kind.typeName() for kind in taken))
        expected = f"an array of {names}" if feature.many else names
        raise InvalidValue(f"the type of column {feature.name}", found.simpleString(), f"{expected}; cast it")


# attributes, and references that nothing mirrors


def encoder(feature: EFeature) -> Encode:
    """How a column of that feature becomes cells."""
    if feature.reference:
        return lambda array, where: [_held(feature, some) for some in tokens(feature, array, where)]
    if feature.many:
        return lambda array, where: _each(array, where, feature, _many(feature))
    quick = _QUICK.get(feature.codec.scalar)
    if feature.codec.scalar == "text" and feature.codec.primitive:
        quick = None  # single characters
    slow = _single(feature)
    if quick is None:
        return lambda array, where: _each(array, where, feature, slow)
    default = None if feature.unsettable or feature.default is None else feature.codec.encode(feature.default)
    return _at_once(feature, quick, slow, default)


def _at_once(
    feature: EFeature,
    quick: Callable[[pa.Array], pa.Array],
    slow: Callable[[Any], Cell],
    default: bytes | None,
) -> Encode:
    """A column in one go, unless it has values that are refused, or are kept in another form than they are read."""
    takes_none = not feature.codec.primitive
    null = slow(None) if takes_none else None

    def encoded(array: pa.Array, where: Where) -> list[Cell]:
        made = None
        if takes_none or not array.null_count:
            try:
                made = quick(array).cast(pa.binary())
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                made = None  # one by one, it can be told which of them it is
        if made is None or pc.any(pc.starts_with(made, b"\0")).as_py():
            return _each(array, where, feature, slow)
        cells: list[Cell] = made.to_pylist()
        if null is not None and array.null_count:
            cells = [null if cell is None else cell for cell in cells]
        return cells if default is None else [None if cell == default else cell for cell in cells]

    return encoded


_QUICK: dict[str, Callable[[pa.Array], pa.Array]] = {
    "text": lambda array: array,
    "boolean": lambda array: array.cast(pa.bool_()).cast(pa.string()),
    "int8": lambda array: array.cast(pa.int8()).cast(pa.string()),
    "int16": lambda array: array.cast(pa.int16()).cast(pa.string()),
    "int32": lambda array: array.cast(pa.int32()).cast(pa.string()),
    "int64": lambda array: array.cast(pa.int64()).cast(pa.string()),
}


def _each(array: pa.Array, where: Where, feature: EFeature, made: Callable[[Any], Cell]) -> list[Cell]:
    """The cells of values, one by one."""
    cells = []
    for at, value in enumerate(array.to_pylist()):
        try:
            cells.append(made(value))
        except (ValueError, TypeError) as exc:
            expected = exc.expected if isinstance(exc, InvalidValue) else feature.codec.expected
            raise InvalidValue(f"{feature} of {where(at)}", value, expected) from exc
    return cells


def _single(feature: EFeature) -> Callable[[Any], Cell]:
    value_of = _reading(feature)
    return lambda value: encode_inline(feature, or_default(feature, checked(feature, value_of(value))))


def _many(feature: EFeature) -> Callable[[Any], Cell]:
    value_of = _reading(feature)

    def made(values: Any) -> Cell:
        if values is None:
            raise InvalidValue(str(feature), None, "an array, if it is to hold nothing an empty one")
        found = [checked(feature, value_of(value)) for value in values]
        if feature.unique and len({same(feature, value) for value in found}) < len(found):
            raise InvalidValue(str(feature), values, "no value twice, since it is unique")
        check_bound(feature, len(found))
        return _several(feature, found)

    return made


def _several(feature: EFeature, found: list[Any]) -> Cell:
    cells = encode(feature, found)
    return cells if len(cells) > 1 else cells[feature.column]


def _reading(feature: EFeature) -> Callable[[Any], Any]:
    """What is given to the feature for a value that Spark gives."""
    codec = feature.codec
    if codec.scalar == "enum":
        members = {codec.key(member): member for member in feature.eType.members.values()}  # type: ignore[attr-defined]
        return lambda value: members.get(value, value)
    convert = {"integer": _integer, "decimal": _decimal, "time": _time}.get(codec.scalar)
    if convert is None:
        return lambda value: value
    return lambda value: codec.from_text(value) if isinstance(value, str) else convert(value)


def _integer(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value


def _decimal(value: Any) -> Any:
    """Without the zeros that Spark adds behind the point."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return value
    text = format(value, "f")
    return Decimal(text.rstrip("0").rstrip(".") if "." in text else text)


def _time(value: Any) -> Any:
    aware = isinstance(value, datetime.datetime) and value.tzinfo is not None
    return value.astimezone(datetime.UTC) if aware else value


# references


def tokens(feature: EFeature, array: pa.Array, where: Where) -> list[list[str]]:
    """What each row refers to by a feature: ids, of objects of other models ``@model/id``. None is nothing."""
    found: list[list[str]] = []
    for at, value in enumerate(array.to_pylist()):
        some = ([] if value is None else [value]) if not feature.many else value
        try:
            found.append(_checked(feature, some))
        except InvalidValue as exc:
            raise InvalidValue(f"{feature} of {where(at)}", value, exc.expected) from exc
    return found


def _checked(feature: EFeature, found: Any) -> list[str]:
    if found is None:
        raise InvalidValue(str(feature), None, "an array, if it is to hold nothing an empty one")
    for token in found:
        check_ref(token)
    if feature.unique and len(set(found)) < len(found):
        raise InvalidValue(str(feature), found, "no object twice, since it is unique")
    check_bound(feature, len(found))
    return list(found)


def check_ref(token: Any) -> None:
    """Raise `InvalidValue` for what is no reference."""
    if isinstance(token, str) and token.startswith(ids.ELSEWHERE):
        return
    model, oid = ids.split_ref(token) if isinstance(token, str) else (None, token)
    if model is not None:
        ids.ref(oid, model)
    ids.check_oid(oid)


def _held(feature: EFeature, found: list[str]) -> Cell:
    if feature.many:
        return _several(feature, found)
    return found[0].encode() if found else codecs.NULL if feature.unsettable else None
