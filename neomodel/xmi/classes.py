"""Which class an element is of."""

from collections.abc import Callable

from neomodel import ids
from neomodel.errors import InvalidFile, near
from neomodel.kinds import EClass
from neomodel.metamodel import ANYTHING
from neomodel.naming import key_part
from neomodel.xmi.shapes import Shape, Shapes, Slot, read_value
from neomodel.xmi.source import XMI, XSI, Source

TYPES = (f"{XSI} type", f"{XMI} type")
"""The attributes by which an element says of which class it is."""


class Classes:
    """The classes that names in one file mean."""

    def __init__(self, shapes: Shapes, source: Source, tell: Callable[[str], None]) -> None:
        self._shapes = shapes
        self._source = source
        self._tell = tell
        self._generation = -1
        self._named: dict[str, Shape] = {}
        self._told: set[str] = set()

    def usual(self, slot: Slot) -> Shape:
        """The class of what a feature holds if nothing is said of it."""
        if slot.usual is None:
            kind = slot.feature.eType
            if kind.type_name == ANYTHING:
                raise self._source.fault(f"{slot.feature} may hold objects of every class; say which by xsi:type")
            slot.usual = self._shapes.of(self._usable(kind))
        return slot.usual

    def named(self, name: str) -> Shape | None:
        """The class of a name with a prefix, as xsi:type has it; None if there is none."""
        if self._generation != self._source.generation:
            self._generation = self._source.generation
            self._named.clear()
        found = self._named.get(name)
        if found is None:
            prefix, _, local = name.strip().rpartition(":")
            found = self.of(self._source.namespace(prefix) or "", local, name)
            if found is not None:
                self._named[name] = found
        return found

    def of(self, uri: str, local: str, said: str) -> Shape | None:
        """The class of a name in a namespace; None if there is none."""
        kind, guessed = self._shapes.named(uri, local)
        if kind is None:
            return None
        if guessed and said not in self._told:
            self._told.add(said)
            self._tell(
                f"{said} is taken for {kind}: no metamodel has the namespace {uri!r}, and no other class the name"
            )
        return self._shapes.of(self._usable(kind))

    def keyed(self, shape: Shape, attributes: list[str]) -> str:
        """The id of an object whose class has a natural key."""
        told = dict(zip(attributes[::2], attributes[1::2], strict=True))
        parts = []
        for feature in shape.key:
            try:
                value = read_value(feature, told[feature.name]) if feature.name in told else feature.default
                parts.append(key_part(feature, value, feature.name))
            except ValueError as exc:
                reason = f"{feature} is part of a key: it has to be given as an attribute, with a value that can be one"
                raise self._source.fault(reason) from exc
        return ids.natural(shape.kind.ePackage.nsPrefix, shape.kind.name, parts)

    def missing(self, said: str, uri: str | None = None) -> InvalidFile:
        """The error that there is no such class."""
        prefix, _, local = said.strip().rpartition(":")
        uri = (self._source.namespace(prefix) or "") if uri is None else uri
        if not self._shapes.knows(uri):
            if not uri:
                return self._source.fault(f"{said} has no namespace; is this a file of XMI?")
            found = f"{said} has the namespace {uri!r}, of which there is no metamodel"
            return self._source.fault(f"{found}; give it with --metamodel, or register it")
        return self._source.fault(f"there is no class {local!r} in {uri!r}{near(local, self._shapes.names(uri))}")

    def _usable(self, kind: EClass) -> EClass:
        if kind.abstract:
            raise self._source.fault(f"{kind} is abstract: say of which class this is, by xsi:type")
        return kind


def said_class(attributes: list[str]) -> str | None:
    """The name of the class that an element says it is of."""
    names = attributes[::2]
    for name in TYPES:
        if name in names:
            return attributes[2 * names.index(name) + 1]
    return None
