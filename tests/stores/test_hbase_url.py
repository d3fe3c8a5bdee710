"""What the URL of an HBase store may say, and the sentence for what it may not."""

import pickle

import pytest

from neomodel.errors import InvalidStore, StoreClosed
from neomodel.stores import open_store
from neomodel.stores.hbase_knowledge import Facts
from neomodel.stores.hbase_url import GatewayAddress, Tls, parse

SECRET = "pa55word"

BAD = {
    "hbase://": "no HOST:PORT",
    "hbase:": "no HOST:PORT",
    "hbase://127.0.0.1": "no HOST:PORT",
    "hbase://127.0.0.1?thrift2=9091": "no HOST:PORT",
    "hbase://:9090?thrift2=9091": "no HOST:PORT",
    "hbase://127.0.0.1:9090": "as many entries|no port",
    "hbase://127.0.0.1:9090?thrift2=": "no port",
    "hbase://127.0.0.1:x?thrift2=9091": "'x' is no port",
    "hbase://127.0.0.1:0?thrift2=9091": "'0' is no port",
    "hbase://127.0.0.1:70000?thrift2=9091": "'70000' is no port",
    "hbase://127.0.0.1:9090?thrift2=-1": "'-1' is no port",
    "hbase://127.0.0.1:9090,?thrift2=9091,9092": "no HOST:PORT",
    "hbase://127.0.0.1:9090,127.0.0.1:9092?thrift2=9091": "as many entries",
    "hbase://127.0.0.1:9090?thrift2=9091,9093": "as many entries",
    "hbase://127.0.0.1:9090?thrift2=9091&servers=a:1,b:2": "as many entries",
    "hbase://127.0.0.1:9090?thrift2=9091&thrift=9091": "unknown parameter 'thrift'",
    "hbase://127.0.0.1:9090/table?thrift2=9091": "must look like",
    "hbase://127.0.0.1:9090?thrift2=9091#table": "must look like",
    "hbase://127.0.0.1:9090?thrift2=9091&timeout=soon": "timeout is 'soon'",
    "hbase://127.0.0.1:9090?thrift2=9091&timeout=0": "timeout is '0'",
    "hbase://127.0.0.1:9090?thrift2=9091&timeout=-1": "timeout is '-1'",
    "hbase://127.0.0.1:9090?thrift2=9091&timeout=nan": "timeout is 'nan'",
    "hbase://127.0.0.1:9090?thrift2=9091&regions=0": "regions is '0', expected a number from 1",
    "hbase://127.0.0.1:9090?thrift2=9091&regions=few": "regions is 'few'",
    "hbase://127.0.0.1:9090?thrift2=9091&regions=100000": "regions is '100000'",
    "hbase://127.0.0.1:9090?thrift2=9091&settling=0": "settling is '0'",
    "hbase://[::1:9090?thrift2=9091": "must look like",
    "hbase://::1:9090?thrift2=9091": "in brackets",
    "hbase://[]:9090?thrift2=9091": "no HOST:PORT|must look like",
    "hbase://[::1]?thrift2=9091": "no HOST:PORT",
    "hbase://[2001:db8::1]:9090?thrift2=9091": "2001:db8::1 is not this machine",
    "hbase://hbase.example.org:9090?thrift2=9091": "not this machine",
    "hbase://10.0.0.1:9090?thrift2=9091": "not this machine",
    "hbase://127.0.0.1:9090,10.0.0.1:9090?thrift2=9091,9091": "10.0.0.1 is not this machine",
    "hbase://0.0.0.0:9090?thrift2=9091": "not this machine",
    "hbase://hbase.example.org:9090?thrift2=9091&insecure=0": "not this machine",
    "hbase://localhost.example.org:9090?thrift2=9091": "not this machine",
    "hbase://127.0.0.1:9090?thrift2=9091&tls=0": "tls is '0', expected 1",
    "hbase://10.0.0.1:9090?thrift2=9091&insecure=1&tls=true": "tls is 'true', expected 1",
    "hbase://10.0.0.1:9090?thrift2=9091&tls=1&insecure=1": "insecure is for gateways with neither",
    "hbase://10.0.0.1:9090?thrift2=9091&tls=1&ca=": "ca is empty",
    "hbase://10.0.0.1:9090?thrift2=9091&tls=1&ca=nowhere.pem": "'nowhere.pem' is no readable file .*No such file",
    f"hbase://10.0.0.1:9090?thrift2=9091&tls=1&ca={__file__}": "is no readable file of CA certificates",
    "hbase://127.0.0.1:9090?thrift2=9091&ca=ca.pem": "add tls=1",
    "hbase://127.0.0.1:9090?thrift2=9091&sasl=1": "sasl is '1', expected kerberos",
    "hbase://127.0.0.1:9090?thrift2=9091&sasl=plain": "sasl is 'plain', expected kerberos",
    "hbase://127.0.0.1:9090?thrift2=9091&service=hbase": "add sasl=kerberos",
    "hbase://127.0.0.1:9090?thrift2=9091&sasl=kerberos&service=a%40b": "service is 'a@b', expected NAME",
    "hbase://127.0.0.1:9090?thrift2=9091&sasl=kerberos&tls=1": "exclude one another",
    "hbase://10.0.0.1:9090?thrift2=9091&sasl=kerberos&insecure=1": "insecure is for gateways with neither",
}


