"""What is wrong with a model is found, each fault by its name; what a crash can leave is mended, the rest untouched."""

import tracemalloc
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import neomodel as nm
from neomodel.stores import Mutation, open_store
from neomodel.stores.wrappers import Call, Counting, WrappedStore
from tests.objects.library import Book, Library, Person, Shelf, library

goods = nm.package("goods", "http://example.org/goods")


@goods.define(key=["sku"])
class Good:
    sku: str


class Town:
    """A library with two books that follow one another and an author, in a model of its own; and all as rows."""

    def __init__(self, repo: nm.Repository, name: str) -> None:
        repo.register(library)
        repo.register(goods)
        self.repo = repo
        self.model = repo.create(name)
        self.one, self.two, self.ann = Book(name="one"), Book(name="two"), Person(name="ann")
        self.shelf = Shelf(name="shelf", books=[self.one, self.two], best=Book(name="best"))
        self.lib = Library(name="lib", shelves=[self.shelf], people=[self.ann])
        self.model.roots.append(self.lib)
        self.one.sequel = self.two
        self.one.authors.append(self.ann)

    def id(self, name: str) -> str:
        return str(nm.oid(getattr(self, name)))

    def plant(self, oid: str, **cells: str | bytes | None) -> None:
        """Write cells past everything; `c_feature` is the cell c:feature, and `name` is p:name."""
        found: dict[bytes, bytes | None] = {}
        for name, value in cells.items():
            family, _, rest = name.partition("_") if name[1:2] == "_" else ("p", "", name)
            found[f"{family}:{rest}".encode()] = value.encode() if isinstance(value, str) else value
        self.model.table.put_many([Mutation(oid.encode(), found)])
        self.model.outdated()

    def plant_key(self, key: bytes) -> None:
        self.model.table.put_many([Mutation(key, {b"p:name": b"x"})])

    def new(self, oid: str, eclass: str = "Book", nsuri: str = "http://library", **cells: str | bytes) -> None:
        self.plant(oid, t_eclass=eclass, t_nsuri=nsuri, t_version="1-x", **cells)

    def lies_in(self, oid: str, container: str, feature: str, eclass: str = "Book") -> None:
        self.new(oid, eclass, c_container=self.id(container), c_feature=feature)

    def root(self, oid: str, eclass: str, nsuri: str = "http://library", **cells: str) -> None:
        self.new(oid, eclass, nsuri, c_container="ROOT", c_feature="eContents", **cells)
        self.plant("ROOT", eContents=f"{self.id('lib')},{oid}")

    def listed(self, container: str, feature: str, *oids: str) -> None:
        before = [nm.oid(one) for one in getattr(self, container).eGet(feature)]
        self.plant(self.id(container), **{feature: ",".join([*map(str, before), *oids])})

    def check(self, **options: Any) -> nm.Report:
        return nm.check(self.model, patience=0, **options)


@pytest.fixture
def town(any_url: str) -> Iterator[Town]:
    with nm.connect(any_url) as repo:
        made = Town(repo, f"m{uuid.uuid4().hex}")
        yield made
        repo.drop(made.model.name)


# Each fault: how it comes about, and what is found: kind, object, feature. "x" is an object that is only planted.

