"""What DataFrames should hold, told by the objects themselves; and what they do, without a Spark and with one."""

import datetime
import enum
from decimal import Decimal
from typing import Any

import neomodel as nm
from neomodel.kinds import EClass, EFeature
from spark import ModelSource

SYSTEM = {"_id", "_container", "_feature", "_class"}

Rows = dict[str, dict[str, Any]]


def read(**options: Any) -> Rows:
    """The rows that tasks make, by id, read in this process."""
    source = ModelSource({name: str(value) for name, value in options.items()})
    reader = source.reader(source.schema())
    return by_id([row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()])


def by_id(rows: list[dict[str, Any]]) -> Rows:
    found = {row["_id"]: row for row in rows}
    assert len(found) == len(rows), "a row came twice"
    return {oid: {name: shown(value) for name, value in row.items()} for oid, row in found.items()}


def expected(model: nm.Model, kind: EClass, *, exact: bool = False) -> Rows:
    """What there should be, of the objects as they are."""
    features = [f for f in kind.features.values() if f.kept and not f.timeline]
    return {str(nm.oid(obj)): _row(obj, features, exact=exact) for obj in model.all(kind)}


def _row(obj: Any, features: list[EFeature], *, exact: bool) -> dict[str, Any]:
    above, by = obj.eContainer(), obj.eContainmentFeature()
    system = {
        "_id": str(nm.oid(obj)),
        "_container": None if above is None else str(nm.oid(above)),
        "_feature": None if above is None else by.name,
        "_class": obj.eClass.name,
    }
    return {name: shown(value) for name, value in system.items()} | {
        feature.name: shown(_value(obj.eGet(feature.name), feature, exact=exact)) for feature in features
    }


def _value(value: Any, feature: EFeature, *, exact: bool) -> Any:
    if feature.many:
        return [one_of(value, feature, exact=exact) for value in value]
    return one_of(value, feature, exact=exact)


def one_of(value: Any, feature: EFeature, *, exact: bool = False) -> Any:
    if value is None:
        return None
    if feature.reference:
        return str(nm.oid(value))
    if isinstance(value, enum.Enum):
        return next(name for name, member in feature.eType.members.items() if member is value)  # type: ignore[attr-defined]
    wide = isinstance(value, Decimal | datetime.datetime) or feature.codec.scalar == "integer"
    return feature.codec.to_text(value) if wide and exact else value


def shown(value: Any) -> Any:
    """A value as it can be compared: times as instants, numbers by what they are, NaN equal to itself."""
    if isinstance(value, list):
        return [shown(one) for one in value]
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).astimezone(datetime.UTC).isoformat()
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, Decimal) or (isinstance(value, int) and not isinstance(value, bool)):
        return "number", Decimal(value)
    return ("float", repr(value)) if isinstance(value, float) else value


def fits(value: Any, feature: EFeature) -> bool:
    """Whether a value has a place in Spark's decimals of 38 digits, 18 of them behind the point if it may have such."""
    if isinstance(value, list):
        return all(fits(one, feature) for one in value)
    if value is None or feature.reference or feature.codec.scalar not in ("integer", "decimal"):
        return True
    behind = 18 if feature.codec.scalar == "decimal" else 0
    text = format(abs(Decimal(value)), "f")
    whole, _, part = text.partition(".")
    return len(whole.lstrip("0")) <= 38 - behind and len(part.rstrip("0")) <= behind