@pytest.mark.parametrize(("url", "reason"), BAD.items())
def test_a_url_that_means_nothing_is_refused_with_its_reason(url: str, reason: str) -> None:
    with pytest.raises(InvalidStore, match=reason) as raised:
        open_store(url)

    assert url.partition("&")[0] in str(raised.value)
    assert "\n" not in str(raised.value)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        f"hbase://user:{SECRET}@127.0.0.1:9090?thrift2=9091",
        f"hbase://user:{SECRET}@127.0.0.1?thrift2=9091&nonsense=1",
        f"hbase://127.0.0.1:9090?thrift2=9091&password={SECRET}",
        f"hbase://127.0.0.1:9090?thrift2=9091&passwort={SECRET}",
        f"hbase://127.0.0.1:x?thrift2=9091&token={SECRET}",
        f"hbase://[user:{SECRET}@127.0.0.1:9090?thrift2=9091",
        f"hbase://user:{SECRET}?@127.0.0.1:9090?thrift2=9091",
    ],
)
def test_what_may_be_a_password_is_never_printed(url: str) -> None:
    with pytest.raises(InvalidStore) as raised:
        open_store(url)

    assert SECRET not in f"{raised.value} {raised.value!r} {raised.value.args}"


def test_a_url_says_which_gateways_there_are_and_what_they_stand_beside() -> None:
    found = parse("hbase://127.0.0.1:1,localhost:2?thrift2=3,4&servers=a:5,b:6&prefix=team_&timeout=2.5")

    assert found.gateways == [GatewayAddress("127.0.0.1", 1, 3, "a:5"), GatewayAddress("localhost", 2, 4, "b:6")]
    assert (found.prefix, found.timeout) == ("team_", 2.5)


def test_a_new_model_begins_with_four_regions_for_each_gateway_unless_the_url_says_how_many() -> None:
    assert parse("hbase://127.0.0.1:1?thrift2=2").regions == 4
    assert parse("hbase://127.0.0.1:1,127.0.0.1:2?thrift2=3,4").regions == 8
    assert parse("hbase://127.0.0.1:1?thrift2=2&regions=64").regions == 64


def test_ipv6_addresses_go_in_brackets_and_mix_with_others() -> None:
    found = parse("hbase://[::1]:1,127.0.0.1:2,[2001:db8::7]:3?thrift2=4,5,6&insecure=1").gateways

    assert [(gateway.host, gateway.port1, gateway.port2) for gateway in found] == [
        ("::1", 1, 4),
        ("127.0.0.1", 2, 5),
        ("2001:db8::7", 3, 6),
    ]


def test_a_gateway_elsewhere_is_used_if_the_url_says_that_its_network_is_trusted() -> None:
    assert parse("hbase://10.0.0.1:1?thrift2=2&insecure=1").gateways == [GatewayAddress("10.0.0.1", 1, 2, None)]


@pytest.mark.parametrize("how", ["tls=1", "sasl=kerberos"])
def test_a_gateway_elsewhere_is_used_if_it_encrypts_and_shows_who_it_is(how: str) -> None:
    assert parse(f"hbase://10.0.0.1:1?thrift2=2&{how}").gateways == [GatewayAddress("10.0.0.1", 1, 2, None)]


def test_what_else_a_url_may_say_of_security() -> None:
    assert parse("hbase://h:1?thrift2=2&tls=1").tls == Tls()
    assert parse("hbase://h:1?thrift2=2&tls=1&ca=%2Fetc%2Fa%40b.pem").tls == Tls("/etc/a@b.pem")
    assert parse("hbase://h:1?thrift2=2&sasl=kerberos").sasl == "hbase"
    assert parse("hbase://h:1?thrift2=2&sasl=kerberos&service=thrift/other.h").sasl == "thrift/other.h"
    with pytest.raises(InvalidStore, match="percent-encoded"):
        parse("hbase://h:1?thrift2=2&tls=1&ca=a@b")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "[::1]"])
def test_gateways_on_this_machine_need_no_permission(host: str) -> None:
    assert len(parse(f"hbase://{host}:1?thrift2=2").gateways) == 1


def test_opening_asks_nothing_so_that_a_store_may_be_opened_before_its_gateways() -> None:
    with open_store("hbase://127.0.0.1:1?thrift2=2") as store:
        assert store.table("t").name == "t"


def test_a_closed_store_says_so_and_asks_no_gateway() -> None:
    with open_store("hbase://127.0.0.1:1?thrift2=2") as store:
        table = store.table("t")
        knowledge = store._knowledge["t"]  # type: ignore[attr-defined]
        knowledge.facts(lambda: Facts(frozenset({b"p:"}), 0))
        assert table.families() == {"p"}, "what was told a moment ago is not asked for again"

    for ask in (store.tables, table.families, table.now, lambda: table.get(b"k"), lambda: list(table.scan())):
        with pytest.raises(StoreClosed, match="it was closed; open it again"):
            ask()


def test_a_store_settles_when_all_has_been_tried_unless_the_url_says_otherwise() -> None:
    pair, pairs = "hbase://127.0.0.1:9090?thrift2=9091", "hbase://127.0.0.1:9090,127.0.0.1:9092?thrift2=9091,9093"

    found = [open_store(url).settling for url in (pair, f"{pairs}&timeout=2", f"{pair}&timeout=2&settling=300")]

    assert found == [60_000_000, 8_000_000, 300_000_000]
