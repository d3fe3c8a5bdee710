"""Reading ahead where the application says what it will need: what that costs, what it keeps, what is believed."""

import gc
import random
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from metamodels.java import BodyDeclaration, ClassDeclaration, Modifier, Package, java
from neomodel.repository import Repository
from neomodel.stores import Mutation, open_store
from neomodel.stores.memory import MemoryTable
from neomodel.stores.wrappers import Counting
from tests.objects.library import Book, Library, Person, Shelf, library

KINDS = (Package, ClassDeclaration, BodyDeclaration, Modifier)
CLASSES = 1000
OBJECTS = 9 * CLASSES + 1
READS = -(-OBJECTS // 500) + 4  # and an answer that is not full for each of the four levels


def package(classes: int) -> Any:
    def bodies() -> list[BodyDeclaration]:
        return [BodyDeclaration(name=f"b{n}", modifier=Modifier(visibility="public")) for n in range(4)]

    return Package(
        name="p", ownedElements=[ClassDeclaration(name=f"c{n}", bodyDeclarations=bodies()) for n in range(classes)]
    )


@pytest.fixture(params=["memory", "unwatched", "lmdb", "hbase"])
def counting(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    """A store of each kind, that counts, and knows the metamodels; and one that can't tell what others write."""
    url = {"lmdb": f"lmdb:{tmp_path}"}.get(request.param, "memory:")
    if request.param == "hbase":
        url = f"{request.getfixturevalue('hbase').url}&regions=1"
    if request.param == "unwatched":
        monkeypatch.setattr(MemoryTable, "mark", lambda _: None)
    with Counting(open_store(url)) as store:
        Repository(store).register(java, library)
        yield store


@pytest.fixture
def opened(counting: Counting) -> Iterator[Callable[[Any], Any]]:
    """Stores a root in a model of its own and opens that anew, with nothing counted so far."""
    names = []

    def anew(top: Any) -> Any:
        names.append(f"prefetch-{uuid.uuid4().hex}")
        Repository(counting).create(names[-1]).roots.append(top)
        repo = Repository(counting)
        for ns_uri in ("http://java", "http://library"):
            repo.metamodel(ns_uri)
        model = repo.open(names[-1])
        counting.reset()
        return model[str(nm.oid(top))]

    yield anew
    for name in names:
        Repository(counting).drop(name)


def all_oids(top: Any) -> list[str]:
    return [str(nm.oid(one)) for one in (top, *top.eAllContents())]


def test_a_subtree_is_read_when_the_block_begins_and_walking_it_in_any_order_costs_nothing(
    opened: Any, counting: Counting
) -> None:
    top = opened(package(CLASSES))
    model = top.eResource

    with nm.prefetch(top):
        assert counting.calls.total() <= READS
        counting.reset()
        oids = all_oids(top)
        assert len(oids) == OBJECTS
        random.Random(1).shuffle(oids)
        assert {model[oid].eClass.name for oid in oids} == {p.__name__ for p in KINDS}
        assert sum(1 for _ in top.eAllContents()) == OBJECTS - 1
        assert counting.calls["get_many"] == 0, "no object is read"
        assert counting.calls.total() <= 8, "but a list that is long may be"


def test_a_model_is_read_with_all_that_its_roots_contain_once_they_are_met(opened: Any, counting: Counting) -> None:
    model = opened(package(CLASSES)).eResource

    with nm.prefetch(model):
        assert counting.calls == {}
        assert sum(1 for root in model.roots for _ in root.eAllContents()) == OBJECTS - 1
        assert counting.calls.total() <= READS + 4


def test_nothing_is_read_that_is_not_below(opened: Any, counting: Counting) -> None:
    top = opened(package(300))
    one = top.ownedElements[7]
    read = counting.cells_read

    with nm.prefetch(one):
        assert [body.modifier.visibility.name for body in one.bodyDeclarations] == ["public"] * 4

    rows = 1 + 4 + 4
    assert counting.cells_read - read <= rows * 7


def test_named_features_are_followed_with_every_page_and_no_others(opened: Any, counting: Counting) -> None:
    people = [Person(name=f"p{n}") for n in range(700)]
    books = [Book(name=f"b{n}", authors=[person]) for n, person in enumerate(people)]
    top = opened(Library(people=people, shelves=[Shelf(books=books)]))
    model = top.eResource

    with nm.prefetch(model, Book.authors, Book.shelf):
        found = list(model.all(Book))
        assert found[0].name
        counting.reset()
        assert {found[n].authors[0].name[0] for n in (3, 499, 17)} == {"p"}
        assert found[3].shelf.books[0].shelf is found[499].shelf
        assert counting.calls.total() <= 1, "a page of the list, which is long"
        assert top.people[0].name  # by a feature that was not named
        assert counting.calls.total() > 0


def test_references_that_lead_in_circles_end(opened: Any, counting: Counting) -> None:
    books = [Book(name=f"b{n}") for n in range(60)]
    for one, following in zip(books, [*books[1:], books[0]], strict=True):
        one.related.append(following)
    top = opened(Shelf(books=books))
    first = top.books[0]
    gc.collect()
    counting.reset()

    with nm.prefetch(first, Book.related):
        read = counting.calls.total()
        assert read <= 60
        one = first
        for _ in range(60):
            one = one.related[0]
        assert one is first
        assert counting.calls.total() == read


def test_no_more_rows_are_read_ahead_and_kept_than_asked_for(opened: Any, counting: Counting) -> None:
    top = opened(package(1000))
    model = top.eResource

    with nm.prefetch(top, rows=700):
        assert counting.cells_read <= 701 * 7 + 5
        assert len(model._rows) <= 701
        assert sum(1 for _ in top.eAllContents()) == 9 * 1000
        assert len(model._rows) <= 700 + 5000
        assert counting.calls.total() <= 9 * 1000 / 100


def test_what_was_read_ahead_is_forgotten_after_the_block_also_if_it_fails(opened: Any, counting: Counting) -> None:
    top = opened(package(2))
    model = top.eResource
    with pytest.raises(ZeroDivisionError), nm.prefetch(top):
        1 / 0  # noqa: B018

    counting.reset()
    oid = str(nm.oid(top.ownedElements[0]))
    assert model[oid].name == "c0"
    assert counting.calls.total() > 0
    assert model.hint is None


def test_an_inner_block_holds_until_its_end_and_then_the_outer_one(opened: Any, counting: Counting) -> None:
    top = opened(package(20))
    with nm.prefetch(top.eResource):
        with nm.prefetch(top, Package.ownedElements):
            assert top.eResource.hint.features == (Package.ownedElements,)
        assert top.eResource.hint.features == ()
        assert sum(1 for _ in top.eAllContents()) == 180


def test_own_changes_are_seen_in_the_block(opened: Any, counting: Counting) -> None:
    top = opened(package(3))

    with nm.prefetch(top):
        for one in top.ownedElements:
            one.name = one.name.upper()
        top.ownedElements.append(ClassDeclaration(name="new"))
        gc.collect()
        assert [one.name for one in top.ownedElements] == ["C0", "C1", "C2", "new"]


def test_what_others_write_is_seen_at_the_latest_after_the_block(opened: Any, counting: Counting) -> None:
    """At once where the store tells that somebody wrote; elsewhere another process's writes are seen at its end."""
    top = opened(package(3))
    oid = str(nm.oid(top.ownedElements[1]))
    watched = top.eResource.table.mark() is not None

    with nm.prefetch(top):
        assert top.ownedElements[1].name == "c1"
        top.eResource.table.put_many([Mutation(oid.encode(), {b"p:name": b"other"})])  # unknown to the model
        time.sleep(0.06)
        assert top.ownedElements[1].name == ("other" if watched else "c1")
    time.sleep(0.06)
    assert top.ownedElements[1].name == "other"


def test_a_damaged_row_below_harms_only_who_touches_it(opened: Any, counting: Counting) -> None:
    top = opened(package(2))
    model, broken = top.eResource, top.ownedElements[1]
    oid = str(nm.oid(broken))
    del broken
    model.table.put_many([Mutation(oid.encode(), {b"t:nsuri": b"http://nowhere"})])
    gc.collect()

    with nm.prefetch(top):
        assert top.name == "p"
        with pytest.raises(nm.MetamodelNotFound):
            assert model[oid].name


def test_a_snapshot_is_read_ahead_as_it_was(opened: Any, counting: Counting) -> None:
    top = opened(package(3))
    model = top.eResource
    before = model.table.now()
    top.ownedElements[0].name = "changed"
    then = model.repository.open(model.name, as_of=before, unstable=True)[str(nm.oid(top))]

    with nm.prefetch(then):
        assert [one.name for one in then.ownedElements] == ["c0", "c1", "c2"]


@pytest.mark.parametrize(
    ("start", "features", "rows"),
    [
        (lambda _: Book(), (), 1),
        (lambda _: "jdt", (), 1),
        (lambda model: model, (Book.name,), 1),
        (lambda model: model, (Book.beside,), 1),
        (lambda model: model, ("authors",), 1),
        (lambda model: model, (), 0),
    ],
    ids=["transient object", "name", "attribute", "transient reference", "name of a feature", "no rows"],
)
def test_what_makes_no_sense_is_refused(start: Any, features: Any, rows: int) -> None:
    repo = nm.connect("memory:")
    repo.register(library)
    model = repo.create("m")

    with pytest.raises(nm.InvalidValue, match="prefetch"), nm.prefetch(start(model), *features, rows=rows):
        pass