MENDED: dict[str, tuple[Callable[[Town], Any], set[tuple[str, str, str | None]]]] = {
    "an entry of what is not there": (lambda t: t.listed("shelf", "books", "x"), {("entry", "shelf", "books")}),
    "an entry of what lies elsewhere": (
        lambda t: t.listed("shelf", "inner", t.id("one")),
        {("entry", "shelf", "inner")},
    ),
    "an entry twice": (lambda t: t.listed("shelf", "books", t.id("one")), {("entry", "shelf", "books")}),
    "an entry of another model": (lambda t: t.listed("shelf", "books", "@other/x"), {("entry", "shelf", "books")}),
    "a root that is not there": (
        lambda t: t.plant("ROOT", eContents=f"x,{t.id('lib')}"),
        {("entry", "ROOT", "eContents")},
    ),
    "a single child that is not there": (lambda t: t.plant(t.id("lib"), director="x"), {("entry", "lib", "director")}),
    "a child that is not listed": (lambda t: t.lies_in("x", "shelf", "books"), {("unlisted", "x", "books")}),
    "a single child that is not held": (
        lambda t: t.lies_in("x", "lib", "director", "Person"),
        {("unlisted", "x", "director")},
    ),
    "a root that is not listed": (
        lambda t: t.new("x", c_container="ROOT", c_feature="eContents"),
        {("unlisted", "x", "eContents")},
    ),
    "two children in one place": (lambda t: t.lies_in("x", "shelf", "best"), {("displaced", "x", "best")}),
    "an object whose container is not there": (
        lambda t: t.new("x", c_container="y", c_feature="books"),
        {("lost", "x", None)},
    ),
    "a row without a class": (lambda t: t.plant("x", name="x"), {("remnant", "x", None)}),
    "a reference at one end only": (
        lambda t: t.plant(t.id("two"), prequel=None),
        {("opposite", "one", "sequel")},
    ),
    "a reference of many at one end only": (
        lambda t: t.plant(t.id("ann"), written=t.id("one") + "," + t.id("two")),
        {("opposite", "ann", "written")},
    ),
    "a reference with opposite to what is not there": (
        lambda t: t.plant(t.id("two"), authors="x"),
        {("dangling", "two", "authors")},
    ),
}
LEFT: dict[str, tuple[Callable[[Town], Any], set[tuple[str, str, str | None]]]] = {
    "a reference without opposite to what is not there": (
        lambda t: t.plant(t.id("one"), related="x"),
        {("dangling", "one", "related")},
    ),
    "a reference to a model that is not there": (
        lambda t: t.plant(t.id("one"), original="@nowhere/x"),
        {("dangling", "one", "original")},
    ),
    "an object without container": (lambda t: t.new("x"), {("orphan", "x", None)}),
    "objects in one another": (
        lambda t: (
            t.new("x", eclass="Shelf", c_container="y", c_feature="inner", inner="y"),
            t.new("y", eclass="Shelf", c_container="x", c_feature="inner", inner="x,z"),
            t.new("z", eclass="Shelf", c_container="y", c_feature="inner"),
        ),
        {("cycle", "x", None), ("cycle", "y", None)},
    ),
    "a container without such a feature": (lambda t: t.lies_in("x", "shelf", "books2"), {("place", "x", None)}),
    "a container that takes no such child": (
        lambda t: (t.lies_in("x", "lib", "people"), t.listed("lib", "people", "x")),
        {("place", "x", None)},
    ),
    "a class that is not known": (lambda t: t.plant(t.id("one"), t_eclass="Bok"), {("type", "one", None)}),
    "a metamodel that is not known": (lambda t: t.plant(t.id("one"), t_nsuri="http://x"), {("type", "one", None)}),
    "an abstract class": (lambda t: t.root("x", "Named"), {("type", "x", None)}),
    "a target of a class that does not fit": (
        lambda t: t.plant(t.id("one"), original=t.id("ann")),
        {("type", "one", "original")},
    ),
    "a cell of no feature": (lambda t: t.plant(t.id("one"), nmae="x"), {("cell", "one", "nmae")}),
    "a cell of a feature that is not stored": (lambda t: t.plant(t.id("one"), draft="x"), {("cell", "one", "draft")}),
    "a value that can't be read": (lambda t: t.plant(t.id("one"), pages="many"), {("cell", "one", "pages")}),
    "references that can't be read": (lambda t: t.plant(t.id("one"), related="x,,y"), {("cell", "one", "related")}),
    "a container that can't be read": (
        lambda t: t.new("x", c_container=b"\xff", c_feature="books"),
        {("cell", "x", None)},
    ),
    "too many": (lambda t: t.plant(t.id("one"), scores="[1,2,3,4]"), {("bound", "one", "scores")}),
    "a value twice": (lambda t: t.plant(t.id("one"), marks='["a","a"]'), {("twice", "one", "marks")}),
    "a target twice": (
        lambda t: t.plant(t.id("one"), related=",".join([t.id("two")] * 2)),
        {("twice", "one", "related")},
    ),
    "an id that is not of the key": (
        lambda t: t.root("x", "Good", "http://example.org/goods", sku="a"),
        {("key", "x", None)},
    ),
    "an object without a whole key": (
        lambda t: t.root("x", "Good", "http://example.org/goods"),
        {("key", "x", None)},
    ),
    "a key that is no text": (lambda t: t.plant_key(b"\xff"), {("cell", "\udcff", None)}),
    "two in one place that holds neither": (
        lambda t: (t.lies_in("x", "lib", "director", "Person"), t.lies_in("y", "lib", "director", "Person")),
        {("unlisted", "x", "director"), ("unlisted", "y", "director")},
    ),
}


