"""The objects of a model that somebody holds."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from weakref import ref

from neomodel.ids import HEAD, PAIRS, RANDOM

if TYPE_CHECKING:
    from neomodel.objects import Element

_NAMES = {pair: pair for pair in PAIRS}
_FEW = 1000  # references to objects that are gone may be there in any case


class Block(dict[str, "ref[Element]"]):
    """The objects whose ids differ in their last characters alone, by these. An id is so kept in two parts which others
    have too, and needs no memory of its own."""

    __slots__ = ("head",)

    def __init__(self, head: str) -> None:
        super().__init__()
        self.head = head
        """What their ids begin with."""


class Live:
    """Objects by id, for as long as somebody else holds them.

    Of a stored object its state is the reference that is here. Those to objects that are gone stay until they are as
    many as the others: looking for them then costs less, for each object, than being told of every one that goes.
    """

    __slots__ = ("_blocks", "_count", "_others", "_room")

    def __init__(self) -> None:
        self._blocks: dict[str, Block] = {}
        self._others = Block("")
        """Of ids that are not random: these have few neighbours, or none."""
        self._count = 0
        self._room = _FEW

    def get(self, oid: str) -> "Element | None":
        block = self._others if len(oid) != RANDOM else self._blocks.get(oid[:HEAD])
        found = None if block is None else block.get(oid if block is self._others else oid[HEAD:])
        return None if found is None else found()

    def those(self, oids: Iterable[str]) -> "Iterator[tuple[str, Element | None]]":
        """Each id, and the object if there is one."""
        blocks, others = self._blocks, self._others
        for oid in oids:
            if len(oid) != RANDOM:
                found = others.get(oid)
            else:
                block = blocks.get(oid[:HEAD])
                found = None if block is None else block.get(oid[HEAD:])
            yield oid, None if found is None else found()

    def enter(self, oid: str, reference: "ref[Element]") -> tuple[Block, str]:
        """Let an object be found by its id; returns the two parts of that."""
        if len(oid) != RANDOM:
            block, name = self._others, oid
        else:
            head, name = oid[:HEAD], oid[HEAD:]
            name = _NAMES.get(name, name)
            known = self._blocks.get(head)
            block = known if known is not None else self._blocks.setdefault(head, Block(head))
        block[name] = reference
        self._count += 1
        if self._count > self._room:
            self._sweep()
        return block, name

    def put(self, oid: str, element: "Element") -> None:
        """Let an object be found that has no row yet."""
        self.enter(oid, ref(element))

    def setdefault(self, oid: str, element: "Element") -> "Element":
        """The object that has the id: the one that is there, else this one."""
        found = self.get(oid)
        if found is None:
            self.put(oid, element)
            return element
        return found

    def drop(self, oid: str) -> None:
        """Know no object of that id, if there was one."""
        if len(oid) != RANDOM:
            self._others.pop(oid, None)
        elif oid[:HEAD] in self._blocks:
            self._blocks[oid[:HEAD]].pop(oid[HEAD:], None)

    def references(self) -> "list[ref[Element]]":
        """Those to objects that are gone among them."""
        return [found for block in (self._others, *self._blocks.values()) for found in block.values()]

    def _sweep(self) -> None:
        for block in (self._others, *self._blocks.values()):
            for name in [name for name, found in block.items() if found() is None]:
                del block[name]
        for head in [head for head, block in self._blocks.items() if not block]:
            del self._blocks[head]  # in place: `those` may be at work
        self._count = len(self.references())
        self._room = 2 * self._count + _FEW

    def __iter__(self) -> "Iterator[Element]":
        return (element for found in self.references() if (element := found()) is not None)

    def __contains__(self, oid: str) -> bool:
        return self.get(oid) is not None

    def __len__(self) -> int:
        return sum(1 for _ in self)
