"""A file of JSON into a small model, in the dialect of PyEcore's JsonResource: see `json_writing`.

Objects are made in memory, with all that the library checks; then the model is stored. What is wrong is `InvalidFile`,
with the place in the file as a path: ``m.json: [0].beds[1].name is 7, expected text (str)``.
"""

import json
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from neomodel import ids, layout
from neomodel.always import known
from neomodel.changes import assign, rearrange
from neomodel.errors import InvalidFile, NeomodelError
from neomodel.kinds import EClass, EFeature
from neomodel.objects import Element
from neomodel.packages import EPackage
from neomodel.stores import Mutation
from neomodel.xmi.importing import Import
from neomodel.xmi.json_writing import CLASS, IDENTITY, REFERENCE

if TYPE_CHECKING:
    from neomodel.model import Model
    from neomodel.repository import Repository

Json = dict[str, Any]
_NUMBER = re.compile("[0-9]{1,9}")


def import_json(
    repository: "Repository", path: str | os.PathLike[str], name: str, *, metamodel: Iterable[Any] = ()
) -> Import:
    """Read a file into a new model; see `Repository.import_json`."""
    began = time.perf_counter()
    repository.check_free(name)
    given = list(metamodel)
    if given:
        repository.register(*given)
    reading = _Reading(repository, os.fspath(path))
    tops = reading.read(_loaded(path))
    with repository.importing(name) as model:
        model.roots.extend(tops)
        reading.store_ids(model)
    return Import(name, len(reading.made), reading.references, time.perf_counter() - began, ())


