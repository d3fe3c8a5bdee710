"""The times of one table, stamped by several processes: unique, and in the order things happened."""

import time

import pytest

from neomodel.stores import VERSION, Mutation, Store, Table, successor
from neomodel.stores.base import ORDERED, SHARED
from tests.stores.processes import run_each

WRITERS = 3

sizes = pytest.mark.parametrize("rounds", [60, pytest.param(3000, marks=pytest.mark.soak)])


@pytest.mark.needs(SHARED)
@pytest.mark.needs(ORDERED)
@sizes
def test_no_two_mutations_of_a_table_have_one_time_and_each_process_sees_it_grow(
    store: Store, table: Table, span: tuple[bytes, bytes], rounds: int
) -> None:
    run_each([(_write, (table.name, span[0] + b"%d" % writer, rounds), {}) for writer in range(WRITERS)], store.url)

    told = list(table.history(*span, columns=[b"p:x"]))
    times = {version.time for version in told}
    assert len(told) == len(times) == WRITERS * rounds * 3
    for writer in range(WRITERS):
        mine = sorted(
            (version.time, version.value) for version in told if version.key.startswith(span[0] + b"%d" % writer)
        )
        assert [value for _, value in mine] == [b"%06d" % number for number in range(rounds * 3)]


def _write(store: Store, name: str, key: bytes, rounds: int) -> None:
    """Rounds of a swap and a batch of two; the values count all of them. Between them `now` never runs backwards."""
    table, version, before = store.table(name), None, 0
    for number in range(0, rounds * 3, 3):
        new = successor(version)
        assert table.swap(key, version, {VERSION: new, b"p:x": b"%06d" % number}) is True
        version = new
        table.put_many(Mutation(key + b"batch", {b"p:x": b"%06d" % n}) for n in (number + 1, number + 2))
        now = table.now()
        assert now > before
        before = now


@pytest.mark.needs(SHARED)
@pytest.mark.needs(ORDERED)
@sizes
def test_what_happened_after_is_stamped_after_whichever_process_did_it(
    store: Store, table: Table, span: tuple[bytes, bytes], rounds: int
) -> None:
    """Players pass a ball: each waits until it reads the throw before its own, notes `now`, and throws."""
    nows = run_each([(_play, (table.name, span[0], player, rounds), {}) for player in range(2)], store.url)

    throws = sorted(table.history(*span), key=lambda version: version.time)
    assert [throw.key.removeprefix(span[0]) for throw in throws] == [b"%06d" % number for number in range(2 * rounds)]
    for number, throw in enumerate(throws[1:], 1):
        assert throws[number - 1].time <= nows[number % 2][number // 2] < throw.time


def _play(store: Store, name: str, prefix: bytes, player: int, rounds: int) -> list[int]:
    table, nows = store.table(name), []
    deadline = time.monotonic() + 100
    for number in range(player, 2 * rounds, 2):
        while number and table.get(prefix + b"%06d" % (number - 1)) is None:
            assert time.monotonic() < deadline, "the ball never came"
            time.sleep(0.0005)
        nows.append(table.now())
        table.put_many([Mutation(prefix + b"%06d" % number, {b"p:x": b""})])
    return nows
