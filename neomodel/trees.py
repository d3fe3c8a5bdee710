"""A list of any length as a tree of cells: each change and each page of it touches a few cells.

Entries lie in leaves, each with its *position*, by which it can be found; where a leaf lies in the list follows from
the numbers of entries in those before it. The root is a value of its own. Nodes keep their names when they change, so a
reader who has an older root may find a newer node: if it has another number of entries, that is `OutdatedError`.

Positions grow along the list, but for some entries that came late; so finding one by its position may fail, and then
all leaves are looked through.
"""

import secrets
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Any, NamedTuple

import attrs

MARK = b"\xff"
"""What the cell of a root starts with; no text does."""
NAME = 6
POSITION = 11
_COUNT = 5
_CHILD = NAME + POSITION + _COUNT


class OutdatedError(Exception):
    """A node is not there, or not what the one above says: the tree has changed since its root was read."""


class Limits(NamedTuple):
    """How long a list may be that is kept in one cell, and how large the nodes of a tree get."""

    inline: int = 256
    leaf: int = 512
    fan: int = 64


LIMITS = Limits()


class Child(NamedTuple):
    """A node: its name, the position of its first entry, the number of entries in it."""

    name: bytes
    low: bytes
    size: int


class Leaf(NamedTuple):
    positions: list[bytes]
    values: list[Any]


@attrs.frozen
class Root:
    """What is known of a tree from the start. `name` tells its cells from those of another list in their place."""

    name: bytes
    level: int = 0
    last: bytes = bytes(POSITION)
    """The greatest position in it."""
    children: tuple[Child, ...] = ()

    @property
    def count(self) -> int:
        return sum(child.size for child in self.children)

    def stored(self) -> bytes:
        return MARK + bytes([self.level]) + self.name + self.last + _stored_children(self.children)

    @classmethod
    def load(cls, cell: bytes) -> "Root":
        """The root in a cell; ValueError for what can't be one."""
        start = 2 + NAME + POSITION
        if len(cell) < start or (len(cell) - start) % _CHILD:
            raise ValueError("the root of a list is cut off")
        return cls(cell[2 : 2 + NAME], cell[1], cell[2 + NAME : start], tuple(_children(cell[start:])))


def new_name() -> bytes:
    return secrets.token_bytes(NAME)


