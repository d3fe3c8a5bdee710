"""Gateways that are not well are passed over where that does no harm, and regions on their way are waited for."""

import resource
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from neomodel.cluster import Cluster
from neomodel.errors import InvalidValue, OutcomeUnknown, StoreUnavailable
from neomodel.stores import VERSION, Region, Table, hbase_gateways, open_store
from neomodel.stores.hbase_client import thrift2
from tests.stores.line import KEYS
from tests.stores.proxy import Proxy
from tests.stores.rows import checked, mutations, number_of
from tests.stores.sick import SickGateway
from tests.stores.test_lost_answers import READS

MANY_FILES = 1100  # more than `select` can look at


@pytest.fixture(scope="module")
def truth(hbase: Cluster) -> Iterator[Table]:
    """A table that is seen directly."""
    with open_store(hbase.url) as store:
        table = store.table(f"gateways-{uuid.uuid4().hex}")
        table.create("pt")
        table.put_many(mutations(KEYS, 0))
        yield table
        table.drop()


def refuse(name: str, *arguments: Any) -> Any:
    """What HBase says when it is not well itself."""
    kind = (
        thrift2().TIOError if name in thrift2().THBaseService.thrift_services else sys.modules["Hbase_thrift"].IOError
    )
    raise kind(message="java.io.IOException: the disk is on fire")


class Ward:
    """A sick pair before a good one, and the table as seen through both."""

    def __init__(self, hbase: Cluster, name: str, stack: ExitStack) -> None:
        first = sys.modules["Hbase_thrift"].Hbase
        self.sick = [stack.enter_context(SickGateway(service, refuse)) for service in (first, thrift2().THBaseService)]
        good = hbase.plan.gateway(1)
        hosts = f"127.0.0.1:{self.sick[0].port},127.0.0.1:{good['thrift1']}"
        both = stack.enter_context(open_store(f"hbase://{hosts}?thrift2={self.sick[1].port},{good['thrift2']}"))
        alone = f"hbase://127.0.0.1:{self.sick[0].port}?thrift2={good['thrift2']}"
        self.table = both.table(name)
        self.alone = stack.enter_context(open_store(alone)).table(name)

    def asked(self) -> int:
        return sum(sum(gateway.asked.values()) for gateway in self.sick)


@pytest.fixture
def ward(hbase: Cluster, truth: Table) -> Iterator[Ward]:
    with ExitStack() as stack:
        yield Ward(hbase, truth.name, stack)


@pytest.mark.parametrize("read", READS)
def test_a_gateway_that_answers_with_errors_is_passed_over_by_reads(ward: Ward, read: str) -> None:
    assert READS[read](ward.table)
    assert ward.asked()


def test_a_gateway_that_answers_with_errors_is_passed_over_by_writes_that_may_be_repeated(
    ward: Ward, truth: Table
) -> None:
    ward.table.put_many(mutations([KEYS[0]], 1))

    assert ward.sick[1].asked["putMultiple"] <= 1
    assert number_of(KEYS[0], truth.get(KEYS[0]) or {}) == 1
    truth.put_many(mutations([KEYS[0]], 0))