def rows(town: Town) -> dict[bytes, Any]:
    return dict(town.model.table.scan())


def found(town: Town, report: nm.Report, *, mended: bool) -> set[tuple[str, str, str | None]]:
    names = {town.id(name): name for name in ("one", "two", "ann", "shelf", "lib")}
    return {(f.kind, names.get(f.oid, f.oid), f.feature) for f in report.findings if f.mended is mended}


def test_a_model_that_is_whole_has_no_findings(town: Town) -> None:
    assert town.check() == nm.Report(town.model.name, 6, (), 0)
    assert town.check(repair=True).clean


@pytest.mark.parametrize("fault", MENDED)
def test_what_a_crash_can_leave_is_found_and_mended(town: Town, fault: str) -> None:
    plant, expected = MENDED[fault]
    plant(town)
    before = rows(town)

    assert found(town, town.check(), mended=False) == expected
    assert rows(town) == before

    report = town.check(repair=True)
    assert (found(town, report, mended=True), report.clean) == (expected, True)
    assert town.check(repair=True).findings == ()


@pytest.mark.parametrize("fault", LEFT)
def test_what_no_crash_leaves_is_found_and_left_as_it_is(town: Town, fault: str) -> None:
    plant, expected = LEFT[fault]
    plant(town)
    before = rows(town)

    report = town.check(repair=True)

    assert (found(town, report, mended=False), report.left) == (expected, len(expected))
    assert rows(town) == before
    assert found(town, town.check(), mended=False) == expected


# which end is right


def test_a_reference_follows_the_end_that_was_written_last(town: Town) -> None:
    town.plant(town.id("two"), prequel=None)  # let go of there
    town.plant(town.id("ann"), written=f"{town.id('one')},{town.id('two')}")  # taken here

    town.check(repair=True)

    assert (town.one.sequel, list(town.two.authors)) == (None, [town.ann])


def test_of_two_that_claim_one_end_the_later_has_it(town: Town) -> None:
    three, four = Book(name="three"), Book(name="four")
    town.shelf.books.extend([three, four])
    town.plant(nm.oid(three) or "", sequel=town.id("two"))
    town.plant(nm.oid(four) or "", sequel=town.id("two"))

    town.check(repair=True)

    assert (town.two.prequel, town.one.sequel, three.sequel) == (four, None, None)


def test_what_was_taken_later_elsewhere_is_not_taken_back(town: Town) -> None:
    three = Book(name="three")
    town.shelf.books.append(three)
    town.plant(nm.oid(three) or "", sequel=town.id("two"))  # somebody crashed here
    town.two.prequel = None
    town.one.sequel = town.two  # and this was done since

    town.check(repair=True)

    assert (town.two.prequel, town.one.sequel, three.sequel) == (town.one, town.two, None)


def test_references_to_other_models_are_checked_and_mended_there(town: Town) -> None:
    other = Town(town.repo, f"{town.model.name}-2")
    other.one.authors.append(town.ann)
    assert [town.check().clean, other.check().clean] == [True, True]
    other.plant(other.id("two"), authors=f"@{town.model.name}/{town.id('ann')}")

    assert found(other, other.check(repair=True), mended=True) == {("opposite", "two", "authors")}

    assert list(town.ann.written) == [town.one, other.one, other.two]
    town.repo.drop(other.model.name)


# others who write


