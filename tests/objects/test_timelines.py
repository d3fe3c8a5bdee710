"""Timelines: what was the case at which time, as far as it was known at another."""

import datetime
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neomodel as nm
from neomodel import layout
from neomodel.errors import CorruptRow, ReadOnly
from neomodel.repository import Repository
from neomodel.stores import Mutation
from neomodel.times import FIRST, LAST
from tests.objects.sensors import Gauge, Mood, Sensor, Station, plain, sensor_model, stored  # noqa: F401  the fixture

# what is asked


def test_the_worked_examples_come_out_as_printed(model: nm.Model) -> None:
    """Table 1 of the paper, recorded in the order of its ingest times 10, 20, 30, 40; `at` has those times here."""
    sensor, at = stored(model), {0: model.table.now()}
    for ingest, event, value in [(10, 5, "v1"), (20, 12, "v2"), (30, 10, None), (40, 35, "v3")]:
        if value is None:
            sensor.value.retract(event=event)
        else:
            sensor.value.record(value, event=event)
        at[ingest] = model.table.now()

    assert sensor.value.at(event=15, ingest=at[30]) == "v2"  # printed with 35
    assert sensor.value.at(event=11, ingest=at[40]) is None
    assert sensor.value.at(event=15, ingest=at[10]) == "v1"  # printed with 15
    assert sensor.value.at(event=15, ingest=at[0]) is None


def test_a_late_arrival_is_known_from_its_arrival_on(model: nm.Model) -> None:
    """The car of the paper: where it was at 9:00 arrives at 9:30, and is asked for at 9:15 and at 9:45."""
    car = stored(model)
    nine = datetime.datetime(2017, 3, 6, 9, tzinfo=datetime.UTC)
    quarter_past = model.table.now()
    car.value.record("51.05,13.74", event=nine)
    quarter_to = model.table.now()

    assert car.value.at(event=nine, ingest=quarter_past) is None
    assert car.value.at(event=nine, ingest=quarter_to) == "51.05,13.74"


def test_both_bounds_are_included_to_the_microsecond(model: nm.Model) -> None:
    sensor = stored(model)
    sensor.value.record("a", event=100)
    sensor.value.record("b", event=100)
    first, second = (entry.ingest for entry in sensor.value.entries(versions=True))

    assert (sensor.value.at(event=99), sensor.value.at(event=100), sensor.value.at(event=101)) == (None, "b", "b")
    asked = [sensor.value.at(event=100, ingest=time) for time in (first - 1, first, second - 1, second)]
    assert asked == [None, "a", "a", "b"]


def test_what_is_recorded_late_does_not_hide_what_came_later(model: nm.Model) -> None:
    sensor = stored(model)
    sensor.level.record(2, event=20)
    sensor.level.record(1, event=10)

    assert [sensor.level.at(event=event) for event in (9, 10, 19, 20, 21)] == [None, 1, 1, 2, 2]
    assert sensor.level.at() == 2


def test_a_retraction_ends_a_value_until_the_next_and_can_be_corrected(model: nm.Model) -> None:
    sensor = stored(model)
    sensor.value.record("a", event=1)
    sensor.value.retract(event=5)
    sensor.value.record("b", event=9)
    sensor.value.retract(event=20)

    assert [sensor.value.at(event=event) for event in (4, 5, 8, 9, 19, 20, 21)] == [
        "a",
        None,
        None,
        "b",
        "b",
        None,
        None,
    ]
    assert sensor.value.at() is None, "a retraction at the end is an answer too"

    sensor.value.record("c", event=5)
    assert [sensor.value.at(event=event) for event in (4, 5, 8, 9)] == ["a", "c", "c", "b"]


def test_an_entry_tells_no_entry_a_retraction_and_a_recorded_none_apart(model: nm.Model) -> None:
    sensor = stored(model)
    sensor.value.record(None, event=1)
    sensor.value.retract(event=2)

    found = [sensor.value.entry(event=event) for event in (0, 1, 2)]
    assert found[0] is None
    assert [(one.event, one.value, one.retracted) for one in found[1:]] == [(1, None, False), (2, None, True)]
    assert [sensor.value.at(event=event) for event in (0, 1, 2)] == [None, None, None]


TIMES = [FIRST, -(2**62), -86_400_000_000, -257, -256, -255, -2, -1, 0, 1, 39, 40, 255, 256, 2**31, 2**53 + 1, LAST]


