"""A walk over a model of any size keeps little of it in memory. A mapped file does not count: the system takes its
pages back when somebody needs the room."""

from collections.abc import Callable

import pytest

from metamodels.java import BodyDeclaration, ClassDeclaration, Modifier, Package, VisibilityKind, java
from neomodel.repository import Repository
from neomodel.stores import Store
from tests.memory import own_memory
from tests.stores.processes import run_each

AT_ONCE = 2000  # classes, of nine objects each
MOST = 300  # MB


@pytest.mark.parametrize("classes", [6_000, pytest.param(222_222, marks=pytest.mark.soak)])
def test_a_walk_over_millions_of_objects_stays_small(
    lmdb_url: str, connect: Callable[[str], Repository], classes: int, figures: Callable[[str], None]
) -> None:
    connect(lmdb_url).register(java)
    run_each([(_make, (classes,), {})], lmdb_url)

    [(few, _)] = run_each([(_walk, (9 * 2000,), {})], lmdb_url)
    [(most, count)] = run_each([(_walk, (None,), {})], lmdb_url)

    assert count == 9 * classes
    assert most < MOST
    assert most - few < 100, "it does not grow with the model"
    figures(f"walking {count:,} objects: {most:.0f} MB at most, {few:.0f} MB after 18,000")


def _make(store: Store, classes: int) -> None:
    package = Package(name="p")
    Repository(store).create("m").roots.append(package)
    for first in range(0, classes, AT_ONCE):
        package.ownedElements.extend([_class(n) for n in range(first, min(first + AT_ONCE, classes))])


def _class(number: int) -> ClassDeclaration:
    bodies = [
        BodyDeclaration(name=f"b{body}", modifier=Modifier(visibility=VisibilityKind.public)) for body in range(4)
    ]
    return ClassDeclaration(name=f"c{number}", bodyDeclarations=bodies)


def _walk(store: Store, most: int | None) -> tuple[float, int]:
    """What a process needs to see so many objects, and how many it saw."""
    [top] = Repository(store).open("m").roots
    count = most_memory = 0
    for one in top.eAllContents():
        count += one.eContainer() is not None
        if count % 5000 == 0:
            most_memory = max(most_memory, own_memory())
        if count == most:
            break
    return most_memory / 2**20, count


def test_objects_that_nobody_holds_are_let_go(lmdb_url: str, connect: Callable[[str], Repository]) -> None:
    repo = connect(lmdb_url)
    repo.register(java)
    _make(repo.store, 3000)
    model = repo.open("m")
    held = [len(model.live) for _ in model.roots[0].eAllContents()]
    assert len(held) == 27_000
    assert max(held) < 3000, "a page of children for each level, and little else"
