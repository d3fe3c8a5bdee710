"""Names and passwords for HBase: who gets them, and that nobody else ever does."""

import logging
import os
import pickle
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest

from neomodel.cluster import Cluster
from neomodel.errors import InvalidStore, NeomodelError, StoreUnavailable
from neomodel.stores import VERSION, Store, open_store
from neomodel.stores.hbase_url import PASSWORD, USER, Tls, parse
from neomodel.stores.wrappers import Caching, Counting, Reading
from tests.stores.front import CERTIFICATE, Front
from tests.stores.processes import run
from tests.test_cli import assert_one_sentence, neomodel

SECRET = "s3cr3t:/?#&=@%é"  # with all that has a meaning in URLs
FORMS = ("s3cr3t", quote(SECRET, safe=""), b64encode(f"ada:{SECRET}".encode()).decode())
SECURE = f"thrift2=2&tls=1&ca={CERTIFICATE}"


@pytest.fixture(autouse=True)
def _nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(USER, raising=False)
    monkeypatch.delenv(PASSWORD, raising=False)


@pytest.fixture(scope="module")
def front(hbase_tls: Cluster) -> Iterator[Front]:
    """Before a Thrift2 gateway, for ada alone."""
    ca = hbase_tls.url.partition("&ca=")[2]
    with Front(hbase_tls.plan.gateway(1)["thrift2"], ca, SECRET) as front:
        yield front


def url_of(front: Front, who: str = "") -> str:
    return f"hbase://{who}127.0.0.1:{front.port}?thrift2={front.port}&tls=1&ca={CERTIFICATE}"


def assert_hidden(*texts: object) -> None:
    for text in texts:
        assert not any(form in str(text) for form in FORMS), text


def everything_told(error: BaseException) -> str:
    """All that anybody prints or sends of an error, and of those that led to it."""
    return "\n".join([str(error), repr(error), *traceback.format_exception(error), repr(pickle.dumps(error))])


def errors_of(store: Store) -> Iterator[NeomodelError]:
    table = store.table("nowhere")
    asks: list[Callable[[], object]] = [
        lambda: table.get(b"k"),
        lambda: next(table.scan()),
        lambda: next(table.history()),
        lambda: table.swap(b"k", None, {VERSION: b"1"}),
        table.drop,
        store.tables,
    ]
    for ask in asks:
        try:
            ask()
        except NeomodelError as exc:
            yield exc


# who gets them


def test_the_name_and_password_of_the_url_open_the_door(front: Front) -> None:
    with open_store(url_of(front, f"ada:{quote(SECRET, safe='')}@")) as store:
        assert isinstance(store.tables(), list)


def test_those_of_the_environment_do_too(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD, SECRET)
    with open_store(url_of(front, "ada@")) as store:
        assert isinstance(store.tables(), list)
    monkeypatch.setenv(USER, "ada")
    with open_store(url_of(front)) as store:
        assert isinstance(store.tables(), list)


def test_what_the_url_says_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(USER, "bob")
    monkeypatch.setenv(PASSWORD, "bobs")

    assert parse(f"hbase://ada:hers@h:1?{SECURE}").tls == Tls(str(CERTIFICATE), "ada", "hers")
    assert parse(f"hbase://ada@h:1?{SECURE}").tls == Tls(str(CERTIFICATE), "ada", "bobs")
    assert parse(f"hbase://h:1?{SECURE}").tls == Tls(str(CERTIFICATE), "bob", "bobs")


def test_a_wrong_password_is_told_in_one_sentence_and_tried_once(front: Front) -> None:
    """More tries would lock somebody out."""
    for who, remedy in (("ada:wrong@", "check the name and password"), ("", "it wants a name and password")):
        before = front.requests
        with open_store(url_of(front, who)) as store:
            table = store.table("t")
            with pytest.raises(StoreUnavailable, match=f"answered 401 Unauthorized: {remedy}") as raised:
                table.get(b"k")
            assert "\n" not in str(raised.value)
            with pytest.raises(StoreUnavailable, match=r"wrote nothing: .* 401"):
                table.create("p")
        assert front.requests == before + 2


def test_without_tls_none_are_sent_nor_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(USER, "ada")
    monkeypatch.setenv(PASSWORD, SECRET)

    assert parse("hbase://127.0.0.1:1?thrift2=2").tls is None
    with pytest.raises(InvalidStore, match="add tls=1"):
        parse("hbase://ada@127.0.0.1:1?thrift2=2")