@attrs.define
class Tree:
    """A tree at one moment, and changes of it that wait to be written. `fetch` reads cells of nodes by name; nodes that
    were read stay here."""

    root: Root
    fetch: Callable[[list[bytes]], dict[bytes, bytes]]
    encode: Callable[[list[Any]], bytes]
    decode: Callable[[bytes], list[Any]]
    nodes: dict[bytes, Any] = attrs.field(factory=dict)
    writes: dict[bytes, bytes | None] = attrs.field(factory=dict)
    made: set[bytes] = attrs.field(factory=set)
    """The names of new nodes: nobody can see them before the new root."""

    # reading

    def values(self, start: int, stop: int) -> list[Any]:
        """The entries in a range."""
        found: list[Any] = []
        for base, leaf in self._leaves(start, stop):
            found += leaf.values[max(0, start - base) : stop - base]
        return found

    def positions(self, start: int, stop: int) -> list[bytes]:
        found: list[bytes] = []
        for base, leaf in self._leaves(start, stop):
            found += leaf.positions[max(0, start - base) : stop - base]
        return found

    def find(self, position: bytes, value: Any) -> int | None:
        """Where an entry is, by its position and value; values are the same if their bytes are."""
        wanted = self.encode([value])
        for base, leaf in self._near(position):
            for at, known in enumerate(leaf.positions):
                if known == position and self.encode([leaf.values[at]]) == wanted:
                    return base + at
        return None

    def _near(self, position: bytes) -> Iterator[tuple[int, Leaf]]:
        """The leaves that may have a position, the likely one first."""
        children, base = list(self.root.children), 0
        for level in range(self.root.level, -1, -1):
            at = max(0, bisect_right(children, position, key=lambda child: child.low) - 1)
            if not children:
                return
            base += sum(child.size for child in children[:at])
            self._load([children[at]])
            if level == 0:
                yield base, self.nodes[children[at].name]
            else:
                children = self.nodes[children[at].name]
        yield from self._leaves(0, self.root.count)

    def _leaves(self, start: int, stop: int) -> Iterator[tuple[int, Leaf]]:
        """The leaves that have entries in a range, each with the number of entries before it."""
        wanted = list(_within(0, self.root.children, start, stop))
        for _ in range(self.root.level):
            self._load([child for _, child in wanted])
            wanted = [pair for base, child in wanted for pair in _within(base, self.nodes[child.name], start, stop)]
        for first in range(0, len(wanted), LIMITS.fan):
            page = wanted[first : first + LIMITS.fan]
            self._load([child for _, child in page])
            for base, child in page:
                yield base, self.nodes[child.name]

    def _load(self, children: list[Child]) -> None:
        missing = {child.name: child for child in children if child.name not in self.nodes}
        if missing:
            if len(self.nodes) > 2 * LIMITS.fan:
                kept = {child.name for child in children}.union(self.writes)
                self.nodes = {name: node for name, node in self.nodes.items() if name in kept}
            found = self.fetch(list(missing))
            for name, child in missing.items():
                if name not in found:
                    raise OutdatedError
                node = self._decoded(found[name])
                if _size(node) != child.size:
                    raise OutdatedError
                self.nodes[name] = node

    # changing

    def splice(self, at: int, removed: int, added: Leaf) -> None:
        """Let `added` take the place of `removed` entries."""
        root = self.root
        children = self._spliced(list(root.children), root.level, at, removed, added)
        level = root.level
        while len(children) > LIMITS.fan:
            children = self._kept(_cut(children, LIMITS.fan, filled=True), [])
            level += 1
        if not children:
            level = 0
        self.root = attrs.evolve(root, level=level, last=max([root.last, *added.positions]), children=tuple(children))

    def _spliced(self, children: list[Child], level: int, at: int, removed: int, added: Leaf) -> list[Child]:
        """The nodes at a level after a change of what lies in them."""
        ends = list(accumulate(child.size for child in children))
        total = ends[-1] if ends else 0
        first = max(0, min(bisect_right(ends, at), len(children) - 1))
        last = max(first, min(bisect_right(ends, at + removed - 1), len(children) - 1)) if removed else first
        touched = children[first : last + 1]
        self._load(touched)
        base = ends[first] - children[first].size if children else 0
        filled = at + removed == total  # at the end nodes are filled, elsewhere they are cut in halves
        items: list[Any]
        if level:
            items = [part for child in touched for part in self.nodes[child.name]]
            items = self._spliced(items, level - 1, at - base, removed, added)
            pieces: list[Any] = _cut(items, LIMITS.fan, filled=filled)
        else:
            before = [pair for child in touched for pair in zip(*self.nodes[child.name], strict=True)]
            items = [*before[: at - base], *zip(*added, strict=True), *before[at - base + removed :]]
            pieces = [Leaf(*map(list, zip(*piece, strict=True))) for piece in _cut(items, LIMITS.leaf, filled=filled)]
        return [*children[:first], *self._kept(pieces, touched), *children[last + 1 :]]

    def _kept(self, pieces: list[Any], before: list[Child]) -> list[Child]:
        """Write nodes, in the places of those before them."""
        names = [child.name for child in before]
        new = [new_name() for _ in range(len(pieces) - len(names))]
        self.made.update(new)
        names += new
        for name in names[len(pieces) :]:
            self.nodes.pop(name, None)
            self.writes[name] = None
        kept = []
        for name, piece in zip(names, pieces, strict=False):
            cell = self.encoded(piece)
            if name not in self.nodes or self.encoded(self.nodes[name]) != cell:
                self.nodes[name] = piece
                self.writes[name] = cell
            kept.append(Child(name, _low(piece), _size(piece)))
        return kept

    def encoded(self, node: Any) -> bytes:
        """The cell of a node."""
        if not isinstance(node, Leaf):
            return MARK + _stored_children(node)
        return len(node.positions).to_bytes(2, "big") + b"".join(node.positions) + self.encode(node.values)

    def _decoded(self, cell: bytes) -> Any:
        if cell[:1] == MARK:
            return list(_children(cell[1:]))
        count = int.from_bytes(cell[:2], "big")
        end = 2 + count * POSITION
        positions = [cell[at : at + POSITION] for at in range(2, end, POSITION)]
        values = self.decode(cell[end:])
        if len(values) != count:
            raise ValueError(f"a part of a list that says it has {count} entries has {len(values)}")
        return Leaf(positions, values)


