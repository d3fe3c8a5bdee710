"""Class2Relational on Spark and in one process, the cost of an element in models of every size, and runs done again.

Rates are medians of three runs in one Spark, after one that warms it up; in one process there is one run.
`python -m benchmarks.transforming` prints the tables of `make bench`; `--growth` models of every size as well.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from statistics import median
from typing import Any

import neomodel as nm
import spark
from benchmarks.measure import WARMING, Figure, Figures, Growth, Measured, show, sized
from benchmarks.places import hbase, lmdb, session
from metamodels.transformations.class2relational import class2relational
from metamodels.zoo import Attribute, Class, DataType, classes, relational

ELEMENTS = sized(100_000, 4_500)
SIZES = sized((10_000, 100_000, 1_000_000), (4_500, 9_000))
ON_HBASE, ON_LMDB = sized((5_000, 15_000), (0, 0))
"""Elements in a second that are wanted."""
CORES = sized((1, 2), (2,))
ROUNDS = sized(3, 1)
CHANGES = 10
AGAIN = 2.0
"""Seconds in which that many changed elements are to be followed."""


def fill(repo: nm.Repository, name: str, elements: int) -> nm.Model:
    """A model of about so many elements: classes with eight attributes each, of data types and of other classes."""
    repo.register(classes)
    repo.register(relational)
    model = repo.create(name)
    chance = Random(1)
    types = [DataType(name=kind) for kind in ("Integer", "String", "Boolean")]
    model.roots.extend(types)
    before: list[Any] = []
    for start in range(0, elements, 9_000):
        made = [
            Class(
                name=f"C{number}",
                attr=[
                    Attribute(
                        name=f"a{at}",
                        multiValued=chance.random() < 0.25,
                        type=chance.choice(before if before and at == 0 else types),
                    )
                    for at in range(8)
                ],
            )
            for number in range(start // 9, min(start + 9_000, elements) // 9)
        ]
        model.roots.extend(made)
        before = made[:50]
    return model


@contextmanager
def on_hbase() -> Iterator[nm.Repository]:
    with hbase() as url, nm.connect(url) as repo:
        yield repo


def settled(model: nm.Model) -> None:
    """Wait until all that was written is stable."""
    written = model.table.now()
    while model.repository.stable(model.name) < written:
        time.sleep(0.2)


def rate(run: nm.Run) -> float:
    return run.elements / run.seconds


def checked(run: nm.Run, model: nm.Model) -> nm.Run:
    """A run whose answer is right: a table for each class, and for each attribute of several values."""
    tables = sum(1 for _ in model.all(Class)) + sum(one.multiValued for one in model.all(Attribute))
    found = model.repository.open(run.target)
    made = sum(1 for _ in found.all(model.repository.metamodel("Relational").Table))
    if made != tables:
        raise AssertionError(f"{made} tables, expected {tables}")
    return run


def again(model: nm.Model, target: str) -> nm.Run:
    """The target brought up to date with some elements that have changed."""
    for number, attribute in zip(range(CHANGES), model.all(Attribute), strict=False):
        attribute.name = f"b{number}"
    settled(model)
    return nm.retransform(class2relational, model, target)


def report() -> list[Measured]:
    made: list[Figure] = []
    followed: list[Figure] = []
    for name, store, wanted in (("HBase", on_hbase, ON_HBASE), ("LMDB", lmdb, ON_LMDB)):
        with store() as repo:
            model = fill(repo, "source", ELEMENTS)
            settled(model)
            for cores in CORES:
                with session(cores) as found:
                    targets = [f"made{cores}_{number}" for number in range(WARMING + ROUNDS)]
                    runs = [checked(spark.transform(found, class2relational, model, one), model) for one in targets]
                made.append(_rate(f"{name}, `local[{cores}]`", runs[WARMING:], wanted if cores == 2 else 0))
            alone = checked(nm.transform(class2relational, model, "alone"), model)
            made.append(_rate(f"{name}, in one process", [alone]))
            done = again(model, "alone")
            told = f"{done.seconds:.2f} s, {sum(done.applications.values())} applications"
            followed.append(Figure(f"{name}, {CHANGES} changes", told, f"at most {AGAIN} s", done.seconds <= AGAIN))
    return [Figures(f"Class2Relational, {ELEMENTS:,} elements", made), Figures("Changed elements followed", followed)]


def _rate(name: str, runs: Sequence[nm.Run], wanted: int = 0) -> Figure:
    rates = sorted(map(rate, runs))
    spread = f" ({rates[0]:,.0f} to {rates[-1]:,.0f})" if len(rates) > 1 else ""
    found = f"{median(rates):,.0f} elements/s{spread}, {runs[0].remote_share:.1%} of reads remote"
    return Figure(name, found, f"at least {wanted:,}" if wanted else "", median(rates) >= wanted)


def growth() -> Growth:
    """The cost of an element, and of following changes, in models of every size on LMDB."""
    sizes, costs, following = [], [], []
    for size in SIZES:
        with lmdb() as repo, session(2) as found:
            model = fill(repo, "source", size)
            run = spark.transform(found, class2relational, model, "made")
            sizes.append(run.elements)
            costs.append(1e6 / rate(run))
            following.append(again(model, "made").seconds)
    curves: dict[str, Sequence[float]] = {"µs each, `local[2]`": costs, f"{CHANGES} changes followed, s": following}
    return Growth("Transformations of every size, LMDB", "elements", sizes, curves)


if __name__ == "__main__":
    show([*report(), *([growth()] if "--growth" in sys.argv else [])])
