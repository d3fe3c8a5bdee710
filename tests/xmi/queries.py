"""Published queries as plain Python over objects: the Train Benchmark, and the social network of TTC 2018.

Each query of the Train Benchmark yields its matches; `railway` is the package. Those of TTC 2018 give the ids of the
best three.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import neomodel as nm

Match = tuple[Any, ...]
Query = Callable[[nm.Model, Any], Iterator[Match]]


# Train Benchmark


def pos_length(model: nm.Model, railway: Any) -> Iterator[Match]:
    """Segments that have no length."""
    for segment in model.all(railway.Segment):
        if segment.length <= 0:
            yield (segment,)


def switch_monitored(model: nm.Model, railway: Any) -> Iterator[Match]:
    """Switches that no sensor monitors."""
    for switch in model.all(railway.Switch):
        if not switch.monitoredBy:
            yield (switch,)


def route_sensor(model: nm.Model, railway: Any) -> Iterator[Match]:
    """Sensors of switches on a route that the route does not require."""
    for route in model.all(railway.Route):
        required = set(route.requires)
        for position in route.follows:
            switch = position.target
            for sensor in switch.monitoredBy if switch is not None else ():
                if sensor not in required:
                    yield route, sensor, position, switch


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


def connected_segments(model: nm.Model, railway: Any) -> Iterator[Match]:
    """Six segments in a row that one sensor monitors."""
    kind = railway.Segment
    for sensor in model.all(railway.Sensor):
        monitored = {element for element in sensor.monitors if isinstance(element, kind)}
        chains: list[Match] = [(segment,) for segment in monitored]
        for _ in range(5):
            chains = [(*chain, after) for chain in chains for after in chain[-1].connectsTo if after in monitored]
        yield from ((sensor, *chain) for chain in chains)


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


TRAIN: dict[str, Query] = {
    "ConnectedSegments": connected_segments,
    "PosLength": pos_length,
    "RouteSensor": route_sensor,
    "SemaphoreNeighbor": semaphore_neighbor,
    "SwitchMonitored": switch_monitored,
    "SwitchSet": switch_set,
}


# TTC 2018


def best_posts(model: nm.Model, social: Any) -> str:
    """Posts by 10 for each comment below them and 1 for each like on those."""
    scores = []
    for post in model.all(social.Post):
        comments = [one for one in post.eAllContents() if isinstance(one, social.Comment)]
        scores.append((10 * len(comments) + sum(len(comment.likedBy) for comment in comments), post))
    return _best(scores)


def best_comments(model: nm.Model, social: Any) -> str:
    """Comments by the squared sizes of the groups of friends among those who like them."""
    scores = []
    for comment in model.all(social.Comment):
        likers = set(comment.likedBy)
        scores.append((sum(len(group) ** 2 for group in _groups(likers)), comment))
    return _best(scores)


def _groups(users: set[Any]) -> Iterator[set[Any]]:
    left = set(users)
    while left:
        group = waiting = {left.pop()}
        while waiting:
            waiting = {friend for user in waiting for friend in user.friends if friend in left}
            left -= waiting
            group = group | waiting
        yield group


def _best(scores: list[tuple[int, Any]]) -> str:
    """The first three, newer ones first where scores are the same."""
    best = sorted(scores, key=lambda pair: (pair[0], pair[1].timestamp), reverse=True)[:3]
    return "|".join(one.id for _, one in best)
