"""Small models of the metamodels that the examples are about: railways and social networks."""

import datetime
import enum
import random
from itertools import pairwise
from typing import Any

import neomodel as nm
from spark.examples.railway import RAILWAY
from spark.examples.social import SOCIAL

railway = nm.package("railway", RAILWAY)
social = nm.package("SocialNetwork", SOCIAL)


@railway.define
class Position(enum.Enum):
    FAILURE = 0
    STRAIGHT = 1
    DIVERGING = 2


@railway.define
class Signal(enum.Enum):
    FAILURE = 0
    STOP = 1
    GO = 2


@railway.define
class Region:
    sensors: list["Sensor"] = nm.contains()
    elements: list["TrackElement"] = nm.contains()


@railway.define
class Route:
    active: bool = False
    follows: list["SwitchPosition"] = nm.contains(opposite="route")
    requires: list["Sensor"] = nm.reference()
    entry: "Semaphore | None" = nm.reference()
    exit: "Semaphore | None" = nm.reference()


@railway.define
class Sensor:
    monitors: list["TrackElement"] = nm.reference(opposite="monitoredBy")


@railway.define(abstract=True)
class TrackElement:
    monitoredBy: list[Sensor] = nm.reference(opposite="monitors")  # noqa: N815  as the benchmark has it
    connectsTo: list["TrackElement"] = nm.reference()  # noqa: N815


@railway.define
class Segment(TrackElement):
    length: int = nm.attribute(1, type="EInt")
    semaphores: list["Semaphore"] = nm.contains()


@railway.define
class Switch(TrackElement):
    currentPosition: Position | None = Position.FAILURE  # noqa: N815
    positions: list["SwitchPosition"] = nm.reference(opposite="target")


@railway.define
class SwitchPosition:
    position: Position | None = Position.FAILURE
    route: Route | None = nm.reference(opposite="follows")
    target: Switch | None = nm.reference(opposite="positions")


@railway.define
class Semaphore:
    signal: Signal | None = Signal.FAILURE


@social.define(abstract=True)
class Submission:
    id: str | None = None
    timestamp: datetime.datetime | None = None
    comments: list["Comment"] = nm.contains(opposite="commented")


@social.define
class Post(Submission):
    pass


@social.define
class Comment(Submission):
    commented: Submission | None = nm.reference(opposite="comments")
    likedBy: list["User"] = nm.reference(opposite="likes")  # noqa: N815


@social.define
class User:
    id: str | None = None
    likes: list[Comment] = nm.reference(opposite="likedBy")
    friends: list["User"] = nm.reference()


def railways(model: nm.Model, seed: int) -> None:
    """A railway in which anything may be connected to anything."""
    draw = random.Random(seed)
    region = Region()
    region.sensors.extend(Sensor() for _ in range(6))
    segments = [Segment(length=draw.choice([0, 3, -1, 7])) for _ in range(15)]
    switches = [Switch(currentPosition=draw.choice([*Position, None])) for _ in range(8)]
    region.elements.extend([*segments, *switches])
    signals = [Semaphore(signal=draw.choice([*Signal, None])) for _ in range(4)]
    segments[0].semaphores.extend(signals)
    routes = [Route(active=draw.random() < 0.7) for _ in range(6)]
    model.roots.extend([region, *routes])
    for element in [*segments, *switches[1:]]:
        element.connectsTo.extend(draw.sample([*segments, *switches], draw.randrange(4)))
        element.monitoredBy.extend(draw.sample(list(region.sensors), draw.randrange(3)))
    region.sensors[0].monitors.extend(one for one in segments[:6] if one not in region.sensors[0].monitors)
    for route in routes:
        route.entry, route.exit = draw.choice([*signals, None]), draw.choice([*signals, None])
        route.requires.extend(draw.sample(list(region.sensors), 2))
        for switch in draw.sample(switches, 3):
            route.follows.append(SwitchPosition(position=draw.choice([*Position, None]), target=switch))
        route.follows.append(SwitchPosition())


