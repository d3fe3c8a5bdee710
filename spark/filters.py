"""Filters that Spark pushes down: which of them the store can serve, and which rows they leave.

Conditions on `_id` become ranges of keys, or keys. All others are looked at as soon as the cells they are about are
read, before the rest of a row is. Spark applies every filter once more to what it gets: so a condition here may let a
row pass that Spark will drop, and never the other way round.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource as ds

from spark.columns import ID, Column

_COMPARED: dict[type[ds.Filter], Callable[[pa.Array, Any], pa.Array]] = {
    ds.EqualTo: pc.equal,
    ds.EqualNullSafe: pc.equal,
    ds.GreaterThan: pc.greater,
    ds.GreaterThanOrEqual: pc.greater_equal,
    ds.LessThan: pc.less,
    ds.LessThanOrEqual: pc.less_equal,
}
_MATCHED: dict[type[ds.Filter], Callable[..., pa.Array]] = {
    ds.StringStartsWith: pc.starts_with,
    ds.StringEndsWith: pc.ends_with,
    ds.StringContains: pc.match_substring,
}


@attrs.frozen
class Conditions:
    """What rows must fulfil: lie in a range, be among some keys, and pass some tests of columns."""

    start: bytes = b""
    stop: bytes | None = None
    keys: frozenset[bytes] | None = None
    tests: tuple[ds.Filter, ...] = ()

    @classmethod
    def of(cls, filters: Iterable[ds.Filter], columns: dict[str, Column]) -> "Conditions":
        """Those of filters that can be served; the rest is passed over."""
        return reduce(lambda found, one: found._with(one, columns), filters, cls())

    def _with(self, one: ds.Filter, columns: dict[str, Column]) -> "Conditions":
        names: tuple[str, ...] = getattr(one, "attribute", ())
        if len(names) != 1 or names[0] not in columns:
            return self
        if names[0] == ID:
            return self._with_key(one)
        if isinstance(one, ds.EqualNullSafe) and one.value is None:
            one = ds.IsNull(one.attribute)
        return attrs.evolve(self, tests=(*self.tests, one)) if _servable(one) else self

    def _with_key(self, one: Any) -> "Conditions":
        if isinstance(one, ds.EqualTo | ds.EqualNullSafe) and isinstance(one.value, str):
            return self._among({one.value.encode()})
        if isinstance(one, ds.In):
            return self._among({text.encode() for text in one.value if isinstance(text, str)})
        if isinstance(one, ds.GreaterThan | ds.GreaterThanOrEqual | ds.StringStartsWith):
            low = one.value.encode()
            found = attrs.evolve(self, start=max(self.start, low))
            return found._below(low + b"\xff") if isinstance(one, ds.StringStartsWith) else found
        if isinstance(one, ds.LessThan | ds.LessThanOrEqual):
            return self._below(one.value.encode() + b"\0" * isinstance(one, ds.LessThanOrEqual))
        return self

    def _among(self, keys: set[bytes]) -> "Conditions":
        return attrs.evolve(self, keys=frozenset(keys if self.keys is None else keys & self.keys))

    def _below(self, stop: bytes) -> "Conditions":
        return attrs.evolve(self, stop=stop if self.stop is None else min(stop, self.stop))

    @property
    def names(self) -> set[str]:
        """The columns that are tested."""
        return {one.attribute[0] for one in self.tests}  # type: ignore[attr-defined]  # only such are kept

    def passed(self, arrays: dict[str, pa.Array]) -> pa.Array:
        """Which rows pass all tests, by the columns that are tested: of each, whether it does."""
        return reduce(pc.and_, (_passed(one, arrays) for one in self.tests))


def _servable(one: ds.Filter) -> bool:
    if isinstance(one, ds.IsNull | ds.IsNotNull | ds.In):
        return True
    return type(one) in _COMPARED or type(one) in _MATCHED


def _passed(one: Any, arrays: dict[str, pa.Array]) -> pa.Array:
    values = arrays[one.attribute[0]]
    if isinstance(one, ds.IsNull):
        return pc.is_null(values)
    if isinstance(one, ds.IsNotNull):
        return pc.is_valid(values)
    try:
        found = _tested(one, values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return pa.array([True] * len(values))  # of a kind that is not compared here: Spark will
    found = found.fill_null(False)
    if pa.types.is_floating(values.type):  # to Spark NaN equals itself and is greater than all else
        found = pc.or_(found, pc.is_nan(values).fill_null(False))
    return found


def _tested(one: Any, values: pa.Array) -> pa.Array:
    if isinstance(one, ds.In):
        wanted = [value for value in one.value if value is not None]
        if pa.types.is_floating(values.type) and 0.0 in wanted:
            wanted += [0.0, -0.0]  # which are the same to Spark, and not to what Arrow looks up
        return pc.is_in(values, value_set=pa.array(wanted, values.type))
    if type(one) in _MATCHED:
        return _MATCHED[type(one)](values, one.value)
    return _COMPARED[type(one)](values, pa.scalar(one.value, values.type))
