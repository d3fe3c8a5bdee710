"""A store that was open when its process forked works in the child, in the parent, and in both at once.

The forks are made in a process started for it, which has no threads but those the test means it to have.
"""

import os
import signal
import threading
import time
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from neomodel.stores import VERSION, Mutation, Store, Table, open_store, successor
from neomodel.stores.base import SHARED
from tests.stores.kinds import Kind
from tests.stores.processes import run
from tests.stores.shorthand import put, span_keys, versions

CHILD_ROUNDS = 100
KILLED_READERS = 1200  # more than LMDB has room for

pytestmark = pytest.mark.needs(SHARED)


def test_a_store_opened_before_a_fork_works_in_the_child_and_then_in_the_parent(
    store: Store, table: Table, span: tuple[bytes, bytes]
) -> None:
    assert run(_child_then_parent, store.url, table.name, span) == 0
    assert span_keys(table, span) == [b"child", b"child2", b"parent", b"parent2"]
    assert len({version.time for version in table.history(*span)}) == 4


def _child_then_parent(store: Store, name: str, span: tuple[bytes, bytes]) -> int:
    table = store.table(name)
    put(table, span[0] + b"parent", {b"p:x": b"1"})

    def child() -> None:
        assert table.get(span[0] + b"parent") == {b"p:x": b"1"}
        put(table, span[0] + b"child", {b"p:x": b"1"})
        assert store.table(name).swap(span[0] + b"child2", None, {VERSION: b"1"})
        assert span_keys(table, span) == [b"child", b"child2", b"parent"]
        assert name in store.tables()
        store.close()

    status = in_fork(child)()
    assert table.get(span[0] + b"child") == {b"p:x": b"1"}
    put(table, span[0] + b"parent2", {b"p:x": b"1"})
    return status


def test_parent_and_children_may_write_at_once_after_a_fork(
    store: Store, table: Table, span: tuple[bytes, bytes]
) -> None:
    assert run(_all_at_once, store.url, table.name, span) == [0, 0, 0]
    assert len(span_keys(table, span)) == 4 * 50
    assert len({(version.key, version.time) for version in table.history(*span)}) == 4 * 50


def _all_at_once(store: Store, name: str, span: tuple[bytes, bytes]) -> list[int]:
    table = store.table(name)
    assert table.get(span[0] + b"x") is None
    waits = [in_fork(lambda who=who: _write(table, span[0] + who)) for who in (b"a", b"b", b"c")]  # type: ignore[misc]
    _write(table, span[0] + b"parent")
    return [wait() for wait in waits]


def _write(table: Table, prefix: bytes) -> None:
    for number in range(50):
        put(table, prefix + b"%02d" % number, {b"p:x": b"1"})
        assert table.get(prefix + b"%02d" % number) == {b"p:x": b"1"}


def test_a_child_goes_on_while_its_parent_closes_the_store_and_opens_it_again(kind: Kind, place: Path) -> None:
    """Nobody else has this store open: the parent's handle is the only other one there is."""
    with kind.open(place) as store:
        table = store.table(f"test-{uuid.uuid4().hex}")
        table.create("pt")
        url = store.url

    status, rounds, count = run(_close_and_open, url, table.name)

    assert status == 0
    assert count == rounds + CHILD_ROUNDS
    with kind.open(place) as store:
        assert len(versions(store.table(table.name), b"k")) == 2 * count
        store.table(table.name).drop()


def _close_and_open(store: Store, name: str) -> tuple[int, int, int]:
    table, url = store.table(name), store.url
    wait = in_fork(lambda: _increment(table, CHILD_ROUNDS))
    store.close()
    rounds = 0
    for _ in range(30):
        with open_store(url) as again:
            _increment(again.table(name), 3)
            rounds += 3
    status = wait()
    with open_store(url) as again:
        return status, rounds, int((again.table(name).get(b"k") or {})[b"p:count"])


def _increment(table: Table, rounds: int) -> None:
    won = 0
    while won < rounds:
        row = table.get(b"k") or {}
        count, version = int(row.get(b"p:count", b"0")), row.get(VERSION)
        won += table.swap(b"k", version, {VERSION: successor(version), b"p:count": b"%d" % (count + 1)})


@pytest.mark.soak
def test_any_number_of_readers_that_were_killed_leaves_room_for_others(store: Store, table: Table, key: bytes) -> None:
    put(table, key, {b"p:x": b"1"})

    assert run(_kill_readers, store.url, table.name, key) == [-signal.SIGKILL] * KILLED_READERS
    put(table, key, {b"p:x": b"2"})
    assert table.get(key) == {b"p:x": b"2"}


def _kill_readers(store: Store, name: str, key: bytes) -> list[int]:
    table = store.table(name)

    def read_and_die() -> None:
        assert table.get(key) == {b"p:x": b"1"}
        os.kill(os.getpid(), signal.SIGKILL)

    return [in_fork(read_and_die)() for _ in range(KILLED_READERS)]


def test_a_scan_open_at_a_fork_goes_on_in_the_parent(store: Store, table: Table, span: tuple[bytes, bytes]) -> None:
    table.put_many(Mutation(span[0] + b"%04d" % number, {b"p:x": b""}) for number in range(2000))

    assert run(_fork_within_a_scan, store.url, table.name, span) == (0, 2000)


def _fork_within_a_scan(store: Store, name: str, span: tuple[bytes, bytes]) -> tuple[int, int]:
    table = store.table(name)
    scan = table.scan(*span)
    next(scan)
    status = in_fork(lambda: _expect(len(span_keys(table, span)), 2000))()
    return status, 1 + sum(1 for _ in scan)


def test_a_fork_while_another_thread_writes_leaves_the_child_able_to_write(
    store: Store, table: Table, span: tuple[bytes, bytes]
) -> None:
    assert run(_fork_beside_a_writer, store.url, table.name, span) == [0] * 10
    assert sum(end.startswith(b"child") for end in span_keys(table, span)) == 10


def _fork_beside_a_writer(store: Store, name: str, span: tuple[bytes, bytes]) -> list[int]:
    table, done = store.table(name), threading.Event()

    def keep_writing() -> None:
        while not done.is_set():
            put(table, span[0] + b"thread", {b"p:x": b"1"})

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        return [
            in_fork(lambda number=number: put(table, span[0] + b"child%d" % number, {b"p:x": b"1"}))()  # type: ignore[misc]
            for number in range(10)
        ]
    finally:
        done.set()
        writer.join()


def _expect(found: object, expected: object) -> None:
    assert found == expected


def in_fork(work: Callable[[], None], seconds: int = 30) -> Callable[[], int]:
    """Do the work in a forked child; what is returned waits for it and gives its exit status, 0 if all was well.

    A child that hangs is ended.
    """
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:  # noqa: BLE001  nothing may go on as if this were the parent
            traceback.print_exc()
        finally:
            os._exit(status)

    def wait() -> int:
        deadline = time.monotonic() + seconds
        while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.0005)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    return wait