def _loaded(path: str | os.PathLike[str]) -> Any:
    file = os.fspath(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as exc:
        raise InvalidFile(file, f"the file can't be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise InvalidFile(file, f"this is not UTF-8, at byte {exc.start}") from exc
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as exc:
        raise InvalidFile(f"{file}:{exc.lineno}", f"the JSON is broken: {exc.msg}, at column {exc.colno}") from exc
    except ValueError as exc:
        raise InvalidFile(file, f"a number is too long: {exc}") from exc
    except _TwiceError as exc:
        raise InvalidFile(file, f"{exc} is there twice in one object") from exc
    except RecursionError as exc:
        raise InvalidFile(file, "objects lie too deep in one another") from exc


class _TwiceError(Exception):
    """A name that an object of JSON has twice."""


def _distinct(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(repr(next(name for name in names if names.count(name) > 1)))
    return found


@attrs.frozen(eq=False)
class _Link:
    """A reference that waits until all objects are there."""

    obj: Element
    feature: EFeature
    values: list[Any]
    at: str


class _Reading:
    def __init__(self, repository: "Repository", file: str) -> None:
        self.made: list[Element] = []
        self.references = 0
        self._repository = repository
        self._file = file
        self._links: list[_Link] = []
        self._ids: dict[str, Element] = {}
        self._named: dict[str, Element] = {}

    def read(self, found: Any) -> list[Element]:
        """The objects that nothing contains, with all in them, not stored yet."""
        several = isinstance(found, list)
        pairs = [(one, f"[{at}]") for at, one in enumerate(found)] if several else [(found, "the object")]
        try:
            tops = [self._object(one, None, at) for one, at in pairs]
        except RecursionError as exc:
            raise InvalidFile(self._file, "objects lie too deep in one another") from exc
        self._named = self._called()
        linked = [(link, [self._target(value, tops, link.at) for value in link.values]) for link in self._links]
        for link, targets in linked:
            self._refer(link, targets)
        for link, targets in linked:
            if link.feature.many and link.feature.eOpposite is not None:
                self._order(link, targets)
        return [top for top in tops if top.eContainer() is None]  # others name the object that contains them

    def store_ids(self, model: "Model") -> None:
        """Write the xmi:ids of objects that are stored by now."""
        stored = ((obj._neo.oid, name) for name, obj in self._ids.items())
        model.put(Mutation(key.encode(), {layout.XMI_ID: name.encode()}) for key, name in stored)

    def _object(self, found: Any, owner: EFeature | None, at: str) -> Element:
        if not isinstance(found, dict):
            raise self._fault(at, f"it is {_sort(found)}, expected an object")
        kind = self._kind(found.get(CLASS), owner, at)
        try:
            made: Element = kind()
        except NeomodelError as exc:
            raise self._fault(at, str(exc)) from exc
        self.made.append(made)
        identity = found.get(IDENTITY) if IDENTITY not in kind.features else None
        if identity is not None:
            if not isinstance(identity, str) or not _is_text(identity) or identity in self._ids:
                raise self._fault(at, f"{identity!r} is no uuid, or that of another object")
            self._ids[identity] = made
        for name, value in found.items():
            if name == CLASS or (name == IDENTITY and identity is not None):
                continue
            feature = kind.features.get(name)
            if feature is None or feature.timeline:
                raise self._fault(f"{at}.{name}", f"{kind} has no such feature")
            self._take(made, feature, value, f"{at}.{name}")
        return made

    def _take(self, made: Element, feature: EFeature, value: Any, at: str) -> None:
        if feature.computed:
            return  # what follows from the rest
        if feature.many != isinstance(value, list):
            raise self._fault(at, f"it is {_sort(value)}, expected {'a list' if feature.many else 'no list'}")
        values = value if feature.many else [value]
        places = [f"{at}[{number}]" if feature.many else at for number in range(len(values))]
        if feature.reference and not feature.containment:
            self._links.append(_Link(made, feature, values, at))
            return
        if feature.containment:
            held = [
                None if one is None else self._object(one, feature, place)
                for one, place in zip(values, places, strict=True)
            ]
        else:
            held = [self._value(feature, one, place) for one, place in zip(values, places, strict=True)]
        self._set(made, feature, held if feature.many else held[0], at)

    def _value(self, feature: EFeature, value: Any, at: str) -> Any:
        codec = feature.codec
        if value is None:
            return None
        try:
            if isinstance(value, str) and codec.native is not str:
                return codec.from_text(value)
            return codec.check(value)
        except (ValueError, TypeError) as exc:
            raise self._fault(at, str(exc)) from exc

    def _kind(self, name: Any, owner: EFeature | None, at: str) -> EClass:
        if name is None:
            if owner is not None and isinstance(owner.eType, EClass):
                return owner.eType
            raise self._fault(at, f"it has no {CLASS}")
        uri, mark, way = str(name).rpartition("#")  # a namespace may have one too
        if not mark:
            raise self._fault(at, f"its {CLASS} is {name!r}, expected namespace#//name")
        try:
            package: EPackage = self._repository.metamodel(uri)
        except NeomodelError as exc:
            raise self._fault(at, str(exc)) from exc
        *outer, last = way.strip("/").split("/")
        for step in outer:
            inner = next((one for one in package.eSubpackages if one.name == step), None)
            if inner is None:
                raise self._fault(at, f"there is no package {step} in {package.nsURI}")
            package = inner
        kind = package.classifiers.get(last)
        if not isinstance(kind, EClass):
            raise self._fault(at, f"there is no class {name!r}")
        return kind

    # references

    def _target(self, value: Any, tops: list[Element], at: str) -> Element | None:
        if value is None:
            return None
        fragment = value.get(REFERENCE) if isinstance(value, dict) else None
        if not isinstance(fragment, str):
            raise self._fault(at, f"a reference is an object with {REFERENCE}, found {_sort(value)}")
        file, _, rest = fragment.rpartition("#")
        if file and (there := known(ids.elsewhere(file, rest))) is not None:
            return there
        if file:
            raise self._fault(at, f"it leads to another file, {file}; import both as XMI")
        found = self._ids.get(rest) or (self._walked(rest, tops) if rest[:1] == "/" else self._named.get(rest))
        if found is None:
            raise self._fault(at, f"there is no object {fragment!r}")
        return found

    def _walked(self, path: str, tops: list[Element]) -> Element | None:
        first, *steps = path[1:].split("/")
        found: Any = _at(tops, first or "0")
        for step in steps:
            name, _, number = step.removeprefix("@").partition(".")
            feature = found.eClass.features.get(name) if found is not None else None
            if feature is None or not feature.containment:
                return None
            held = found.eGet(feature)
            found = _at(held if feature.many else [held], number or "0")
        return found  # type: ignore[no-any-return]

    def _called(self) -> dict[str, Element]:
        """Objects by their attributes that are ids."""
        found: dict[str, Element] = {}
        for one in self.made:
            for feature in one.eClass.eAllAttributes():
                value = one.eGet(feature.name) if getattr(feature.value, "id", False) else None
                if value is not None:
                    found.setdefault(feature.codec.to_text(value), one)
        return found

    def _refer(self, link: _Link, targets: list[Element | None]) -> None:
        if link.feature.container and (held := link.obj.eContainer()) is not None:
            named = targets[0]
            if named is not None and (
                named is not held or link.obj.eContainmentFeature() is not link.feature.eOpposite
            ):
                raise self._fault(link.at, f"{named} is not where this object lies")
            return
        self.references += sum(target is not None for target in targets)
        if link.feature.many:
            self._set(link.obj, link.feature, [*_without(link.obj.eGet(link.feature.name), targets), *targets], link.at)
        else:
            self._set(link.obj, link.feature, targets[0], link.at)

    def _order(self, link: _Link, targets: list[Element | None]) -> None:
        """As the file has it: setting the other end has put some to the end."""
        held = list(link.obj.eGet(link.feature.name))
        gone = set(map(id, _without(targets, held)))
        wanted = [one for one in targets if id(one) not in gone]
        self._set(link.obj, link.feature, [*wanted, *_without(held, wanted)], link.at)

    def _set(self, obj: Element, feature: EFeature, value: Any, at: str) -> None:
        """Let an object hold what the file says, also where nobody may change it later."""
        try:
            (rearrange if feature.many else assign)(obj, feature, value)
        except NeomodelError as exc:
            raise self._fault(at, str(exc)) from exc

    def _fault(self, at: str, reason: str) -> InvalidFile:
        return InvalidFile(self._file, f"{at}: {reason}")


def _at(objects: Any, number: str) -> Any:
    """What is at that place; None if there is no such place."""
    if not _NUMBER.fullmatch(number) or int(number) >= len(objects):
        return None
    return objects[int(number)]


def _is_text(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _without(objects: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    known = set(map(id, others))
    return [one for one in objects if id(one) not in known]


def _sort(value: Any) -> str:
    """What something is in JSON."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
