"""What an HBase store says when it can't work, in one sentence; and the times it gives, whatever the clocks say."""

import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import happybase
import pytest

from neomodel.cluster import Cluster
from neomodel.errors import InvalidStore, NeomodelError, StoreUnavailable, TableExists, TableNotFound
from neomodel.stores import VERSION, Mutation, Store, Table, clock, open_store, successor
from neomodel.stores import hbase_calls as calls
from neomodel.stores.base import Cells
from tests.stores.processes import run
from tests.stores.shorthand import versions

NOBODY = 9  # a port that nothing listens on: that of the discard protocol
HOUR = 3600

ASKING: dict[str, Callable[[Table], object]] = {
    "get": lambda table: table.get(b"k"),
    "get_many": lambda table: table.get_many([b"k", b"l"]),
    "scan": lambda table: list(table.scan()),
    "history": lambda table: list(table.history()),
    "cells": lambda table: list(table.cells(b"k", "p")),
    "swap": lambda table: table.swap(b"k", None, {VERSION: b"1"}),
    "put_many": lambda table: table.put_many([Mutation(b"k", {b"p:x": b"1"})]),
    "regions": lambda table: table.regions(),
    "create": lambda table: table.create("pt"),
    "drop": lambda table: table.drop(),
}


@pytest.fixture
def ports(hbase: Cluster) -> tuple[int, int]:
    pair = hbase.plan.gateway(1)
    return pair["thrift1"], pair["thrift2"]


@pytest.fixture
def there(hbase: Cluster) -> Iterator[Table]:
    """A table that is there."""
    with open_store(hbase.url) as store:
        table = store.table(f"store-{uuid.uuid4().hex}")
        table.create("pt")
        yield table
        table.drop()


def told(url: str, table: str, ask: Callable[[Table], object], kind: type[NeomodelError]) -> str:
    """The one sentence that asking leads to, and of the class that has the remedy."""
    with open_store(url) as store, pytest.raises(kind) as raised:
        ask(store.table(table))
    sentence = str(raised.value)
    assert "\n" not in sentence
    assert len(sentence) < 400
    assert type(raised.value) is kind
    return sentence


@pytest.mark.parametrize("asking", ASKING)
def test_a_gateway_that_is_dead_is_named(asking: str) -> None:
    url = f"hbase://127.0.0.1:{NOBODY}?thrift2={NOBODY}"

    sentence = told(url, "t", ASKING[asking], StoreUnavailable)

    assert f"127.0.0.1:{NOBODY} can't be reached" in sentence
    assert "wrote nothing" in sentence


@pytest.mark.parametrize("asking", ["get", "get_many", "scan", "regions"])
def test_a_dead_first_gateway_of_a_pair_is_named_when_it_is_needed(
    ports: tuple[int, int], there: Table, asking: str
) -> None:
    sentence = told(f"hbase://127.0.0.1:{NOBODY}?thrift2={ports[1]}", there.name, ASKING[asking], StoreUnavailable)

    assert f"127.0.0.1:{NOBODY} can't be reached" in sentence


@pytest.mark.parametrize("asking", ASKING)
def test_a_thrift1_port_given_for_thrift2_is_told(ports: tuple[int, int], there: Table, asking: str) -> None:
    sentence = told(f"hbase://127.0.0.1:{ports[0]}?thrift2={ports[0]}", there.name, ASKING[asking], InvalidStore)

    assert f"127.0.0.1:{ports[0]} is no gateway of the kind it is named as; check the ports" in sentence


@pytest.mark.parametrize("asking", ["get", "get_many", "scan", "regions"])
def test_a_thrift2_port_given_for_thrift1_is_told(ports: tuple[int, int], there: Table, asking: str) -> None:
    sentence = told(f"hbase://127.0.0.1:{ports[1]}?thrift2={ports[1]}", there.name, ASKING[asking], InvalidStore)

    assert f"127.0.0.1:{ports[1]} is no gateway of the kind it is named as; check the ports" in sentence


def test_a_port_where_somebody_else_listens_is_told() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"hbase://127.0.0.1:{server.server_port}?thrift2={server.server_port}&timeout=2"

        sentence = told(url, "t", ASKING["get"], StoreUnavailable)
        server.shutdown()

    assert f"127.0.0.1:{server.server_port}" in sentence


def test_the_port_of_a_region_server_is_told(hbase: Cluster) -> None:
    port = hbase.address("server1").partition(":")[2]

    sentence = told(f"hbase://127.0.0.1:{port}?thrift2={port}&timeout=1", "t", ASKING["get"], StoreUnavailable)

    assert f"127.0.0.1:{port}" in sentence


def test_a_port_where_nobody_answers_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        started = time.monotonic()

        sentence = told(f"hbase://127.0.0.1:{port}?thrift2={port}&timeout=0.5", "t", ASKING["get"], StoreUnavailable)

    assert "timed out" in sentence
    assert time.monotonic() - started < 5


def test_an_operation_that_needs_no_dead_gateway_works(ports: tuple[int, int], there: Table) -> None:
    """The dead pair stands first, and is passed over each time."""
    url = f"hbase://127.0.0.1:{NOBODY},127.0.0.1:{ports[0]}?thrift2={NOBODY},{ports[1]}"
    with open_store(url) as store:
        table = store.table(there.name)
        assert table.swap(b"k", None, {VERSION: b"1-a"})
        assert table.get(b"k") == {VERSION: b"1-a"}
        assert [key for key, _ in table.scan()] == [b"k"]


