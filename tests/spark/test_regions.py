"""Partitions are regions: each task talks to the gateway beside its own, and whatever becomes of regions and servers
while a job runs, the job ends, and has the model."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import neomodel as nm
import spark
from neomodel.cluster import Cluster
from neomodel.cluster.control import HostedRegion
from tests.spark.cluster_models import distribute, listened_to, snapshot, spread, table_of
from tests.spark.things import Thing

COUNT = 6000  # about 2,000 in each region, which takes several calls to scan
PATIENCE = 120  # seconds


@pytest.fixture(scope="module")
def made(hbase3: Cluster) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """The URL of a store with a model in it, and what the objects in it hold."""
    with spread(hbase3, COUNT) as (url, model):
        yield url, sorted(seen(obj) for obj in model.all(Thing))


def seen(obj: Any) -> tuple[Any, ...]:
    return nm.oid(obj), obj.name, nm.oid(obj.friend)


def frame(session: SparkSession, url: str) -> DataFrame:
    options = {"store": url, "model": "m", "type": "Thing", "columns": "_id, name, friend"}
    return session.read.format("neomodel").options(**options).load()


def hosted(hbase3: Cluster, url: str) -> list[HostedRegion]:
    """The regions as the master has them."""
    return hbase3.regions(table_of(url))


def test_partitions_are_regions(hbase3: Cluster, session: SparkSession, made: Any) -> None:
    url, rows = made
    regions = hosted(hbase3, url)

    found = spark.elements(session, snapshot(url), Thing).map(nm.oid).glom().collect()
    frames = [[row[0] for row in part] for part in frame(session, url).rdd.glom().collect()]

    expected = [
        [oid for oid, _, _ in rows if one.start <= oid.encode() and (not one.stop or oid.encode() < one.stop)]
        for one in regions
    ]
    assert len(regions) == len({one.server for one in regions}) == 3
    assert found == expected
    assert frames == expected
    assert all(len(part) > COUNT // 6 for part in found)


@pytest.mark.parametrize("way", ["objects", "data frame"])
def test_each_task_reads_from_the_gateway_beside_its_region(
    hbase3: Cluster, session: SparkSession, made: Any, way: str
) -> None:
    url, rows = made
    with listened_to(hbase3, url) as (by_proxies, proxies):
        if way == "objects":
            objects = spark.elements(session, snapshot(by_proxies), Thing)
            parts = objects.map(lambda obj: obj.name).glom().collect()
        else:
            parts = [[row.name for row in part] for part in frame(session, by_proxies).rdd.glom().collect()]

        heard = {server: proxy.names() for server, proxy in proxies.items()}
    beside = [region.server for region in hosted(hbase3, url)]
    assert [heard[server] for server in beside if server] == [set(part) for part in parts]
    assert len(set(beside)) == 3
    assert sorted(name for part in parts for name in part) == sorted(name for _, name, _ in rows)


def test_objects_on_hbase_are_those_of_the_model_and_reads_are_told(session: SparkSession, made: Any) -> None:
    url, rows = made
    objects = spark.elements(session, snapshot(url), Thing)

    found = objects.map(lambda obj: (nm.oid(obj), obj.name, nm.oid(obj.friend), obj.friend.name)).collect()

    names = {oid: name for oid, name, _ in rows}
    assert sorted(found) == [(oid, name, friend, names[friend]) for oid, name, friend in rows]
    regions = [region.start for region in snapshot(url).table.regions()]

    def part_of(oid: str) -> int:
        return max(at for at, start in enumerate(regions) if start <= oid.encode())

    outside = {(part_of(oid), friend) for oid, _, friend in rows if part_of(oid) != part_of(friend)}
    assert (objects.reads.local, objects.reads.remote) == (COUNT + 1, len(outside))


# while something happens


def split_and_move(hbase3: Cluster, url: str) -> Callable[[], None]:
    """Split a region that is being read, and one that will be, and move one half of each to another server."""
    table, regions = table_of(url), hosted(hbase3, url)
    for one in (regions[0], regions[-1]):
        middle = _middle(url, one)
        hbase3.split(table, middle)
        upper = next(region for region in hosted(hbase3, url) if region.start == middle)
        hbase3.move(upper, next(name for name in hbase3.servers if hbase3.address(name) != upper.server))
    return lambda: None


def kill_a_server(hbase3: Cluster, url: str) -> Callable[[], None]:
    """One that has the first or the second region, which are being read, but not hbase:meta."""
    holders = [hbase3.plan.server_at(region.server or "") for region in hosted(hbase3, url)[:2]]
    return _kill(hbase3, next(holder for holder in holders if holder != hbase3.meta_server()))


def kill_the_server_of_meta(hbase3: Cluster, url: str) -> Callable[[], None]:
    return _kill(hbase3, hbase3.meta_server() or hbase3.servers[0])


def _kill(hbase3: Cluster, victim: str) -> Callable[[], None]:
    hbase3.kill(victim)
    return lambda: hbase3.restart(victim)


def _middle(url: str, region: HostedRegion) -> bytes:
    """A key after which half of the rows of a region come."""
    keys = [key for key, _ in snapshot(url).table.scan(region.start, region.stop or None, columns=[b"t:eclass"])]
    return keys[len(keys) // 2]


def paused(folder: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What tells of a task's first object, and waits until it may go on, in the middle of its scan."""

    def run(objects: Iterable[Any]) -> Iterator[Any]:
        for number, obj in enumerate(objects):
            if number == 0:
                Path(folder, f"began {nm.oid(obj)}").touch()
            while not Path(folder, "go").exists():
                time.sleep(0.02)
            yield seen(obj)

    return run