class Meanwhile(WrappedStore):
    """Does something once, after the first scan has ended."""

    def __init__(self, url: str, action: Callable[[], Any]) -> None:
        super().__init__(open_store(url))
        self._action: Callable[[], Any] | None = action

    def streaming(self, call: Call, ask: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        yield from ask()
        if call.operation == "scan" and self._action is not None:
            action, self._action = self._action, None
            action()


@pytest.fixture
def meanwhile(town: Town) -> Callable[[Callable[[], Any]], nm.Report]:
    """Repairs, with something done by somebody else after the first pass."""

    def repaired(action: Callable[[], Any]) -> nm.Report:
        with Meanwhile(town.repo.store.url, action) as store:
            return nm.check(nm.Repository(store).open(town.model.name), repair=True, patience=0)

    return repaired


def test_what_is_right_by_the_second_look_is_left_alone(town: Town, meanwhile: Any) -> None:
    town.listed("shelf", "books", "x")

    assert meanwhile(lambda: town.lies_in("x", "shelf", "books")).findings == ()
    assert len(list(town.shelf.books)) == 3


def test_a_large_subtree_that_is_being_stored_is_not_removed(town: Town, meanwhile: Any) -> None:
    town.listed("shelf", "inner", "top")
    town.new("below", c_container="middle", c_feature="books")

    report = meanwhile(lambda: town.new("middle", "Shelf", c_container="top", c_feature="inner", books="below"))

    assert found(town, report, mended=False) >= {("entry", "shelf", "inner"), ("lost", "below", None)}
    assert not any(finding.mended for finding in report.findings)
    town.lies_in("top", "shelf", "inner", "Shelf")
    town.plant("top", inner="middle")
    assert town.check().clean


class Late(WrappedStore):
    """Has somebody else change a row right before the first swap of it."""

    def __init__(self, url: str, action: Callable[[], Any]) -> None:
        super().__init__(open_store(url))
        self._action: Callable[[], Any] | None = action

    def writing(self, call: Call, ask: Callable[[], Any]) -> Any:
        if call.operation == "swap" and self._action is not None:
            action, self._action = self._action, None
            action()
        return ask()


def test_a_change_that_comes_first_is_not_undone_and_the_repair_done_again(town: Town) -> None:
    town.listed("shelf", "books", "x")
    with Late(town.repo.store.url, lambda: town.shelf.books.append(Book(name="three"))) as store:
        report = nm.check(nm.Repository(store).open(town.model.name), repair=True, patience=0)

    assert report.left == 1  # told, and left to the next repair
    assert town.check(repair=True).clean
    assert [book.name for book in town.shelf.books] == ["one", "two", "three"]
    assert len(town.shelf.books) == 3


# what it costs


def test_a_snapshot_can_be_checked_and_not_repaired(town: Town) -> None:
    then = town.model.table.now()
    nm.delete(town.two)
    town.listed("shelf", "books", "x")

    snapshot = town.repo.open(town.model.name, as_of=then, unstable=True)
    assert nm.check(snapshot) == nm.Report(town.model.name, 6, (), 0)
    with pytest.raises(nm.ReadOnly):
        nm.check(snapshot, repair=True)


def test_a_check_costs_a_scan_and_a_call_for_500_rows_that_it_leads_to() -> None:
    store = Counting(open_store("memory:"))
    town = Town(nm.Repository(store), "m")
    town.shelf.books.extend(Book(name=str(n), authors=[town.ann], related=[town.one]) for n in range(3000))
    store.reset()

    assert town.check() == nm.Report("m", 3006, (), 0)
    assert store.calls["scan"] == 1
    assert store.calls["get_many"] <= 3006 * 3 / 500
    assert set(store.calls) <= {"now", "scan", "get_many", "get", "cells"}
    assert store.calls["get"] + store.calls["cells"] <= 8, "for lists that are long"


def test_memory_does_not_grow_with_the_model(lmdb_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neomodel.holdings._ROOM", 100_000)
    monkeypatch.setattr("neomodel.ancestry._ROOM", 500)
    with nm.connect(lmdb_url) as repo:
        small, large = Town(repo, "small"), Town(repo, "large")
        for town, times in ((small, 4), (large, 16)):
            for _ in range(times):  # so that shelves and books lie mixed
                town.lib.shelves.extend(Shelf(books=[Book(name="a") for _ in range(50)]) for _ in range(30))
        _peak(small)

        assert _peak(large) < 1.3 * _peak(small)


def _peak(town: Town) -> int:
    tracemalloc.start()
    assert town.check().clean
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_progress_is_told_of_every_row(town: Town) -> None:
    told: list[int] = []

    town.check(progress=told.append)

    assert sum(told) == 7
