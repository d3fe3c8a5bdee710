"""Operations of several steps that are broken off in between: what they say, what is then there, and how they go on."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import happybase
import pytest

from neomodel.cluster import Cluster
from neomodel.errors import NeomodelError, OutcomeUnknown, Purged, StoreUnavailable, TableExists, TableNotFound
from neomodel.stores import Mutation, Store, Table, open_store
from tests.stores.line import Line, proxied
from tests.stores.proxy import Fault
from tests.stores.test_hbase_store import ASKING

TIMEOUT = 3.0  # seconds
USES = [name for name in ASKING if name not in ("create", "drop")]
LOOK_UP, DISABLE, ENABLED, MODIFY = 1, 1, 1, 1  # exchanges with the Thrift2 gateway


@pytest.fixture
def line(hbase: Cluster) -> Iterator[Line]:
    with proxied(hbase, TIMEOUT) as line:
        yield line


@pytest.fixture
def store(hbase: Cluster) -> Iterator[Store]:
    """One that does not go through proxies."""
    with open_store(hbase.url) as store:
        yield store


def check_disabled(hbase: Cluster, name: str) -> None:
    """The story of a table that is there and can't be used: the same from everybody, and at once."""
    with open_store(hbase.url) as store:
        table = store.table(name)
        assert name in store.tables()
        with pytest.raises(TableExists):
            table.create("pt")
        for use in USES:
            started = time.monotonic()
            with pytest.raises(
                StoreUnavailable, match="is disabled, by a drop that was broken off, which drop"
            ) as told:
                ASKING[use](table)
            assert time.monotonic() - started < TIMEOUT
            assert "wrote nothing" in str(told.value)


def check_gone(store: Store, name: str) -> None:
    assert name not in store.tables()
    for use in USES:
        with pytest.raises(TableNotFound):
            ASKING[use](store.table(name))


def test_a_drop_that_is_broken_off_between_its_steps_does_not_say_that_nothing_was_written(
    hbase: Cluster, line: Line, store: Store
) -> None:
    line.proxies[1].refuse_after(LOOK_UP + DISABLE)
    with pytest.raises(OutcomeUnknown, match="drop on table"):
        line.table.drop()
    line.heal()

    check_disabled(hbase, line.table.name)
    line.table.drop()
    check_gone(store, line.table.name)
    line.table.create("pt")


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.SWALLOWED])
def test_a_drop_whose_last_answer_is_lost_is_unknown_and_can_be_finished(
    line: Line, store: Store, fault: Fault
) -> None:
    line.proxies[1].inflict(fault, after=LOOK_UP + DISABLE)
    with pytest.raises(OutcomeUnknown):
        line.table.drop()
    time.sleep(1)  # for what was let through to be done

    try:
        line.table.drop()
        assert fault is Fault.SWALLOWED
    except TableNotFound:
        assert fault is Fault.LOST
    check_gone(store, line.table.name)
    line.table.create("pt")


def test_a_drop_whose_first_answer_is_lost_goes_on(line: Line, store: Store) -> None:
    line.proxies[1].inflict(Fault.LOST, after=LOOK_UP)
    line.table.drop()

    check_gone(store, line.table.name)
    line.table.create("pt")


def test_a_drop_that_never_left_says_that_nothing_was_written(line: Line) -> None:
    line.refuse()
    with pytest.raises(StoreUnavailable, match="wrote nothing"):
        line.table.drop()
    line.heal()

    assert line.table.get(b"r0000")


def test_a_table_that_an_administrator_has_disabled_is_there_with_all_it_has(hbase: Cluster, line: Line) -> None:
    assert line.table.get(b"r0000")  # so that this one knows the table, and asks nothing first
    with closing(happybase.Connection("127.0.0.1", hbase.plan.gateway(1)["thrift1"])) as administrator:
        administrator.disable_table(line.table.name)

        with pytest.raises(StoreUnavailable, match="is disabled"):
            line.table.get(b"r0000")
        check_disabled(hbase, line.table.name)
        administrator.enable_table(line.table.name)
    assert line.table.get(b"r0000")


def purge_broken_off(line: Line, exchanges: int) -> NeomodelError:
    line.table.now()
    line.proxies[1].refuse_after(exchanges)
    with pytest.raises(NeomodelError) as raised:
        line.table.purge(line.table.now())
    line.heal()
    return raised.value


def test_a_purge_that_is_broken_off_after_its_first_step_does_not_say_that_nothing_was_written(line: Line) -> None:
    old = line.truth.now()
    line.truth.put_many([Mutation(b"r0000", {b"p:number": b"1"})])

    for exchanges in (1, LOOK_UP + ENABLED, LOOK_UP + ENABLED + LOOK_UP):
        assert isinstance(purge_broken_off(line, exchanges), StoreUnavailable)
    line.truth.get(b"r0000", at=old)
    for exchanges in range(MODIFY, MODIFY + 3):  # then: the horizon looked at, the scanner opened
        unknown = purge_broken_off(line, LOOK_UP + ENABLED + LOOK_UP + exchanges)
        assert type(unknown) is OutcomeUnknown
        assert "purge on table" in str(unknown)
    time.sleep(1)
    with pytest.raises(Purged):
        line.truth.get(b"r0000", at=old)

    assert line.table.purge(line.table.now()) >= 1
    assert [version.value for version in line.truth.history(b"r0000", b"r0000\0", columns=[b"p:number"])] == [b"1"]


def test_a_purge_does_not_undo_what_another_has_put_on_record_at_the_same_time(line: Line) -> None:
    """The one for the earlier time has looked before the other has written, and writes after it."""
    early = line.truth.now()
    line.truth.put_many([Mutation(b"r0000", {b"p:number": b"1"})])
    late = line.truth.now()
    line.proxies[1].inflict(Fault.SLOW, after=LOOK_UP + ENABLED)

    with ThreadPoolExecutor(2) as pool:
        purges = [pool.submit(line.table.purge, early)]
        time.sleep(TIMEOUT / 10)  # it is looking
        purges.append(pool.submit(line.truth.purge, late))
        assert [purge.result(60) for purge in purges]

    time.sleep(1)
    with pytest.raises(Purged):
        line.table.get(b"r0000", at=late - 1)
    assert line.table.get(b"r0000", at=late)


def test_a_version_known_of_a_table_is_not_taken_for_that_of_a_table_made_anew(line: Line) -> None:
    """Its row may be younger than the clock of this process."""
    table: Table = line.table
    assert table.swap(b"k", None, {b"t:version": b"1"})
    table.drop()
    table.create("pt")

    assert table._knowledge.remembered(b"k", b"1") is None  # type: ignore[attr-defined]
