"""Columns: what each one of a DataFrame holds, and how it is made of the cells of many rows at a time.

A column holds what ``obj.feature`` reads: the default of what is not set, null for what was set to None, an empty array
for a collection with nothing in it. Enums are the names of their literals, references the ids of what they lead to,
``@model/id`` in another model. Arrays of children are what their container lists; which objects lie where is in
`_container`, of the child, and after a crash, until a repair, that alone is right.

Dates are instants: one without an offset is taken to be in UTC, and of one with an offset the offset is not kept.
Decimals have 38 digits, 18 of them behind the point, integers of any length 38. What does not fit is refused, never
rounded; with the option ``exact`` all these are text, as files have them.
"""

import datetime
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types

from neomodel import codecs, ids, layout
from neomodel.codecs import Codec
from neomodel.document_order import long_list
from neomodel.errors import CorruptRow, FeatureNotFound, InvalidValue, near
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import is_long
from neomodel.model import Model
from neomodel.stores.blocks import Block

ID, CONTAINER, FEATURE, CLASS = "_id", "_container", "_feature", "_class"
SYSTEM = (ID, CONTAINER, FEATURE, CLASS)
"""The columns that every class has."""

_DIGITS, _SCALE = 38, 18
_TEXT = types.StringType()
_TYPES: dict[str, types.DataType] = {
    "int8": types.ByteType(),
    "int16": types.ShortType(),
    "int32": types.IntegerType(),
    "int64": types.LongType(),
    "integer": types.DecimalType(_DIGITS, 0),
    "decimal": types.DecimalType(_DIGITS, _SCALE),
    "float32": types.FloatType(),
    "float64": types.DoubleType(),
    "boolean": types.BooleanType(),
    "text": _TEXT,
    "enum": _TEXT,
    "bytes": types.BinaryType(),
    "time": types.TimestampType(),
}
_EXACT = {"integer", "decimal", "time"}
_ROOT = ids.ROOT.encode()


class Page:
    """Some rows that were read, by column, of which columns of a DataFrame are made."""

    def __init__(self, model: Model, block: Block) -> None:
        self.model = model
        self.block = block

    def __len__(self) -> int:
        return len(self.block)

    def cells(self, column: bytes) -> list[bytes | None]:
        """The cells one by one."""
        found: list[bytes | None] = self.block.cells[column].to_pylist()
        return found

    def long(self, number: int, feature: EFeature, cell: bytes) -> Iterable[Any]:
        """What a collection of a row holds that outgrew its cell."""
        return self._long(self.model, number, feature, cell)

    def _long(self, model: Model, number: int, feature: EFeature, cell: bytes) -> Iterable[Any]:
        return long_list(model, self.key(number), {feature.column: cell}, feature)

    def key(self, number: int) -> bytes:
        found: bytes = self.block.keys[number].as_py()
        return found

    def where(self, number: int) -> str:
        return f"{self.model.name}/{self.key(number).decode()}"

    @cached_property
    def containers(self) -> list[EClass | None]:
        """The class of what each object lies in; None of a root. One read for each 500 of them."""
        keys = self.cells(layout.CONTAINER)
        wanted = {key for key in keys if key and key != _ROOT}
        found = self.model.table.get_many(sorted(wanted), at=self.model.as_of, columns=layout.TYPE) if wanted else {}
        rows = [found.get(key) if key else None for key in keys]
        return [None if row is None or layout.ECLASS not in row else self.model.kind_of(row) for row in rows]


@attrs.frozen(eq=False)
class Column:
    """One column: what it is called, which type it has in Spark, the cells it is made of, and how."""

    name: str
    type: types.DataType
    cells: tuple[bytes, ...]
    build: Callable[[Page, pa.DataType], pa.Array]


def columns_of(kind: EClass | None, names: Sequence[str] | None = None, *, exact: bool = False) -> list[Column]:
    """The columns of a class, or of any, that are wanted, in that order; all that it has if none are named.

    `FeatureNotFound` for one that it has not. What is not held in the store has none, and neither have timelines, each
    of which is a table of its own.
    """
    found = {name: _SYSTEM[name] for name in SYSTEM}
    for feature in kind.features.values() if kind else ():
        if feature.name in _SYSTEM:
            raise InvalidValue(f"a feature of {kind}", feature.name, f"other names than {', '.join(SYSTEM)} for Spark")
        if feature.kept and not feature.timeline:
            found[feature.name] = _column(feature, exact=exact)
    if names is None:
        return list(found.values())
    for name in names:
        if name not in found:
            raise FeatureNotFound(str(kind or "an object of any class"), name, _why_not(kind, name, found))
    if len(set(names)) < len(names) or not names:
        raise InvalidValue("option columns", ", ".join(names), "names with commas between, each once")
    return [found[name] for name in names]