def planted(model: nm.Model) -> dict[str, set[tuple[Any, ...]]]:
    """A railway with one thing wrong for each query, and what that is."""
    sensor, other = Sensor(), Sensor()
    row = [Segment() for _ in range(6)]
    bad, lonely, wrong = Segment(length=0), Switch(currentPosition=Position.STRAIGHT), Switch()
    region = Region()
    region.sensors.extend([sensor, other])
    region.elements.extend([*row, bad, lonely, wrong])
    going, ending = Semaphore(signal=Signal.GO), Semaphore(signal=Signal.STOP)
    row[0].semaphores.extend([going, ending])
    first, second = Route(active=True, entry=going, exit=ending), Route(entry=going)
    model.roots.extend([region, first, second])
    for one, after in pairwise(row):
        one.connectsTo.append(after)
    row[5].connectsTo.append(bad)
    sensor.monitors.extend(row)
    other.monitors.extend([bad, wrong])
    first.requires.append(sensor)
    second.requires.append(other)
    fine = SwitchPosition(position=Position.STRAIGHT, target=lonely)
    position = SwitchPosition(position=Position.STRAIGHT, target=wrong)
    first.follows.extend([fine, position])
    return {
        "ConnectedSegments": {(sensor, *row)},
        "PosLength": {(bad,)},
        "RouteSensor": {(first, other, position, wrong)},
        "SemaphoreNeighbor": {(ending, first, second, sensor, other, row[5], bad)},
        "SwitchMonitored": {(lonely,)},
        "SwitchSet": {(going, first, position, wrong)},
    }


def network(model: nm.Model) -> dict[str, str]:
    """A small social network, and the answers to both queries."""
    a, b, c, d = users = [User(id=name) for name in "abcd"]
    days = [datetime.datetime(2018, 1, day) for day in range(1, 5)]
    posts: list[Any] = [Post(id=f"p{number}", timestamp=day) for number, day in enumerate(days)]
    model.roots.extend([*users, *posts])
    for one, other in ((a, b), (b, c)):
        one.friends.append(other)
        other.friends.append(one)
    comments: list[Any] = [Comment(id=f"c{number}", timestamp=day) for number, day in enumerate(days)]
    posts[0].comments.append(comments[0])
    comments[0].comments.append(comments[1])
    posts[1].comments.append(comments[2])
    comments[2].comments.append(comments[3])
    comments[0].likedBy.extend([a, b, c, d])
    comments[1].likedBy.append(d)
    comments[2].likedBy.extend([a, c])
    # p0: 2 comments, 5 likes; p1: 2 comments, 2 likes; the others nothing, and p3 is newer
    # c0: 3 of whom b knows the others, and d; c2: a and c, who know one another by b alone; c1: d
    return {"Q1": "p0|p1|p3", "Q2": "c0|c2|c1"}


def networks(model: nm.Model, seed: int) -> None:
    """A social network with comments on comments on comments."""
    draw = random.Random(seed)
    start = datetime.datetime(2018, 1, 1)
    users = [User(id=f"u{number}") for number in range(12)]
    posts: list[Any] = [Post(id=f"p{number}", timestamp=start) for number in range(5)]
    posts[4].timestamp = start + datetime.timedelta(days=1)
    model.roots.extend([*users, *posts])
    for _ in range(14):
        one, other = draw.sample(users, 2)
        if other not in one.friends:
            one.friends.append(other)
            other.friends.append(one)
    places: list[Any] = posts[:3]
    for number in range(30):
        comment = Comment(id=f"c{number}", timestamp=start + datetime.timedelta(hours=number // 3))
        above = places[draw.randrange(-4, 0)] if len(places) > 4 else posts[0]
        above.comments.append(comment)
        comment.likedBy.extend(draw.sample(users, draw.randrange(7)))
        places.append(comment)
