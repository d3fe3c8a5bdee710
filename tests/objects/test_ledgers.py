"""Ledgers: timelines by key alone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel import ids
from neomodel.repository import Repository
from neomodel.stores import Mutation, open_store
from neomodel.stores.wrappers import Counting
from neomodel.times import LAST
from tests.objects.sensors import Gauge, sensor_model, sensors  # noqa: F401  a fixture


@pytest.fixture
def ledger(model: nm.Model) -> nm.Ledger:
    return nm.Ledger(model, Gauge, "value")


def now(ledger: nm.Ledger) -> int:
    return ledger.model.table.now()


def values(entries: dict[str, nm.Entry]) -> dict[str, Any]:
    return {key: entry.value for key, entry in entries.items()}


def test_what_is_written_is_found_by_key_event_and_ingest_time(ledger: nm.Ledger) -> None:
    ledger.write(nm.Fact("a b", 10, "first"))
    known = now(ledger)
    ledger.write(nm.Fact("a b", 20, "second"))
    ledger.write(nm.Fact("a b", 10, "corrected"))
    ledger.write(nm.Fact("a b", 30, retracted=True))

    def at(event: int, ingest: int) -> Any:
        found = ledger.at("a b", event=event, ingest=ingest)
        return found and (found.event, found.value, found.retracted)

    latest = now(ledger)
    assert at(9, latest) is None
    assert at(10, latest) == (10, "corrected", False)
    assert at(10, known) == (10, "first", False)
    assert at(29, latest) == (20, "second", False)
    assert at(29, known) == (10, "first", False)
    assert at(LAST, latest) == (30, None, True)
    assert ledger.at("a", ingest=latest) is None


@pytest.mark.parametrize("key", ["a", "customer-7", "a b", "a#b", "a$", "~", "}", ",", "é", "\0", "x" * 130, "ü" * 60])
def test_the_row_of_a_key_is_that_of_an_object_with_this_key_and_tells_it(ledger: nm.Ledger, key: str) -> None:
    row = ledger.row(key)

    assert row == ids.natural(*ledger._names, [key]).encode()
    assert ledger.key_of(row) == key


def test_many_are_written_and_read_together_and_the_last_of_an_event_counts(ledger: nm.Ledger) -> None:
    keys = [f"k{number:03}" for number in range(50)]
    count = ledger.write_many(nm.Fact(key, event, f"{key} {event}") for event in (1, 2, 2) for key in keys)
    assert count == 150
    ledger.write_many([nm.Fact("k007", 2, "one"), nm.Fact("k007", 2, "two")])

    latest = now(ledger)
    assert values(ledger.at_many(["k003", "k007", "none"], ingest=latest)) == {"k003": "k003 2", "k007": "two"}
    assert [(key, entry.value) for key, entry in ledger.scan(ledger.bounds("k00"), event=1, ingest=latest)] == [
        (key, f"{key} 1") for key in keys[:10]
    ]
    assert [key for key, _ in ledger.scan(ledger.bounds("k", "k010", "k012"), ingest=latest)] == ["k010", "k011"]
    assert [entry.value for _, entry in ledger.versions(ledger.bounds("k007"), ingest=latest)] == [
        "two",
        "one",
        "k007 2",
        "k007 2",
        "k007 1",
    ]


def test_an_operation_with_an_id_is_applied_once(ledger: nm.Ledger) -> None:
    assert ledger.write(nm.Fact("k", 1, "v"), operation="op 1")
    ledger.write(nm.Fact("k", 1, "w"), operation="op 2")
    assert not ledger.write(nm.Fact("k", 1, "v"), operation="op 1")

    found = ledger.at("k", ingest=now(ledger))
    assert found is not None
    assert found.value == "w"
    assert len(list(ledger.versions(ledger.bounds("k"), ingest=now(ledger)))) == 2


def test_history_is_loaded_with_its_own_ingest_times(ledger: nm.Ledger) -> None:
    facts = [
        nm.Fact("k", 5, "a", ingest=10),
        nm.Fact("k", 5, "b", ingest=20),
        nm.Fact("l", 7, retracted=True, ingest=10),
    ]
    assert ledger.load(facts) == 3

    assert [ledger.at("k", ingest=time) and ledger.at("k", ingest=time).value for time in (9, 10, 19, 20)] == [
        None,
        "a",
        "a",
        "b",
    ]


def test_two_that_would_be_one_are_not_loaded_silently(ledger: nm.Ledger) -> None:
    with pytest.raises(nm.InvalidValue, match="the number of entries to load is 2, expected as many"):
        ledger.load([nm.Fact("k", 5, "a", ingest=10), nm.Fact("k", 5, "b", ingest=10)])


def test_what_was_erased_is_refused_before_and_absent_after(ledger: nm.Ledger) -> None:
    ledger.write(nm.Fact("k", 5, "secret"))
    ledger.write(nm.Fact("k", 5, "secret too"))
    ledger.write(nm.Fact("l", 5, "stays"))
    known = now(ledger)

    assert ledger.erase("k", by="Ann") == 2
    erased = now(ledger)
    ledger.write(nm.Fact("k", 6, "new"))

    for event in (1, 5, LAST):
        with pytest.raises(nm.Purged, match="'k'"):
            ledger.at("k", event=event, ingest=known)
    with pytest.raises(nm.Purged):
        ledger.at_many(["l", "k"], ingest=known)
    with pytest.raises(nm.Purged):
        list(ledger.scan(ledger.bounds(), ingest=known))
    left = ledger.scan(ledger.bounds(), ingest=known, without_erased=True)
    assert [(key, entry.value) for key, entry in left] == [("l", "stays")]
    assert ledger.at("k", event=5, ingest=now(ledger)) is None
    latest = ledger.at("k", ingest=now(ledger))
    assert latest is not None
    assert latest.value == "new"
    assert values(dict(ledger.scan(ledger.bounds(), event=5, ingest=max(erased, known + 1)))) == {"l": "stays"}
    (record,) = nm.purges(ledger.model)
    assert (record.by, record.versions, record.key) == ("Ann", 2, ledger.row("k").decode())
    assert b"secret" not in b"".join(version.value or b"" for version in ledger.model.table.history())


def test_rows_of_a_ledger_are_no_objects_and_nothing_is_wrong_with_them(ledger: nm.Ledger) -> None:
    ledger.write(nm.Fact("k", 5, "v"))
    ledger.write_many([nm.Fact("l", 5, "v")])

    assert list(ledger.model.all(Gauge)) == []
    assert nm.check(ledger.model).clean


@pytest.mark.parametrize("key", ["", None, 7, b"bytes", "x" * 200, " " * 60])
def test_a_key_that_can_be_none_is_refused(ledger: nm.Ledger, key: Any) -> None:
    with pytest.raises(nm.InvalidValue, match=r"a key of sensors\.Sensor\.value"):
        ledger.at(key, ingest=0)
    with pytest.raises(nm.InvalidValue):
        ledger.write_many([nm.Fact(key, 1, "v")])


@pytest.fixture
def counted() -> Iterator[Counting]:
    with Counting(open_store("memory:")) as store:
        repository = Repository(store)
        repository.register(sensors)
        repository.create("m")
        store.reset()
        yield store


def test_a_read_costs_one_call_and_one_cell(counted: Counting) -> None:
    ledger = nm.Ledger(Repository(counted).open("m"), Gauge, "value")
    ledger.write_many(nm.Fact("k", event, "v") for event in range(100))
    counted.reset()

    ledger.at("k", event=50, ingest=LAST)
    assert (counted.calls, counted.cells_read) == ({"firsts": 1}, 1)
    ledger.at_many(["k", "l"], ingest=LAST)
    assert (counted.calls, counted.cells_read) == ({"firsts": 2}, 2)
    list(ledger.scan(ledger.bounds(), ingest=LAST))
    assert counted.calls == {"firsts": 2, "scan_firsts": 1}


def test_stamps_of_batches_are_their_own(tmp_path: Path, connect: Callable[[str], Repository]) -> None:
    repositories = [connect(f"lmdb:{tmp_path / 'store'}") for _ in range(3)]
    batches = [repository.batches.open(60) for repository in repositories]
    stamps = [[next(one) for _ in range(20)] for one in (batch.stamps() for batch in batches)]
    for batch in batches:
        batch.close()

    everything = [stamp for found in stamps for stamp in found]
    assert len(set(everything)) == 60
    assert all(found == sorted(found) and found[0] > batch.since for found, batch in zip(stamps, batches, strict=True))
    assert not any(stamp % 256 == 0 for stamp in everything)


def test_other_timelines_of_the_same_key_are_told_apart(model: nm.Model) -> None:
    values, levels = nm.Ledger(model, Gauge, "value"), nm.Ledger(model, Gauge, "level")
    values.write_many([nm.Fact("k", 1, "v"), nm.Fact("l", 1, "w")])
    levels.write_many([nm.Fact("k", 2, 7), nm.Fact("m", 2, 8)])

    latest = now(values)
    for event in (LAST, 5):
        for ledger, expected in ((values, {"k": "v", "l": "w"}), (levels, {"k": 7, "m": 8})):
            keys = ["k", "l", "m"]
            found = {key: ledger.at(key, event=event, ingest=latest) for key in keys}
            assert {key: entry.value for key, entry in found.items() if entry} == expected
            assert {k: e.value for k, e in ledger.at_many(keys, event=event, ingest=latest).items()} == expected
            assert {k: e.value for k, e in ledger.scan(ledger.bounds(), event=event, ingest=latest)} == expected


def test_the_row_of_a_key_is_no_object_nor_is_that_of_the_roots(ledger: nm.Ledger, model: nm.Model) -> None:
    ledger.write(nm.Fact("a", 1, "x"))
    stored = Gauge(number="b")
    model.roots.append(stored)

    assert nm.oid(stored) in model
    assert [oid for oid in (ledger.row("a").decode(), ids.ROOT, "", "absent") if oid in model] == []


@pytest.mark.parametrize("cell", [b"", b"s", b"s\1", b"s\1p\5", b"o", b"o\2ab", b"?", b"!", b"!soon"])
def test_an_entry_that_can_t_be_read_is_told_with_its_place(cell: bytes) -> None:
    repository = nm.connect("memory:")
    repository.register(sensors)
    ledger = nm.Ledger(repository.create("m"), Gauge, "value")
    row, column, _ = ledger.stored("a", 5, "x", False)
    ledger.model.table.put_many([Mutation(row, {column: cell})])

    with pytest.raises(nm.CorruptRow, match=r"sensors.Gauge#a of .* holds"):
        ledger.at("a", ingest=now(ledger))