def schema_of(columns: Sequence[Column]) -> types.StructType:
    """The schema of a DataFrame of these columns."""
    return types.StructType([types.StructField(one.name, one.type, one.name != ID) for one in columns])


def _why_not(kind: EClass | None, name: str, found: dict[str, Column]) -> str:
    feature = kind.features.get(name) if kind else None
    if feature is None:
        return near(name, found)
    return " as a column: " + ("it is a timeline" if feature.timeline else "it is not held in the store")


# of features


def _column(feature: EFeature, *, exact: bool) -> Column:
    if feature.reference:
        return _reference(feature)
    codec = feature.codec
    as_text = exact and codec.scalar in _EXACT
    kind = _TEXT if as_text else _TYPES[codec.scalar]
    convert = codec.to_text if as_text else _CONVERT.get(codec.scalar)
    if codec.scalar == "enum":
        convert = codec.key
    if feature.many:
        return Column(feature.name, types.ArrayType(kind), (feature.column,), _many(feature, convert))
    quick = None if as_text else _QUICK.get(codec.scalar)
    return Column(feature.name, kind, (feature.column,), _single(feature, codec, convert, quick))


def _single(
    feature: EFeature,
    codec: Codec,
    convert: Callable[[Any], Any] | None,
    quick: Callable[[pa.Array], pa.Array] | None,
) -> Callable[[Page, pa.DataType], pa.Array]:
    def unset(page: Page, number: int) -> Any:
        return _converted(page, number, feature, feature.default, convert)

    def build(page: Page, kind: pa.DataType) -> pa.Array:
        made = _at_once(page.block.cells[feature.column], quick, kind) if quick else None
        if made is None:
            cells = page.cells(feature.column)
            values = _decoded(page, feature, cells, lambda cell: codecs.decode_single(codec, cell), convert, unset)
            return pa.array(values, kind)
        if made.null_count and feature.default is not None:
            first = pc.index(pc.is_null(made), True).as_py()
            made = made.fill_null(pa.scalar(unset(page, first), kind))
        return made

    return build


def _many(feature: EFeature, convert: Callable[[Any], Any] | None) -> Callable[[Page, pa.DataType], pa.Array]:
    def each(values: list[Any]) -> list[Any]:
        return values if convert is None else [None if value is None else convert(value) for value in values]

    def build(page: Page, kind: pa.DataType) -> pa.Array:
        cells = page.cells(feature.column)
        inline = [None if cell is not None and is_long(cell) else cell for cell in cells]
        values = _decoded(
            page, feature, inline, lambda cell: codecs.decode_many(feature.codec, cell), each, lambda *_: []
        )
        return pa.array(_with_long(page, feature, cells, values, each), kind)

    return build


def _decoded(
    page: Page,
    feature: EFeature,
    cells: list[bytes | None],
    decode: Callable[[bytes], Any],
    convert: Callable[[Any], Any] | None,
    unset: Callable[[Page, int], Any],
) -> list[Any]:
    """The values of cells, one by one; those that are not there are what `unset` says."""
    made = []
    for number, cell in enumerate(cells):
        if cell is None:
            made.append(unset(page, number))
            continue
        try:
            value = decode(cell)
        except ValueError as exc:
            raise CorruptRow(page.where(number), str(feature), cell, feature.codec.expected) from exc
        made.append(_converted(page, number, feature, value, convert))
    return made


def _converted(page: Page, number: int, feature: EFeature, value: Any, convert: Callable[[Any], Any] | None) -> Any:
    try:
        return value if convert is None or value is None else convert(value)
    except ValueError as exc:
        where = f"{feature} of object {page.where(number)}"
        raise InvalidValue(where, value, f"{exc}; ask for it as text with option exact=true") from exc


def _with_long(
    page: Page, feature: EFeature, cells: list[bytes | None], values: list[Any], each: Callable[[list[Any]], list[Any]]
) -> list[Any]:
    """The values, with those of collections that outgrew their cells: these are read one by one."""
    for number, cell in enumerate(cells):
        if cell is not None and is_long(cell):
            values[number] = _converted(page, number, feature, list(page.long(number, feature, cell)), each)
    return values


def _reference(feature: EFeature) -> Column:
    if feature.container:
        return Column(feature.name, _TEXT, (layout.CONTAINER, layout.FEATURE), _container(feature))
    if feature.many:
        return Column(feature.name, types.ArrayType(_TEXT), (feature.column,), _references(feature))

    def build(page: Page, kind: pa.DataType) -> pa.Array:
        made = _at_once(page.block.cells[feature.column], _as_text, kind)
        return pa.array(map(_token, page.cells(feature.column)), kind) if made is None else made

    return Column(feature.name, _TEXT, (feature.column,), build)


