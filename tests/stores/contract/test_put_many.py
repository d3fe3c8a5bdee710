"""Writing without asking: `Table.put_many`."""

import random
import threading
from collections.abc import Iterator

import pytest

from neomodel.errors import InvalidValue
from neomodel.stores import VERSION, Mutation, Table, Version
from neomodel.stores.blocks import cells_of, versions_of
from tests.stores.shorthand import put, span_keys, versions


def test_mutations_are_written_in_the_order_given(table: Table, key: bytes) -> None:
    cells: list[dict[bytes, bytes | None]] = [
        {b"p:x": b"1", b"p:y": b"1"},
        {b"p:x": None},
        {b"p:x": b"3"},
        {b"p:y": None},
    ]
    table.put_many([Mutation(key, one) for one in cells])

    assert table.get(key) == {b"p:x": b"3"}
    assert [(v.column, v.value) for v in versions(table, key)] == [
        (b"p:x", b"3"),
        (b"p:x", None),
        (b"p:x", b"1"),
        (b"p:y", None),
        (b"p:y", b"1"),
    ]


def test_many_mutations_from_an_iterator_are_all_written(table: Table, span: tuple[bytes, bytes]) -> None:
    ends = [b"%05d" % number for number in range(6000)]
    table.put_many(iter([Mutation(span[0] + end, {b"p:x": end, b"c:x": end}) for end in ends]))

    assert span_keys(table, span) == ends
    assert all(row == {b"c:x": key[-5:], b"p:x": key[-5:]} for key, row in table.scan(*span))


def test_writing_nothing_changes_nothing(table: Table, span: tuple[bytes, bytes]) -> None:
    table.put_many([])
    table.put_many(iter(()))

    assert list(table.history(*span)) == []


def test_writing_the_same_again_reads_the_same(table: Table, span: tuple[bytes, bytes]) -> None:
    mutations = [Mutation(span[0] + b"%d" % number, {b"p:x": b"x", b"p:y": None}) for number in range(5)]
    table.put_many(mutations)
    once = list(table.scan(*span))
    table.put_many(mutations)

    assert list(table.scan(*span)) == once


def test_a_version_is_written_without_being_compared(table: Table, key: bytes) -> None:
    put(table, key, {VERSION: b"1"})
    put(table, key, {VERSION: b"7"})

    assert table.swap(key, b"7", {VERSION: b"8"}) is True


def test_a_bad_mutation_stops_the_rest_and_nothing_of_it_is_written(table: Table, span: tuple[bytes, bytes]) -> None:
    good = {b"p:x": b"1"}
    mutations = [
        Mutation(span[0] + b"a", good),
        Mutation(span[0] + b"b", good | {b"q:x": b""}),
        Mutation(span[0] + b"c", good),
    ]

    with pytest.raises(InvalidValue):
        table.put_many(mutations)

    assert span_keys(table, span) in ([], [b"a"])


def test_an_error_of_the_callers_iterator_reaches_the_caller_and_leaves_whole_mutations(
    table: Table, span: tuple[bytes, bytes]
) -> None:
    def failing() -> Iterator[Mutation]:
        for number in range(50):
            yield Mutation(span[0] + b"%02d" % number, {b"p:x": b"1", b"p:y": b"1"})
        raise LookupError("the caller's own")

    with pytest.raises(LookupError, match="the caller's own"):
        table.put_many(failing())

    assert span_keys(table, span) == [b"%02d" % number for number in range(len(span_keys(table, span)))]
    assert all(row == {b"p:x": b"1", b"p:y": b"1"} for _, row in table.scan(*span))
    put(table, span[0] + b"zz", {b"p:x": b"1"})
    assert span_keys(table, span)[-1] == b"zz"


def test_others_may_write_while_the_callers_iterator_takes_its_time(table: Table, span: tuple[bytes, bytes]) -> None:
    def mutations() -> Iterator[Mutation]:
        yield Mutation(span[0] + b"1", {b"p:x": b"1"})
        other = threading.Thread(target=put, args=[table, span[0] + b"other", {b"p:x": b"1"}], daemon=True)
        other.start()
        other.join(10)
        assert not other.is_alive()
        yield Mutation(span[0] + b"2", {b"p:x": b"1"})

    table.put_many(mutations())

    assert span_keys(table, span) == [b"1", b"2", b"other"]


