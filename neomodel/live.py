"""The objects of a model that somebody holds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    from neomodel.objects import Element

_FEW = 1000  # references to objects that are gone may be there in any case


class Live:
    """Objects by id, for as long as somebody else holds them.

    References to those that are gone stay until they are as many as the others: looking for them then costs less, for
    each object, than being told of every one that goes.
    """

    __slots__ = ("_room", "refs")

    def __init__(self) -> None:
        self.refs: dict[str, ref[Element]] = {}
        """What loops look into: calling what they find gives the object, or None."""
        self._room = _FEW

    def get(self, oid: str) -> "Element | None":
        found = self.refs.get(oid)
        return None if found is None else found()

    def put(self, oid: str, element: "Element") -> None:
        refs = self.refs
        refs[oid] = ref(element)
        if len(refs) > self._room:
            for gone in [oid for oid, found in refs.items() if found() is None]:
                del refs[gone]
            self._room = 2 * len(refs) + _FEW

    def setdefault(self, oid: str, element: "Element") -> "Element":
        """The object that has the id: the one that is there, else this one."""
        found = self.get(oid)
        if found is None:
            self.put(oid, element)
            return element
        return found

    def drop(self, oid: str) -> None:
        """Know no object of that id, if there was one."""
        self.refs.pop(oid, None)

    def __iter__(self) -> "Iterator[Element]":
        return (element for found in list(self.refs.values()) if (element := found()) is not None)

    def __contains__(self, oid: str) -> bool:
        return self.get(oid) is not None

    def __len__(self) -> int:
        return sum(1 for _ in self)
