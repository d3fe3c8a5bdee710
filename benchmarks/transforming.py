"""Class2Relational on Spark and in one process, the cost of an element in models of every size, and runs done again.

`python -m benchmarks.transforming` prints the tables of `make bench`; `--growth` models of every size as well.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import neomodel as nm
import spark
from benchmarks.objects import hbase
from benchmarks.spark_read import session
from metamodels.transformations.class2relational import class2relational
from tests.rules.zoo import Attribute, Class, DataType, classes, relational

ELEMENTS = 100_000
SIZES = (10_000, 100_000, 1_000_000)
ON_HBASE, ON_LMDB = 5_000, 15_000
"""Elements in a second that are wanted."""
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
def lmdb() -> Iterator[nm.Repository]:
    with tempfile.TemporaryDirectory() as folder, nm.connect(f"lmdb:{folder}/db") as repo:
        yield repo


@contextmanager
def on_hbase() -> Iterator[nm.Repository]:
    with hbase() as (_, repo):
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


def report() -> list[str]:
    rows, others = [], []
    for name, store, wanted in (("HBase", on_hbase, ON_HBASE), ("LMDB", lmdb, ON_LMDB)):
        with store() as repo:
            model = fill(repo, "source", ELEMENTS)
            settled(model)
            for cores in (1, 2):
                with session(cores) as found:
                    spark.transform(found, class2relational, model, f"warm{cores}")
                    run = checked(spark.transform(found, class2relational, model, f"made{cores}"), model)
                    limit = wanted if cores == 2 else 0
                    verdict = " **below**" if rate(run) < limit else ""
                    share = f"{run.remote_share:.1%}"
                    rows.append(f"| {name}, `local[{cores}]` | {rate(run):,.0f}{verdict} | {limit or ''} | {share} |")
            local = checked(nm.transform(class2relational, model, "alone"), model)
            rows.append(f"| {name}, in one process | {rate(local):,.0f} | | |")
            done = again(model, "made2")
            verdict = " **below**" if done.seconds > AGAIN else ""
            applied = sum(done.applications.values())
            others.append(f"| {name} | {local.elements:,} | {applied} | {done.seconds:.2f}{verdict} | {AGAIN} |")
    head = [f"### Class2Relational, {ELEMENTS:,} elements", "", "| where | elements/s | wanted | remote reads |"]
    head_again = [f"### {CHANGES} changed elements followed", "", "| store | elements | applications | s | wanted |"]
    return [
        "\n".join([*head, "|---|--:|--:|--:|", *rows]),
        "\n".join([*head_again, "|---|--:|--:|--:|--:|", *others]),
    ]


def growth() -> str:
    """The cost of an element, and of following changes, in models of every size on LMDB."""
    rows = []
    for size in SIZES:
        with lmdb() as repo, session(2) as found:
            model = fill(repo, "source", size)
            run = spark.transform(found, class2relational, model, "made")
            done = again(model, "made")
            rows.append(f"| {run.elements:,} | {1e6 / rate(run):.1f} | {done.seconds:.2f} |")
    head = ["| elements | µs each, `local[2]` | 10 changes followed, s |", "|--:|--:|--:|"]
    return "\n".join(["### Transformations of every size, LMDB", "", *head, *rows])


if __name__ == "__main__":
    print("\n\n".join([*report(), *([growth()] if "--growth" in sys.argv else [])]))