def test_the_callers_iterator_may_itself_read_and_write_the_table(table: Table, span: tuple[bytes, bytes]) -> None:
    """No lock is held while the caller's code runs: else this never ends."""

    def mutations() -> Iterator[Mutation]:
        for number in range(5):
            put(table, span[0] + b"in%d" % number, {b"p:x": b"1"})
            assert table.swap(span[0] + b"swapped%d" % number, None, {VERSION: b"1"})
            assert table.get(span[0] + b"in%d" % number) == {b"p:x": b"1"}
            yield Mutation(span[0] + b"out%d" % number, {b"p:x": b"1"})

    thread = threading.Thread(target=table.put_many, args=[mutations()], daemon=True)
    thread.start()
    thread.join(30)

    assert not thread.is_alive()
    assert len(span_keys(table, span)) == 15


VALUES = [None, b"", b"\0", b"\0x", b"\1", b"plain", b"long" * 3000]


def odd(chance: random.Random) -> bytes:
    """Bytes that a store may have to escape."""
    parts = [b"a", b"\0", b"\1", b"\1\1", b"\1\2", b"\2", b"\xff", b"b" * 30]
    return b"".join(chance.choices(parts, k=chance.randint(1, 3)))


def test_versions_in_blocks_are_written_with_their_times(own_table: Table) -> None:
    chance = random.Random(3)
    cells = {
        (odd(chance), b"p:" + odd(chance), chance.randint(0, 5)): chance.choice(VALUES)  # the last of each time
        for _ in range(500)
    }
    made = [Version(*place, value) for place, value in cells.items()]
    expected = sorted(made, key=lambda one: (one.key, one.column, -one.time))

    for block in versions_of(iter(expected[:200])):
        own_table.put_history([block.slice(0, 77), block.slice(77)])
    own_table.put_history(versions_of(iter(expected[100:])))

    assert list(own_table.history()) == expected
    newest = {(one.key, one.column): one.value for one in reversed(expected)}
    assert [key for key, _ in own_table.scan()] == sorted(
        {key for (key, _), value in newest.items() if value is not None}
    )


def test_cells_in_blocks_are_written_one_after_another(own_table: Table) -> None:
    """As mutations of one cell each: of two in one place, the later counts, and both are history."""
    chance = random.Random(4)
    cells = [(odd(chance), b"p:" + odd(chance), chance.choice(VALUES)) for _ in range(300)] * 2
    chance.shuffle(cells)
    block = cells_of(*zip(*cells, strict=True))
    before = own_table.now()

    own_table.put_cells([block.slice(0, 177), block.slice(177)])
    own_table.put_cells([])

    found = sorted(own_table.history(), key=lambda one: one.time)
    assert all(version.time > before for version in found)
    assert sorted((v.key, v.column, v.value or b"") for v in found) == sorted((k, c, v or b"") for k, c, v in cells)
    newest = {(key, column): value for key, column, value in cells}
    expected: dict[bytes, dict[bytes, bytes]] = {}
    for (key, column), value in newest.items():
        if value is not None:
            expected.setdefault(key, {})[column] = value
    assert dict(own_table.scan()) == expected


@pytest.mark.parametrize("cell", [(b"", b"p:x", b""), (b"k", b"q:x", b""), (b"k", b"p:", b"")])
def test_cells_that_make_no_sense_are_refused_and_none_is_written(
    own_table: Table, cell: tuple[bytes, bytes, bytes]
) -> None:
    with pytest.raises(InvalidValue):
        own_table.put_cells([cells_of(*zip((b"good", b"p:x", b""), cell, strict=True))])

    assert list(own_table.history()) == []


@pytest.mark.parametrize(
    "version",
    [
        Version(b"", b"p:x", 1, b""),
        Version(b"k", b"q:x", 1, b""),
        Version(b"k", b"p:", 1, b""),
        Version(b"k", b"p:x", -1, b""),
        Version(b"k", b"p:x", 2**62, b""),
    ],
)
def test_versions_that_make_no_sense_are_refused_and_none_is_written(own_table: Table, version: Version) -> None:
    with pytest.raises(InvalidValue):
        own_table.put_history(versions_of(iter([Version(b"good", b"p:x", 1, b""), version])))

    assert list(own_table.history()) == []
