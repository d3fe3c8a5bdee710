"""Snapshots, batches and history where clients stamp and a time takes a while to settle."""

import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import neomodel as nm
from neomodel.cluster import Cluster
from neomodel.repository import Repository
from neomodel.stores import VERSION, open_store
from tests.objects.library import Book, library, stocked
from tests.stores.line import few_questions
from tests.stores.proxy import Fault, Proxy

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


def test_a_write_that_came_when_its_time_had_settled_is_told_to_its_writer(hbase: Cluster) -> None:
    """It changes what others have read as of a time that had settled, which no client can prevent."""
    ports = hbase.plan.gateway(1)
    with Proxy(ports["thrift2"], SETTLING) as way, few_questions(), ThreadPoolExecutor(1) as threads:
        slow = f"hbase://127.0.0.1:{ports['thrift1']}?thrift2={way.port}&settling={SETTLING}"
        with open_store(slow) as store, open_store(f"{hbase.url}&settling={SETTLING}") as quick:
            table, others = (one.table(f"late-{way.port}") for one in (store, quick))
            table.create("pt")
            assert table.swap(b"row", None, {VERSION: b"1", b"p:a": b"early"})
            way.inflict(Fault.LATE_REQUEST)
            written = threads.submit(table.swap, b"row", b"1", {VERSION: b"2", b"p:a": b"late"})
            time.sleep(1.25 * SETTLING)  # of 1.5 for which the request is held
            settled = others.now() - quick.settling
            before = others.get(b"row", at=settled)

            with pytest.raises(nm.OutcomeUnknown, match=r"none in the 2 s in which times settle, but after 3\.\d s"):
                written.result()

            after = others.get(b"row", at=settled)
            table.drop()
    assert [row and row[b"p:a"] for row in (before, after)] == [b"early", b"late"]
