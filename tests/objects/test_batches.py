"""Batches: what is written in one is not seen as stable before it is closed, and nobody waits for who died."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import neomodel as nm
from neomodel.batches import LEASE, TABLE
from neomodel.errors import OutcomeUnknown, StoreUnavailable
from neomodel.repository import Repository
from neomodel.stores import Store, open_store
from neomodel.stores.wrappers import Call, Counting, WrappedStore
from tests.objects.library import Book, library, stocked

SHORT = 0.2  # seconds
Connect = Callable[[str], Repository]


def names(repo: Repository) -> list[str]:
    return sorted(book.name for book in repo.open("m", as_of="stable").all(Book))


def test_without_a_batch_what_was_written_is_stable_at_once(repo: Repository, model: nm.Model) -> None:
    stocked(model, a={})

    assert names(repo) == ["a"]


def test_the_stable_time_stays_below_an_open_batch_for_everybody(
    url: str, repo: Repository, model: nm.Model, connect: Connect
) -> None:
    shelf, _ = stocked(model, a={})
    elsewhere = connect(url)

    with nm.batch(model) as batch:
        shelf.books.append(Book(name="b"))
        assert names(repo) == names(elsewhere) == ["a"]
        shelf.books.append(Book(name="c"))
        assert elsewhere.stable("m") == batch.since - 1

    assert names(repo) == names(elsewhere) == ["a", "b", "c"]


def test_what_others_write_meanwhile_waits_for_the_oldest_batch(url: str, repo: Repository, connect: Connect) -> None:
    shelf, _ = stocked(repo.create("m"), a={})
    other = connect(url)
    with nm.batch(repo), nm.batch(other):
        other.open("m")[nm.oid(shelf)].books.append(Book(name="b"))
        first = repo.stable("m")
    with nm.batch(other) as later:
        with nm.batch(repo):
            pass
        assert first < repo.stable("m") == later.since - 1
    assert names(repo) == ["a", "b"]


def test_a_batch_within_a_batch_is_that_one(repo: Repository, model: nm.Model) -> None:
    with nm.batch(repo) as outer:
        with nm.batch(model) as inner:
            assert inner is outer
        stocked(model, a={})
        assert names(repo) == []
    assert names(repo) == ["a"]


def write_and_raise(model: nm.Model, error: BaseException, lease: float = LEASE) -> None:
    with nm.batch(model, lease=lease):
        stocked(model, a={})
        raise error


def test_a_batch_that_ends_with_an_error_is_closed(repo: Repository, model: nm.Model) -> None:
    with pytest.raises(ZeroDivisionError):
        write_and_raise(model, ZeroDivisionError())

    assert names(repo) == ["a"]


@pytest.mark.parametrize("end", [OutcomeUnknown("swap", "m", "lost"), KeyboardInterrupt()])
def test_a_batch_some_of_which_may_be_on_its_way_is_waited_for_until_its_lease_ends(
    repo: Repository, model: nm.Model, end: BaseException
) -> None:
    with pytest.raises(type(end)):
        write_and_raise(model, end, SHORT)

    assert names(repo) == []
    time.sleep(SHORT + 0.01)
    assert names(repo) == ["a"]


def test_a_batch_that_is_renewed_lasts_longer_than_its_lease(repo: Repository, model: nm.Model) -> None:
    with nm.batch(repo, lease=SHORT):
        stocked(model, a={})
        time.sleep(3 * SHORT)
        stocked(model, b={})
        assert names(repo) == []
    assert names(repo) == ["a", "b"]


def test_a_writer_whose_lease_has_expired_is_refused_and_writes_nothing(
    url: str, repo: Repository, model: nm.Model, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object) -> bool:
        raise StoreUnavailable("swap", url, "it can't be reached")

    def write() -> None:
        with nm.batch(repo, lease=SHORT):
            shelf, _ = stocked(model, a={})
            time.sleep(2 * SHORT)
            assert names(connect(url)) == ["a"]  # nobody waits any more
            with pytest.raises(nm.BatchExpired):
                shelf.name = "late"
            with pytest.raises(nm.BatchExpired):
                shelf.books.append(Book(name="late"))
            assert shelf.name == "shelf"

    monkeypatch.setattr("neomodel.batches.Batches.renew", unreachable)
    with pytest.raises(nm.BatchExpired, match="open another one"):
        write()
    assert names(repo) == ["a"]


def test_a_batch_that_was_given_up_for_lost_does_not_come_back(repo: Repository, model: nm.Model) -> None:
    batches = repo.batches
    batch = batches.open(SHORT)
    batch.abandon()
    time.sleep(SHORT + 0.01)
    stable = repo.stable("m")

    assert stable >= batch.since
    assert not batches.renew(batch._entry.token, LEASE)
    assert repo.stable("m") >= stable


class Overtaken(WrappedStore):
    """Before the list of batches is changed, somebody writes, and somebody asks for the stable time."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.answers: list[int] = []

    def writing(self, call: Call, ask: Callable[[], Any]) -> Any:
        if (call.operation, call.table) == ("swap", TABLE):
            others = Repository(self.inner)
            stocked(others.open("m"), x={})
            self.answers.append(others.stable("m"))
        return ask()


