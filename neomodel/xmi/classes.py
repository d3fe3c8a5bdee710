"""Which class an element is of."""

from collections.abc import Callable

from neomodel.errors import InvalidFile, near
from neomodel.kinds import EClass
from neomodel.metamodel import ECORE
from neomodel.xmi.shapes import Shape, Shapes, Slot
from neomodel.xmi.source import Source


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
            if kind.ePackage.nsURI == ECORE:
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

    def missing(self, said: str, uri: str | None = None) -> InvalidFile:
        """The error that there is no such class."""
        prefix, _, local = said.strip().rpartition(":")
        uri = (self._source.namespace(prefix) or "") if uri is None else uri
        if uri == ECORE:
            return self._source.fault(
                f"{said} is a class of Ecore itself: the file holds a metamodel; read it with `neomodel register`"
            )
        if not self._shapes.knows(uri):
            where = f"the namespace {uri!r}" if uri else "no namespace"
            return self._source.fault(
                f"{said} has {where}, of which there is no metamodel; give it with --metamodel, or register it"
            )
        return self._source.fault(f"there is no class {local!r} in {uri!r}{near(local, self._shapes.names(uri))}")

    def _usable(self, kind: EClass) -> EClass:
        if kind.abstract:
            raise self._source.fault(f"{kind} is abstract: say of which class this is, by xsi:type")
        return kind