def _token(cell: bytes | None) -> str | None:
    return None if cell is None or cell == codecs.NULL else cell.decode()


def _references(feature: EFeature) -> Callable[[Page, pa.DataType], pa.Array]:
    def build(page: Page, kind: pa.DataType) -> pa.Array:
        cells = page.cells(feature.column)
        values: list[Any] = [[] if cell is None or is_long(cell) else codecs.decode_refs(cell) for cell in cells]
        return pa.array(_with_long(page, feature, cells, values, list), kind)

    return build


def _container(feature: EFeature) -> Callable[[Page, pa.DataType], pa.Array]:
    """The child's side of a containment: its container, if that holds it by the other end of this very feature."""
    other = feature.eOpposite
    assert other is not None
    rivals = [one for one in feature.eContainingClass.features.values() if one.container and one is not feature]
    ambiguous = any(one.eOpposite is not None and one.eOpposite.name == other.name for one in rivals)

    def build(page: Page, kind: pa.DataType) -> pa.Array:
        owners = page.block.cells[layout.CONTAINER]
        held = pc.and_(pc.not_equal(owners, _ROOT), pc.equal(page.block.cells[layout.FEATURE], other.tag))
        if ambiguous:
            owner = other.eContainingClass.type_name
            held = pc.and_(held, pa.array([of is not None and owner in of.names for of in page.containers]))
        return pc.if_else(held, owners, pa.scalar(None, pa.binary())).cast(kind)

    return build


# many cells at once


def _at_once(cells: pa.Array, quick: Callable[[pa.Array], pa.Array], kind: pa.DataType) -> pa.Array | None:
    """The values of cells, or None if some are no plain ones: a null, or one that begins with a zero byte."""
    if pc.any(pc.starts_with(cells, b"\0")).as_py():
        return None
    try:
        return quick(cells).cast(kind)
    except pa.ArrowInvalid:
        return None  # one by one, it can be told which of them it is


def _as_text(cells: pa.Array) -> pa.Array:
    return cells.cast(pa.string())


def _as_number(kind: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    return lambda cells: cells.cast(pa.string()).cast(kind)


_QUICK: dict[str, Callable[[pa.Array], pa.Array]] = {
    "text": _as_text,
    "enum": _as_text,
    "bytes": lambda cells: cells,
    "boolean": _as_number(pa.bool_()),
    "int8": _as_number(pa.int8()),
    "int16": _as_number(pa.int16()),
    "int32": _as_number(pa.int32()),
    "int64": _as_number(pa.int64()),
    "float64": _as_number(pa.float64()),
    "float32": _as_number(pa.float64()),
}


def _fitting(digits: int, scale: int) -> Callable[[Any], Decimal]:
    def fit(value: Any) -> Decimal:
        found = Decimal(value)
        _, figures, exponent = found.as_tuple()
        assert isinstance(exponent, int)
        significant = "".join(map(str, figures)).rstrip("0")
        last = exponent + len(figures) - len(significant)
        if significant and (last < -scale or len(significant) + last > digits - scale):
            raise ValueError(f"at most {digits - scale} digits before the point and {scale} behind it")
        return found

    return fit


def _instant(value: datetime.datetime) -> datetime.datetime:
    return value.replace(tzinfo=datetime.UTC) if value.tzinfo is None else value.astimezone(datetime.UTC)


_CONVERT: dict[str, Callable[[Any], Any]] = {
    "integer": _fitting(_DIGITS, 0),
    "decimal": _fitting(_DIGITS, _SCALE),
    "time": _instant,
}


# of every object


def _keys(page: Page, kind: pa.DataType) -> pa.Array:
    return page.block.keys.cast(kind)


def _place(column: bytes) -> Callable[[Page, pa.DataType], pa.Array]:
    def build(page: Page, kind: pa.DataType) -> pa.Array:
        root = pc.equal(page.block.cells[layout.CONTAINER], _ROOT).fill_null(False)
        return pc.if_else(root, pa.scalar(None, pa.binary()), page.block.cells[column]).cast(kind)

    return build


def _class(page: Page, kind: pa.DataType) -> pa.Array:
    return page.block.cells[layout.ECLASS].cast(kind)


_SYSTEM = {
    ID: Column(ID, _TEXT, (), _keys),
    CONTAINER: Column(CONTAINER, _TEXT, (layout.CONTAINER,), _place(layout.CONTAINER)),
    FEATURE: Column(FEATURE, _TEXT, (layout.CONTAINER, layout.FEATURE), _place(layout.FEATURE)),
    CLASS: Column(CLASS, _TEXT, (layout.ECLASS,), _class),
}
