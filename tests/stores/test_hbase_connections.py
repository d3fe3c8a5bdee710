"""Connections to gateways: kept while they are good, dropped at the first error, own ones in each process."""

import os
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from neomodel.cluster import Cluster
from neomodel.errors import NeomodelError, StoreUnavailable, TableNotFound
from neomodel.stores import VERSION, Mutation, Store, hbase_gateways, hbase_rows, open_store, successor
from tests.stores.line import KEYS, Line, few_questions, proxied
from tests.stores.processes import run
from tests.stores.proxy import Fault, Proxy
from tests.stores.rows import KEY, checked, mutations, number_of
from tests.stores.test_forks import in_fork

TIMEOUT = 2.0  # seconds: long enough that no connection is dropped for it
THREADS = 6
FIRST, SECOND = 0, 1  # the gateways of a pair


@pytest.fixture(scope="module", params=["hbase", "hbase_tls"])
def module_line(request: pytest.FixtureRequest) -> Iterator[Line]:
    """To gateways without and with TLS: what lies on the wire differs, what is promised does not."""
    with few_questions(), proxied(request.getfixturevalue(request.param), TIMEOUT) as line:
        yield line


@pytest.fixture
def line(module_line: Line) -> Line:
    """With one good connection to each gateway of the pair, and no other."""
    for proxy in module_line.proxies:
        proxy.refuse()
    module_line.heal()
    module_line.table.get(KEYS[0])
    assert list(module_line.table.cells(KEYS[0], "p"))
    assert opened(module_line) == [1, 1]
    return module_line


def opened(line: Line) -> list[int]:
    """Connections open now, once what was closed at this end is known at the other."""
    time.sleep(0.1)
    return [proxy.open_connections for proxy in line.proxies]


def made(line: Line) -> list[int]:
    """Connections made so far."""
    return [proxy.connections for proxy in line.proxies]


def test_calls_one_after_the_other_share_a_connection(line: Line) -> None:
    before = made(line)
    for key in KEYS[:50]:
        assert line.table.get(key)
        assert list(line.table.cells(key, "p"))
    assert len(list(line.table.scan())) == len(KEYS)

    assert made(line) == before


@pytest.mark.parametrize("fault", [Fault.SWALLOWED, Fault.LOST, Fault.TORN, Fault.LATE])
def test_a_connection_is_dropped_after_any_error(line: Line, fault: Fault) -> None:
    line.inflict(fault, 100)
    with pytest.raises(StoreUnavailable):
        line.table.get(KEYS[0])
    line.heal()
    line.calm()

    assert opened(line) == [0, 1]


def test_a_connection_on_which_the_gateway_refused_something_is_dropped(line: Line) -> None:
    nowhere = open_store(line.url).table("nowhere")
    for _ in range(3):
        with pytest.raises(TableNotFound):
            nowhere.get(b"k")

    assert opened(line) == [1, 1]


def test_a_stream_that_is_left_in_the_middle_leaves_no_connection_that_would_have_to_be_read_out(line: Line) -> None:
    for stream in (line.table.scan(), line.table.history()):
        next(stream)
        stream.close()  # type: ignore[attr-defined]
    assert opened(line) == [0, 0]

    assert number_of(KEYS[5], line.table.get(KEYS[5]) or {}) == 0


def test_errors_leave_no_open_files_behind(line: Line) -> None:
    def files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = files()
    for fault in (Fault.LOST, Fault.TORN, Fault.SWALLOWED) * 5:
        line.inflict(fault, 100)
        for ask in (
            lambda: line.table.get(KEYS[0]),
            lambda: list(line.table.scan()),
            lambda: list(line.table.cells(KEYS[0], "p")),
        ):
            with pytest.raises(NeomodelError):
                ask()
        line.heal()
    opened(line)

    assert files() <= before + 4  # as many as there may be in both ends' pools


def test_a_connection_that_was_idle_for_too_long_is_replaced(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    before = made(line)
    monkeypatch.setattr(hbase_gateways, "IDLE", 0.2)
    time.sleep(0.3)
    assert line.table.get(KEYS[0])

    assert made(line)[FIRST] == before[FIRST] + 1
    assert opened(line)[FIRST] == 1


def test_a_connection_that_the_gateway_has_closed_is_not_used_for_a_swap(line: Line) -> None:
    """It would end as unknown, for nothing."""
    key, version = b"swapped", None
    for _ in range(3):
        line.table.get(key)
        for proxy in line.proxies:
            proxy.refuse()
        line.heal()
        new = successor(version)
        assert line.table.swap(key, version, {VERSION: new, **checked(key, 1)})
        version = new


def test_threads_share_a_pool_and_each_gets_its_own_answers(line: Line) -> None:
    before = made(line)

    def work(number: int) -> None:
        for key in KEYS[number :: THREADS * 10]:
            assert number_of(key, line.table.get(key) or {}) == 0
            assert {cell.value for cell in line.table.cells(key, "p")} == set(checked(key, 0).values())

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))

    assert all(now - then <= THREADS for now, then in zip(made(line), before, strict=True))


