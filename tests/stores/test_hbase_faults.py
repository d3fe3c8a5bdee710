"""Three region servers, writers and readers at work: servers and gateways die, regions move and split.

Every write that was acknowledged is there afterwards, clients go on without a restart, and `regions` is right, and has
an answer at any time.
"""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import pytest

from neomodel.cluster import Cluster
from neomodel.stores import Region, Table, hbase_knowledge, open_store
from tests.stores.load import Load
from tests.stores.test_hbase_races import rotated

SPLITS = [b"55", b"aa"]  # keys are hexadecimal


@pytest.fixture
def table(hbase3: Cluster) -> Iterator[Table]:
    """A table with a region on each server; the gateway beside each is known."""
    with open_store(hbase3.url) as store:
        table = store.table(f"faults-{uuid.uuid4().hex}")
        table.create("pt", splits=SPLITS)
        for region, server in zip(hbase3.regions(table.name), hbase3.servers, strict=True):
            if region.server != hbase3.address(server):
                hbase3.move(region, server)
        yield table
        table.drop()


def as_recorded(hbase3: Cluster, table: Table) -> list[Region]:
    """The regions as the master has them, in the words of the store."""
    gateways = {hbase3.address(f"server{n}"): hbase3.plan.gateway(n)["thrift1"] for n in (1, 2, 3)}
    regions = []
    for region in hbase3.regions(table.name):
        assert region.server is not None, region
        host, _, port = region.server.partition(":")
        regions.append(Region(region.start, region.stop or None, host, int(port), f"{host}:{gateways[region.server]}"))
    return regions


def check_regions(hbase3: Cluster, table: Table) -> None:
    """What the store says of regions is what the master knows, and covers all keys once."""
    found = table.regions()
    assert found == as_recorded(hbase3, table)
    assert [region.start for region in found] == [b"", *(region.stop for region in found[:-1])]
    assert found[-1].stop is None


@contextmanager
def told_all_the_time(table: Table) -> Iterator[None]:
    """Meanwhile `regions` always has an answer, and one that covers all keys."""
    done = threading.Event()

    def ask() -> int:
        count = 0
        while not done.is_set():
            found = table.regions()
            assert [region.start for region in found] == [b"", *(region.stop for region in found[:-1])]
            assert found[-1].stop is None
            count += 1
        return count

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        try:
            yield
        finally:
            done.set()
        assert asking.result(60)


def kill_server(hbase3: Cluster, table: Table, *, meta: bool) -> Callable[[], None]:
    """One that holds a region of the table, and hbase:meta or not. Returns what brings it back."""
    victim = hbase3.meta_server()
    assert victim is not None
    if not meta:
        holders = [hbase3.plan.server_at(region.server or "") for region in hbase3.regions(table.name)]
        victim = next(holder for holder in holders if holder != victim)
    hbase3.kill(victim)
    deadline = time.monotonic() + 60
    while any(region.server in (None, hbase3.address(victim)) for region in hbase3.regions(table.name)):
        assert time.monotonic() < deadline, f"nobody takes over from {victim}"
        time.sleep(0.1)
    return partial(hbase3.restart, victim)


def kill_gateway(hbase3: Cluster, table: Table) -> Callable[[], None]:
    """The one beside the first region, and thus the one that is asked for its rows."""
    victim = hbase3.gateways[hbase3.servers.index(hbase3.plan.server_at(hbase3.regions(table.name)[0].server or ""))]
    hbase3.kill(victim)
    return partial(hbase3.restart, victim)


def move(hbase3: Cluster, table: Table) -> None:
    region = hbase3.regions(table.name)[0]
    hbase3.move(region, next(name for name in hbase3.servers if hbase3.address(name) != region.server))


def split(hbase3: Cluster, table: Table, key: bytes) -> None:
    hbase3.split(table.name, key)


SHORT: dict[str, Callable[[Cluster, Table], Callable[[], None] | None]] = {
    "split": partial(split, key=b"80"),
    "move": move,
    "gateway killed": kill_gateway,
    "server killed": partial(kill_server, meta=False),
}
LONG = {
    **SHORT,
    "server of hbase:meta killed": partial(kill_server, meta=True),
    "another split": partial(split, key=b"2a"),
    "another move": move,
    "another gateway killed": kill_gateway,
    "another server killed": partial(kill_server, meta=False),
    "server of hbase:meta killed again": partial(kill_server, meta=True),
}


@pytest.mark.parametrize(
    "faults", [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.soak)]
)
def test_what_was_acknowledged_is_there_and_clients_go_on_whatever_dies_moves_or_splits(
    hbase3: Cluster,
    table: Table,
    faults: dict[str, Callable[[Cluster, Table], Callable[[], None] | None]],
    figures: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hbase_knowledge, "_LOCATIONS", 0.2)  # clients ask all the time where the regions are
    pauses = []
    check_regions(hbase3, table)
    urls = [hbase3.url, rotated(hbase3.url, 1), rotated(hbase3.url, 2)]  # beside the regions, and by one gateway each
    with Load(urls, table.name) as load:
        load.go_on()
        for name, fault in faults.items():
            load.forget_pauses()
            with told_all_the_time(table):
                mend = fault(hbase3, table)
            try:
                load.go_on()
                check_regions(hbase3, table)
            finally:
                if mend:
                    mend()
            load.go_on()
            pauses.append(f"{name} {load.longest_pause():.1f} s")
            check_regions(hbase3, table)
    figures(f"HBase faults: {load.verify()}; longest pauses: {', '.join(pauses)}")
