"""What makes no sense is refused in one sentence, and changes nothing."""

import datetime
from collections.abc import Callable
from typing import Any

import pytest

import neomodel as nm
from metamodels import elsa
from neomodel.repository import Repository
from tests.metamodels.conftest import url_of

NAIVE = datetime.datetime(2024, 5, 1)
NANOSECONDS = 1_714_557_600_000_000_000


@pytest.fixture(params=["memory", "lmdb"])
def url(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    return url_of(request.param, tmp_path, request)


BAD: dict[str, tuple[Callable[[elsa.ExternalSystem], object], str]] = {
    "naive event": (
        lambda s: s.insert("k", NAIVE, "v"),
        "the event time of 'k' is datetime.datetime(2024, 5, 1, 0, 0), "
        "expected an aware datetime or microseconds since the epoch",
    ),
    "naive question": (lambda s: s.get("a", event=NAIVE), "expected an aware datetime or microseconds"),
    "naive ingest": (lambda s: s.get("a", ingest=NAIVE), "expected an aware datetime or microseconds"),
    "no time": (lambda s: s.insert("k", "today", "v"), "the event time of 'k' is 'today', expected an aware"),
    "event far in the future": (
        lambda s: s.insert("k", NANOSECONDS, "v"),
        f"the event time of 'k' is {NANOSECONDS}, expected one up to the year 9999, in microseconds",
    ),
    "empty key": (lambda s: s.insert("", 1, "v"), "a key of elsa.Record.value is '', expected text that is not empty"),
    "huge key": (lambda s: s.insert("k" * 200, 1, "v"), "expected one whose row key is not longer than 160 bytes"),
    "binary key": (
        lambda s: s.insert(b"\0", 1, "v"),
        "is b'\\x00', expected text that is not empty; write binary keys",
    ),
    "binary key to read": (lambda s: s.get_many([b"a"]), "write binary keys as hex"),
    "no key": (lambda s: s.get(None), "a key of elsa.Record.value is None"),
    "wrong value": (
        lambda s: s.insert("k", 1, {1, 2}),
        "the value of a record is {1, 2}, expected bytes, text, what JSON",
    ),
    "tuple": (lambda s: s.insert("k", 1, (1, 2)), "the value of a record is (1, 2), expected bytes"),
    "not a number": (lambda s: s.insert("k", 1, [float("nan")]), "the value of a record is [nan], expected bytes"),
    "half a character": (lambda s: s.insert("k", 1, "\ud800"), "expected text that UTF-8 has"),
    "wrong row": (lambda s: s.ingest([("k", 1, "insert")]), "a row is ('k', 1, 'insert'), expected 4 columns"),
    "text as row": (lambda s: s.ingest(["kein"]), "a row is 'kein', expected 4 columns"),
    "wrong operation": (
        lambda s: s.ingest([("k", 1, "update", "v")]),
        "an operation is 'update', expected 'insert' or",
    ),
    "delete with a value": (
        lambda s: s.ingest([("k", 1, "delete", "v")]),
        "the value of a delete is 'v', expected None",
    ),
    "operation id": (lambda s: s.insert("k", 1, "v", operation=""), "the id of an operation is '', expected text of 1"),
    "token and time": (
        lambda s: s.get("a", token="x", event=1),
        "the times of a read is 1, expected none beside a token",
    ),
    "no token": (lambda s: s.get("a", token="hello"), "a token is 'hello', expected one that a store has given"),
    "no range": (lambda s: s.scan(7), "the keys to scan is 7, expected what they begin with, or a pair"),
    "after the stable time": (lambda s: s.get("a", ingest=2**62), "others may still write under that time"),
    "unknown argument": (lambda s: s.get("a", evnet=1), "evnet"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_sentence(crm: elsa.ExternalSystem, name: str) -> None:
    crm.insert("a", 1, "v")
    call, sentence = BAD[name]
    before = list(crm.versions())

    with pytest.raises((nm.NeomodelError, TypeError)) as refused:
        call(crm)

    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert list(crm.versions()) == before


def test_a_system_that_has_no_records_can_be_written_and_not_read(store: elsa.ElsaStore) -> None:
    store.system("crm").insert("a", 1, "v")
    other = store.system("crn")

    for read in (lambda: other.get("a"), lambda: other.get("a", ingest=1), lambda: list(other.scan()), other.audit):
        with pytest.raises(nm.InvalidValue, match=r"a system of .* is 'crn', expected one that has records.*'crm'\?"):
            read()
    assert store.systems() == ["crm"]
    other.insert("a", 1, "w")
    assert (other.get("a"), store.systems()) == ("w", ["crm", "crn"])


@pytest.mark.parametrize("name", ["", "a b", "a.b", "-a", "x" * 81, None, "ä"])
def test_a_name_that_can_be_no_systems_is_refused(store: elsa.ElsaStore, name: Any) -> None:
    with pytest.raises(nm.InvalidValue, match="the name of a system"):
        store.system(name)


def test_an_element_of_a_class_that_nobody_registered_is_refused(crm: elsa.ExternalSystem) -> None:
    package = nm.package("strange", "http://strange")

    @package.define
    class Thing:
        name: str | None

    with pytest.raises(nm.MetamodelNotFound):
        crm.insert("a", 1, Thing(name="x"))


def test_a_token_of_another_store_is_refused(store: elsa.ElsaStore, repo: Repository, crm: elsa.ExternalSystem) -> None:
    crm.insert("a", 1, "v")
    other = elsa.open(repo, f"{store.name}-2")

    with pytest.raises(nm.InvalidValue, match=r"a token is .*, expected one of <ELSA"):
        crm.get("a", token=other.token())


def test_a_store_that_is_not_there_is_told_of_if_it_is_not_to_be_made(repo: Repository) -> None:
    with pytest.raises(nm.ModelNotFound, match=r"no model 'nowhere' in .*: nothing was written to ELSA there yet"):
        elsa.open(repo, "nowhere", create=False)
    with pytest.raises(nm.InvalidValue, match="where to open ELSA"):
        elsa.open("lmdb:x")  # type: ignore[arg-type]
