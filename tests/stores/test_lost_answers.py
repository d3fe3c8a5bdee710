"""Answers that get lost, torn or late between client and gateway: no wrong row, and an error means what it says."""

import time
from collections.abc import Callable, Iterator

import pytest

from neomodel.cluster import Cluster
from neomodel.errors import OutcomeUnknown, StoreUnavailable
from neomodel.stores import VERSION, Mutation, Table, successor
from tests.stores.line import KEYS, Line, few_questions, proxied
from tests.stores.proxy import Fault
from tests.stores.rows import KEY, checked, mutations, number_of, resolve, swapped_versions


@pytest.fixture(scope="module")
def line(hbase: Cluster) -> Iterator[Line]:
    with few_questions(), proxied(hbase) as line:
        yield line


def get(table: Table) -> object:
    return {number_of(key, table.get(key) or {}) for key in KEYS[:3]}


def get_many(table: Table) -> object:
    found = table.get_many(KEYS[10:2010])
    return [number_of(key, row) for key, row in found.items()] == [0] * 2000 and list(found) == KEYS[10:2010]


def scan(table: Table) -> object:
    """Every row exactly once, whatever happens meanwhile."""
    keys = [(key, number_of(key, row))[0] for key, row in table.scan()]
    return keys == KEYS


def cells(table: Table) -> object:
    return {(cell.qualifier, cell.value) for cell in table.cells(KEYS[7], "p")} >= {(KEY[2:], KEYS[7])}


def history(table: Table) -> object:
    found = [(version.key, version.value) for version in table.history(columns=[KEY])]
    return found == [(key, key) for key in KEYS]


READS: dict[str, Callable[[Table], object]] = {read.__name__: read for read in (get, get_many, scan, cells, history)}


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("read", READS)
def test_a_read_whose_answer_was_lost_is_made_again_and_the_next_one_gets_its_own(
    line: Line, read: str, fault: Fault
) -> None:
    line.inflict(fault)

    assert READS[read](line.table)
    for key in KEYS[20:40]:
        assert number_of(key, line.table.get(key) or {}) == 0
        assert {cell.value for cell in line.table.cells(key, "p")} == set(checked(key, 0).values())
    line.calm()


@pytest.mark.parametrize("read", READS)
def test_a_read_that_gets_no_answer_at_all_says_so_and_works_again_afterwards(line: Line, read: str) -> None:
    line.inflict(Fault.LOST, 100)
    with pytest.raises(StoreUnavailable, match="wrote nothing"):
        READS[read](line.table)
    line.refuse()
    with pytest.raises(StoreUnavailable, match="can't be reached"):
        READS[read](line.table)

    line.heal()
    assert READS[read](line.table)


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.TORN, Fault.LATE])
@pytest.mark.parametrize("stream", ["scan", "history"])
def test_a_stream_that_breaks_again_and_again_yields_everything_once(line: Line, stream: str, fault: Fault) -> None:
    """Broken off twice between items, and each time the exchange after that one is lost too."""
    line.heal()
    items = line.table.scan() if stream == "scan" else line.table.history(columns=[KEY])
    seen = []
    for item in items:
        seen.append(item[0])
        if len(seen) in (1, 1500):
            line.inflict(fault)

    assert seen == KEYS
    line.calm()


@pytest.mark.parametrize("fault", Fault)
def test_a_swap_ends_in_truth(line: Line, fault: Fault) -> None:
    """Known to have won, or known to be unknown; then the row tells, and what it tells stays true."""
    key = b"swap-" + fault.name.encode()
    first, second = successor(None), successor(b"1")
    assert line.table.swap(key, None, {VERSION: first, **checked(key, 1)})
    line.inflict(fault)

    try:
        won = line.table.swap(key, first, {VERSION: second, **checked(key, 2)})
        assert fault is Fault.SLOW
    except OutcomeUnknown:
        assert fault is not Fault.SLOW
        won = resolve(line.truth, key, second)
        assert won or fault in (Fault.SWALLOWED, Fault.LATE_REQUEST)
        assert not (won and fault is Fault.SWALLOWED)

    line.calm()
    time.sleep(0.2)  # for what was let through to be done
    row = line.table.get(key) or {}
    assert number_of(key, row) == (2 if won else 1)
    assert (second in swapped_versions(line.truth, key)) == won
    line.truth.put_many([Mutation(key, dict.fromkeys(row))])


def test_a_swap_that_cannot_see_whether_it_lost_to_itself_does_not_say_that_nothing_was_written(line: Line) -> None:
    """Having lost, it looks whether the row is its own work after all: its gateway may have sent it twice."""
    key = KEYS[50]
    line.table.get(key)
    line.inflict(Fault.LOST, 100, after=2)  # those that read the version and swap
    with pytest.raises(OutcomeUnknown):
        line.table.swap(key, b"0-stale", {VERSION: successor(b"1"), **checked(key, 1)})
    line.heal()

    assert number_of(key, line.truth.get(key) or {}) == 0


@pytest.mark.parametrize("fault", Fault)
def test_writes_that_may_be_repeated_are_and_then_all_of_them_are_there(line: Line, fault: Fault) -> None:
    keys = [b"put-%s-%d" % (fault.name.encode(), number) for number in range(20)]
    line.inflict(fault)

    line.table.put_many(mutations(keys, 7))

    assert {key: number_of(key, row) for key, row in line.truth.get_many(keys).items()} == dict.fromkeys(keys, 7)
    line.calm()
    line.truth.put_many([Mutation(key, dict.fromkeys(checked(key, 7))) for key in keys])


def test_a_write_that_never_left_says_that_nothing_was_written(line: Line) -> None:
    line.heal()
    line.table.get(KEYS[0])
    line.refuse()
    with pytest.raises(StoreUnavailable):
        line.table.swap(b"never", None, {VERSION: b"1", **checked(b"never", 1)})
    with pytest.raises(StoreUnavailable):
        line.table.put_many(mutations([b"never"], 1))
    line.heal()

    assert line.truth.get(b"never") is None


def test_a_write_that_left_and_was_never_answered_says_that_it_may_have_been_written(line: Line) -> None:
    keys = [b"unknown-%d" % number for number in range(3)]
    line.inflict(Fault.LOST, 100)
    with pytest.raises(OutcomeUnknown, match="read before deciding"):
        line.table.put_many(mutations(keys, 1))
    line.heal()

    assert len(line.truth.get_many(keys)) == 3
    line.truth.put_many([Mutation(key, dict.fromkeys(checked(key, 1))) for key in keys])


def test_writes_of_which_a_part_was_written_do_not_say_that_nothing_was(line: Line) -> None:
    line.heal()
    keys = [b"part-%04d" % number for number in range(4500)]  # more than are written at a time

    def broken_off() -> Iterator[Mutation]:
        yield from mutations(keys, 1)
        line.refuse()
        yield from mutations([b"part-last"], 1)

    with pytest.raises(OutcomeUnknown):
        line.table.put_many(broken_off())
    line.heal()

    written = line.truth.get_many(keys)
    assert written
    line.truth.put_many([Mutation(key, dict.fromkeys(row)) for key, row in written.items()])
