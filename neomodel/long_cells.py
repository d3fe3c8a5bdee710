"""The cells of a collection that outgrew its own: see `long_lists` for what they are."""

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import count, islice
from typing import Any

from neomodel import codecs, layout, trees
from neomodel.kinds import EFeature
from neomodel.stores import Cells, Mutation
from neomodel.stores.clock import Clock
from neomodel.trees import MARK, Growth, Leaf, Root, Tree

MANY = 5000  # cells written to one row at a time

_clock = Clock()
_mark = b""


def _draw_mark() -> None:
    """What tells positions of this process from those that others give at the same moment."""
    global _mark
    _mark = secrets.token_bytes(trees.POSITION - 8)


_draw_mark()
os.register_at_fork(after_in_child=_draw_mark)


def is_long(cell: bytes) -> bool:
    """Whether a cell of a collection holds the root of a long one."""
    return cell[:1] == MARK


def new_cells(feature: EFeature, values: list[Any]) -> dict[bytes, bytes | None]:
    """The cells of a new long collection."""
    name = trees.new_name()
    tree = planted(feature, Root(name), lambda _: {})
    positions = new_positions(len(values))
    tree.splice(0, 0, Leaf(positions, values))
    cells = written_by(feature, tree)
    if feature.unique:
        cells.update(zip(hints_of(feature, name, values), positions, strict=True))
    return cells


class Growing:
    """A new long collection that is filled from its start, in memory that does not grow with it."""

    def __init__(self, feature: EFeature, write: Callable[[Cells], None], *, seed: bytes | None = None) -> None:
        """`write` gets the cells of its extents as they are made: they go into the row of the collection's object.
        With a `seed` the cells are the same whenever the same collection is made."""
        self._feature = feature
        self._write = write
        self._seed = seed
        encode = planted(feature, Root(b""), lambda _: {}).encode
        self._growth = Growth(encode) if seed is None else Growth(encode, _names(seed).__next__)
        self._values: list[Any] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count + len(self._values)

    def extend(self, values: Iterable[Any]) -> None:
        remaining = iter(values)
        while some := list(islice(remaining, trees.LIMITS.leaf - len(self._values))):
            self._values += some
            if len(self._values) == trees.LIMITS.leaf:
                self._flush()

    def append(self, value: Any) -> None:
        self.extend((value,))

    def root(self) -> bytes:
        """All is in it: the cell of the feature."""
        if self._values:
            self._flush()
        root, nodes = self._growth.finish()
        if nodes:
            self._write(self._columns(nodes))
        return root.stored()

    def _flush(self) -> None:
        feature, growth, values = self._feature, self._growth, self._values
        if self._seed is None:
            positions = new_positions(len(values), after=growth.last)
        else:
            positions = [
                (number + 1).to_bytes(8, "big") + bytes(trees.POSITION - 8)  # before all that are given later
                for number in range(self._count, self._count + len(values))
            ]
        cells = self._columns(growth.add(Leaf(positions, values)))
        if feature.unique:
            cells.update(zip(hints_of(feature, growth.name, values), positions, strict=True))
        self._write(cells)
        self._count += len(values)
        self._values = []

    def _columns(self, nodes: dict[bytes, bytes]) -> dict[bytes, bytes | None]:
        return {column_of(self._feature, self._growth.name, b"n" + name): cell for name, cell in nodes.items()}


def _names(seed: bytes) -> Iterator[bytes]:
    for number in count():
        yield blake2b(b"%s %d" % (seed, number), digest_size=trees.NAME).digest()


def in_parts(key: bytes, cells: Cells) -> Iterator[Mutation]:
    """Cells of one row, some thousands at a time."""
    remaining = iter(cells.items())
    while some := dict(islice(remaining, MANY)):
        yield Mutation(key, some)


def tokens_in(feature: EFeature, cells: Cells) -> list[Any]:
    """What a collection of references holds whose cells are at hand."""
    cell = cells.get(feature.column) or b""
    if not is_long(cell):
        return codecs.decode_refs(cell)
    root = Root.load(cell)
    nodes = column_of(feature, root.name, b"n")
    tree = planted(feature, root, lambda names: {name: cells[nodes + name] or b"" for name in names})
    return tree.values(0, root.count)


def planted(feature: EFeature, root: Root, fetch: Callable[[list[bytes]], dict[bytes, bytes]]) -> Tree:
    """The tree of a collection, with its values as the feature has them."""
    if feature.reference:
        return Tree(root, fetch, codecs.encode_refs, codecs.decode_refs)
    codec = feature.codec
    return Tree(root, fetch, lambda values: codecs.encode_many(codec, values), lambda c: codecs.decode_many(codec, c))


def written_by(feature: EFeature, tree: Tree) -> dict[bytes, bytes | None]:
    """The cells by which changes of a tree are stored, its root among them."""
    name = tree.root.name
    nodes = {column_of(feature, name, b"n" + node): cell for node, cell in tree.writes.items()}
    return {**nodes, feature.column: tree.root.stored()}


def column_of(feature: EFeature, name: bytes, rest: bytes) -> bytes:
    """A column of the list of that name: a letter and what it is of."""
    return _head(feature.name) + name + rest


@lru_cache(maxsize=1024)
def _head(feature: str) -> bytes:
    """What all columns of its lists begin with."""
    return layout.extent(layout.collection(feature))


def hint_of(feature: EFeature, name: bytes, value: Any) -> bytes:
    """The column that says where to look for a value."""
    return hints_of(feature, name, [value])[0]


def hints_of(feature: EFeature, name: bytes, values: Iterable[Any]) -> list[bytes]:
    """The columns that say where to look for values."""
    head = column_of(feature, name, b"i")
    cells = [value.encode() for value in values] if feature.reference else [single_cell(feature, v) for v in values]
    return [head + blake2b(cell, digest_size=12).digest() for cell in cells]


def single_cell(feature: EFeature, value: Any) -> bytes:
    """The cell of one entry; the same for values that a unique collection takes for the same."""
    return value.encode() if feature.reference else codecs.encode_single(feature.codec, value)


def single_value(feature: EFeature, cell: bytes) -> Any:
    """The entry in a cell."""
    return cell.decode() if feature.reference else codecs.decode_single(feature.codec, cell)


def new_positions(count: int, *, after: bytes = b"") -> list[bytes]:
    """So many positions, later than all that this process gave before and than `after`."""
    first = _clock.tick(max(count, 1), after=int.from_bytes(after[:8], "big"))
    return [time.to_bytes(8, "big") + _mark for time in range(first, first + count)]
