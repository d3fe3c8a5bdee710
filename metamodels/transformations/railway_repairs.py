"""The repairs of the Train Benchmark, each for one of its queries (`spark.examples.railway` has those).

neomodel.repair(railway_repairs, model)
"""

from typing import Any

import neomodel as nm

railway_repairs = nm.Transformation("RailwayRepairs", version="1")


@railway_repairs.repair(when=lambda segment: segment.length <= 0)
def pos_length(segment: "railway.Segment") -> None:  # type: ignore[name-defined]
    """A segment has a length."""
    segment.length = 1 - segment.length


@railway_repairs.repair(when=lambda switch: not switch.monitoredBy)
def switch_monitored(switch: "railway.Switch") -> None:  # type: ignore[name-defined]
    """A switch is monitored: by a new sensor of its region."""
    region = switch.eContainer()
    sensor = switch.eClass.ePackage.classifiers["Sensor"]()
    region.sensors.append(sensor)
    switch.monitoredBy.append(sensor)


def _required(route: Any) -> list[Any]:
    """The sensors that a route should require, and does not."""
    required = set(route.requires)
    switches = [position.target for position in route.follows if position.target is not None]
    return [sensor for switch in switches for sensor in switch.monitoredBy if sensor not in required]


@railway_repairs.repair(when=_required)
def route_sensor(route: "railway.Route") -> None:  # type: ignore[name-defined]
    """A route requires the sensors of its switches."""
    route.requires.extend(dict.fromkeys(_required(route)))


def _wrong(route: Any) -> list[Any]:
    """The positions of an active route whose entry says go, in which their switches are not."""
    if not route.active or route.entry is None or route.entry.signal.name != "GO":
        return []
    positions = (position for position in route.follows if position.target is not None)
    return [position for position in positions if position.target.currentPosition is not position.position]


@railway_repairs.repair(when=_wrong)
def switch_set(route: "railway.Route") -> None:  # type: ignore[name-defined]
    """Switches are as an active route wants them."""
    for position in _wrong(route):
        position.target.currentPosition = position.position


def _beginning_elsewhere(route: Any) -> list[Any]:
    """The routes that follow a route, and do not begin at the semaphore that ends it."""
    if route.exit is None:
        return []
    elements = (after for sensor in route.requires for one in sensor.monitors for after in one.connectsTo)
    sensors = {sensor for element in elements for sensor in element.monitoredBy}
    others = (other for other in route.eContainer().routes if other is not route and other.entry is not route.exit)
    return [other for other in others if not sensors.isdisjoint(other.requires)]


@railway_repairs.repair(when=_beginning_elsewhere)
def semaphore_neighbor(route: "railway.Route") -> None:  # type: ignore[name-defined]
    """Routes that follow a route begin where it ends."""
    for other in _beginning_elsewhere(route):
        other.entry = route.exit


def _chain(sensor: Any) -> list[Any]:
    """Six segments in a row that a sensor monitors; none if there are none."""
    monitored = {one for one in sensor.monitors if one.eClass.name == "Segment"}
    chains = [[segment] for segment in monitored]
    for _ in range(5):
        chains = [[*chain, after] for chain in chains for after in chain[-1].connectsTo if after in monitored]
    return chains[0] if chains else []


@railway_repairs.repair(when=_chain)
def connected_segments(sensor: "railway.Sensor") -> None:  # type: ignore[name-defined]
    """A sensor monitors no more than five segments in a row: of six, the second goes."""
    while chain := _chain(sensor):
        first, second, third = chain[:3]
        for element in second.eContainer().elements:
            if second in element.connectsTo:
                element.connectsTo.remove(second)
        first.connectsTo.append(third)
        nm.delete(second)