@pytest.mark.parametrize(
    ("who", "environment", "told"),
    [
        ("ada@", {}, f"no password in .{PASSWORD}"),
        ("ada:@", {}, f"no password in .{PASSWORD}"),
        (":s3cr3t@", {}, f"no name in .{USER}"),
        ("", {USER: "ada"}, f"no password in .{PASSWORD}"),
        ("", {PASSWORD: SECRET}, f"no name in .{USER}"),
        ("ada%3As3cr3t@", {PASSWORD: SECRET}, "a colon"),
    ],
)
def test_half_of_what_is_needed_is_refused(
    who: str, environment: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(InvalidStore, match=told) as raised:
        open_store(f"hbase://{who}127.0.0.1:1?{SECURE}")
    assert_hidden(everything_told(raised.value))


# nobody else does


@pytest.mark.parametrize("place", ["url", "environment"])
def test_no_error_repr_or_log_has_the_password_in_it(
    front: Front, place: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv(PASSWORD, SECRET)
    good = url_of(front, f"ada:{quote(SECRET, safe='')}@" if place == "url" else "ada@")
    deaf, untrusted = good.replace(str(front.port), "1"), good.partition("&ca")[0]
    for url in (good, deaf, untrusted):
        with open_store(url) as store:
            for status in (None, 302, 401, 403, 404, 500, 502):
                front.play(*[status] * 100)
                assert [assert_hidden(everything_told(error)) for error in errors_of(store)]
            shown = [store, store.table("t"), *(kind(store) for kind in (Caching, Counting, Reading))]
            assert_hidden(store.url, *map(repr, shown), *(getattr(each, "url", "") for each in shown))
    front.play()
    settings = parse(good)
    assert_hidden(settings, repr(settings), settings.shown, settings.tls)
    assert settings.tls
    assert settings.tls.password == SECRET
    assert_hidden(caplog.text)


@pytest.mark.parametrize(
    "url",
    [
        f"hbase://ada:s3cr3t@127.0.0.1:1?{SECURE}&nonsense=1",
        f"hbase://ada:s3cr3t@127.0.0.1:x?{SECURE}",
        f"hbase://ada:s3cr3t@127.0.0.1?{SECURE}",
        f"hbase://ada:s3cr3t@127.0.0.1:1,h?{SECURE}",
        f"hbase://ada:s3cr3t@127.0.0.1:1?{SECURE}&timeout=x",
        f"hbase://ada:s3cr3t@127.0.0.1:1?{SECURE}&insecure=1",
        f"hbase://ada:s3cr3t@127.0.0.1:1?{SECURE}&sasl=kerberos",
        f"hbase://ada:s3cr3t@127.0.0.1:1?{SECURE}/nowhere",
        f"hbase://ada:/s3cr3t@127.0.0.1:1?{SECURE}",
        f"hbase://ada:?s3cr3t@127.0.0.1:1?{SECURE}",
        f"hbase://ada:#s3cr3t@127.0.0.1:1?{SECURE}",
        f"hbase://ada:@s3cr3t@127.0.0.1:x?{SECURE}",
        f"hbase://ada:s3cr3t\N{FULLWIDTH SOLIDUS}@127.0.0.1:1?{SECURE}",
        f"hbase://ada:[s3cr3t@127.0.0.1:1?{SECURE}",
        "hbase://ada:s3cr3t@127.0.0.1:1?thrift2=2",
        f"hbase://127.0.0.1:1?{SECURE}&password=s3cr3t",
        f"hbase:ada:s3cr3t@127.0.0.1:1?{SECURE}",
        f"hbsae://ada:s3cr3t@127.0.0.1:1?{SECURE}",
        f"ada:s3cr3t@127.0.0.1:1?{SECURE}",
        f"https://127.0.0.1:1?{SECURE}&password=s3cr3t",
    ],
)
def test_a_url_that_is_refused_is_told_without_its_password(url: str) -> None:
    with pytest.raises(InvalidStore) as raised:
        open_store(url)

    assert_hidden(everything_told(raised.value))
    assert "\n" not in str(raised.value)
    shown = neomodel("models", "--store", url)
    assert_one_sentence(shown.stderr)
    assert_hidden(shown.stdout, shown.stderr)


def test_a_url_that_a_store_hands_on_works_where_the_environment_has_the_password(front: Front) -> None:
    with open_store(url_of(front, f"ada:{quote(SECRET, safe='')}@")) as store:
        handed_on = store.url
        expected = store.tables()
    assert handed_on == url_of(front, "ada@")

    with pytest.raises(InvalidStore, match=f"no password in .{PASSWORD}"):
        open_store(handed_on)
    os.environ[PASSWORD] = SECRET  # what starts the other process hands it on
    try:
        assert run(_tables, handed_on) == expected
    finally:
        del os.environ[PASSWORD]


def _tables(store: Store) -> list[str]:
    return store.tables()


def test_the_command_line_tells_no_password(front: Front) -> None:
    for who, status in ((f"ada:{quote(SECRET, safe='')}@", 0), (f"ada:x{quote(SECRET, safe='')}@", 2)):
        told = neomodel("models", "--store", url_of(front, who))
        assert told.returncode == status, told.stderr
        assert_hidden(told.stdout, told.stderr)
        told = neomodel("show", "nowhere", "--store", url_of(front, who))
        assert told.returncode == 2
        assert_one_sentence(told.stderr)
        assert_hidden(told.stdout, told.stderr)
