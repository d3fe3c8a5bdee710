"""The changes of a model on HBase, where a time takes a while to be stable. Read in this process, without a Spark."""

import pickle
import time
import uuid
from collections.abc import Iterator

import pytest

import neomodel as nm
from neomodel import sharing, trees
from neomodel.cluster import Cluster
from tests.spark.following import Busybody, Follower, check_lengthened, expected, lengthened, told
from tests.spark.things import Thing, things

SETTLING = 2.0  # seconds


@pytest.fixture
def model(hbase: Cluster) -> Iterator[nm.Model]:
    with nm.connect(f"{hbase.url}&prefix=changes{uuid.uuid4().hex[:8]}_&settling={SETTLING}") as repo:
        repo.register(things)
        model = repo.create("m")
        time.sleep(SETTLING)
        yield model
        for name in repo.store.tables():
            repo.store.table(name).drop()
        sharing._shared.pop(repo.store.url).close()


def settled() -> None:
    time.sleep(SETTLING + 0.1)


def test_every_change_comes_once_and_in_order_when_it_is_stable(model: nm.Model) -> None:
    busy = Busybody(model, 1)
    follower = Follower(model.repository.store.url, type="Thing")
    found = []
    for _ in range(6):
        busy.work(12)
        found += follower.rows()
        follower = pickle.loads(pickle.dumps(follower))
        time.sleep(0.4)
    early = len(found)
    settled()
    found += follower.rows()

    assert 0 < early < len(found)
    assert told(found) == expected(model, busy.oids, Thing.eClass)


def test_without_order_there_is_a_partition_for_each_region_in_order_of_its_own(model: nm.Model) -> None:
    busy = Busybody(model, 2)
    busy.work(60)
    settled()

    parts = Follower(model.repository.store.url, type="Thing", ordered=False).step()

    assert parts is not None
    assert len(parts) == len(model.table.regions()) > 1
    times = [[one[:2] for one in told(part)] for part in parts]
    assert all(part == sorted(part) for part in times)
    assert sorted(one for part in times for one in part) == [
        one[:2] for one in expected(model, busy.oids, Thing.eClass)
    ]


def test_changes_of_long_collections_are_changes_of_their_object(
    model: nm.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "LIMITS", trees.Limits(2, 4, 3))
    one = Thing(name="one")
    model.roots.append(one)
    one.numbers.extend(range(20))
    settled()
    follower = Follower(model.repository.store.url, type="Thing", columns="_id, numbers")
    follower.rows()
    done = lengthened(one, 12)
    settled()

    check_lengthened(told(follower.rows()), done)
