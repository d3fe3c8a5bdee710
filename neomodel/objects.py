"""Objects as Python sees them: features as attributes, EMF's reflective names, and one private slot.

An object whose row is not known yet is `Unloaded`. Whatever is asked of it, its class included, reads the row, and
then it is of its own class; nothing but `type()` can tell that it was not before.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from neomodel import changes, ids, subtrees
from neomodel.checks import checked, several
from neomodel.collections import FeatureList, targets
from neomodel.errors import FeatureNotFound, InvalidValue, NeomodelError, ObjectNotFound, near
from neomodel.kinds import EClass, EFeature
from neomodel.mirrors import current
from neomodel.states import Stored
from neomodel.timelines import Timeline
from neomodel.unstored import UNSET, Transient, state_of

if TYPE_CHECKING:
    from neomodel.model import Model

_SHOWN = 60  # characters of a value in a repr
_NOTHING: Mapping[str, property] = MappingProxyType({})
_RECORD = "record or retract entries"


class Element:
    """An object of a model, or one that is not stored yet. Its class was made from a metamodel; see `kinds.EClass`."""

    __slots__ = ("__weakref__", "_neo")
    _neo: Any
    eClass: EClass

    def __init__(self, *unnamed: Any, **features: Any) -> None:
        kind = type(self).eClass
        if unnamed:
            raise InvalidValue(f"what a new {kind} begins with", unnamed[0], f"features by name, {kind.name}(name=...)")
        if not kind.ready:
            _make_ready(kind)
        object.__setattr__(self, "_neo", Transient(kind))
        references = []
        for name, value in features.items():
            feature = kind.features.get(name) or kind.feature(name)
            if feature.computed:
                raise InvalidValue(str(feature), value, "no value: it is computed")
            if feature.timeline:
                raise InvalidValue(str(feature), value, f"no value: it is a timeline; {_RECORD} of the new object")
            if feature.reference:
                references.append((feature, _acceptable(feature, value)))
            else:
                _let_hold(self, feature, value)
        for feature, value in references:  # they change other objects: not before all else was found right
            if not changes.furnish(self, feature, value):
                _let_hold(self, feature, value)

    def __getattr__(self, name: str) -> Any:
        """Only called for what the class does not have."""
        found = self.eClass.features.get(name)
        if found is not None and found.computed:
            return _computed(self, found)  # which says why it can't be
        raise FeatureNotFound(str(self.eClass), name, near(name, self.eClass.features))

    def __setattr__(self, name: str, value: Any) -> None:
        found = self.eClass.features.get(name) if name != "_neo" else None
        if found is not None and found.computed:
            write(self, found, value)
        if found is None and name != "_neo" and not hasattr(getattr(type(self), name, None), "__set__"):
            raise FeatureNotFound(str(self.eClass), name, near(name, self.eClass.features))
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        state = self._neo
        try:
            kind = state.kind
            named = [f for f in kind.features.values() if f.stored and not (f.reference or f.many or f.timeline)]
            named.sort(key=lambda f: (f.name != "name", not getattr(f.value, "id", False)))
            values = [(f.name, read(self, f)) for f in named if state.raw(f) is not UNSET]
        except ObjectNotFound as exc:
            return f"<missing: {exc}>"
        except NeomodelError as exc:
            what = "object" if type(self) is Unloaded else str(type(self).eClass)
            return f"<{what} {state.oid}: {exc}>"
        shown = ", ".join(f"{name}={_short(value)}" for name, value in values[:3])
        return f"<{kind} {state.oid or '(not stored)'}{': ' if shown else ''}{shown}>"

    def __reduce__(self) -> Any:
        state = self._neo
        if not isinstance(state, Stored):
            raise InvalidValue("an object to pickle or copy", repr(self), "one that is stored in a model")
        return state.model.pickled(state.oid)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._neo.kind.features})

    # reflection: the names are EMF's

    def eContainer(self) -> "Element | None":
        """The object that contains this one; None of a root and of a transient object that nothing contains."""
        return self._neo.container  # type: ignore[no-any-return]

    def eContainmentFeature(self) -> EFeature | None:
        """The feature of the container that holds this object."""
        place = self._neo.place
        return None if place is None or place[0]._neo.oid == ids.ROOT else place[1]

    @property
    def eContents(self) -> "list[Element]":
        """The objects it contains directly."""
        return subtrees.children_of([self])[0][1]

    def eAllContents(self) -> "Iterator[Element]":
        """All it contains, each before what it contains itself. Of many children, some hundred are held at a time."""
        ahead = [_children(self, self._neo.kind.containments)]
        while ahead:
            for child in ahead[-1]:
                yield child
                containments = child._neo.kind.containments
                if containments:
                    ahead.append(_children(child, containments))
                    break
            else:
                ahead.pop()

    @property
    def eResource(self) -> "Model | None":
        """The model it is stored in."""
        return self._neo.model  # type: ignore[no-any-return]

    def eGet(self, feature: str | EFeature) -> Any:
        return read(self, self._neo.kind.feature(feature))

    def eSet(self, feature: str | EFeature, value: Any) -> None:
        write(self, self._neo.kind.feature(feature), value)

    def eIsSet(self, feature: str | EFeature) -> bool:
        """Whether the feature holds something of its own; a collection or a timeline, whether it is not empty."""
        found = self._neo.kind.feature(feature)
        if found.container:
            return read(self, found) is not None
        raw = self._neo.raw(found)
        return bool(raw) if found.many else raw is not UNSET

    def eUnset(self, feature: str | EFeature) -> None:
        found = self._neo.kind.feature(feature)
        _check_changeable(self, found)
        changes.unset(self, found)


def _make_ready(kind: EClass) -> None:
    """Raise what forbids objects of a class, if anything does. Once is enough."""
    if kind.abstract:
        raise InvalidValue(f"the class of a new object, {kind},", "abstract", "a class that is not abstract")
    kind.ePackage.check()
    kind.ready = True


def _children(obj: Element, containments: tuple[EFeature, ...]) -> "Iterator[Element]":
    """The objects it contains directly, one feature after another."""
    for feature in containments:
        if feature.many:
            yield from targets(obj, feature, obj._neo.raw(feature))
        elif (child := current(obj, feature)) is not None:
            yield child


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


class Unloaded(Element):
    """An object whose row was not read yet."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:
        python: type[Any] = self._neo.kind.python
        return python  # and no more: `isinstance` goes by this only while it differs from `type`

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        _loaded(self)
        return getattr(self, name)

    def __repr__(self) -> str:
        try:
            _loaded(self)
        except NeomodelError:
            return super().__repr__()
        return repr(self)

    def __str__(self) -> str:
        try:
            _loaded(self)
        except NeomodelError:
            return super().__repr__()
        return str(self)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_neo":
            object.__setattr__(self, name, value)
        else:
            _loaded(self)
            setattr(self, name, value)

    @property
    def eClass(self) -> EClass:  # type: ignore[override]
        return _loaded(self).eClass  # type: ignore[no-any-return]


