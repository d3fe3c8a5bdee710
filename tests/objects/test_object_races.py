"""Processes that change the same objects at once: nothing is lost, and whoever loses is told."""

import random
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import neomodel as nm
from neomodel.cluster import Cluster
from neomodel.repository import Repository
from neomodel.stores import Store
from tests.objects.library import Book, Shelf, library, stocked
from tests.stores.processes import SPAWN, run_each

PATIENCE = 120  # seconds
RIVALS = 4
THOUGHT = 0.004  # seconds, at most, from reading to writing

rounds = pytest.mark.parametrize("rounds", [40, pytest.param(1000, marks=pytest.mark.soak)])


@pytest.fixture
def model(lmdb_url: str, connect: Callable[[str], Repository]) -> nm.Model:
    repo = connect(lmdb_url)
    repo.register(library)
    return repo.create("m")


def race(work: Callable[..., Any], url: str, rivals: int, *args: Any) -> list[Any]:
    """What each of several processes returns that do this at once; it gets its number and a barrier."""
    barrier = SPAWN.Barrier(rivals)
    return run_each([(work, (*args, number, barrier), {}) for number in range(rivals)], url)


# one attribute


@rounds
def test_no_increment_is_lost_if_all_redo(model: nm.Model, rounds: int) -> None:
    _, book = stocked(model, b={"pages": 0})

    race(_increment_redoing, model.repository.store.url, 2, "m", nm.oid(book), rounds)

    assert book.pages == 2 * rounds


def _increment_redoing(store: Store, name: str, oid: str, rounds: int, _number: int, barrier: Any) -> None:
    book = Repository(store).open(name)[oid]
    barrier.wait(PATIENCE)
    for _ in range(rounds):
        nm.redo(lambda: setattr(book, "pages", book.pages + 1), attempts=100)


@rounds
@pytest.mark.parametrize("editing", [False, True])
def test_every_increment_is_kept_or_its_maker_got_a_conflict(
    model: nm.Model, rounds: int, editing: bool, figures: Callable[[str], None]
) -> None:
    _, book = stocked(model, b={"pages": 0})

    conflicts = race(_increment, model.repository.store.url, 2, nm.oid(book), rounds, editing)

    assert book.pages == 2 * rounds - sum(conflicts)
    assert sum(conflicts) > 0, "the processes never met"
    how = "edits" if editing else "assignments"
    figures(f"2 processes, {rounds} {how} each: {sum(conflicts)} conflicts, {book.pages} kept, none lost")


def _increment(store: Store, oid: str, rounds: int, editing: bool, _number: int, barrier: Any) -> int:
    """How often there was a conflict. All start each round together and think before they write, so there are some."""
    book, conflicts = Repository(store).open("m")[oid], 0
    for _ in range(rounds):
        barrier.wait(PATIENCE)
        try:
            if editing:
                with nm.edit(book):
                    book.pages += 1
                    time.sleep(random.uniform(0, THOUGHT))
            else:
                pages = book.pages
                time.sleep(random.uniform(0, THOUGHT))
                book.pages = pages + 1
        except nm.Conflict:
            conflicts += 1
    return conflicts


# one collection


@rounds
def test_those_who_append_at_once_lose_nothing(model: nm.Model, rounds: int) -> None:
    shelf, book = stocked(model, b={})

    race(_append, model.repository.store.url, RIVALS, nm.oid(shelf), nm.oid(book), rounds)

    expected = sorted(f"{rival}-{number}" for rival in range(RIVALS) for number in range(rounds))
    assert sorted(one.name for one in shelf.books if one is not book) == expected
    assert sorted(book.tags) == sorted(book.marks) == expected
    assert sorted(one.name for one in model.roots if one is not shelf) == expected
    for rival in range(RIVALS):
        mine = [tag for tag in book.tags if tag.startswith(f"{rival}-")]
        assert mine == [f"{rival}-{number}" for number in range(rounds)], "in the order of their making"


def _append(store: Store, shelf_oid: str, book_oid: str, rounds: int, rival: int, barrier: Any) -> None:
    model = Repository(store).open("m")
    shelf, book = model[shelf_oid], model[book_oid]
    barrier.wait(PATIENCE)
    for number in range(rounds):
        name = f"{rival}-{number}"
        nm.redo(lambda name=name: book.tags.append(name), attempts=50)
        nm.redo(lambda name=name: book.marks.append(name), attempts=50)
        new, root = Book(name=name), Book(name=name)
        nm.redo(lambda new=new: shelf.books.append(new), attempts=50)
        nm.redo(lambda root=root: model.roots.append(root), attempts=50)


# one child


@rounds
@pytest.mark.parametrize("shelves", [2, 5])
def test_a_child_that_several_move_at_once_ends_in_one_container_and_is_listed_there_once(
    model: nm.Model, rounds: int, shelves: int
) -> None:
    found = [Shelf(name=str(number)) for number in range(shelves)]
    model.roots.extend(found)
    book = Book(name="b")
    found[0].books.append(book)
    oids = [nm.oid(shelf) for shelf in found]

    seen = race(_move_about, model.repository.store.url, 3, oids, nm.oid(book), rounds)

    for lost in seen:
        assert lost == [], "after each round, when all had moved"
    assert sum(list(shelf.books).count(book) for shelf in found) == 1
    assert list(book.shelf.books) == [book]


def _move_about(store: Store, shelves: list[str], oid: str, rounds: int, rival: int, barrier: Any) -> list[Any]:
    """The rounds after which the book was not in exactly one place, as seen between two rounds."""
    model, wrong = Repository(store).open("m"), []
    book = model[oid]
    for number in range(rounds):
        barrier.wait(PATIENCE)
        target = model[shelves[(number * (rival + 1) + rival) % len(shelves)]]
        with suppress(nm.Conflict):  # somebody else has moved it
            target.books.append(book)
        barrier.wait(PATIENCE)
        listed = [shelf for shelf in shelves for found in model[shelf].books if found is book]
        if listed != [nm.oid(book.shelf)]:
            wrong.append((number, listed, nm.oid(book.shelf)))
    return wrong


# a cluster


def test_no_update_is_lost_on_hbase(hbase: Cluster, connect: Callable[[str], Repository]) -> None:
    repo, name = connect(hbase.url), f"race-{uuid.uuid4().hex}"
    repo.register(library)
    model = repo.create(name)
    shelf, book = stocked(model, b={"pages": 0})

    race(_hbase_rival, hbase.url, 3, name, nm.oid(shelf), nm.oid(book), 5)

    fresh = Repository(repo.store).open(name)
    assert fresh[nm.oid(book)].pages == 15
    assert sorted(one.name for one in fresh[nm.oid(shelf)].books) == sorted(
        ["b", *(f"{rival}-{number}" for rival in range(3) for number in range(5))]
    )
    repo.drop(name)


def _hbase_rival(store: Store, name: str, shelf_oid: str, oid: str, rounds: int, rival: int, barrier: Any) -> None:
    shelf = Repository(store).open(name)[shelf_oid]
    barrier.wait(PATIENCE)
    _increment_redoing(store, name, oid, rounds, rival, barrier)
    for number in range(rounds):
        shelf.books.append(Book(name=f"{rival}-{number}"))
