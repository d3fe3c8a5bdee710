"""A tree of cells does what a list does, whatever is spliced into it, and says where each entry is."""

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neomodel import trees
from neomodel.codecs import decode_refs, encode_refs
from neomodel.trees import Leaf, Limits, Root, Tree


@pytest.fixture(autouse=True, scope="module")
def _small() -> Iterator[None]:
    before, trees.LIMITS = trees.LIMITS, Limits(2, 4, 3)
    yield
    trees.LIMITS = before


class Kept:
    """A tree whose cells are in a dict: changed, written, and read anew each time."""

    def __init__(self) -> None:
        self.cells: dict[bytes, bytes] = {}
        self.root = Root(b"name!!").stored()
        self.fetched = 0
        self.positions = itertools.count(1)

    def tree(self) -> Tree:
        def fetch(names: list[bytes]) -> dict[bytes, bytes]:
            self.fetched += len(names)
            return {name: self.cells[name] for name in names}

        return Tree(Root.load(self.root), fetch, encode_refs, decode_refs)

    def splice(self, at: int, removed: int, values: list[str]) -> int:
        """How many cells were written."""
        tree = self.tree()
        positions = [next(self.positions).to_bytes(trees.POSITION, "big") for _ in values]
        tree.splice(at, removed, Leaf(positions, values))
        for name, cell in tree.writes.items():
            if cell is None:
                del self.cells[name]
            else:
                self.cells[name] = cell
        self.root = tree.root.stored()
        return len(tree.writes)


words = (str(number) for number in itertools.count())
splices = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9), st.integers(0, 30)), max_size=12)


@given(splices)
def test_splices_do_what_they_do_to_a_list(splices: list[tuple[int, int, int]]) -> None:
    kept, expected = Kept(), list[str]()
    for at, removed, added in splices:
        start = min(at, len(expected))
        stop = min(start + removed, len(expected))
        new = list(itertools.islice(words, added))
        expected[start:stop] = new
        kept.splice(start, stop - start, new)
        tree = kept.tree()
        assert tree.root.count == len(expected)
        assert tree.values(0, len(expected)) == expected
        assert tree.values(start, stop) == expected[start:stop]

    tree = kept.tree()
    positions = tree.positions(0, len(expected))
    for at, (position, value) in enumerate(zip(positions, expected, strict=True)):
        assert tree.find(position, value) == at
    assert tree.find(bytes(trees.POSITION), "nothing") is None
    if not expected:
        assert kept.cells == {}, "no node is left over"


def test_a_change_and_a_page_touch_few_cells_however_long_the_list_is() -> None:
    kept = Kept()
    for first in range(0, 3000, 3):
        kept.splice(first, 0, [str(first), str(first + 1), str(first + 2)])

    assert kept.tree().root.level >= 4
    kept.fetched = 0
    assert kept.tree().values(1500, 1504) == ["1500", "1501", "1502", "1503"]
    assert kept.fetched <= 2 * (1 + kept.tree().root.level)
    assert kept.splice(1500, 1, ["new"]) <= 2 * (1 + kept.tree().root.level)
    assert kept.splice(3000, 0, ["last"]) <= 2 * (1 + kept.tree().root.level)


def test_values_that_are_equal_but_not_the_same_are_told_apart() -> None:
    tree = Tree(Root(b"name!!"), lambda _: {}, lambda values: repr(values).encode(), lambda _: [])
    low, high = (number.to_bytes(trees.POSITION, "big") for number in (1, 2))
    tree.splice(0, 0, Leaf([low, high], [0.0, 1.0]))
    tree.writes.clear()

    tree.splice(0, 1, Leaf([low], [-0.0]))

    assert len(tree.writes) == 1, "it is written though it is equal"
    assert tree.find(low, 0.0) is None
    assert tree.find(low, -0.0) == 0
