"""External systems as of a token on Spark."""

import datetime
import uuid
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from metamodels import elsa
from neomodel.cluster import Cluster
from neomodel.stores import open_store
from neomodel.stores.wrappers import Counting
from spark.elsa import Mirror, batches
from spark.partitions import Part, parts_of

KEYS = [f"k{number:05}" for number in range(300)]


@pytest.fixture
def store(tmp_path: Path) -> elsa.ElsaStore:
    opened = elsa.open(nm.connect(f"lmdb:{tmp_path}/db"))
    crm = opened.system("crm")
    crm.ingest([(key, 10, "insert", {"number": int(key[1:])}) for key in KEYS])
    crm.ingest([(KEYS[0], 20, "delete", None), (KEYS[1], 20, "insert", "text"), (KEYS[2], 20, "insert", b"\0\xff")])
    return opened


def read(session: SparkSession, store: elsa.ElsaStore, **options: str) -> Any:
    return session.read.format("elsa").options(store=store.repository.store.url, system="crm", **options).load()


def test_a_system_as_of_a_token_is_a_frame_and_stays_what_it_is(session: SparkSession, store: elsa.ElsaStore) -> None:
    token, frame = store.token(), read(session, store)
    early = store.token(event=15)
    store.system("crm").ingest([(KEYS[3], 30, "delete", None), ("new", 5, "insert", "x")])

    rows = {row.key: row for row in read(session, store, token=str(token)).collect()}
    assert sorted(rows) == KEYS[1:]
    assert (rows[KEYS[1]].kind, rows[KEYS[1]].value, rows[KEYS[1]].data) == ("text", "text", None)
    assert (rows[KEYS[2]].kind, rows[KEYS[2]].value, rows[KEYS[2]].data) == ("bytes", None, b"\0\xff")
    assert (rows[KEYS[9]].kind, rows[KEYS[9]].value) == ("json", '{"number":9}')
    assert rows[KEYS[9]].event == datetime.datetime(1970, 1, 1, 0, 0, 0, 10)
    assert frame.count() == 299  # as of when it was asked for
    assert read(session, store).count() == 299  # one less, one more
    assert read(session, store, token=str(early)).where("kind = 'json'").count() == 300
    assert read(session, store, prefix="k0010", event="10").count() == 10


def test_records_are_looked_up_in_tasks(session: SparkSession, store: elsa.ElsaStore) -> None:
    orders = session.createDataFrame(
        [(1, KEYS[7]), (2, KEYS[0]), (3, "none"), (4, None), (5, KEYS[7])], "number int, customer string"
    )
    found = spark.lookup(orders, "customer", store=store.repository.store.url, system="crm", token=store.token())

    assert found.columns == ["number", "customer", "event", "ingest", "kind", "value", "data"]
    assert {row.number: row.value for row in found.collect()} == {
        1: '{"number":7}', 2: None, 3: None, 4: None, 5: '{"number":7}',
    }  # fmt: skip


def test_every_record_is_in_the_part_of_one_region(store: elsa.ElsaStore) -> None:
    mirror = Mirror.taken(store.repository.store.url, "crm")
    system = store.system("crm")
    middle = system.rows(KEYS[150])[0]

    parts = [Part(b"", middle), Part(middle, None)]
    found = [[key for page in batches(mirror, part) for key in page.column(0).to_pylist()] for part in parts]
    assert found == [KEYS[1:150], KEYS[150:]]
    assert len(parts_of(store.repository.store.table(system.model_name), *system.rows())) == 1


def test_looking_up_costs_one_call_for_a_thousand_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(open_store(f"lmdb:{tmp_path}/db"))
    opened = elsa.open(nm.Repository(counting))
    opened.system("crm").ingest([(key, 10, "insert", "v") for key in KEYS])
    token = opened.token()
    opened.system("crm").entries_of(KEYS[:1], token=token)
    counting.reset()

    assert len(opened.system("crm").entries_of(KEYS, token=token)) == 300
    assert counting.calls == {"firsts": 1}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"system": "crn"}, "did you mean 'crm'?"),
        ({"sytem": "crm"}, "an option of format elsa is 'sytem', expected one of"),
        ({"token": "hello"}, "a token is 'hello', expected one that a store has given"),
        ({"event": "yesterday"}, "a time is 'yesterday', expected one such as"),
        ({"event": "stable"}, "option event is 'stable', expected a time"),
        ({"elsa": "elza"}, "nothing was written to ELSA there yet"),
        ({"ingest": str(2**62)}, "others may still write under that time"),
        ({"without_erased": "perhaps"}, "expected true or false"),
    ],
)
def test_bad_options_are_one_sentence(
    session: SparkSession, store: elsa.ElsaStore, options: dict[str, str], sentence: str
) -> None:
    with pytest.raises(Exception, match=r".*") as refused:
        session.read.format("elsa").options(**{"store": store.repository.store.url, "system": "crm", **options}).load()

    assert sentence in str(refused.value)


def test_what_was_erased_is_refused_unless_it_is_left_out(session: SparkSession, store: elsa.ElsaStore) -> None:
    token = str(store.token())
    store.system("crm").erase(KEYS[5], by="Ann")

    with pytest.raises(Exception, match=f"'{KEYS[5]}'.* can't be read as of"):
        read(session, store, token=token).collect()
    assert read(session, store, token=token, without_erased="true").count() == 298
    assert read(session, store).count() == 298


def test_there_is_a_part_for_each_region_that_a_system_is_split_into(hbase: Cluster) -> None:
    with nm.connect(hbase.url) as repository:
        opened = elsa.open(repository, f"e{uuid.uuid4().hex[:12]}")
        system = opened.system("crm", splits=[KEYS[100], KEYS[200]])
        system.load((key, 10, 20, "insert", key) for key in KEYS)
        mirror = Mirror.taken(hbase.url, "crm", name=opened.name)

        parts = parts_of(repository.store.table(system.model_name), *system.rows())
        found = [[key for page in batches(mirror, part) for key in page.column(0).to_pylist()] for part in parts]
        assert found == [KEYS[:100], KEYS[100:200], KEYS[200:]]
        repository.drop(system.model_name)
        repository.drop(opened.name)
