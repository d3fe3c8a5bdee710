"""The values of records as bytes: a letter for what it is, and then that.

``b`` bytes; ``t`` text; ``j`` JSON; ``e`` an element of a registered class, as JSON: ``["namespace#Class", {feature:
value}]``, attributes in the form that they have in files, and what it contains as lists of such elements.
"""

import json
from typing import Any

import neomodel as nm

BYTES, TEXT, JSON, ELEMENT = "bytes", "text", "json", "element"
KINDS = {b"b": BYTES, b"t": TEXT, b"j": JSON, b"e": ELEMENT}
_EXPECTED = "bytes, text, what JSON has, or an element of a registered class with attributes and what it contains"


def encoded(value: Any, repository: nm.Repository) -> bytes:
    """The stored form; `InvalidValue` for what has none."""
    if isinstance(value, str):
        return b"t" + _utf8(value)
    if isinstance(value, bytes):
        return b"b" + value
    if isinstance(value, nm.Element):
        stored = described(value)
        _made(stored, repository)  # or its class is not registered
        return b"e" + _json(stored)
    return b"j" + _json(value)


def decoded(stored: bytes, repository: nm.Repository) -> Any:
    """The value: of an element, a new transient one."""
    kind, data = stored[:1], stored[1:]
    if kind == b"t":
        return data.decode()
    if kind == b"j":
        return json.loads(data)
    return data if kind == b"b" else _made(json.loads(data), repository)


def told(stored: bytes) -> tuple[str, str | None, bytes | None]:
    """What it is, and the value for who has columns: as text, JSON included, or as bytes."""
    kind, data = KINDS[stored[:1]], stored[1:]
    return (kind, None, data) if kind == BYTES else (kind, data.decode(), None)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as exc:
        raise nm.InvalidValue("the value of a record", text, "text that UTF-8 has") from exc


def _json(value: Any) -> bytes:
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
        if json.loads(written) != value:  # as of a tuple, or of keys that are numbers
            raise nm.InvalidValue("the value of a record", value, _EXPECTED)
    except (TypeError, ValueError, RecursionError) as exc:
        if isinstance(exc, nm.InvalidValue):
            raise
        raise nm.InvalidValue("the value of a record", value, _EXPECTED) from exc
    return _utf8(written)


def described(value: nm.Element) -> list[Any]:
    """An element as JSON: its class, and its features. `InvalidValue` if it refers to others, or has timelines."""
    kind = value.eClass
    found: dict[str, Any] = {}
    for feature in kind.features.values():
        if feature.computed or not value.eIsSet(feature):
            continue
        said = value.eGet(feature)
        if feature.reference and feature.containment:
            found[feature.name] = [described(child) for child in (said if feature.many else [said])]
        elif feature.reference and not feature.container:
            raise nm.InvalidValue(f"{feature} of the value of a record", said, "none: it has references")
        elif feature.timeline:
            raise nm.InvalidValue(f"{feature} of the value of a record", said, "none: it has a timeline")
        elif not feature.reference:
            text = feature.codec.to_text
            found[feature.name] = [one if one is None else text(one) for one in (said if feature.many else [said])]
    return [f"{kind.ePackage.nsURI}#{kind.name}", found]


def _made(stored: list[Any], repository: nm.Repository) -> Any:
    name, features = stored
    ns_uri, _, name = name.rpartition("#")
    kind = repository.kind(ns_uri, name)
    values = {}
    for name, said in features.items():
        feature = kind.feature(name)
        if feature.reference:
            made = [_made(one, repository) for one in said]
        else:
            made = [one if one is None else feature.codec.from_text(one) for one in said]
        values[name] = made if feature.many else made[0]
    return kind.python(**values)