def test_many_rows_are_asked_for_by_a_few_threads_however_many_calls_it_takes(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = made(line)
    monkeypatch.setattr(hbase_rows, "ROWS", 50)

    assert list(line.table.get_many(KEYS)) == KEYS
    assert made(line)[FIRST] - before[FIRST] <= 4


def test_a_forked_child_uses_connections_of_its_own_and_both_go_on(line: Line) -> None:
    before = made(line)

    assert run(_fork, line.url, line.table.name) == [0, 0]

    after = made(line)
    assert [now - then for now, then in zip(after, before, strict=True)] == [3, 3]  # a parent and two children


def _fork(store: Store, name: str) -> list[int]:
    table = store.table(name)

    def work() -> None:
        for key in KEYS[os.getpid() % 100 :: 50]:
            assert number_of(key, table.get(key) or {}) == 0
            assert {cell.value for cell in table.cells(key, "p")} == set(checked(key, 0).values())

    work()
    waits = [in_fork(work), in_fork(work)]
    work()
    return [wait() for wait in waits]


def test_streams_open_at_a_fork_go_on_in_the_child_too_on_connections_of_its_own(line: Line) -> None:
    assert run(_fork_within_streams, line.url, line.table.name) == 0


def _fork_within_streams(store: Store, name: str) -> int:
    table = store.table(name)
    span = (KEYS[0], KEYS[-1] + b"\0")  # other tests write beside them
    streams = [table.scan(*span), table.history(*span, columns=[KEY])]
    for stream in streams:
        next(stream)

    def go_on() -> None:
        for stream in streams:
            assert [item[0] for item in stream] == KEYS[1:]

    wait = in_fork(go_on)
    go_on()
    return wait()


# several regions


@pytest.fixture
def spread(hbase3: Cluster) -> Iterator[tuple[Line, list[Proxy], list[Proxy]]]:
    """A table with a region on each of three servers, and the proxies before the gateways of each."""
    with ExitStack() as stack:
        stack.enter_context(few_questions())
        pairs = [hbase3.plan.gateway(number) for number in (1, 2, 3)]
        firsts = [stack.enter_context(Proxy(pair["thrift1"], TIMEOUT)) for pair in pairs]
        seconds = [stack.enter_context(Proxy(pair["thrift2"], TIMEOUT)) for pair in pairs]
        hosts = ",".join(f"127.0.0.1:{proxy.port}" for proxy in firsts)
        servers = ",".join(map(hbase3.address, hbase3.servers))
        url = f"hbase://{hosts}?thrift2={','.join(str(proxy.port) for proxy in seconds)}&servers={servers}"
        truth = stack.enter_context(open_store(hbase3.url)).table(f"spread-{uuid.uuid4().hex}")
        truth.create("pt", splits=[b"r1", b"r2"])
        for region, server in zip(hbase3.regions(truth.name), hbase3.servers, strict=True):
            if region.server != hbase3.address(server):
                hbase3.move(region, server)
        table = stack.enter_context(open_store(url)).table(truth.name)
        yield Line(table, truth, [*firsts, *seconds], url), firsts, seconds
        truth.drop()


def test_rows_of_several_regions_are_asked_of_the_gateway_beside_each_once(
    spread: tuple[Line, list[Proxy], list[Proxy]],
) -> None:
    line, firsts, seconds = spread
    keys = KEYS[900:2100]
    line.table.put_many(mutations(keys[:10], 0))  # where the regions are is known from here on

    before = [proxy.exchanges for proxy in seconds]
    line.table.put_many([Mutation(key, checked(key, 0)) for key in keys])
    assert [proxy.exchanges - then for proxy, then in zip(seconds, before, strict=True)] == [1, 1, 1]

    before = [proxy.exchanges for proxy in firsts]
    found = line.table.get_many(keys)
    assert [proxy.exchanges - then for proxy, then in zip(firsts, before, strict=True)] == [1, 1, 1]
    assert [number_of(key, row) for key, row in found.items()] == [0] * len(keys)

    for number, key in enumerate((b"r0950", b"r1500", b"r2050")):
        before = [proxy.exchanges for proxy in firsts]
        assert number_of(key, line.table.get(key) or {}) == 0
        asked = [proxy.exchanges - then for proxy, then in zip(firsts, before, strict=True)]
        assert asked == [int(number == other) for other in range(3)]
