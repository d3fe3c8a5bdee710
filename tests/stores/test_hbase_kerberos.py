"""Gateways that ask for Kerberos: everything works through them, encrypted, and nobody else is taken for one."""

import socket
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from neomodel.cluster import Cluster
from neomodel.errors import InvalidStore, OutcomeUnknown, StoreUnavailable
from neomodel.stores import VERSION, Mutation, Table, hbase_kerberos, hbase_sasl, open_store, successor
from neomodel.stores.hbase_kerberos import KerberosFailed, library
from neomodel.stores.hbase_sasl import longest_frame
from tests.stores.agreement import agree
from tests.stores.kerberos import Realm, realm
from tests.stores.kinds import Kind
from tests.stores.line import few_questions
from tests.stores.proxy import Fault, Proxy
from tests.stores.rows import checked, number_of, resolve
from tests.stores.test_hbase_tls import in_one_sentence

SECRET = b"nobody may read this"


class Listening(Proxy):
    """A proxy that keeps what it sees."""

    def __init__(self, target: int, timeout: float) -> None:
        self.heard: list[bytes] = []
        super().__init__(target, timeout)

    def _exchange(self, client: socket.socket, server: socket.socket, request: bytes, fault: Fault | None) -> bool:
        self.heard.append(request)
        return super()._exchange(client, server, request, fault)


@pytest.fixture(scope="module")
def secure(hbase: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    try:
        library()
    except OSError as exc:
        pytest.skip(f"the system has no MIT Kerberos library: {exc}")
    with realm(hbase, tmp_path_factory.mktemp("realm")) as secure:
        yield secure


@pytest.fixture(scope="module")
def proxy(secure: Realm) -> Iterator[Listening]:
    """Before the Thrift2 gateway."""
    with Listening(secure.two, 1.0) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def table(secure: Realm, proxy: Listening) -> Iterator[Table]:
    """Through the proxy."""
    with few_questions(), open_store(f"{secure.through(secure.one, proxy.port)}&timeout=1") as store:
        with open_store(secure.url) as patient:
            patient.table(name := f"kerberos-{uuid.uuid4().hex}").create("pt")
        yield store.table(name)
        with open_store(secure.url) as patient:
            patient.table(name).drop()


def test_a_store_behind_kerberos_answers_every_call_as_the_specification_does(secure: Realm, tmp_path: Path) -> None:
    agree(Kind(lambda _: open_store(secure.url), examples=1, cluster=True), tmp_path, steps=30)


def test_what_is_larger_than_a_frame_comes_through_whole(table: Table) -> None:
    """A gateway takes 64 KB at a time, and gives any number."""
    rows = {b"large%d" % number: bytes([number]) * 400_000 for number in range(3)}
    table.put_many(Mutation(key, {b"p:large": value}) for key, value in rows.items())

    assert {key: row[b"p:large"] for key, row in table.get_many(list(rows)).items()} == rows
    assert {version.key: version.value for version in table.history(b"large", b"largf")} == rows


def test_what_is_written_and_read_is_not_to_be_seen_on_the_wire(table: Table, proxy: Listening, hbase: Cluster) -> None:
    proxy.heard.clear()
    table.put_many([Mutation(b"k", {b"p:a": SECRET})])
    assert proxy.heard
    assert not any(SECRET in request for request in proxy.heard)

    with Listening(hbase.plan.gateway(1)["thrift2"], 1.0) as plain:  # where it is
        url = f"hbase://127.0.0.1:{hbase.plan.gateway(1)['thrift1']}?thrift2={plain.port}"
        with open_store(url) as store:
            store.table(table.name).put_many([Mutation(b"k", {b"p:a": SECRET})])
        assert any(SECRET in request for request in plain.heard)


@pytest.mark.parametrize("fault", [Fault.SWALLOWED, Fault.LOST, Fault.TORN, Fault.LATE])
def test_a_swap_without_an_answer_is_not_sent_again(
    table: Table, proxy: Listening, hbase: Cluster, fault: Fault
) -> None:
    key = b"swap-" + fault.name.encode()
    first, second = successor(None), successor(b"1")
    assert table.swap(key, None, {VERSION: first, **checked(key, 1)})
    proxy.inflict(fault)
    before = proxy.exchanges, proxy.connections

    with pytest.raises(OutcomeUnknown):
        table.swap(key, first, {VERSION: second, **checked(key, 2)})

    assert (proxy.exchanges, proxy.connections) == (before[0] + 1, before[1])
    with open_store(hbase.url) as store:
        won = resolve(store.table(table.name), key, second)
    assert won == (fault is not Fault.SWALLOWED)
    assert number_of(key, table.get(key) or {}) == 1 + won


# who is at the other end, and at this one


def test_without_a_ticket_nobody_is_asked(secure: Realm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path / 'none'}")
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", str(tmp_path / "none.keytab"))

    in_one_sentence(secure.url, "Kerberos could not be agreed on .*none")


def test_a_gateway_that_kerberos_does_not_know_is_refused(secure: Realm) -> None:
    url = secure.url.replace(secure.service, "hbase/elsewhere.example.org")

    in_one_sentence(url, "Kerberos could not be agreed on with hbase@elsewhere.example.org .*not found")


def test_who_asks_for_kerberos_where_there_is_none_is_told(
    secure: Realm, hbase: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hbase_sasl, "CONNECT", 0.2)  # a gateway without SASL may wait for more

    in_one_sentence(f"{hbase.url}&sasl=kerberos&service={secure.service}", "Kerberos could not be agreed on")


def test_who_forgets_kerberos_gets_no_answer(secure: Realm) -> None:
    """A gateway takes what such a client says for the length of something that is still to come."""
    url = f"{secure.url.partition('&sasl=')[0]}&timeout=0.5"
    with open_store(url) as store, pytest.raises(StoreUnavailable, match="wrote nothing: timed out"):
        store.tables()


@pytest.mark.parametrize("offer", [b"", b"\x01\0\0\0", b"\x03\x01\0\0", b"\x04\x01\0"])
def test_a_gateway_that_does_not_encrypt_is_refused(offer: bytes) -> None:
    with pytest.raises(KerberosFailed, match="must be privacy"):
        longest_frame(offer)


def test_a_system_without_kerberos_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    library.cache_clear()
    monkeypatch.setattr(hbase_kerberos, "_LIBRARY", "libnothing.so.2")

    with pytest.raises(InvalidStore, match=r"needs the MIT Kerberos library .*libnothing.so.2.* install it"):
        open_store("hbase://gateway.example.org:1?thrift2=2&sasl=kerberos")
