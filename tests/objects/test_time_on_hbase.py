"""Snapshots, batches and history where clients stamp and a time takes a while to settle."""

import time
import uuid
from collections.abc import Iterator

import pytest

import neomodel as nm
from neomodel.cluster import Cluster
from neomodel.repository import Repository
from tests.objects.library import Book, library, stocked

SETTLING = 2.0  # seconds


@pytest.fixture
def repo(hbase: Cluster) -> Iterator[Repository]:
    with nm.connect(f"{hbase.url}&prefix=time{uuid.uuid4().hex[:8]}_&settling={SETTLING}") as repo:
        repo.register(library)
        yield repo
        for name in repo.store.tables():
            repo.store.table(name).drop()


def test_a_time_is_stable_when_it_has_settled_and_a_batch_holds_it_back(repo: Repository) -> None:
    before = int(time.time() * 1e6)
    model = repo.create("m")
    shelf, a = stocked(model, a={})
    then = model.table.now()
    a.name = "b"

    with pytest.raises(nm.NotStable):
        repo.open("m", as_of=then)
    assert repo.open("m", as_of=then, unstable=True)[nm.oid(a)].name == "a"
    time.sleep(SETTLING)
    past = repo.open("m", as_of=then)
    assert (past[nm.oid(a)].name, [book.name for book in past[nm.oid(shelf)].books]) == ("a", ["a"])
    with pytest.raises(nm.ModelNotFound, match="created later"):
        repo.open("m", as_of=before)

    with nm.batch(repo, lease=2) as batch:
        a.name = "c"
        time.sleep(SETTLING + 1)  # longer than its lease
        shelf.books.append(Book(name="d"))
        assert repo.stable("m") == batch.since - 1
        assert repo.open("m", as_of="stable")[nm.oid(a)].name == "b"
    time.sleep(SETTLING)
    assert repo.open("m", as_of="stable")[nm.oid(a)].name == "c"


def test_the_history_of_an_object_is_told(repo: Repository) -> None:
    model = repo.create("m")
    shelf, a = stocked(model, a={})
    a.name = "b"
    model.roots.append(a)
    oid = str(nm.oid(a))
    nm.delete(a)

    created, renamed, moved, deleted = nm.history(model[oid])

    assert created.created
    assert renamed.changes == {"name": nm.Change("a", "b")}
    assert moved.moved == nm.Change(nm.Place(shelf, "books"), nm.Place(None, "eContents"))
    assert deleted.deleted
    assert created.time < renamed.time < moved.time < deleted.time