def test_times_before_1970_and_at_the_ends_of_time_sort_as_they_are(model: nm.Model) -> None:
    sensor = stored(model)
    with nm.edit(sensor):
        for time in TIMES[::-1]:
            sensor.value.record(str(time), event=time)

    assert [int(sensor.value.at(event=time)) for time in TIMES] == TIMES
    assert [int(sensor.value.at(event=time - 1)) for time in TIMES[1:]] == TIMES[:-1]
    assert [entry.event for entry in sensor.value.entries()] == TIMES


def test_a_datetime_means_its_microsecond_wherever_its_clock_is(model: nm.Model) -> None:
    sensor = stored(model)
    berlin = datetime.timezone(datetime.timedelta(hours=1))
    sensor.value.record("a", event=datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999, datetime.UTC))
    sensor.value.record("b", event=datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999, berlin))

    assert [entry.event for entry in sensor.value.entries()] == [-1, 253_402_297_199_999_999]
    assert sensor.value.at(event=datetime.datetime(1970, 1, 1, 1, tzinfo=berlin)) == "a"


# the definition


@attrs.frozen
class Recorded:
    event: int
    value: str | None


histories = st.lists(st.builds(Recorded, st.integers(-3, 3), st.sampled_from(["a", "b", None])), max_size=7)
queries = st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 7)), min_size=1, max_size=8)


def defined(history: list[Recorded], event: int) -> str | None:
    """The answer by definition: of what was recorded so far, up to `event`, the greatest event, its newest version."""
    inside = [(one.event, number, one.value) for number, one in enumerate(history) if one.event <= event]
    return max(inside, key=lambda one: one[:2])[2] if inside else None


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(histories, queries, st.booleans())
def test_every_answer_is_that_of_the_definition(
    model: nm.Model, history: list[Recorded], asked: list[tuple[int, int]], snapshots: bool
) -> None:
    sensor = stored(model)
    known = [model.table.now()]
    for one in history:
        if one.value is None:
            sensor.value.retract(event=one.event)
        else:
            sensor.value.record(one.value, event=one.event)
        known.append(model.table.now())

    for event, number in asked:
        seen = min(number, len(history))
        if snapshots:
            then = model.repository.open(model.name, as_of=known[seen], unstable=True)
            answer = then[nm.oid(sensor)].value.at(event=event, ingest=known[-1])
        else:
            answer = sensor.value.at(event=event, ingest=known[seen])
        assert answer == defined(history[:seen], event)
    newest = [(event, defined(history, event)) for event in sorted({one.event for one in history})]
    assert [(one.event, one.value) for one in sensor.value.entries()] == newest
    assert [(one.event, one.value) for one in sensor.value.entries(versions=True)] == [
        (one.event, one.value) for one in sorted(history, key=lambda one: one.event)
    ]
    times = [one.ingest for one in sensor.value.entries(versions=True)]
    assert len(set(times)) == len(history), "no two versions have one time"


# all entries


@pytest.fixture
def long(model: nm.Model) -> Any:
    """A sensor with 1,200 entries, every tenth of them of two versions, more than are read at once."""
    sensor = Sensor()
    for event in range(1200):
        sensor.value.record(f"old {event}" if event % 10 == 0 else str(event), event=event)
    model.roots.append(sensor)
    with nm.edit(sensor):
        for event in range(0, 1200, 10):
            sensor.value.record(str(event), event=event)
    return sensor


def test_entries_come_in_order_of_their_events_from_either_end(long: Any) -> None:
    expected = [(event, str(event)) for event in range(1200)]

    assert plain(long.value.entries()) == expected
    assert plain(long.value.entries(reverse=True)) == expected[::-1]
    assert plain(long.value.entries(since=500, until=510)) == expected[500:511]
    assert plain(long.value.entries(since=1190, reverse=True)) == expected[:1189:-1]
    assert plain(long.value.entries(since=1200)) == plain(long.value.entries(since=3, until=2)) == []


def test_all_versions_are_told_in_order_of_ingest(long: Any) -> None:
    expected = [
        (event, text)
        for event in range(1200)
        for text in ([f"old {event}", str(event)] if event % 10 == 0 else [str(event)])
    ]
    stored = next(long.value.entries()).ingest - 1

    assert plain(long.value.entries(versions=True)) == expected
    assert plain(long.value.entries(versions=True, reverse=True)) == expected[::-1]
    assert plain(long.value.entries(versions=True, since=10, until=11)) == [(10, "old 10"), (10, "10"), (11, "11")]
    then = list(long.value.entries(versions=True, ingest=stored))
    assert plain(iter(then)) == [(event, text) for event, text in expected if event % 10 or text.startswith("old")]


