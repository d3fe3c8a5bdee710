"""Two moves at a time that together would make a circle."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

import neomodel as nm
from neomodel.repository import Repository
from neomodel.stores import Store, open_store
from neomodel.stores.wrappers.base import Call, WrappedStore

T = TypeVar("T")

tree = nm.package("circles", "http://example.org/circles")


@tree.define
class Node:
    name: str
    parts: list["Node"] = nm.contains()


class Interposing(WrappedStore):
    """Does something else right before a swap that is to come."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.to_come = 0
        self.other: Callable[[], Any] = lambda: None

    def writing(self, call: Call, ask: Callable[[], T]) -> T:
        if call.operation == "swap":
            self.to_come -= 1
            if self.to_come == 0:
                self.other()
        return ask()


@pytest.mark.parametrize("swap", [1, 2], ids=["before the list is written", "before the row is written"])
def test_of_two_moves_that_would_make_a_circle_one_gives_way(swap: int) -> None:
    url = f"memory:circles-{swap}"
    store = Interposing(open_store(url))
    mine = Repository(store)
    mine.register(tree)
    model = mine.create("m")
    a, b = Node(name="a", parts=[Node(name="x")]), Node(name="b", parts=[Node(name="y")])
    model.roots.extend([a, b])
    theirs = nm.connect(url).open("m")
    store.other = lambda: theirs[nm.oid(a)].parts.append(theirs[nm.oid(b)])
    store.to_come = swap

    with pytest.raises(nm.Conflict):
        b.parts.append(a)

    for seen in (model, theirs):
        assert [root.name for root in seen.roots] == ["a"]
        assert [node.name for node in seen.roots[0].eAllContents()] == ["x", "b", "y"]
