"""Many at once on one row and one table: threads of one process, and processes of their own."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from neomodel.stores import VERSION, Mutation, Row, Store, Table, successor
from neomodel.stores.base import SHARED
from tests.stores.processes import run_each
from tests.stores.shorthand import versions

RIVALS = 4
ROUNDS = 25
COLUMNS = [b"c:first", b"p:a", b"p:b", b"p:\xff", b"t:last"]

sizes = pytest.mark.parametrize("rounds", [ROUNDS, pytest.param(10 * ROUNDS, marks=pytest.mark.soak)])


def duel(table: Table, key: bytes, rounds: int, wait: Callable[[], object]) -> list[int]:
    """Swap one row in every round, from what all rivals read before any of them swaps; the rounds won."""
    won = []
    for number in range(rounds):
        version = (table.get(key) or {}).get(VERSION)
        wait()
        if table.swap(key, version, {VERSION: successor(version)}):
            won.append(number)
        wait()
    return won


@sizes
def test_of_threads_that_swap_one_row_exactly_one_wins_each_round(table: Table, key: bytes, rounds: int) -> None:
    barrier = threading.Barrier(RIVALS)
    with ThreadPoolExecutor(RIVALS) as pool:
        results = [pool.submit(duel, table, key, rounds, lambda: barrier.wait(60)) for _ in range(RIVALS)]
        won = Counter(number for result in results for number in result.result(300))

    assert won == dict.fromkeys(range(rounds), 1)
    assert len(versions(table, key)) == rounds


@pytest.mark.needs(SHARED)
@sizes
def test_of_processes_that_swap_one_row_exactly_one_wins_each_round(
    store: Store, table: Table, key: bytes, rounds: int
) -> None:
    results = run_each([(_duel, (table.name, key, rival, rounds), {}) for rival in range(RIVALS)], store.url)

    assert Counter(number for won in results for number in won) == dict.fromkeys(range(rounds), 1)
    assert len(versions(table, key)) == rounds


def _duel(store: Store, name: str, key: bytes, rival: int, rounds: int) -> list[int]:
    table = store.table(name)
    steps = iter(range(1, 2 * rounds + 1))

    def wait() -> None:
        """Until all rivals are here: each says in a row of its own how far it is."""
        step = next(steps)
        places = [key + b"rival%d" % other for other in range(RIVALS)]
        table.put_many([Mutation(places[rival], {b"p:step": b"%d" % step})])
        deadline = time.monotonic() + 60
        while sum(int(row[b"p:step"]) >= step for row in table.get_many(places).values()) < RIVALS:
            assert time.monotonic() < deadline, "a rival never came"
            time.sleep(0.001)

    return duel(table, key, rounds, wait)


@pytest.mark.needs(SHARED)
@sizes
def test_no_increment_is_lost_between_processes(store: Store, table: Table, key: bytes, rounds: int) -> None:
    lost = run_each([(_increment, (table.name, key, rounds), {})] * RIVALS, store.url)

    assert (table.get(key) or {})[b"p:count"] == b"%d" % (RIVALS * rounds)
    counts = [int(v.value or b"") for v in versions(table, key) if v.column == b"p:count"]
    assert counts == list(range(RIVALS * rounds, 0, -1))
    print(f"{RIVALS * rounds} swaps won, {sum(lost)} lost")


def _increment(store: Store, name: str, key: bytes, rounds: int) -> int:
    table, won, lost = store.table(name), 0, 0
    while won < rounds:
        row = table.get(key) or {}
        version, count = row.get(VERSION), int(row.get(b"p:count", b"0"))
        if table.swap(key, version, {VERSION: successor(version), b"p:count": b"%d" % (count + 1)}):
            won += 1
        else:
            lost += 1
    return lost


def whole(row: Row | None) -> bool:
    """All of the cells, all with the same value."""
    return row is None or (set(COLUMNS) <= set(row) and len({row[column] for column in COLUMNS}) == 1)


def write_whole(table: Table, key: bytes, rounds: int) -> None:
    version = (table.get(key) or {}).get(VERSION)
    for number in range(rounds):
        new = successor(version)
        cells = dict.fromkeys(COLUMNS, b"%d" % number * (1 + 500 * (number % 7)))
        assert table.swap(key, version, {VERSION: new, **cells})
        table.put_many([Mutation(key + b"put", cells), Mutation(key + b"put", cells)])
        version = new


def read_whole(table: Table, key: bytes, stop: Callable[[], bool]) -> int:
    """Read in every way until told to stop; how often. Fails at the first row that is torn."""
    reads = 0
    while not stop():
        for one in (key, key + b"put"):
            assert whole(table.get(one)), one
            now = table.now()
            assert whole(table.get(one, at=now)), one
            cells = {b"p:" + cell.qualifier: cell.value for cell in table.cells(one, "p")}
            assert len({cells[column] for column in COLUMNS if column in cells}) <= 1, one
        assert all(map(whole, table.get_many([key, key + b"put"]).values()))
        assert all(whole(row) for _, row in table.scan(key, key + b"x"))
        reads += 1
    return reads


@sizes
def test_a_row_of_several_cells_is_never_seen_torn_by_threads(table: Table, key: bytes, rounds: int) -> None:
    done = threading.Event()
    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read_whole, table, key, done.is_set) for _ in range(2)]
        try:
            pool.submit(write_whole, table, key, rounds).result(300)
        finally:
            done.set()
        assert all(reader.result(60) > 0 for reader in readers)


@pytest.mark.needs(SHARED)
@sizes
def test_a_row_of_several_cells_is_never_seen_torn_by_processes(
    store: Store, table: Table, key: bytes, rounds: int
) -> None:
    *reads, _ = run_each(
        [
            *[(_read_whole, (table.name, key, reader), {}) for reader in range(2)],
            (_write_whole, (table.name, key, rounds), {}),
        ],
        store.url,
    )

    assert all(reads)
    assert len({version.time for version in versions(table, key)}) == rounds


def _write_whole(store: Store, name: str, key: bytes, rounds: int) -> int:
    table = store.table(name)
    deadline = time.monotonic() + 60
    while len(table.get_many([key + b"x-reader0", key + b"x-reader1"])) < 2:
        assert time.monotonic() < deadline, "a reader never came"
    write_whole(table, key, rounds)
    table.put_many([Mutation(key + b"x-done", {b"p:x": b""})])
    return rounds


def _read_whole(store: Store, name: str, key: bytes, reader: int) -> int:
    table = store.table(name)
    table.put_many([Mutation(key + b"x-reader%d" % reader, {b"p:x": b""})])
    return read_whole(table, key, lambda: table.get(key + b"x-done") is not None)
