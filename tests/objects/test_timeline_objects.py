"""Timelines and what else happens to objects: storing, edits, leaving, moving, keys, reflection; what it costs."""

import json
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

import neomodel as nm
from neomodel.cli import main
from neomodel.repository import Repository
from neomodel.stores import Store, open_store
from neomodel.stores.wrappers import Counting
from tests.objects.sensors import Gauge, Sensor, Station, plain, sensor_model, sensors, stored  # noqa: F401  the fixture
from tests.objects.test_object_races import race

PATIENCE = 120  # seconds


def other(model: nm.Model) -> nm.Model:
    """Another model of the same repository."""
    return model.repository.create(f"{model.name[:-1]}2")


def told(attempt: Callable[[], Any]) -> str:
    with pytest.raises(nm.InvalidValue) as caught:
        attempt()
    return str(caught.value)


# objects in memory, and edits


def test_entries_of_a_new_object_are_stored_with_it(model: nm.Model) -> None:
    sensor = Sensor()
    sensor.value.record("a", event=1)
    sensor.value.record("x", event=2)
    sensor.value.record("b", event=2)
    sensor.value.retract(event=3)

    expected = [(1, "a"), (2, "b"), (3, "retracted")]
    assert plain(sensor.value.entries()) == plain(sensor.value.entries(versions=True)) == expected
    assert [entry.ingest for entry in sensor.value.entries()] == [None, None, None]
    assert (sensor.value.at(event=2), sensor.value.at(event=2, ingest=model.table.now())) == ("b", None)

    before = model.table.now()
    model.roots.append(Station(sensors=[sensor]))
    assert plain(sensor.value.entries(versions=True)) == expected
    assert all(entry.ingest > before for entry in sensor.value.entries())


def test_entries_of_an_edit_appear_with_it_or_not_at_all(model: nm.Model) -> None:
    sensor = stored(model)
    sensor.value.record("a", event=1)
    elsewhere = Repository(model.repository.store).open(model.name)[nm.oid(sensor)]

    with nm.edit(sensor):
        sensor.name = "n"
        sensor.value.record("b", event=1)
        sensor.level.record(5, event=1)
        sensor.value.record("c", event=2)
        assert plain(sensor.value.entries(versions=True)) == [(1, "a"), (1, "b"), (2, "c")]
        assert (sensor.value.at(event=1), sensor.value.at(), sensor.level.at()) == ("b", "c", 5)
        assert (elsewhere.value.at(), elsewhere.level.at()) == ("a", None)
    assert plain(sensor.value.entries(versions=True)) == [(1, "a"), (1, "b"), (2, "c")]
    assert len({entry.ingest for entry in sensor.value.entries()} | {sensor.level.entry().ingest}) == 1

    def beaten() -> None:
        with nm.edit(sensor):
            sensor.value.record("lost", event=3)
            elsewhere.value.record("d", event=4)

    with pytest.raises(nm.Conflict):
        beaten()
    assert plain(sensor.value.entries()) == [(1, "b"), (2, "c"), (4, "d")]


def test_who_is_late_records_all_the_same(model: nm.Model) -> None:
    sensor = stored(model)
    elsewhere = Repository(model.repository.store).open(model.name)[nm.oid(sensor)]
    assert (sensor.name, elsewhere.name) == (None, None)

    sensor.value.record("a", event=1)
    elsewhere.value.record("b", event=1)
    elsewhere.name = "n"
    sensor.value.record("c", event=2)

    assert plain(Repository(model.repository.store).open(model.name)[nm.oid(sensor)].value.entries(versions=True)) == [
        (1, "a"),
        (1, "b"),
        (2, "c"),
    ]


# leaving and coming