def outlived(
    hbase3: Cluster, session: SparkSession, made: Any, fault: Callable[[Cluster, str], Callable[[], None]], folder: Path
) -> str:
    """Have a fault in the middle of a job, and another job begin thereafter whose partitions are those of before; both
    have the model. Returns how long that took."""
    url, rows = made
    folder.mkdir()
    distribute(hbase3, table_of(url))
    planned = frame(session, url).rdd
    assert planned.getNumPartitions() == len(hosted(hbase3, url))  # and will be, whatever happens
    objects = spark.elements(session, snapshot(url), Thing, rows=0)  # the scan goes on as objects are taken
    mend: Callable[[], None] | None = None
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(lambda: objects.map_partitions(paused(str(folder))).collect())
        try:
            _wait_for(lambda: len(list(folder.glob("began *"))) == 2)  # as many as there are cores
            mend = fault(hbase3, url)
            began = time.monotonic()
            (folder / "go").touch()
            assert sorted(job.result(PATIENCE)) == rows
            assert sorted(map(tuple, planned.collect())) == rows
            took = time.monotonic() - began
        finally:
            (folder / "go").touch()
            if mend:
                mend()
    return f"{fault.__name__.replace('_', ' ')} {took:.1f} s"


def test_a_job_ends_and_has_the_model_whatever_dies_moves_or_splits_meanwhile(
    hbase3: Cluster, session: SparkSession, made: Any, tmp_path: Path, figures: Callable[[str], None]
) -> None:
    """The last test of this model: its regions are others then."""
    faults = (split_and_move, kill_a_server)
    took = [outlived(hbase3, session, made, fault, tmp_path / fault.__name__) for fault in faults]

    figures(f"Spark jobs over {COUNT} rows on HBase, from a fault in their middle on: {', '.join(took)}")


@pytest.mark.soak
def test_jobs_end_and_have_the_model_round_after_round(
    hbase3: Cluster, session: SparkSession, tmp_path: Path, figures: Callable[[str], None]
) -> None:
    took = []
    faults = (split_and_move, kill_a_server, kill_the_server_of_meta)
    for number in range(3):
        with spread(hbase3, COUNT) as (url, model):  # a new one, as a region can't be split again at once
            made = url, sorted(seen(obj) for obj in model.all(Thing))
            for fault in faults:
                took.append(outlived(hbase3, session, made, fault, tmp_path / f"{number} {fault.__name__}"))

    figures(f"Spark jobs over {COUNT} rows on HBase, from a fault in their middle on: {', '.join(took)}")


def _wait_for(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)
