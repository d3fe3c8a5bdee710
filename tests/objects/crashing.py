"""Processes that end at a write of their own choosing, what they do to a library, and what must be there afterwards."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, TypeVar

import neomodel as nm
from neomodel.stores import Mutation, Store, Table
from neomodel.stores.wrappers import Call, WrappedStore, WrappedTable
from tests.objects.library import Book, Library, Named, Person, Shelf, library

T = TypeVar("T")
When = Literal["before", "after", "half"]
LARGE = 1199  # books of a shelf that takes three batches to store


class Crash(BaseException):
    """The end of a process, for stores that live in this one. Nothing that means to handle errors may catch it."""


def _crash() -> None:
    raise Crash


class Crashing(WrappedStore):
    """Comes to an end right before, right after or in the middle of write number `point`; the first is 0.

    `end` does that. If it only raises, no later write takes place. `writes` has the name and table of each there was.
    """

    def __init__(self, inner: Store, point: int | None, when: When, end: Callable[[], None] = _crash) -> None:
        super().__init__(inner)
        self.point = point
        self.when = when
        self.end = end
        self.writes: list[str] = []
        self.ended = False

    def table(self, name: str) -> Table:
        return _CrashingTable(self, self.inner.table(name))

    def writing(self, call: Call, ask: Callable[[], T]) -> T:
        number = len(self.writes)
        self.writes.append(f"{call.operation} {call.table}")
        if self.ended or (number == self.point and self.when == "before"):
            self._end()
        answer = ask()
        if number == self.point:
            self._end()
        return answer

    def _end(self) -> None:
        self.ended = True
        self.end()


class _CrashingTable(WrappedTable):
    _store: Crashing

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        rows = list(mutations)
        halfway = self._store.when == "half" and len(self._store.writes) == self._store.point
        super().put_many(rows[::2] if halfway else rows)


# a library, and what is done to it


def stock(repo: nm.Repository, names: tuple[str, str]) -> None:
    """Two models: a library with shelves, books and people that refer to one another, and a shelf elsewhere."""
    repo.register(library)
    first, second = (repo.create(name) for name in names)
    books = {name: Book(name=name) for name in ("b1", "b2", "b3", "b4", "bb")}
    one = Shelf(name="s1", books=[books["b1"], books["b2"], books["b3"]], best=books["bb"])
    two = Shelf(name="s2", books=[books["b4"]], inner=[Shelf(name="s3")])
    people = [Person(name="p1"), Person(name="p2")]
    first.roots.append(Library(name="lib", shelves=[one, two], people=people, director=Person(name="d")))
    books["b1"].authors.extend(people)
    people[0].written.extend([books["b2"], books["bb"]])
    people[0].lent.extend([books["b1"], books["b4"]])
    books["b1"].sequel = books["b2"]
    books["b3"].sequel = books["b4"]
    second.roots.append(Shelf(name="elsewhere", books=[Book(name="other", authors=[people[1]])]))


class Scene:
    """The two models, opened; their objects by name."""

    def __init__(self, store: Store, names: tuple[str, str]) -> None:
        self.repo = nm.Repository(store)
        self.models = [self.repo.open(name) for name in names]
        self._named = {obj.name: obj for model in self.models for obj in model.all(Named)}

    def __getattr__(self, name: str) -> Any:
        return self._named[name]


def books(number: int, **features: Any) -> list[Any]:
    return [Book(name=f"new{n}", **features) for n in range(number)]


def _edit(scene: Scene) -> None:
    with nm.edit(scene.b1):
        scene.b1.pages = 7
        scene.b1.authors = [scene.p2]
        scene.b1.reader = scene.p2
        scene.b1.sequel = scene.b4


def _edit_children(scene: Scene) -> None:
    with nm.edit(scene.s1):
        scene.s1.name = "s1"
        scene.s1.books = [scene.b1, scene.b4, Book(name="new0", authors=[scene.p1])]


class Operation(NamedTuple):
    """What is done; and which objects may be found as they were, or not at all, beside others that are as meant."""

    act: Callable[[Scene], Any]
    between: bool = False


OPERATIONS = {
    "add a root": Operation(lambda s: s.models[0].roots.append(Shelf(name="new", books=books(2)))),
    "add a child": Operation(
        lambda s: s.s1.books.append(Book(name="new0", authors=[s.p1, s.d], reader=s.p2, sequel=s.b4))
    ),
    "add a large subtree": Operation(
        lambda s: s.s1.inner.append(Shelf(name="new", books=[*books(LARGE - 1), Book(name="last", authors=[s.p1])]))
    ),
    "add in place of another": Operation(lambda s: setattr(s.s1, "best", Book(name="new0", authors=[s.p1]))),
    "move": Operation(lambda s: s.s2.books.insert(0, s.b1)),
    "move a subtree": Operation(lambda s: s.s1.inner.append(s.s2)),
    "move in place of another": Operation(lambda s: setattr(s.s1, "best", s.b4)),
    "move to another model": Operation(lambda s: s.elsewhere.books.append(s.b1), between=True),
    "move a subtree to another model": Operation(lambda s: s.elsewhere.inner.append(s.s1), between=True),
    "remove": Operation(lambda s: s.s1.books.remove(s.b1)),
    "remove a subtree": Operation(lambda s: s.lib.shelves.remove(s.s1)),
    "delete": Operation(lambda s: nm.delete(s.b1)),
    "delete a subtree": Operation(lambda s: nm.delete(s.lib)),
    "edit": Operation(_edit),
    "edit children": Operation(_edit_children, between=True),
    "n-m": Operation(lambda s: setattr(s.p1, "written", [s.b2, s.b3, s.b4])),
    "1-n": Operation(lambda s: setattr(s.b1, "reader", s.p2)),
    "1-1": Operation(lambda s: setattr(s.b4, "prequel", s.b1)),
}


# what is there


def shape(model: nm.Model) -> dict[str, Any]:
    """All objects that can be found from the roots, by name: class, container, and what their features hold."""
    return {obj.name: _told(obj) for obj in found(model)}


def found(model: nm.Model) -> list[Any]:
    """All objects that can be found from the roots, each in one place."""
    objects = [obj for root in model.roots for obj in [root, *root.eAllContents()]]
    assert len({nm.oid(obj) for obj in objects}) == len(objects)
    assert len({obj.name for obj in objects}) == len(objects)
    return objects


def _told(obj: Any) -> dict[str, Any]:
    container, feature = obj.eContainer(), obj.eContainmentFeature()
    told = {"class": obj.eClass.name, "in": (container.name, feature.name) if container is not None else None}
    for feature in obj.eClass.features.values():
        if feature.stored and obj.eIsSet(feature):
            value = obj.eGet(feature)
            if not feature.reference:
                told[feature.name] = value
            elif feature.many:
                told[feature.name] = [one.name for one in value]
            elif value is not None:
                told[feature.name] = value.name
    return {name: value for name, value in told.items() if value != []}