_set_class = object.__dict__["__class__"].__set__


def _loaded(obj: Element) -> type[Any]:
    """Make an unloaded object one of its own class."""
    python = obj._neo.kind.python
    _set_class(obj, python)
    return python  # type: ignore[no-any-return]


def unload(obj: Element) -> None:
    """Make a stored object one whose class is asked for when it is needed next."""
    _set_class(obj, Unloaded)


# features


def read(obj: Element, feature: EFeature) -> Any:
    """What the feature reads as: a value, an object, None; a collection or a timeline that is live."""
    if feature.computed:
        return _computed(obj, feature)
    if feature.many:
        return FeatureList(obj, feature)
    if feature.container:
        place = obj._neo.place
        return place[0] if place is not None and place[1].eOpposite is feature else None
    if feature.reference:
        return current(obj, feature)
    if feature.timeline:
        return Timeline(obj, feature)
    raw = obj._neo.raw(feature)
    return feature.default if raw is UNSET else raw


def write(obj: Element, feature: EFeature, value: Any) -> None:
    _check_changeable(obj, feature)
    _let_hold(obj, feature, value)


def _acceptable(feature: EFeature, value: Any) -> Any:
    if feature.many:
        return [checked(feature, one) for one in several(feature, value)]
    return checked(feature, value)


