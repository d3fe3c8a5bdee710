"""The HBase store beside raw happybase and a raw Thrift2 client: the same cells, the same batches, one gateway."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import happybase
from thriftpy2.protocol import TCyBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TCyBufferedTransport, TSocket

from benchmarks.lmdb_store import CELLS
from benchmarks.measure import QUICK, Case, Comparison, Measured, measure, sized
from benchmarks.places import hbase
from neomodel.stores import VERSION, Mutation, Table, open_store, successor
from neomodel.stores.hbase_client import thrift2
from neomodel.stores.hbase_url import GatewayAddress, parse

ROWS, BATCH = sized(10_000, 3_000), 1000
GETS, SWAPS = 60, 40  # of one round: short rounds in quick turns, as what else the machine does comes and goes
SHORT_ROUNDS, ROUNDS = sized((41, 7), (9, 3))


def _key(number: int) -> bytes:
    return b"%016x" % number


@contextmanager
def _tables(servers: int) -> Iterator[tuple[happybase.Table, Any, Table]]:
    """A table written and read by all, by happybase, by a Thrift2 client, and by neomodel. Pre-split to the servers."""
    with hbase(servers) as url, open_store(url) as store:
        ours = store.table("model")
        ours.create("cpt", splits=[_key(ROWS * part // servers) for part in range(1, servers)])
        ours.put_many(Mutation(_key(number), CELLS) for number in range(ROWS))
        address = parse(url).gateways[0]
        raw = happybase.Connection(address.host, address.port1)
        yield raw.table("model"), raw_thrift2(address), ours


def raw_thrift2(address: GatewayAddress) -> Any:
    transport = TCyBufferedTransport(TSocket(host=address.host, port=address.port2))
    transport.open()
    return TClient(thrift2().THBaseService, TCyBinaryProtocol(transport, decode_response=False))


def _get(raw: happybase.Table, ours: Table) -> Case:
    keys = [_key(number) for number in range(0, ROWS, ROWS // GETS)][:GETS]
    return Case(
        "get of a 5-cell row",
        "rows",
        GETS,
        lambda: sum(len(raw.row(key)) for key in keys),
        lambda: sum(len(ours.get(key) or ()) for key in keys),
        0.9,
    )


def _get_many(raw: happybase.Table, ours: Table, wanted: float) -> Case:
    keys = [_key(number) for number in range(ROWS)]

    def peer() -> int:
        return sum(len(raw.rows(keys[first : first + BATCH])) for first in range(0, ROWS, BATCH))

    return Case("get_many", "rows", ROWS, peer, lambda: len(ours.get_many(keys)), wanted)


def _scan(raw: happybase.Table, ours: Table) -> Case:
    return Case(
        "scan",
        "cells",
        ROWS * len(CELLS),
        lambda: sum(len(row) for _, row in raw.scan(batch_size=BATCH)),
        lambda: sum(len(row) for _, row in ours.scan()),
        0.9,
    )


def _put_many(raw: happybase.Table, ours: Table, wanted: float) -> Case:
    cells = {column: value or b"" for column, value in CELLS.items()}

    def peer() -> None:
        with raw.batch(batch_size=BATCH * len(cells)) as batch:
            for number in range(ROWS):
                batch.put(_key(number), cells)

    def subject() -> None:
        ours.put_many(Mutation(_key(number), CELLS) for number in range(ROWS))

    return Case("put_many", "rows", ROWS, peer, subject, wanted)


def _swap(client: Any, ours: Table) -> Case:
    api = thrift2()
    numbers = itertools.count()
    versions = {b"raw": b"1-0", b"ours": b"1-0"}
    ours.put_many(Mutation(key, {VERSION: version}) for key, version in versions.items())

    def peer() -> int:
        won = 0
        for _ in range(SWAPS):
            old, new = versions[b"raw"], b"2-%d" % next(numbers)
            put = api.TPut(b"raw", [api.TColumnValue(b"t", b"version", new), api.TColumnValue(b"p", b"name", new)])
            mutations = api.TRowMutations(b"raw", [api.TMutation(put=put)])
            equal = api.TCompareOp.EQUAL
            won += client.checkAndMutate(b"model", b"raw", b"t", b"version", equal, old, mutations)
            versions[b"raw"] = new
        return won

    def subject() -> int:
        won = 0
        for _ in range(SWAPS):
            old, new = versions[b"ours"], successor(versions[b"ours"])
            won += ours.swap(b"ours", old, {VERSION: new, b"p:name": new})
            versions[b"ours"] = new
        return won

    return Case("swap", "swaps", SWAPS, peer, subject, 0.9)


def report() -> list[Measured]:
    with _tables(1) as (raw, client, ours):
        cases = [
            (_get(raw, ours), SHORT_ROUNDS),
            (_swap(client, ours), SHORT_ROUNDS),  # soon: a gateway closes a connection that is idle for a minute
            (_get_many(raw, ours, 0.9), ROUNDS),
            (_scan(raw, ours), ROUNDS),
            (_put_many(raw, ours, 0.9), ROUNDS),
        ]
        results = [measure(case, rounds=rounds) for case, rounds in cases]
    one = Comparison("HBase store, one server, one gateway pair", "raw happybase (swap: raw Thrift2)", results)
    if QUICK:  # three servers take half a minute to start
        return [one]
    with _tables(3) as (raw, client, ours):
        results = [measure(case, rounds=ROUNDS) for case in (_get_many(raw, ours, 1.3), _put_many(raw, ours, 1.3))]
    title = "HBase store, three servers, three gateway pairs in parallel"
    return [one, Comparison(title, "raw happybase, one gateway", results)]
