"""A walk over a model of any size keeps little of it in memory. A mapped file does not count: the system takes its
pages back when somebody needs the room."""

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from metamodels.java import BodyDeclaration, ClassDeclaration, Modifier, Package, VisibilityKind, java
from neomodel.repository import Repository
from neomodel.stores import Store
from tests.memory import own_memory
from tests.stores.processes import run_each

AT_ONCE = 2000  # classes, of nine objects each
MOST = 300  # MB
BYTES = 360  # for an object that is held with its row; 333 were needed when this was written


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


def test_a_live_object_takes_little_memory(
    tmp_path: Path, connect: Callable[[str], Repository], figures: Callable[[str], None]
) -> None:
    few, many = (_held(f"lmdb:{tmp_path / str(classes)}", connect, classes) for classes in (800, 1600))
    size = (many - few) / (9 * 800)  # what is kept of the last objects, however many there are, is in both

    assert size < BYTES
    figures(f"a live object: {size:.0f} bytes")


def _held(url: str, connect: Callable[[str], Repository], classes: int) -> int:
    """Bytes of all that stays as long as all objects of a model are held."""
    connect(url).register(java)
    _make(connect(url).store, classes)

    def hold() -> list[object]:
        [top] = connect(url).open("m").roots
        return [top, *top.eAllContents()]

    hold()  # what is made once for all of them
    gc.collect()
    tracemalloc.start()
    try:
        held = hold()
        gc.collect()
        assert len(held) == 9 * classes + 1
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