class Growth:
    """A new tree that is made from left to right, as `Tree.splice` would make it of all entries at once. Of what it
    holds no more is in memory than the last node of each level."""

    def __init__(self, encode: Callable[[list[Any]], bytes], named: Callable[[], bytes] = new_name) -> None:
        """`named` gives names: of the tree, and of each of its nodes."""
        self._named = named
        self.name = named()
        self.last = bytes(POSITION)
        self._tree = Tree(Root(self.name), lambda _: {}, encode, lambda _: [])
        self._levels: list[list[Child]] = [[]]

    def add(self, leaf: Leaf) -> dict[bytes, bytes]:
        """Put a leaf at the end; the cells of the nodes that are complete, by name. All but the last one are full."""
        self.last = max(self.last, *leaf.positions)
        made: dict[bytes, bytes] = {}
        self._put(0, leaf, made)
        return made

    def finish(self) -> tuple[Root, dict[bytes, bytes]]:
        """The root, and the cells of the nodes that were not complete before."""
        made: dict[bytes, bytes] = {}
        level = 0
        while level < len(self._levels) - 1:  # which putting may add to
            self._put(level + 1, self._levels[level], made)
            level += 1
        return Root(self.name, level, self.last, tuple(self._levels[level])), made

    def _put(self, level: int, node: Any, made: dict[bytes, bytes]) -> None:
        if level == len(self._levels):
            self._levels.append([])
        nodes = self._levels[level]
        if len(nodes) == LIMITS.fan:
            self._put(level + 1, nodes, made)
            nodes = self._levels[level] = []
        name = self._named()
        made[name] = self._tree.encoded(node)
        nodes.append(Child(name, _low(node), _size(node)))


def _low(node: Any) -> bytes:
    low: bytes = node.positions[0] if isinstance(node, Leaf) else node[0].low
    return low


def _size(node: Any) -> int:
    """How many entries there are in a node."""
    return len(node.positions) if isinstance(node, Leaf) else sum(child.size for child in node)


def _within(base: int, children: Iterable[Child], start: int, stop: int) -> Iterator[tuple[int, Child]]:
    for child in children:
        if base < stop and start < base + child.size:
            yield base, child
        base += child.size


def _cut(items: list[Any], most: int, *, filled: bool) -> list[list[Any]]:
    """The items in parts of at most so many: full ones, or all of about the same size."""
    parts = -(-len(items) // most)
    size = most if filled or parts == 0 else -(-len(items) // parts)
    return [items[at : at + size] for at in range(0, len(items), size)]


def _stored_children(children: Iterable[Child]) -> bytes:
    return b"".join(name + low + size.to_bytes(_COUNT, "big") for name, low, size in children)


def _children(stored: bytes) -> Iterator[Child]:
    for at in range(0, len(stored), _CHILD):
        low, count = at + NAME, at + NAME + POSITION
        yield Child(stored[at:low], stored[low:count], int.from_bytes(stored[count : at + _CHILD], "big"))
