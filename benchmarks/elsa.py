"""ELSA beside raw drivers: the same records as plain rows of one cell, read, scanned and written without history."""

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import happybase

import neomodel as nm
from benchmarks.hbase_store import raw_thrift2
from benchmarks.measure import Case, Comparison, Figure, Figures, Measured, measure, show, sized
from benchmarks.places import hbase
from metamodels import elsa
from neomodel.stores.hbase_client import thrift2
from neomodel.stores.hbase_url import parse

MINUTE = 60_000_000
RECORDS, VERSIONS, BATCH = sized(10_000, 2_000), 10, 1000
BATCHES = 3  # of as many records, in one ingest batch
GETS = 60  # of one round: short rounds in quick turns, as what else the machine does comes and goes
SHORT_ROUNDS, ROUNDS = sized((41, 7), (9, 2))
ASKED = sized(20_000, 4_000)  # on LMDB
LENGTHS = (10, 10_000)
PLAIN = b"plain"

Connect = Callable[[], happybase.Connection]


def _key(number: int) -> str:
    return f"customer-{number:06}"


def _value(number: int, version: int) -> str:
    return f"value {number} in version {version} of it"


def _history(keys: int, versions: int) -> Iterator[tuple[str, int, int, str, str]]:
    """Each version a minute after the one before, known a second later."""
    for number in range(keys):
        for version in range(1, versions + 1):
            event = version * MINUTE
            yield _key(number), event, event + 1_000_000, "insert", _value(number, version)


# LMDB: as many versions in all, of few keys or of many


def _gets(versions: int) -> float:
    """Gets in a second of the processor's time, at random times, the best of seven rounds."""
    keys = max(LENGTHS) * 4 // versions
    dice = random.Random(versions)
    with tempfile.TemporaryDirectory() as folder, nm.connect(f"lmdb:{folder}/store") as repository:
        store = elsa.open(repository)
        system = store.system("crm")
        system.load(_history(keys, versions))
        store.check_stable(versions * MINUTE)
        asked = [
            (
                dice.randrange(keys),
                dice.randrange(MINUTE, versions * MINUTE),
                dice.randrange(2 * MINUTE, (versions + 1) * MINUTE),
            )
            for _ in range(ASKED)
        ]
        for number, event, ingest in asked[:500]:
            known = min(event, ingest - 1_000_000) // MINUTE
            assert system.get(_key(number), event=event, ingest=ingest) == _value(number, min(known, versions))
        questions = [(_key(number), event, ingest) for number, event, ingest in asked]
        best = float("inf")
        for _ in range(ROUNDS):
            start = time.process_time()
            for key, event, ingest in questions:
                system.get(key, event=event, ingest=ingest)
            best = min(best, time.process_time() - start)
    return ASKED / best


def _lmdb() -> Figures:
    few, many = (_gets(versions) for versions in LENGTHS)
    slower = few / many
    return Figures(
        "ELSA on LMDB, one process",
        [
            Figure("gets in a second of one core, 10 versions a key", f"{few:,.0f}", "at least 50,000", few >= 50_000),
            Figure("10,000 versions a key", f"{many:,.0f}: {slower:.2f} times slower", "at most 1.5", slower <= 1.5),
        ],
    )


# HBase


@contextmanager
def _systems() -> Iterator[tuple[Connect, Any, elsa.ElsaStore]]:
    """A system with ten versions of each record, and a plain table with the last one, read by happybase and Thrift2."""
    with hbase() as url, nm.connect(url) as repository:
        store = elsa.open(repository)
        store.system("crm").load(_history(RECORDS, VERSIONS))
        repository.store.table(PLAIN.decode()).create("x")
        address = parse(url).gateways[0]
        client = raw_thrift2(address)
        _put_plain(client)
        yield partial(happybase.Connection, address.host, address.port1), client, store


def _put_plain(client: Any) -> None:
    api = thrift2()
    for first in range(0, RECORDS, BATCH):
        rows = range(first, first + BATCH)
        values = ((_key(n).encode(), [api.TColumnValue(b"x", b"value", _value(n, VERSIONS).encode())]) for n in rows)
        client.putMultiple(PLAIN, [api.TPut(key, value) for key, value in values])


def _cases(connect: Connect, client: Any, store: elsa.ElsaStore) -> list[tuple[Case, int]]:
    api = thrift2()
    crm, token = store.system("crm"), store.token()
    few = [_key(number) for number in range(0, RECORDS, RECORDS // GETS)][:GETS]
    keys = [_key(number) for number in range(RECORDS)]

    def get() -> list[str]:
        found = [client.get(PLAIN, api.TGet(key.encode())) for key in few]
        return [result.columnValues[0].value.decode() for result in found]

    def get_many() -> int:
        parts = (keys[first : first + BATCH] for first in range(0, RECORDS, BATCH))
        return sum(len(client.getMultiple(PLAIN, [api.TGet(key.encode()) for key in part])) for part in parts)

    def scan() -> list[str]:
        with closing(connect()) as raw:  # each time: a gateway closes a connection that is idle for a minute
            return [row[b"x:value"].decode() for _, row in raw.table(PLAIN.decode()).scan(batch_size=BATCH)]

    def ingest() -> int:
        now = time.time_ns() // 1000
        return store.system("other").ingest(
            (_key(number), now + time_, "insert", _value(number, VERSIONS))
            for time_ in range(BATCHES)
            for number in range(RECORDS)
        )

    def put() -> int:
        for _ in range(BATCHES):
            _put_plain(client)
        return RECORDS * BATCHES

    def scan_all() -> int:
        with closing(connect()) as raw:
            return sum(1 for _ in raw.table("elsa.crm").scan(batch_size=BATCH))

    return [
        (Case("get", "records", GETS, get, lambda: [crm.get(key, token=token) for key in few], 0.77), SHORT_ROUNDS),
        (
            Case("get_many", "records", RECORDS, get_many, lambda: len(crm.get_many(keys, token=token)), 0.77),
            ROUNDS,
        ),
        (Case("ingest", "records", RECORDS * BATCHES, put, ingest, 0.7), ROUNDS),
        (
            Case("scan as of a token", "records", RECORDS, scan, lambda: [v for _, v in crm.scan(token=token)], 0.6),
            ROUNDS,
        ),
        (
            Case(
                "scan, beside one of all versions",
                "records",
                RECORDS,
                scan_all,
                lambda: len(list(crm.scan(token=token))),
                0.6,
            ),
            ROUNDS,
        ),
    ]


def report() -> list[Measured]:
    with _systems() as (raw, client, store):
        results = [measure(case, rounds=rounds) for case, rounds in _cases(raw, client, store)]
    title = "ELSA on HBase, 10 versions a key, one server, one gateway pair"
    return [_lmdb(), Comparison(title, "raw Thrift2 (scan: raw happybase)", results)]


if __name__ == "__main__":
    show(report())
