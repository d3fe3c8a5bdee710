"""Tokens: short texts that name the states something was computed from."""

import datetime
import pickle
import re
import threading
import time
from collections.abc import Callable

import pytest

import neomodel as nm
from metamodels import elsa
from neomodel.repository import Repository
from neomodel.times import LAST
from tests.metamodels.conftest import settled


def test_a_token_is_a_short_text_for_urls_that_can_be_read_back(store: elsa.ElsaStore) -> None:
    token = store.token(event=datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC))
    more = token.with_ingest(crm=17).with_ingest({"other-system": 18})

    for one in (token, more, store.token()):
        assert re.fullmatch(r"[A-Za-z0-9_-]+", str(one))
        assert elsa.Token.parse(str(one)) == one
        assert pickle.loads(pickle.dumps(one)) == one
        assert hash(elsa.Token.parse(str(one))) == hash(one)
    assert len(str(token)) == 31
    assert (more.ingest_of("crm"), more.ingest_of("other-system"), more.ingest_of("x")) == (17, 18, token.ingest)
    assert store.token().event == LAST


def test_a_token_with_one_letter_changed_is_none(store: elsa.ElsaStore) -> None:
    text = str(store.token())

    for at in range(len(text) - 1):  # of the last one some bits say nothing
        changed = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
        with pytest.raises(nm.InvalidValue, match="a token is"):
            elsa.Token.parse(changed)


def test_new_data_of_one_system_is_taken_into_an_old_computation(store: elsa.ElsaStore) -> None:
    crm, erp = store.system("crm"), store.system("erp")
    for system in (crm, erp):
        system.insert("k", 1, "old")
    token = store.token(ingest=settled(store))
    for system in (crm, erp):
        system.insert("k", 1, "new")
    renewed = token.with_ingest(crm=settled(store))

    assert [(crm.get("k", token=one), erp.get("k", token=one)) for one in (token, renewed)] == [
        ("old", "old"),
        ("new", "old"),
    ]


def test_what_is_written_in_a_batch_is_in_no_token_before_its_end(
    store: elsa.ElsaStore, crm: elsa.ExternalSystem
) -> None:
    crm.insert("k", 1, "old")
    settled(store)
    with store.batch():
        crm.ingest([("k", 1, "insert", "new")])
        inside = store.token()
        assert crm.get("k", token=inside) == "old"
        assert crm.get("k") == "old"
    after = store.token(ingest=settled(store))

    assert (crm.get("k", token=inside), crm.get("k", token=after)) == ("old", "new")


@pytest.mark.parametrize("url", ["lmdb"], indirect=True)
def test_who_waits_gets_the_answer_when_it_is_stable(
    url: str, store: elsa.ElsaStore, crm: elsa.ExternalSystem, connect: Callable[[str], Repository]
) -> None:
    crm.insert("k", 1, "old")
    store.stable()
    other = elsa.open(connect(url), store.name)
    opened, done = threading.Event(), threading.Event()

    def write() -> None:
        with other.batch():
            other.system("crm").ingest([("k", 1, "insert", "new")])
            opened.set()
            done.wait(10)

    writing = threading.Thread(target=write)
    writing.start()
    assert opened.wait(10)
    ingest = store.catalogue.table.now()
    with pytest.raises(nm.NotStable, match="wait=True does"):
        crm.get("k", ingest=ingest)
    with pytest.raises(nm.NotStable):
        crm.get("k", ingest=ingest, wait=0.05)
    threading.Timer(0.2, done.set).start()
    began = time.monotonic()

    assert crm.get("k", ingest=ingest, wait=True) == "new"
    assert time.monotonic() - began > 0.1
    writing.join()


@pytest.mark.parametrize("url", ["memory", "lmdb"], indirect=True)
def test_what_is_not_kept_is_refused(store: elsa.ElsaStore, crm: elsa.ExternalSystem) -> None:
    crm.insert("k", 1, "old")
    token = store.token()
    crm.insert("k", 1, "new")
    horizon = store.token()
    crm.insert("k", 2, "later")

    done = crm.retain(since=horizon.ingest, by="Ann")

    assert (done.by, crm.audit()) == ("Ann", [done])
    assert done.versions == 2  # the one that was corrected, and what its swap compared
    for read in (crm.get, crm.version, crm.history):
        with pytest.raises(nm.Purged):
            read("k", token=token)
    with pytest.raises(nm.Purged):
        list(crm.scan(token=token))
    assert (crm.get("k", token=horizon), crm.get("k")) == ("new", "later")
    with pytest.raises(nm.InvalidValue, match="the time to purge before"):
        crm.retain(since=2**62)
