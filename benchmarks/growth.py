"""What an object costs in models of every size: `python -m benchmarks.growth`. Some minutes, and 2 GB of disk.

The paper's Java model on LMDB, made some thousand objects at a time, each time by extending one long collection. What
is told of a size is what its last objects cost, so a cost that grows with the model shows.
"""

import itertools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import attrs

import neomodel as nm
from benchmarks.measure import Growth, show, sized
from benchmarks.objects import BODIES
from metamodels import java

SIZES = sized((10_000, 100_000, 500_000, 1_000_000, 2_000_000), (10_000, 30_000))
CLASSES = 500  # made at a time
OBJECTS = (2 * BODIES + 1) * CLASSES
LOOKED_AT = sized(100, 10)


@attrs.frozen
class Point:
    """A size, and what an object costs there, in microseconds; opening the model and reading a feature in milliseconds;
    bytes of the file for each object."""

    objects: int
    creation: float
    walk: float
    opening: float
    size: float


def _classes(first: int) -> list[java.ClassDeclaration]:
    return [
        java.ClassDeclaration(
            name=f"c{number}",
            bodyDeclarations=[
                java.BodyDeclaration(name=f"b{body}", modifier=java.Modifier(visibility=java.VisibilityKind.public))
                for body in range(BODIES)
            ],
        )
        for number in range(first, first + CLASSES)
    ]


def _opened(url: str) -> tuple[float, java.Package]:
    """Milliseconds until a client that knew nothing has read a feature, and what it has opened."""
    start = time.perf_counter()
    top: java.Package = nm.connect(url).open("jdt").roots[0]
    if top.name != "p":
        raise AssertionError("the root has another name")
    return 1000 * (time.perf_counter() - start), top


def _walked(url: str, objects: int) -> float:
    start = time.perf_counter()
    _, top = _opened(url)
    found = 1 + sum(1 for one in top.eAllContents() if one.eContainer() is not None)
    if found != objects:
        raise AssertionError(f"{found} objects, {objects} were made")
    return 1e6 * (time.perf_counter() - start) / objects


def points(folder: Path) -> list[Point]:
    url, found, objects = f"lmdb:{folder}/store", [], 1
    with nm.connect(url) as repo:
        repo.register(java.java)
        top = java.Package(name="p")
        repo.create("jdt").roots.append(top)
        costs: list[float] = []
        sizes = iter(SIZES)
        size = next(sizes)
        for first in itertools.count(0, CLASSES):
            start = time.perf_counter()
            top.ownedElements.extend(_classes(first))
            costs.append(1e6 * (time.perf_counter() - start) / OBJECTS)
            objects += OBJECTS
            if objects >= size:
                opening = median(_opened(url)[0] for _ in range(LOOKED_AT))
                held = (folder / "store" / "data.mdb").stat().st_blocks * 512 / objects
                found.append(Point(objects, median(costs[-11:]), _walked(url, objects), opening, held))
                size = next(sizes, 0)
                if not size:
                    return found
    raise AssertionError("it counts for ever")


def growth() -> Growth:
    with tempfile.TemporaryDirectory() as place:
        found = points(Path(place))
    costs: dict[str, Sequence[float]] = {
        "creation, µs each": [point.creation for point in found],
        "cold walk, µs each": [point.walk for point in found],
        "open and read a feature, ms": [point.opening for point in found],
        "bytes each": [point.size for point in found],
    }
    return Growth("An object in models of every size, LMDB", "objects", [point.objects for point in found], costs)


if __name__ == "__main__":
    show([growth()])
