"""A store that was open when its process forked works in the child, in the parent, and in both at once.

The forks are made in a process started for it, which has no threads but those the test means it to have.
"""

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable

import pytest

from neomodel.stores import VERSION, Mutation, Store, Table
from neomodel.stores.base import SHARED
from tests.stores.processes import run
from tests.stores.shorthand import put, span_keys

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

    status = _in_fork(child)()
    assert table.get(span[0] + b"child") == {b"p:x": b"1"}
    put(table, span[0] + b"parent2", {b"p:x": b"1"})
    return status


def test_parent_and_children_may_write_at_once_after_a_fork(
    store: Store, table: Table, span: tuple[bytes, bytes]
) -> None:
    assert run(_all_at_once, store.url, table.name, span) == [0, 0, 0]
    assert len(span_keys(table, span)) == 4 * 50
    assert len({version.time for version in table.history(*span)}) == 4 * 50


def _all_at_once(store: Store, name: str, span: tuple[bytes, bytes]) -> list[int]:
    table = store.table(name)
    assert table.get(span[0] + b"x") is None
    waits = [_in_fork(lambda who=who: _write(table, span[0] + who)) for who in (b"a", b"b", b"c")]  # type: ignore[misc]
    _write(table, span[0] + b"parent")
    return [wait() for wait in waits]


def _write(table: Table, prefix: bytes) -> None:
    for number in range(50):
        put(table, prefix + b"%02d" % number, {b"p:x": b"1"})
        assert table.get(prefix + b"%02d" % number) == {b"p:x": b"1"}


def test_a_scan_open_at_a_fork_goes_on_in_the_parent(store: Store, table: Table, span: tuple[bytes, bytes]) -> None:
    table.put_many(Mutation(span[0] + b"%04d" % number, {b"p:x": b""}) for number in range(2000))

    assert run(_fork_within_a_scan, store.url, table.name, span) == (0, 2000)


def _fork_within_a_scan(store: Store, name: str, span: tuple[bytes, bytes]) -> tuple[int, int]:
    table = store.table(name)
    scan = table.scan(*span)
    next(scan)
    status = _in_fork(lambda: _expect(len(span_keys(table, span)), 2000))()
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
            _in_fork(lambda number=number: put(table, span[0] + b"child%d" % number, {b"p:x": b"1"}))()  # type: ignore[misc]
            for number in range(10)
        ]
    finally:
        done.set()
        writer.join()


def _expect(found: object, expected: object) -> None:
    assert found == expected


def _in_fork(work: Callable[[], None], seconds: int = 30) -> Callable[[], int]:
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
            time.sleep(0.005)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    return wait
