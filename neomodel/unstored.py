"""Objects that have no row: those in memory only, those that were deleted, and those outside of all models."""

import enum
from collections.abc import Iterable, Mapping
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

from neomodel import ids
from neomodel.errors import InvalidValue, ObjectNotFound
from neomodel.kinds import EClass, EFeature

if TYPE_CHECKING:
    from neomodel.amendments import Amendment
    from neomodel.model import Model
    from neomodel.objects import Element


def state_of(obj: Any) -> Any:
    """What an object holds, for functions that take one; `InvalidValue` of anything else, be it a class."""
    state = getattr(obj, "_neo", None)
    if state is None or isinstance(state, MemberDescriptorType):  # `isinstance` of the object might read its row
        raise InvalidValue("what should be an object", obj, "one of a model, or made of a class of a metamodel")
    return state


class Unset(enum.Enum):
    UNSET = enum.auto()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset.UNSET
"""What a single-valued feature holds that has no value, not even None."""

Place = tuple["Element", EFeature]
"""A container and the feature by which it holds a child."""


class InMemory:
    """What holds hard references to other objects."""

    __slots__ = ()
    kind: EClass
    place: Place | None
    values: dict[str, Any]

    @property
    def container(self) -> "Element | None":
        return None if self.place is None else self.place[0]

    def raw(self, feature: EFeature) -> Any:
        """What the feature holds: a value or token, None, or UNSET; of a collection all of them, not to be changed: a
        list, or a `LongList`."""
        return self.values.get(feature.name, [] if feature.many else UNSET)

    def target(self, token: Any, feature: EFeature) -> "Element":  # noqa: ARG002  as `Stored` has it
        return token  # type: ignore[no-any-return]

    def targets(self, tokens: "Iterable[Element]", feature: EFeature) -> "list[Element]":  # noqa: ARG002
        return list(tokens)


class Transient(InMemory):
    """An object in memory only. `oid` is the id it will have, once that is known."""

    __slots__ = ("kind", "oid", "place", "values")
    model: "Model | None" = None

    def __init__(self, kind: EClass, oid: str | None = None) -> None:
        self.kind = kind
        self.oid = oid
        self.place = None
        self.values = {}

    def token(self, target: "Element", feature: EFeature) -> Any:  # noqa: ARG002  as `Stored` has it
        return target

    def write(self, changes: Mapping[EFeature, Any]) -> None:
        for feature, raw in changes.items():
            if raw is UNSET or (feature.many and raw == []):
                self.values.pop(feature.name, None)
            else:
                self.values[feature.name] = raw

    def amend(self, feature: EFeature, change: "Amendment") -> None:
        self.write({feature: change(self.raw(feature))})

    def where(self) -> str:
        return f"{self.kind} {self.oid or '(not stored)'}"


class Gone:
    """An object that was deleted. Whatever is asked of it raises `ObjectNotFound`."""

    __slots__ = ("deleted",)
    model: "Model | None" = None

    def __init__(self, deleted: str) -> None:
        self.deleted = deleted

    def __getattr__(self, name: str) -> Any:
        raise ObjectNotFound(self.deleted, "it was deleted", "keep no reference to it")


class Elsewhere(Gone):
    """An object of a file that was not imported. Whatever is asked of it raises `ObjectNotFound`, which names it."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        uri, fragment, _ = ids.split_elsewhere(self.deleted)
        where = f"{uri}#{fragment}" if fragment else uri
        raise ObjectNotFound(where, "its file was not imported", "import that into the same model, too (--add)")


class Known(InMemory, Elsewhere):
    """An object of a metamodel that is always there: it is read as others are, and never changed."""

    __slots__ = ("kind", "place", "values")
    oid = None

    def __init__(self, token: str, kind: EClass) -> None:
        super().__init__(token)
        self.kind = kind
        self.place = None
        self.values = {}

    def where(self) -> str:
        return "#".join(ids.split_elsewhere(self.deleted)[:2])

    def __getattr__(self, name: str) -> Any:
        raise ObjectNotFound(self.where(), "it is always there, but in no model", "make an object of your own")
