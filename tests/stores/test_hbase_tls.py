"""Gateways that speak TLS: everything works through them, nobody else is taken for one, and nothing is sent twice."""

import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from neomodel.cluster import Cluster
from neomodel.errors import InvalidStore, OutcomeUnknown, StoreUnavailable
from neomodel.stores import VERSION, Table, hbase_http, open_store, successor
from tests.stores.agreement import agree
from tests.stores.front import CERTIFICATE, Front, Trick
from tests.stores.kinds import Kind
from tests.stores.line import KEYS, Line, few_questions, proxied
from tests.stores.proxy import Fault
from tests.stores.rows import KEY, checked, mutations, number_of, resolve, swapped_versions


@pytest.fixture(scope="module")
def line(hbase_tls: Cluster) -> Iterator[Line]:
    """Through proxies that see what any network sees."""
    with few_questions(), proxied(hbase_tls) as line:
        yield line


@pytest.fixture(scope="module")
def front(hbase_tls: Cluster) -> Iterator[Front]:
    """Before the Thrift2 gateway."""
    with Front(hbase_tls.plan.gateway(1)["thrift2"], ca_of(hbase_tls)) as front:
        yield front


@pytest.fixture(scope="module")
def first_front(hbase_tls: Cluster) -> Iterator[Front]:
    """Before the Thrift1 gateway."""
    with Front(hbase_tls.plan.gateway(1)["thrift1"], ca_of(hbase_tls)) as front:
        yield front


@pytest.fixture(scope="module")
def table(hbase_tls: Cluster, front: Front, first_front: Front) -> Iterator[Table]:
    """Through both fronts."""
    url = f"hbase://127.0.0.1:{first_front.port}?thrift2={front.port}&tls=1&ca={CERTIFICATE}&timeout=5"
    with few_questions(), open_store(url) as store:
        table = store.table(f"tls-{uuid.uuid4().hex}")
        table.create("pt")
        table.put_many(mutations(KEYS, 0))
        yield table
        table.drop()


def ca_of(cluster: Cluster) -> str:
    return cluster.url.partition("&ca=")[2]


def in_one_sentence(url: str, match: str) -> None:
    """Whatever is asked of a table there is refused, writes too, and known to be without effect."""
    with open_store(url) as store:
        table = store.table("t")
        for ask in (
            lambda: table.get(b"k"),
            lambda: table.swap(b"k", None, {VERSION: b"1"}),
            lambda: table.put_many(mutations([b"k"], 0)),
            lambda: table.create("p"),
            store.tables,
        ):
            with pytest.raises(StoreUnavailable, match=match) as raised:
                ask()
            assert "wrote nothing" in str(raised.value)
            assert "\n" not in str(raised.value)


def test_a_store_behind_tls_answers_every_call_as_the_specification_does(hbase_tls: Cluster, tmp_path: Path) -> None:
    agree(Kind(lambda _: open_store(hbase_tls.url), examples=1, cluster=True), tmp_path, steps=30)


# who is at the other end


def test_what_is_not_signed_by_the_ca_that_was_named_is_refused(hbase_tls: Cluster) -> None:
    url = hbase_tls.url.replace(ca_of(hbase_tls), str(CERTIFICATE))

    in_one_sentence(url, "its certificate is not trusted: .*ca=FILE")


def test_without_a_ca_only_those_of_the_system_are_trusted(hbase_tls: Cluster) -> None:
    in_one_sentence(hbase_tls.url.partition("&ca=")[0], "its certificate is not trusted: .*ca=FILE")


def test_a_certificate_of_another_host_is_refused(front: Front) -> None:
    url = f"hbase://localhost:{front.port}?thrift2={front.port}&tls=1&ca={CERTIFICATE}"

    in_one_sentence(url, "its certificate is not trusted: .*'localhost'; check the host name")


def test_a_name_that_no_host_can_have_is_told_as_one_that_is_not_there() -> None:
    in_one_sentence(f"hbase://{'a' * 70}.org:1?thrift2=2&tls=1", "can't be reached .*label")


def test_who_forgets_tls_is_told(hbase_tls: Cluster) -> None:
    in_one_sentence(hbase_tls.url.partition("&tls=")[0], "speaks TLS or HTTP; .*the URL needs tls=1")


def test_who_asks_for_tls_where_there_is_none_is_told(hbase: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hbase_http, "CONNECT", 0.2)  # a gateway without TLS may wait for more

    in_one_sentence(f"{hbase.url}&tls=1", "TLS could not be agreed on .*tls=1 is for gateways in HTTP mode with TLS")


def test_a_gateway_of_the_other_kind_is_told_as_that(hbase_tls: Cluster) -> None:
    one, two = (str(hbase_tls.plan.gateway(1)[role]) for role in ("thrift1", "thrift2"))
    url = hbase_tls.url.replace(one, "X").replace(two, one).replace("X", two)
    with open_store(url) as store, pytest.raises(InvalidStore, match="no gateway of the kind it is named as"):
        store.tables()


# one request for each call, whatever happens


