"""kill -9 of a process that writes: what it was told is kept is there, nothing is torn, others go on."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

import pytest

from neomodel.stores import Store, Table
from neomodel.stores.base import DURABLE, SHARED
from tests.stores import crashing
from tests.stores.crashing import SWAPPED, content, parts, row_key, whole
from tests.stores.processes import SPAWN, run
from tests.stores.shorthand import versions

pytestmark = [pytest.mark.needs(DURABLE), pytest.mark.needs(SHARED)]


@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.soak)])
def test_a_killed_process_leaves_every_acknowledged_write_and_nothing_torn(
    store: Store, table: Table, key: bytes, kills: int, figures: Callable[[str], None]
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice, kept, early = random.Random(seed), 0, 0
    with _bystander(store.url, table.name, key + b"other/", key + b"killed/") as others:
        for number in range(kills):
            prefix = key + b"killed/%03d/" % number
            seconds, writing = dice.uniform(0, 0.4), number % 4 != 0
            acknowledged = _write_and_kill(store.url, table.name, prefix, seed, seconds, writing)
            _check(table, prefix, seed, acknowledged)
            kept += acknowledged
            early += acknowledged == 0
    assert run(_torn, store.url, table.name, key + b"killed/") == []
    assert others[0] > kills
    figures(
        f"kill -9: {kills} processes ({early} before their first write), {kept} acknowledged writes all there, "
        f"{others[0]} rounds of another process beside them, seed {seed}"
    )
    assert kept > kills


def _write_and_kill(url: str, name: str, prefix: bytes, seed: int, seconds: float, writing: bool) -> int:
    """Kill a writer that long after it began, or after its first write; how many of its writes were acknowledged."""
    reports, theirs = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=crashing.write, args=(url, name, prefix, seed, theirs))
    process.start()
    theirs.close()
    try:
        last = -2
        while last < (0 if writing else -1):
            assert reports.poll(60)
            last = reports.recv()
        kill_at = time.monotonic() + seconds
        while (left := kill_at - time.monotonic()) > 0:
            if reports.poll(left):
                last = reports.recv()
    finally:
        process.kill()
    process.join()
    assert process.exitcode == -9, "it ended by itself"
    return _drain(reports, last) + 1


def _drain(reports: Connection, last: int) -> int:
    """What was still on its way when the writer was killed. A report that broke off was not received."""
    try:
        while True:
            last = reports.recv()
    except EOFError:
        return last


def _check(table: Table, prefix: bytes, seed: int, acknowledged: int) -> None:
    """Of the writes 0, 1, ... all acknowledged ones are there, and at most one more, whole or a leading part of it."""
    rows = dict(table.scan(prefix, prefix + SWAPPED))
    puts = [number for number in range(acknowledged + 1) if parts(seed, number)]
    expected = [row_key(prefix, number, part) for number in puts for part in range(parts(seed, number))]
    sure = [
        row_key(prefix, number, part) for number in puts if number < acknowledged for part in range(parts(seed, number))
    ]
    assert sorted(rows) == expected[: len(rows)]
    assert len(rows) >= len(sure)
    for key, row in rows.items():
        number, part = map(int, key.removeprefix(prefix).split(b"-"))
        assert row == content(seed, number, part)

    swaps = [number for number in range(acknowledged + 1) if not parts(seed, number)]
    told = [v for v in versions(table, prefix + SWAPPED) if v.column == b"c:number"]
    numbers = [int(version.value or b"") for version in reversed(told)]
    assert numbers in (swaps, [number for number in swaps if number < acknowledged])
    for version, number in zip(reversed(told), numbers, strict=True):
        row = table.get(prefix + SWAPPED, at=version.time) or {}
        assert {column: value for column, value in row.items() if column != b"t:version"} == content(seed, number, 0)


def _torn(store: Store, name: str, prefix: bytes) -> list[bytes]:
    return [key for key, row in store.table(name).scan(prefix, prefix + b"\xff") if not whole(row)]


@contextmanager
def _bystander(url: str, name: str, prefix: bytes, others: bytes) -> Iterator[list[int]]:
    """A process that writes and reads meanwhile. The list gets its number of rounds once it has ended well."""
    orders, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=crashing.stand_by, args=(url, name, prefix, others, theirs))
    process.start()
    theirs.close()
    rounds: list[int] = []
    try:
        assert orders.poll(60)
        assert orders.recv() == "ready"
        yield rounds
        orders.send("stop")
        assert orders.poll(60)
        rounds.append(orders.recv())
        process.join(60)
        assert process.exitcode == 0
    finally:
        process.kill()
        process.join()