@pytest.mark.parametrize("asking", [name for name in ASKING if name != "create"])
def test_a_table_that_is_not_there_is_told(hbase: Cluster, asking: str) -> None:
    assert "there is no table 'nowhere'" in told(hbase.url, "nowhere", ASKING[asking], TableNotFound)


def test_a_table_made_by_another_program_is_left_alone(hbase: Cluster, ports: tuple[int, int]) -> None:
    name = f"theirs-{uuid.uuid4().hex}"
    with closing(happybase.Connection("127.0.0.1", ports[0])) as connection:
        connection.create_table(name, {"p": {}, "t": {}})
        connection.table(name).put(b"k", {b"p:x": b"1"})

        for asking in ASKING.keys() - {"create"}:
            sentence = told(hbase.url, name, ASKING[asking], InvalidStore)
            assert f"its table {name!r} was not made by neomodel; name another" in sentence
        assert "already exists" in told(hbase.url, name, ASKING["create"], TableExists)

        with open_store(hbase.url) as store:
            assert name not in store.tables()
        assert list(connection.table(name).scan()) == [(b"k", {b"p:x": b"1"})]
        connection.delete_table(name, disable=True)


def test_a_prefix_keeps_tables_apart(hbase: Cluster) -> None:
    name = f"apart-{uuid.uuid4().hex}"
    with open_store(f"{hbase.url}&prefix=one_") as one, open_store(f"{hbase.url}&prefix=two_") as two:
        one.table(name).create("pt")
        assert name in one.tables()
        assert name not in two.tables()
        with pytest.raises(TableNotFound):
            two.table(name).get(b"k")
        one.table(name).drop()


# times


def _with_clock(store: Store, name: str, offset: int, key: bytes, expected: bytes | None, cells: Cells) -> bool:
    """A swap by a process whose clock is wrong by that many seconds."""
    clock.wall = lambda: time.time_ns() // 1000 + offset * 10**6
    return store.table(name).swap(key, expected, cells)


@pytest.mark.parametrize("offset", [-HOUR, HOUR], ids=["slow", "fast"])
def test_the_times_of_a_row_grow_whatever_the_clock_of_the_one_that_swaps_it(
    hbase: Cluster, there: Table, offset: int
) -> None:
    """Also if it never read the row, and so doesn't know when the version that it replaces was stamped."""
    key, version = b"k", None
    for number in range(4):
        new = successor(version)
        cells = {VERSION: new, b"p:n": b"%d" % number}
        if number % 2:
            assert run(_with_clock, hbase.url, there.name, offset, key, version, cells)
        else:
            assert there.swap(key, version, cells)
        assert there.get(key) == cells
        version = new

    assert [version.value for version in versions(there, key) if version.column == b"p:n"] == [b"3", b"2", b"1", b"0"]
    times = [version.time for version in versions(there, key) if version.column == VERSION]
    assert times == sorted(set(times), reverse=True)


def test_a_row_that_a_fast_clock_has_emptied_can_be_made_again(hbase: Cluster, there: Table) -> None:
    assert there.swap(b"k", None, {VERSION: b"1-a"})
    assert run(_with_clock, hbase.url, there.name, HOUR, b"k", b"1-a", {VERSION: None})
    assert there.get(b"k") is None

    with open_store(hbase.url) as other:
        assert other.table(there.name).swap(b"k", None, {VERSION: b"1-b"})
    assert there.get(b"k") == {VERSION: b"1-b"}
    assert not there.swap(b"k", None, {VERSION: b"1-c"})


def test_a_row_emptied_again_meanwhile_by_a_fast_clock_can_be_made_again(hbase: Cluster, there: Table) -> None:
    """The one that makes it has seen it empty before, at an earlier time."""
    assert there.swap(b"k", None, {VERSION: b"1-a"})
    assert there.swap(b"k", b"1-a", {VERSION: None})
    assert there.get(b"k") is None
    assert run(_with_clock, hbase.url, there.name, HOUR, b"k", None, {VERSION: b"1-b"})
    assert run(_with_clock, hbase.url, there.name, HOUR, b"k", b"1-b", {VERSION: None})

    assert there.swap(b"k", None, {VERSION: b"1-c"})
    assert there.get(b"k") == {VERSION: b"1-c"}


@pytest.mark.parametrize("write", ["swap", "put_many"])
def test_what_was_stamped_too_long_ago_is_not_sent(hbase: Cluster, there: Table, write: str) -> None:
    """Here all is: the store is said to settle sooner than anything can be sent. It is told as such, once."""
    with open_store(f"{hbase.url}&settling=0.000004") as store:
        with pytest.raises(StoreUnavailable, match=r"wrote nothing: it is .* s old"):
            ASKING[write](store.table(there.name))
        assert there.get(b"k") is None
        assert store.table(there.name).get(b"k") is None, "and reads go on"


def test_a_process_that_stood_still_between_stamping_and_sending_sends_nothing_old(
    hbase: Cluster, there: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*arguments: object) -> object:
        time.sleep(0.4)
        return prepared(*arguments)

    prepared = calls.swap
    monkeypatch.setattr(calls, "swap", slow)
    with open_store(f"{hbase.url}&settling=0.4") as store, pytest.raises(StoreUnavailable, match="wrote nothing"):
        store.table(there.name).swap(b"k", None, {VERSION: b"1-a"})

    assert there.get(b"k") is None
