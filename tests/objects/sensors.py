"""A metamodel with timelines, for the tests of them."""

import enum
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import neomodel as nm
from neomodel.repository import Repository

sensors = nm.package("sensors", "http://sensors")


@sensors.define
class Mood(enum.Enum):
    CALM = 0
    STORMY = 1


@sensors.define
class Station:
    name: str | None
    sensors: list["Sensor"] = nm.contains()
    gauges: list["Gauge"] = nm.contains()


@sensors.define
class Sensor:
    name: str | None
    value: nm.Timeline[str]
    level: int = nm.timeline(type="EInt")
    mood: nm.Timeline[Mood]


@sensors.define(key=["number"])
class Gauge(Sensor):
    number: str


@pytest.fixture(name="model")
def sensor_model(any_url: str, connect: Callable[[str], Repository]) -> Iterator[nm.Model]:
    """A model in a store of each kind. Beside it there is room for one whose name ends in 2."""
    repo, name = connect(any_url), f"m-{uuid.uuid4().hex}-"
    repo.register(sensors)
    yield repo.create(f"{name}1")
    for made in {f"{name}1", f"{name}2"} & set(repo.models()):
        repo.drop(made)


def stored(model: nm.Model, **features: Any) -> Any:
    """A root sensor."""
    sensor = Sensor(**features)
    model.roots.append(sensor)
    return sensor


def plain(entries: Iterator[nm.Entry]) -> list[tuple[int, Any]]:
    """Event and value of each, or the word that it is a retraction."""
    return [(entry.event, "retracted" if entry.retracted else entry.value) for entry in entries]