def test_timelines_of_one_object_and_names_that_begin_alike_keep_apart(model: nm.Model) -> None:
    sensor, other = stored(model), stored(model)
    sensor.value.record("a", event=1)
    sensor.level.record(7, event=2)
    sensor.mood.record(Mood.STORMY, event=3)

    assert (sensor.value.at(), sensor.level.at(), sensor.mood.at()) == ("a", 7, Mood.STORMY)
    assert [len(list(line.entries())) for line in (sensor.value, sensor.level, sensor.mood)] == [1, 1, 1]
    assert (other.value.at(), list(other.level.entries())) == (None, [])


# snapshots and clients


def test_a_snapshot_sees_what_was_known_and_no_more_whatever_is_asked(model: nm.Model) -> None:
    sensor = stored(model)
    sensor.value.record("a", event=1)
    before = model.table.now()
    then = model.repository.open(model.name, as_of=before, unstable=True)[nm.oid(sensor)]
    sensor.value.record("b", event=1)
    sensor.level.record(3, event=1)
    later = model.table.now()

    assert (then.value.at(), then.value.at(ingest=later), then.level.at(), then.eIsSet("level")) == (
        "a",
        "a",
        None,
        False,
    )
    assert then.value.at(ingest=before - 10_000_000) is None
    assert plain(then.value.entries(versions=True)) == [(1, "a")]
    with pytest.raises(ReadOnly):
        then.value.record("c", event=2)
    assert (sensor.value.at(ingest=before), sensor.value.at()) == ("a", "b")


def test_another_client_sees_entries_and_a_stored_package_has_the_feature(model: nm.Model) -> None:
    sensor = stored(model)
    sensor.mood.record(Mood.STORMY, event=1)
    sensor.level.record(5, event=1)

    repo = Repository(model.repository.store)
    package = repo.metamodel("http://sensors")
    found = repo.open(model.name)[nm.oid(sensor)]
    assert (found.mood.at().name, found.level.at(), package.Sensor.eClass.feature("level").timeline) == (
        "STORMY",
        5,
        True,
    )
    assert [feature.name for feature in package.Sensor.eClass.eAllAttributes()] == ["name"]


# where the bytes are


def test_a_cell_is_what_it_always_was(model: nm.Model) -> None:
    """Golden bytes: what is stored somewhere must be read for ever."""
    sensor = stored(model)
    sensor.level.record(7, event=1_000_000_000_000_000)
    sensor.level.record(-1, event=-1)
    sensor.level.retract(event=0)
    sensor.value.record(None, event=0)

    key = nm.oid(sensor).encode()
    row = model.table.get(key)
    life = row[b"p:level"]
    assert (len(life), len(row[b"p:value"]), life == row[b"p:value"]) == (8, 8, False)
    assert {column: value for column, value in row.items() if column.startswith(b"x:")} == {
        b"x:level\0" + life + bytes.fromhex("7ffc72815b397fff"): b"+7",
        b"x:level\0" + life + bytes.fromhex("7fffffffffffffff"): b"-",
        b"x:level\0" + life + bytes.fromhex("8000000000000000"): b"+-1",
        b"x:value\0" + row[b"p:value"] + bytes.fromhex("7fffffffffffffff"): b"+\0",
    }


@pytest.mark.parametrize("cell", [b"", b"7", b"+x", b"*7"])
def test_a_cell_that_holds_something_else_is_told(model: nm.Model, cell: bytes) -> None:
    sensor = stored(model)
    sensor.level.record(7, event=1)
    key = nm.oid(sensor).encode()
    head = layout.timeline("level", model.table.get(key)[b"p:level"].decode())
    model.table.put_many([Mutation(key, {layout.extent(layout.entry(head, 2)): cell})])

    with pytest.raises(CorruptRow, match=r"level at 2"):
        sensor.level.at()
    assert sensor.level.at(event=1) == 7


def test_objects_of_a_key_and_a_container_have_timelines_as_well(model: nm.Model) -> None:
    station = Station(gauges=[Gauge(number="1")])
    model.roots.append(station)
    station.gauges[0].level.record(1, event=1)

    assert next(model.find(Gauge, number="1")).level.at() == 1