@pytest.mark.parametrize("fault", [Fault.SWALLOWED, Fault.LOST, Fault.TORN, Fault.LATE])
def test_a_swap_without_an_answer_is_not_sent_again(line: Line, fault: Fault) -> None:
    key = b"swap-" + fault.name.encode()
    first, second = successor(None), successor(b"1")
    line.heal()
    assert line.table.swap(key, None, {VERSION: first, **checked(key, 1)})
    proxy = line.proxies[1]
    proxy.inflict(fault)
    before = proxy.exchanges, proxy.connections

    with pytest.raises(OutcomeUnknown):
        line.table.swap(key, first, {VERSION: second, **checked(key, 2)})

    assert (proxy.exchanges, proxy.connections) == (before[0] + 1, before[1])
    line.calm()
    assert resolve(line.truth, key, second) == (fault is not Fault.SWALLOWED)


def test_each_call_is_one_request_on_one_connection(table: Table, front: Front, first_front: Front) -> None:
    table.get(KEYS[0])
    before = front.requests + first_front.requests
    connections = front.connections + first_front.connections
    for key in KEYS[:20]:
        assert number_of(key, table.get(key) or {}) == 0
    assert len(table.get_many(KEYS[:500])) == 500
    assert [cell.value for cell in table.cells(KEYS[0], "p")] == [*checked(KEYS[0], 0).values()]
    table.put_many(mutations(KEYS[:500], 0))

    assert front.requests + first_front.requests - before == 20 + 1 + 1 + 1
    assert front.connections + first_front.connections == connections


@pytest.mark.parametrize("trick", [Trick.CUT, Trick.SHORT, Trick.GARBAGE, Trick.PAGE, 500, 502, 503, 504])
def test_a_swap_that_was_not_answered_is_unknown_and_was_asked_for_once(
    table: Table, front: Front, trick: Trick | int
) -> None:
    key = f"swap-{trick}".encode()
    first, second = successor(None), successor(b"1")
    assert table.swap(key, None, {VERSION: first, **checked(key, 1)})
    front.play(trick)
    before = front.requests

    with pytest.raises(OutcomeUnknown) as raised:
        table.swap(key, first, {VERSION: second, **checked(key, 2)})

    assert "\n" not in str(raised.value)
    assert front.requests == before + 1
    assert (second in swapped_versions(table, key)) == (trick in (Trick.CUT, Trick.SHORT))


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (302, "answered 302 Found: it is no Thrift gateway"),
        (400, "answered 400 Bad Request: it is no Thrift gateway"),
        (403, "answered 403 Forbidden: it wants a name and password"),
        (404, "answered 404 Not Found: it is no Thrift gateway"),
        (405, "answered 405 Method Not Allowed: it is no Thrift gateway"),
    ],
)
def test_who_is_no_gateway_is_asked_once_and_told_as_that(table: Table, front: Front, status: int, told: str) -> None:
    key = f"refused-{status}".encode()
    first = successor(None)
    assert table.swap(key, None, {VERSION: first, **checked(key, 1)})
    front.play(status)
    before = front.requests

    with pytest.raises(StoreUnavailable, match=told):
        table.swap(key, first, {VERSION: successor(first)})

    assert front.requests == before + 1
    assert (table.get(key) or {})[VERSION] == first


def test_a_write_of_which_one_try_may_have_come_through_is_unknown_though_the_next_is_refused(
    table: Table, front: Front
) -> None:
    front.play(Trick.CUT, 403)
    with pytest.raises(OutcomeUnknown):
        table.put_many(mutations([b"twice"], 1))

    assert number_of(b"twice", table.get(b"twice") or {}) == 1


@pytest.mark.parametrize("trick", [Trick.CUT, Trick.SHORT, Trick.GARBAGE, Trick.PAGE, 502])
def test_a_read_is_made_again_on_a_new_connection(table: Table, first_front: Front, trick: Trick | int) -> None:
    first_front.play(trick)

    assert number_of(KEYS[3], table.get(KEYS[3]) or {}) == 0
    first_front.play(None, trick)
    assert [number_of(key, row) for key, row in table.scan(KEYS[0], KEYS[-1])] == [0] * (len(KEYS) - 1)


def test_a_server_that_ends_each_connection_as_announced_costs_connections_only(
    table: Table, front: Front, first_front: Front
) -> None:
    def work() -> tuple[int, int, int]:
        """Rows, versions, requests."""
        before = front.requests + first_front.requests
        found = len(list(table.scan())), len(list(table.history(columns=[KEY])))
        return *found, front.requests + first_front.requests - before

    usual = work()
    assert min(usual[:2]) >= len(KEYS)
    for each in (front, first_front):
        each.play(*[Trick.LAST] * 1000)
    assert work() == usual
    for each in (front, first_front):
        each.play()


def test_a_connection_is_given_up_before_a_gateway_in_this_mode_does(
    table: Table, first_front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.get(KEYS[0])
    before = first_front.connections
    monkeypatch.setattr(hbase_http.HttpsTransport, "idle", 0.1)
    time.sleep(0.2)
    table.get(KEYS[0])

    assert first_front.connections == before + 1