def test_a_gateway_that_failed_is_left_alone_for_a_while(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS[:50]:
        assert ward.table.get(key)
    assert ward.sick[0].asked == {"getTableRegions": 1}

    monkeypatch.setattr(hbase_gateways, "_SHUNNED", 0.0)
    time.sleep(0.1)
    ward.table._gateways.pairs[0].one.shun()  # type: ignore[attr-defined]
    ward.table.get(KEYS[0])
    assert ward.sick[0].asked["getRowWithColumns"] == 1


def test_a_swap_that_a_gateway_answered_with_an_error_is_sent_to_no_other(
    ward: Ward, truth: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been done before the error."""
    monkeypatch.setattr(hbase_gateways, "_SHUNNED", 0.0)
    with pytest.raises(OutcomeUnknown, match="the disk is on fire"):
        ward.table.swap(b"swapped", None, {VERSION: b"1", **checked(b"swapped", 1)})

    assert ward.sick[1].asked["checkAndMutate"] == 1
    assert truth.get(b"swapped") is None


def test_if_no_gateway_is_well_a_read_gives_up_after_a_few_tries_and_says_what_they_say(ward: Ward) -> None:
    with pytest.raises(StoreUnavailable, match="the disk is on fire"):
        ward.alone.get(KEYS[0])

    assert ward.sick[0].asked["getRowWithColumns"] == hbase_gateways.ROUNDS


def test_what_is_wrong_with_the_call_is_not_asked_of_every_gateway(hbase: Cluster, truth: Table) -> None:
    """A family that is gone, as far as this gateway knows."""

    def no_family(name: str, *arguments: Any) -> Any:
        raise sys.modules["Hbase_thrift"].IOError(message="o.a.h.h.regionserver.NoSuchColumnFamilyException: p")

    with SickGateway(sys.modules["Hbase_thrift"].Hbase, no_family) as gateway:
        url = f"hbase://127.0.0.1:{gateway.port}?thrift2={hbase.plan.gateway(1)['thrift2']}"
        with open_store(url) as store, pytest.raises(InvalidValue):
            store.table(truth.name).get(KEYS[0])
        assert gateway.asked == {"getRowWithColumns": 1}


def test_an_answer_to_another_question_is_not_taken(hbase: Cluster, truth: Table) -> None:
    with SickGateway(sys.modules["Hbase_thrift"].Hbase, lambda *_: [], confused=True) as gateway:
        url = f"hbase://127.0.0.1:{gateway.port}?thrift2={hbase.plan.gateway(1)['thrift2']}"
        with open_store(url) as store, pytest.raises(StoreUnavailable, match="an answer to another question"):
            store.table(truth.name).get(KEYS[0])


# regions


def _region(start: bytes, stop: bytes, server: bytes | None) -> Any:
    return sys.modules["Hbase_thrift"].TRegionInfo(startKey=start, endKey=stop, serverName=server, port=7)


WHOLE = [_region(b"m", b"", b"h"), _region(b"", b"m", b"h")]
ON_THEIR_WAY: dict[str, Callable[[], Any]] = {
    "the gateway can't say": lambda: refuse("getTableRegions"),
    "one has no server": lambda: [_region(b"", b"m", b"h"), _region(b"m", b"", None)],
    "one is being split": lambda: [_region(b"", b"m", b"h"), _region(b"m", b"", b"h"), _region(b"m", b"p", b"h")],
    "one is missing": lambda: [_region(b"m", b"", b"h")],
}


@pytest.mark.parametrize("moment", ON_THEIR_WAY)
def test_regions_on_their_way_are_waited_for(hbase: Cluster, truth: Table, moment: str) -> None:
    arrived = time.monotonic() + 1

    def answer(*_: Any) -> Any:
        return ON_THEIR_WAY[moment]() if time.monotonic() < arrived else WHOLE

    with SickGateway(sys.modules["Hbase_thrift"].Hbase, answer) as gateway:
        url = f"hbase://127.0.0.1:{gateway.port}?thrift2={hbase.plan.gateway(1)['thrift2']}"
        with open_store(url) as store:
            found = store.table(truth.name).regions()

        assert found == [Region(b"", b"m", "h", 7), Region(b"m", None, "h", 7)]
        assert gateway.asked["getTableRegions"] < 20  # it backs off


@pytest.mark.parametrize("moment", ON_THEIR_WAY)
def test_regions_that_never_arrive_are_given_up_in_time(hbase: Cluster, truth: Table, moment: str) -> None:
    started = time.monotonic()
    with SickGateway(sys.modules["Hbase_thrift"].Hbase, lambda *_: ON_THEIR_WAY[moment]()) as gateway:
        url = f"hbase://127.0.0.1:{gateway.port}?thrift2={hbase.plan.gateway(1)['thrift2']}&timeout=1"
        with open_store(url) as store, pytest.raises(StoreUnavailable, match="regions on table"):
            store.table(truth.name).regions()

    assert 0.5 < time.monotonic() - started < 3


# ways to a gateway


def test_a_gateway_with_an_ipv6_address_is_reached(hbase: Cluster, truth: Table) -> None:
    ports = hbase.plan.gateway(1)
    with (
        Proxy(ports["thrift1"], 5, "::1") as first,
        Proxy(ports["thrift2"], 5, "::1") as second,
        open_store(f"hbase://[::1]:{first.port}?thrift2={second.port}&servers={hbase.address('server1')}") as store,
    ):
        table = store.table(truth.name)
        assert number_of(KEYS[7], table.get(KEYS[7]) or {}) == 0
        assert len(list(table.cells(KEYS[7], "p"))) == 3
        assert [region.gateway for region in table.regions()] == [f"[::1]:{first.port}"]
        assert first.connections == second.connections == 1
        first.refuse()
        with pytest.raises(StoreUnavailable, match=rf"\[::1\]:{first.port} can't be reached"):
            table.get(KEYS[7])


def test_a_process_that_has_many_files_open_is_served_like_any_other(hbase: Cluster, truth: Table) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * MANY_FILES), hard))
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(MANY_FILES):
            stack.enter_context(open("/dev/null"))
        table = stack.enter_context(open_store(hbase.url)).table(truth.name)
        for number in range(3):
            table.put_many(mutations([KEYS[3]], number))
            time.sleep(0.05)  # idle for long enough to be looked at
            assert number_of(KEYS[3], table.get(KEYS[3]) or {}) == number
    truth.put_many(mutations([KEYS[3]], 0))