def test_a_deleted_object_s_entries_are_read_in_the_past_only(model: nm.Model) -> None:
    gauge = Gauge(number="1")
    model.roots.append(gauge)
    gauge.value.record("a", event=1)
    before, elsewhere = model.table.now(), Repository(model.repository.store).open(model.name)["sensors.Gauge#1"]
    assert elsewhere.value.at() == "a"

    nm.delete(gauge)
    time.sleep(0.1)

    for one in (gauge, elsewhere):
        with pytest.raises(nm.ObjectNotFound):
            one.value.at()
        with pytest.raises(nm.ObjectNotFound):
            one.value.record("b", event=2)
    assert model.repository.open(model.name, as_of=before, unstable=True)["sensors.Gauge#1"].value.at() == "a"

    again = Gauge(number="1")
    model.roots.append(again)
    assert (again.value.at(), list(again.value.entries(versions=True)), again.eIsSet("value")) == (None, [], False)
    again.value.record("c", event=1)
    assert plain(again.value.entries(versions=True)) == [(1, "c")]


def test_an_object_that_is_taken_out_and_put_back_has_its_timeline(model: nm.Model) -> None:
    station = Station(sensors=[Sensor()])
    model.roots.append(station)
    sensor = station.sensors[0]
    sensor.value.record("a", event=1)
    (ingest,) = (entry.ingest for entry in sensor.value.entries())

    station.sensors.remove(sensor)
    assert (sensor.eResource, sensor.value.at()) == (None, "a")
    sensor.value.record("b", event=2)
    assert plain(sensor.value.entries()) == [(1, "a"), (2, "b")]

    station.sensors.append(sensor)
    assert plain(sensor.value.entries(versions=True)) == [(1, "a"), (2, "b")]
    assert sensor.value.entry(event=1).ingest == ingest


@pytest.mark.parametrize("by_way_of_memory", [False, True])
def test_an_object_takes_its_entries_to_another_model_with_their_times(model: nm.Model, by_way_of_memory: bool) -> None:
    station, target = Station(sensors=[Sensor(name="s")]), Station()
    model.roots.append(station)
    other(model).roots.append(target)
    sensor = station.sensors[0]
    for value in "abc":
        sensor.value.record(value, event=1)
    sensor.value.retract(event=2)
    sensor.level.record(4, event=-4)
    before, entries = model.table.now(), list(sensor.value.entries(versions=True))

    if by_way_of_memory:
        station.sensors.remove(sensor)
        sensor.level.record(5, event=-5)
    target.sensors.append(sensor)

    assert sensor.eResource is target.eResource
    assert list(sensor.value.entries(versions=True)) == entries
    assert (sensor.value.at(event=1, ingest=entries[0].ingest), sensor.level.at()) == ("a", 4)
    assert sensor.level.at(event=-5) == (5 if by_way_of_memory else None)
    sensor.value.record("d", event=1)
    fresh = Repository(model.repository.store).open(target.eResource.name)[nm.oid(sensor)]
    assert plain(fresh.value.entries(versions=True)) == [*((1, value) for value in "abcd"), (2, "retracted")]
    then = model.repository.open(model.name, as_of=before, unstable=True)[nm.oid(sensor)]
    assert list(then.value.entries(versions=True)) == entries


@pytest.mark.parametrize("at_once", [False, True])
def test_an_object_made_again_with_its_key_adds_its_entries(model: nm.Model, at_once: bool) -> None:
    first, second, third = Gauge(number="1"), Gauge(number="1"), Gauge(number="1")
    first.value.record("a", event=1)
    second.value.record("b", event=1)
    second.level.record(2, event=1)
    if at_once:
        model.roots.extend([first, second, third])
    else:
        for gauge in (first, second, third):
            model.roots.append(gauge)

    for gauge in (first, second, third, Repository(model.repository.store).open(model.name)["sensors.Gauge#1"]):
        assert plain(gauge.value.entries(versions=True)) == [(1, "a"), (1, "b")]
        assert plain(gauge.level.entries()) == [(1, 2)]