def test_a_time_that_was_answered_while_a_batch_was_being_opened_stays_stable(url: str, model: nm.Model) -> None:
    with Overtaken(open_store(url)) as store:
        repo = Repository(store)
        with nm.batch(repo):
            answered = store.answers[-1]
            assert Repository(store.inner).stable("m") >= answered
            before = [book.name for book in Repository(store.inner).open("m", as_of=answered).all(Book)]
            stocked(repo.open("m"), y={})
            assert [book.name for book in Repository(store.inner).open("m", as_of=answered).all(Book)] == before


def test_the_stable_time_never_goes_back_whoever_opens_batches(url: str, model: nm.Model, connect: Connect) -> None:
    """Nor is a time that was answered ever refused again."""
    ended = threading.Event()

    def write() -> None:
        repo = connect(url)
        while not ended.is_set():
            with nm.batch(repo):
                stocked(repo.open("m"), x={})

    writer = threading.Thread(target=write)
    writer.start()
    try:
        last = 0
        for _ in range(150):
            fresh = Repository(model.repository.store)
            stable = fresh.stable("m")
            assert stable >= last
            Repository(model.repository.store).open("m", as_of=stable)
            last = stable
    finally:
        ended.set()
        writer.join()


def test_asking_for_the_stable_time_costs_two_reads_however_many_batches_there_were() -> None:
    with Counting(open_store("memory:")) as store:
        repo = Repository(store)
        repo.register(library)
        repo.create("m")
        for _ in range(20):
            with nm.batch(repo):
                pass
        store.reset()

        repo.stable("m")

        assert store.calls == {"now": 1, "cells": 1}
        assert store.cells_read == 1


def test_a_batch_costs_two_swaps_whatever_is_written_in_it() -> None:
    with Counting(open_store("memory:")) as store:
        repo = Repository(store)
        repo.register(library)
        repo.create("m")
        with nm.batch(repo):
            pass
        store.reset()

        with nm.batch(repo):
            pass

        assert store.calls == {"cells": 3, "swap": 2}


@pytest.mark.parametrize("lease", [0, -1, "1"])
def test_a_lease_that_makes_no_sense_is_refused(repo: Repository, lease: float) -> None:
    with pytest.raises(nm.InvalidValue), nm.batch(repo, lease=lease):
        pass


def test_a_batch_that_was_left_open_can_be_joined_and_one_that_is_closed_cannot(
    url: str, repo: Repository, model: nm.Model, connect: Connect
) -> None:
    stocked(model, a={})
    left = repo.batches.open(LEASE)
    left.abandon()

    joined = connect(url).batches.join(left.token, LEASE)

    assert joined.since == left.since
    assert repo.stable("m") == left.since - 1
    joined.close()
    assert names(repo) == ["a"]
    with pytest.raises(nm.BatchExpired):
        repo.batches.join(left.token, LEASE)
