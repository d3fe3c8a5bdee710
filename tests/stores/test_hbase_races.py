"""Processes that swap one row, each through another gateway: one winner each round, and no row in pieces."""

import uuid
from collections import Counter
from collections.abc import Callable
from threading import Barrier
from urllib.parse import parse_qs, urlsplit

import pytest

from neomodel.cluster import Cluster
from neomodel.stores import VERSION, Store, open_store, successor
from tests.stores.processes import SPAWN, run_each
from tests.stores.shorthand import versions
from tests.stores.test_races import COLUMNS, whole

PATIENCE = 60  # seconds
KEY = b"row"


def rotated(url: str, first: int) -> str:
    """The same gateways from another one on. Without their servers, the first one is used for everything."""
    parts = urlsplit(url)
    hosts, seconds = parts.netloc.split(","), parse_qs(parts.query)["thrift2"][0].split(",")
    first %= len(hosts)
    turned = [",".join(some[first:] + some[:first]) for some in (hosts, seconds)]
    return f"hbase://{turned[0]}?thrift2={turned[1]}"


@pytest.mark.parametrize(("rivals", "rounds"), [(3, 15), pytest.param(6, 300, marks=pytest.mark.soak)])
def test_of_processes_over_three_gateways_exactly_one_wins_each_round_and_its_row_is_whole(
    hbase3: Cluster, rivals: int, rounds: int, figures: Callable[[str], None]
) -> None:
    with open_store(hbase3.url) as store:
        table = store.table(f"races-{uuid.uuid4().hex}")
        table.create("cpt")
        barrier = SPAWN.Barrier(rivals)
        works = [(_rival, (table.name, rival, rounds, barrier), {}) for rival in range(rivals)]
        won = run_each(works, hbase3.url)

        assert Counter(number for rounds_won in won for number in rounds_won) == dict.fromkeys(range(rounds), 1)
        for column in (VERSION, *COLUMNS):
            assert sum(version.column == column for version in versions(table, KEY)) == rounds
        assert len({version.time for version in versions(table, KEY)}) == rounds
        table.drop()
    figures(f"{rounds} races of {rivals} processes over 3 gateways: one winner each; won {[len(some) for some in won]}")


def _rival(store: Store, name: str, rival: int, rounds: int, barrier: Barrier) -> list[int]:
    """The rounds won. In each, all swap what all have read; then all read what the winner wrote."""
    won = []
    with open_store(rotated(store.url, rival)) as own:
        table = own.table(name)
        for number in range(rounds):
            before = table.get(KEY) or {}
            assert whole(before or None)
            barrier.wait(PATIENCE)
            mark = b"%d-%d" % (number, rival)
            cells = dict.fromkeys(COLUMNS, mark)
            if table.swap(KEY, before.get(VERSION), {VERSION: successor(before.get(VERSION)), **cells}):
                won.append(number)
                assert (table.get(KEY) or {})[b"p:a"] == mark
            row = table.get(KEY)
            assert row is not None
            assert whole(row)
            barrier.wait(PATIENCE)
    return won