def test_two_timelines_of_one_key_in_two_models_do_not_become_one(model: nm.Model) -> None:
    mine, theirs, target = Gauge(number="1"), Gauge(number="1"), Station()
    mine.value.record("a", event=1)
    theirs.value.record("b", event=1)
    model.roots.append(mine)
    other(model).roots.extend([theirs, target])

    assert "expected one without a timeline in both models" in told(lambda: target.gauges.append(mine))
    assert (list(target.gauges), mine.eResource, mine.value.at(), theirs.value.at()) == ([], model, "a", "b")
    model.roots.remove(mine)
    assert "expected one without a timeline in both models" in told(lambda: target.gauges.append(mine))
    assert (list(target.gauges), mine.value.at(), theirs.value.at()) == ([], "a", "b")


# reflection


def test_a_timeline_is_read_as_a_whole_and_never_set(model: nm.Model) -> None:
    for sensor in (Sensor(name="s"), stored(model, name="s")):
        assert not sensor.eIsSet("value")
        sensor.eGet("value").record("a", event=0)

        assert (sensor.eGet("value").at(), sensor.eIsSet("value"), sensor.eIsSet("level")) == ("a", True, False)
        for attempt in (
            lambda: setattr(sensor, "value", "b"),  # noqa: B023  called at once
            lambda: sensor.eSet("value", "b"),  # noqa: B023
            lambda: sensor.eUnset("value"),  # noqa: B023
        ):
            assert "is 'a timeline', expected a feature that is set as a whole; record or retract" in told(attempt)
        assert "name='s'" in repr(sensor)
        assert "value=" not in repr(sensor)
        assert repr(sensor.value).endswith(": 'a' since 1970-01-01T00:00:00+00:00>")
        assert repr(sensor.level).endswith(": no entries>")
    assert told(lambda: Sensor(value="a")) == (
        "sensors.Sensor.value is 'a', expected no value: it is a timeline; record or retract entries of the new object"
    )


