"""Two small metamodels with every kind of reference, sources and results of rules; and ways to run and to compare."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any
from unittest import mock

import neomodel as nm
from neomodel.rules.running import Engine, Outcome, Task, in_process
from neomodel.stores import Region, Row

src = nm.package("src", "http://src")
tgt = nm.package("tgt", "http://tgt")


@src.define
class Node:
    name: str
    size: int = 0
    tags: list[str]
    children: list["Node"] = nm.contains(opposite="parent")
    parent: "Node | None" = nm.reference(opposite="children")
    knows: list["Node"] = nm.reference(opposite="known")
    known: list["Node"] = nm.reference(opposite="knows")
    next: "Node | None" = nm.reference()


@src.define
class Leaf(Node):
    """A node that has no children, if whoever makes it keeps to that."""


@tgt.define
class Thing:
    name: str | None
    number: int | None
    words: list[str]
    parts: list["Thing"] = nm.contains(opposite="whole")
    whole: "Thing | None" = nm.reference(opposite="parts")
    core: "Thing | None" = nm.contains(opposite="shell")
    shell: "Thing | None" = nm.reference(opposite="core")
    labels: list["Label"] = nm.contains()
    sees: list["Thing"] = nm.reference(opposite="seen")
    seen: list["Thing"] = nm.reference(opposite="sees")
    likes: "Thing | None" = nm.reference(opposite="fans")
    fans: list["Thing"] = nm.reference(opposite="likes")
    spouse: "Thing | None" = nm.reference(opposite="married")
    married: "Thing | None" = nm.reference(opposite="spouse")
    far: list["Thing"] = nm.reference()
    origin: "Node | None" = nm.reference()


@tgt.define
class Special(Thing):
    pass


@tgt.define(abstract=True)
class Vague(Thing):
    pass


@tgt.define
class Label:
    text: str | None


def new_repository(url: str = "memory:") -> nm.Repository:
    repository = nm.connect(url)
    repository.register(src, tgt)
    return repository


def family(repository: nm.Repository, name: str = "in") -> nm.Model:
    """A source: `top` with `a` (which has the leaf `a1`) and the leaf `b`; and `other`, alone. `a` knows `b` and
    `other`; after `a` comes `b`. Their ids are their names."""
    model = repository.create(name)
    top, a, other = (Node(name=name) for name in ("top", "a", "other"))
    a1, b = Leaf(name="a1", size=1), Leaf(name="b", size=2)
    for node in (top, a, other, a1, b):
        nm.identify(node, node.name)
    a.children.append(a1)
    top.children.extend([a, b])
    model.roots.extend([top, other])
    a.knows.extend([b, other])
    a.next = b
    return model


def made(transformation: nm.Transformation, source: nm.Model, target: str = "out", **options: Any) -> nm.Model:
    """The model that a transformation makes, in which nothing is to be found wrong."""
    run = nm.transform(transformation, source, target, **options)
    model = source.repository.open(target)
    report = nm.check(model)
    assert report.findings == ()
    assert (run.failures, run.results) == ([], report.objects)
    return model


def named(model: nm.Model, name: str, kind: Any = Thing) -> Any:
    """The one object of that name."""
    (found,) = [one for one in model.all(kind) if one.name == name]
    return found


def names(things: Iterable[Any]) -> list[str]:
    return [thing.name for thing in things]


def rows(model: nm.Model) -> dict[bytes, Row]:
    """Every cell of a model's table."""
    return dict(model.table.scan())


def cut_at(cuts: Iterable[bytes], order: Any = None) -> Engine:
    """An engine whose parts end at these keys; they are done in an order, given as numbers that they are sorted by."""
    ranges = [Region(start or b"", stop) for start, stop in pairwise([b"", *sorted(set(cuts)), None])]
    if order is not None:
        ranges = [one for _, one in sorted(zip(order, ranges, strict=False), key=lambda pair: pair[0])]

    def engine(task: Task) -> Outcome:
        with mock.patch.object(type(task.source.table), "regions", return_value=ranges):
            return in_process(task)

    return engine


def everywhere(model: nm.Model) -> Engine:
    """An engine with a part of its own for every object."""
    return cut_at(key for key, _ in model.table.scan())
