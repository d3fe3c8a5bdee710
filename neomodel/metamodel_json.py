"""Packages as JSON, the form in which they are stored.

An object for each value, with a key for each field that isn't at its default. Where a field may hold values of several
classes, the key ``is`` names the class. Keys are sorted; lists keep their order, since it means something. Equal
packages give equal bytes. The defaults in `metamodel` are therefore part of the stored form: they can't change.
"""

import json
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

import attrs

from neomodel.errors import InvalidModel
from neomodel.metamodel import Attribute, Feature, Package, Reference, Timeline

CLASS = "is"


def dumps(package: Package) -> bytes:
    """The package as UTF-8 JSON on one line. Raises `InvalidModel` if a text in it isn't Unicode."""
    text = json.dumps(_plain(Package, package), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError as exc:
        raise InvalidModel(f"package {package.ns_uri!a}", f"{exc.object[exc.start]!a} is no character") from exc


def loads(stored: bytes) -> Package:
    """The package that `dumps` made these bytes from.

    Raises `InvalidModel`, naming the place, if they hold anything else: something this version of the library doesn't
    know is never dropped.
    """
    try:
        plain = json.loads(stored)
    except ValueError as exc:
        raise InvalidModel("a stored package", f"it is no JSON ({exc})") from exc
    return typing.cast(Package, _value(Package, plain, "a stored package"))


# A hint is what a field is declared to hold: a class, a union of some, a tuple of them, or a plain type of JSON.


def _plain(hint: Any, value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one, item) for one, item in zip(_items(hint, len(value)), value, strict=True)]
    choice = _choice(hint)
    if choice:
        class_: Any = type(value)
        plain = {CLASS: class_.__name__} if len(choice) > 1 else {}
        hints = _hints(class_)
        for field in attrs.fields(class_):
            held = getattr(value, field.name)
            if held != _default(field, value):
                plain[field.name] = _plain(hints[field.name], held)
        return plain
    return value if value is None or hint not in (bool, int) else hint(value)  # 1 and True are equal, so one of them


def _value(hint: Any, plain: Any, where: str) -> Any:
    if typing.get_origin(hint) is tuple:
        _expect(isinstance(plain, list), where, "a list", plain)
        _expect(len(_items(hint, len(plain))) == len(plain), where, f"{len(_items(hint, 0))} items", plain)
        return tuple(_value(one, item, where) for one, item in zip(_items(hint, len(plain)), plain, strict=True))
    choice = _choice(hint)
    if not choice:
        allowed = typing.get_args(hint) or (hint,)
        _expect(type(plain) in allowed, where, " or ".join(one.__name__ for one in allowed), plain)
        return plain
    _expect(isinstance(plain, dict), where, "an object", plain)
    where = f"{where}.{plain['name']}" if "name" in plain else where
    given = dict(plain)
    name = given.pop(CLASS, None) if len(choice) > 1 else next(iter(choice))
    _expect(name in choice, where, f"{CLASS!r} to be one of {', '.join(choice)}", name)
    return _made(choice[name], given, where)


def _made(class_: type, given: dict[str, Any], where: str) -> Any:
    hints = _hints(class_)
    for key in given.keys() - hints.keys():
        raise InvalidModel(where, f"nothing is known of its {key!r}; a newer version of the library may have stored it")
    for field in attrs.fields(class_):
        _expect(field.name in given or field.default is not attrs.NOTHING, where, f"a {field.name}", given)
    return class_(**{key: _value(hints[key], plain, f"{where}.{key}") for key, plain in given.items()})


def _expect(true: bool, where: str, expected: str, found: Any) -> None:
    if not true:
        raise InvalidModel(where, f"expected {expected}, found {found!r}")


def _items(hint: Any, length: int) -> list[Any]:
    """What each item of a tuple is declared to be."""
    inside = typing.get_args(hint)
    return [inside[0]] * length if inside[-1] is ... else list(inside)


@cache
def _choice(hint: Any) -> Mapping[str, type]:
    """The classes that are declared for a place, by name; none if it is for something plain."""
    if hint is Feature:
        classes: tuple[Any, ...] = (Feature, Attribute, Reference, Timeline)
    else:
        classes = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return {one.__name__: one for one in classes if attrs.has(one)}


def _default(field: "attrs.Attribute[Any]", value: Any) -> Any:
    default: Any = field.default
    made_of_value = isinstance(default, attrs.Factory)  # type: ignore[arg-type]  # to a type checker it is a function
    return default.factory(value) if made_of_value else default


@cache
def _hints(class_: type) -> dict[str, Any]:
    return typing.get_type_hints(class_)
