"""The queries of the Train Benchmark: what is not well-formed about a railway.

    python -m spark.examples.railway --store lmdb:neomodel.db --model railway [--spark]

Each query has two forms. `QUERIES` yield their matches as tuples of objects; `JOBS` are DataFrames with a column for
each object of a match, by id. `matches` and `matches_by_spark` give both as sets of tuples of ids, which are the same.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

import neomodel as nm
from spark.examples.running import run
from spark.examples.tables import Tables

RAILWAY = "http://www.semanticweb.org/ontologies/2015/trainbenchmark"

Match = tuple[Any, ...]
Query = Callable[[nm.Model, Any], Iterator[Match]]
"""Over the objects of a model, and the package of their classes."""


def pos_length(model: nm.Model, railway: Any) -> Iterator[Match]:
    """Segments that have no length."""
    for segment in model.all(railway.Segment):
        if segment.length <= 0:
            yield (segment,)


def pos_length_job(tables: Tables) -> DataFrame:
    return tables("Segment", "length").where(f.col("length") <= 0).select("_id")


def switch_monitored(model: nm.Model, railway: Any) -> Iterator[Match]:
    """Switches that no sensor monitors."""
    for switch in model.all(railway.Switch):
        if not switch.monitoredBy:
            yield (switch,)


def switch_monitored_job(tables: Tables) -> DataFrame:
    return tables("Switch", "monitoredBy").where(f.size("monitoredBy") == 0).select("_id")


def route_sensor(model: nm.Model, railway: Any) -> Iterator[Match]:
    """Sensors of switches on a route that the route does not require."""
    for route in model.all(railway.Route):
        required = set(route.requires)
        for position in route.follows:
            switch = position.target
            for sensor in switch.monitoredBy if switch is not None else ():
                if sensor not in required:
                    yield route, sensor, position, switch


def route_sensor_job(tables: Tables) -> DataFrame:
    routes = tables("Route", "requires").withColumnRenamed("_id", "route")
    switches = _pairs(tables, "Switch", "monitoredBy", "switch", "sensor")
    found = _positions(tables).join(switches, "switch").join(routes, "route")
    return found.where(~f.array_contains("requires", f.col("sensor"))).select("route", "sensor", "position", "switch")


def switch_set(model: nm.Model, railway: Any) -> Iterator[Match]:
    """Switches that are not as an active route whose entry says go wants them."""
    for route in model.all(railway.Route):
        semaphore = route.entry
        if not route.active or semaphore is None or semaphore.signal is not railway.Signal.GO:
            continue
        for position in route.follows:
            switch = position.target
            if switch is not None and switch.currentPosition is not position.position:
                yield semaphore, route, position, switch


def switch_set_job(tables: Tables) -> DataFrame:
    routes = tables("Route", "active", "entry").where("active").toDF("route", "active", "semaphore")
    going = tables("Semaphore", "signal").where(f.col("signal") == "GO").toDF("semaphore", "signal")
    switches = tables("Switch", "currentPosition").withColumnRenamed("_id", "switch")
    found = _positions(tables, "position").join(routes, "route").join(going, "semaphore").join(switches, "switch")
    wrong = ~f.col("currentPosition").eqNullSafe(f.col("wanted"))
    return found.where(wrong).select("semaphore", "route", "position", "switch")


def connected_segments(model: nm.Model, railway: Any) -> Iterator[Match]:
    """Six segments in a row that one sensor monitors."""
    kind = railway.Segment
    for sensor in model.all(railway.Sensor):
        monitored = {element for element in sensor.monitors if isinstance(element, kind)}
        chains: list[Match] = [(segment,) for segment in monitored]
        for _ in range(5):
            chains = [(*chain, after) for chain in chains for after in chain[-1].connectsTo if after in monitored]
        yield from ((sensor, *chain) for chain in chains)


def connected_segments_job(tables: Tables) -> DataFrame:
    segments = tables("Segment").toDF("1")
    found = _pairs(tables, "Sensor", "monitors", "sensor", "1").join(segments, "1")
    steps = found.join(_pairs(tables, "Segment", "connectsTo", "1", "2"), "1")
    steps = steps.join(found.withColumnRenamed("1", "2"), ["sensor", "2"]).select("sensor", "1", "2").cache()
    for number in range(1, 6):
        found = found.join(steps.toDF("sensor", str(number), str(number + 1)), ["sensor", str(number)])
    return found.select("sensor", *map(str, range(1, 7)))


def semaphore_neighbor(model: nm.Model, railway: Any) -> Iterator[Match]:
    """Routes that follow one another, where the later one does not begin at the semaphore that ends the earlier one."""
    requiring: defaultdict[Any, list[Any]] = defaultdict(list)
    routes = list(model.all(railway.Route))
    for route in routes:
        for sensor in route.requires:
            requiring[sensor].append(route)
    for first in routes:
        semaphore = first.exit
        if semaphore is None:
            continue
        for sensor in first.requires:
            for element in sensor.monitors:
                for after in element.connectsTo:
                    for beyond in after.monitoredBy:
                        for second in requiring[beyond]:
                            if second is not first and second.entry is not semaphore:
                                yield semaphore, first, second, sensor, beyond, element, after


def semaphore_neighbor_job(tables: Tables) -> DataFrame:
    required = _pairs(tables, "Route", "requires", "route", "sensor")
    ends = tables("Route", "exit").where(f.col("exit").isNotNull()).toDF("route", "semaphore")
    begins = tables("Route", "entry").withColumnRenamed("_id", "second")
    found = (
        required.join(ends, "route")
        .withColumnRenamed("route", "first")
        .join(_pairs(tables, "Sensor", "monitors", "sensor", "element"), "sensor")
        .join(_pairs(tables, "TrackElement", "connectsTo", "element", "after"), "element")
        .join(_pairs(tables, "TrackElement", "monitoredBy", "after", "beyond"), "after")
        .join(required.toDF("second", "beyond"), "beyond")
        .join(begins, "second")
    )
    other = (f.col("second") != f.col("first")) & ~f.col("entry").eqNullSafe(f.col("semaphore"))
    return found.where(other).select("semaphore", "first", "second", "sensor", "beyond", "element", "after")


def _pairs(tables: Tables, kind: str, feature: str, one: str, other: str) -> DataFrame:
    """Each object with each of those that a reference of it leads to."""
    return tables(kind, feature).select(f.col("_id").alias(one), f.explode(feature).alias(other))


def _positions(tables: Tables, *more: str) -> DataFrame:
    """The positions of switches on routes; `position` in it is what `wanted` is there."""
    names = ("position", "route", "switch", *("wanted" for _ in more))
    return tables("SwitchPosition", "route", "target", *more).toDF(*names)


QUERIES: dict[str, Query] = {
    "ConnectedSegments": connected_segments,
    "PosLength": pos_length,
    "RouteSensor": route_sensor,
    "SemaphoreNeighbor": semaphore_neighbor,
    "SwitchMonitored": switch_monitored,
    "SwitchSet": switch_set,
}
JOBS: dict[str, Callable[[Tables], DataFrame]] = {
    "ConnectedSegments": connected_segments_job,
    "PosLength": pos_length_job,
    "RouteSensor": route_sensor_job,
    "SemaphoreNeighbor": semaphore_neighbor_job,
    "SwitchMonitored": switch_monitored_job,
    "SwitchSet": switch_set_job,
}


def matches(name: str, model: nm.Model, railway: Any) -> set[tuple[str, ...]]:
    """The matches of a query, by ids, found over objects."""
    return {tuple(str(nm.oid(obj)) for obj in match) for match in QUERIES[name](model, railway)}


def matches_by_spark(name: str, tables: Tables) -> set[tuple[str, ...]]:
    """The same, found by Spark."""
    return {tuple(row) for row in JOBS[name](tables).collect()}


def main() -> None:
    run(
        "The Train Benchmark: how many matches each query has.",
        RAILWAY,
        QUERIES,
        lambda name, model, railway: len(matches(name, model, railway)),
        lambda name, tables: len(matches_by_spark(name, tables)),
    )


if __name__ == "__main__":
    main()
