"""Circles of containment: two moves at a time that together would make one, and one that is there."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

import neomodel as nm
from neomodel import layout
from neomodel.repository import Repository
from neomodel.stores import Mutation, Store, open_store
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


@pytest.fixture
def circle() -> tuple[nm.Model, Any, Any]:
    """A model, and two of its objects whose rows say that each lies in the other."""
    repository = nm.connect("memory:")
    repository.register(tree)
    written = repository.create("m")
    b = Node(name="b")
    a = Node(name="a", parts=[b])
    written.roots.extend([a, Node(name="c", parts=[Node(name="d")])])
    b.parts.append(Node(name="x"))
    listing = b.eResource.table.get(nm.oid(a).encode(), columns=(b"p:parts",)) or {}
    back = listing[b"p:parts"].replace(nm.oid(b).encode(), nm.oid(a).encode())
    cells = {nm.oid(a): layout.placed(nm.oid(b), "parts"), nm.oid(b): {b"p:parts": back}}
    written.table.put_many([Mutation(oid.encode(), row) for oid, row in cells.items()])
    model = Repository(repository.store).open("m")
    return model, model[nm.oid(a)], model[nm.oid(b)]


def test_what_is_put_into_a_circle_is_refused_and_stays_where_it_is(circle: tuple[nm.Model, Any, Any]) -> None:
    model, _, b = circle
    (c,) = (root for root in model.roots if root.name == "c")

    with pytest.raises(nm.CorruptRow, match=r"the container of object m/.* run `neomodel check m --repair`"):
        b.parts.append(c)

    assert c.eContainer() is None
    assert [node.name for node in c.parts] == ["d"]


def test_a_circle_is_deleted_whole(circle: tuple[nm.Model, Any, Any]) -> None:
    model, a, _ = circle

    assert nm.delete(a).objects == 2
    assert [root.name for root in model.roots] == ["c"]
    assert nm.check(model, repair=True, patience=0).left == 0