def _let_hold(obj: Element, feature: EFeature, value: Any) -> None:
    if feature.many:
        changes.rearrange(obj, feature, value)
    else:
        changes.assign(obj, feature, value)


def _computed(obj: Element, feature: EFeature) -> Any:
    found = getattr(obj._neo.kind.python, feature.name, None)
    if isinstance(found, property):
        return found.__get__(obj)
    raise FeatureNotFound(str(obj.eClass), feature.name, " here: it is volatile, import the module that computes it")


def _check_changeable(obj: Element, feature: EFeature) -> None:
    if feature.timeline:
        raise InvalidValue(f"{feature} of {obj!r}", "a timeline", f"a feature that is set as a whole; {_RECORD} of it")
    if feature.computed or not feature.changeable:
        raise InvalidValue(f"{feature} of {obj!r}", "not changeable", "a feature that is")
    if obj._neo.oid and feature in obj._neo.kind.key:
        raise InvalidValue(f"{feature} of {obj!r}", "part of its key", "a feature that is not; create another object")


class Access:
    """A feature as an attribute of a Python class."""

    __slots__ = ("feature",)

    def __init__(self, feature: EFeature) -> None:
        self.feature = feature

    def __get__(self, obj: Element | None, owner: type[Any]) -> Any:
        return self.feature if obj is None else read(obj, self.feature)

    def __set__(self, obj: Element, value: Any) -> None:
        write(obj, self.feature, value)


_RESERVED = frozenset(vars(Element))


def accesses(kind: EClass) -> dict[str, Access]:
    """The attributes of a Python class of this kind. Names that Element has are reached by `eGet` only."""
    return {f.name: Access(f) for f in kind.features.values() if f.name not in _RESERVED and not f.computed}


def build(kind: EClass, computed: Mapping[str, property] = _NOTHING) -> type[Any]:
    """A Python class for a class that no Python code declares; `computed` has what its volatile features read as."""
    body = {"__slots__": (), "__module__": kind.ePackage.name, "__qualname__": kind.name, "eClass": kind}
    return type(kind.name, _bases(kind), {**body, **accesses(kind), **computed})


def _bases(kind: EClass) -> tuple[type[Any], ...]:
    """The Python classes of the super types, so far as Python can line them up; Ecore takes them in any order."""
    parents = [parent.python for parent in kind.eSuperTypes]
    nearest = [p for p in dict.fromkeys(parents) if not any(o is not p and issubclass(o, p) for o in parents)]
    for bases in (nearest, nearest[::-1]):
        try:
            type("Probe", (*bases, Element) if not bases else tuple(bases), {"__slots__": ()})
        except TypeError:
            continue
        return tuple(bases) or (Element,)
    return (Element,)


# public functions


def oid(obj: Element) -> str | None:
    """The object's id; None of one that was never stored nor referred to."""
    return state_of(obj).oid  # type: ignore[no-any-return]


def identify(obj: Element, oid: str) -> None:
    """Say which id a transient object will have once it is stored. Whoever says so vouches that it is free."""
    state = state_of(obj)
    if not isinstance(state, Transient) or state.oid not in (None, oid):
        raise InvalidValue("an object to name", obj, "a transient one that has no id yet")
    state.oid = ids.check_oid(oid)


__all__ = ["Access", "Element", "Unloaded", "accesses", "build", "identify", "oid", "read", "unload", "write"]