def test_show_names_the_timelines_that_have_entries(
    lmdb_url: str, connect: Callable[[str], Repository], capsys: pytest.CaptureFixture[str]
) -> None:
    repo = connect(lmdb_url)
    repo.register(sensors)
    sensor = stored(repo.create("m"), name="s")
    sensor.level.record(1, event=1)

    assert main(["show", "m", "--store", lmdb_url]) == 0
    assert capsys.readouterr().out == f'sensors.Sensor {nm.oid(sensor)}  name="s"\n  level: a timeline\n'
    assert main(["show", "m", str(nm.oid(sensor)), "--store", lmdb_url, "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["objects"]
    assert (shown["timelines"], shown["attributes"]) == (["level"], {"name": "s"})
    assert main(["stats", "m", "--store", lmdb_url]) == 0


def test_a_wrong_value_or_time_is_refused_and_nothing_changes(model: nm.Model) -> None:
    sensor = stored(model)

    assert told(lambda: sensor.level.record("a", event=1)).startswith(
        "sensors.Sensor.level is 'a', expected an integer"
    )
    assert told(lambda: sensor.level.record(None, event=1)).startswith("sensors.Sensor.level is None, expected")
    assert told(lambda: sensor.level.record(2**31, event=1)).startswith("sensors.Sensor.level is 2147483648")
    for event in (2**63, True, "now", 1.5, None):
        assert told(lambda event=event: sensor.level.record(1, event=event)).startswith(
            f"the event time of an entry of sensors.Sensor.level is {event!r}, expected an aware datetime"
        )
    assert told(lambda: sensor.level.entries(since="x")).startswith("since is 'x'")
    assert told(lambda: sensor.level.at(ingest="x")).startswith("ingest is 'x'")
    assert (list(sensor.level.entries()), sensor.eIsSet("level")) == ([], False)


# costs


@pytest.fixture
def counted() -> Iterator[Counting]:
    with Counting(open_store("memory:")) as store:
        Repository(store).register(sensors)
        yield store


def with_entries(counted: Counting, name: str, number: int) -> Any:
    """A sensor that has so many entries, as a client sees it that has read its row."""
    sensor = Sensor()
    for event in range(number):
        sensor.level.record(event, event=event)
    repo = Repository(counted)
    repo.create(name).roots.append(sensor)
    found = Repository(counted).open(name)[nm.oid(sensor)]
    assert found.name is None
    counted.reset()
    return found


@pytest.mark.parametrize("number", [10, 10_000])
def test_an_answer_costs_one_cell_however_many_entries_there_are(counted: Counting, number: int) -> None:
    sensor = with_entries(counted, "m", number)

    for event in (5, number // 2, number - 1, number + 5):
        counted.reset()
        assert sensor.level.at(event=event) == min(event, number - 1)
        assert (counted.calls, counted.cells_read) == ({"cells": 1}, 1)
    counted.reset()
    assert sensor.level.at(event=-1) is None
    assert (counted.calls, counted.cells_read) == ({"cells": 1}, 0)
    counted.reset()
    assert (sensor.value.at(), list(sensor.value.entries())) == (None, [])
    assert counted.calls == {}, "the row tells that there are none"


@pytest.mark.parametrize("number", [10, 10_000])
def test_a_record_costs_one_swap_of_two_cells_however_many_there_are(counted: Counting, number: int) -> None:
    sensor = with_entries(counted, "m", number)

    sensor.level.record(7, event=5)
    assert (counted.calls, counted.cells_written) == ({"swap": 1}, 2)
    sensor.level.retract(event=6)
    assert counted.calls == {"swap": 2}
    counted.reset()
    repo = Repository(counted)
    repo.metamodel("http://sensors")
    fresh = repo.open("m")[nm.oid(sensor)]
    counted.reset()
    fresh.level.record(8, event=5)
    assert counted.calls == {"get": 1, "swap": 1}
    assert counted.cells_read < 10, "entries are not read with the object"


def test_entries_cost_one_stream_and_their_versions_two_for_500(counted: Counting) -> None:
    sensor = with_entries(counted, "m", 1000)

    assert sum(1 for _ in sensor.level.entries(since=100, until=199)) == 100
    assert (counted.calls, counted.cells_read) == ({"cells": 1}, 100)
    counted.reset()
    assert sum(1 for _ in sensor.level.entries(versions=True)) == 1000
    assert counted.calls == {"cells": 3, "history": 2}


def test_storing_objects_with_entries_costs_what_storing_them_without_does(counted: Counting) -> None:
    station = Station(sensors=[Sensor() for _ in range(499)])
    for sensor in station.sensors:
        sensor.level.record(1, event=1)
    model = Repository(counted).create("m")
    counted.reset()

    model.roots.append(station)

    assert counted.calls == {"get": 2, "swap": 1, "put_many": 1}  # the metamodel, once; the roots; all rows


# races


@pytest.mark.parametrize("any_url", ["lmdb", "hbase"], indirect=True)
def test_those_who_record_at_once_lose_nothing(model: nm.Model, figures: Callable[[str], None]) -> None:
    sensor, rounds = stored(model), 20

    race(_record, model.repository.store.url, 2, model.name, nm.oid(sensor), rounds)

    found = list(Repository(model.repository.store).open(model.name)[nm.oid(sensor)].level.entries(versions=True))
    expected = sorted(rival * 1000 + number for rival in range(2) for number in range(rounds))
    assert sorted(entry.value for entry in found) == expected
    assert {entry.event for entry in found} == {0}
    times = [entry.ingest for entry in found]
    assert times == sorted(set(times)), "each has a time of its own"
    for rival in range(2):
        mine = [entry.value for entry in found if entry.value // 1000 == rival]
        assert mine == sorted(mine), "in the order of their making"
    turns = sum(one.value // 1000 != next_.value // 1000 for one, next_ in pairwise(found))
    figures(f"2 processes recorded {rounds} values of one event each, all kept; they took turns {turns} times")


def _record(store: Store, name: str, oid: str, rounds: int, rival: int, barrier: Any) -> None:
    sensor = Repository(store).open(name)[oid]
    assert sensor.name is None
    for number in range(rounds):
        barrier.wait(PATIENCE)
        sensor.level.record(rival * 1000 + number, event=0)
