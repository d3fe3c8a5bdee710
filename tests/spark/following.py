"""Changes as a stream gives them, without a Spark; what they should be, told by the objects; and somebody who makes
them."""

import datetime
import pickle
import random
from collections.abc import Iterable
from typing import Any

import neomodel as nm
from neomodel.kinds import EClass, EFeature
from spark import ModelSource
from tests.spark.frames import one_of, shown
from tests.spark.things import Colour, Thing, things

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

Told = tuple[int, str, str, dict[str, Any] | None]
"""When, which object, what happened, and what it was then; None of one that is gone."""


class Follower:
    """Goes through the changes of a model as Spark does: one micro-batch after the other. It can be pickled at any
    time, which is what a checkpoint is."""

    def __init__(self, store: str, **options: Any) -> None:
        given = {"store": store, "model": "m", "since": "creation", **options}
        self.options = {name: str(value) for name, value in given.items()}
        self.offset: dict[str, int] | None = None
        self._begin()

    def _begin(self) -> None:
        source = ModelSource(self.options)
        schema = source.schema()
        self.reader = pickle.loads(pickle.dumps(source)).streamReader(schema)

    def __getstate__(self) -> Any:
        return self.options, self.offset

    def __setstate__(self, state: Any) -> None:
        self.options, self.offset = state
        self._begin()

    def step(self, limit: Any = None) -> list[list[dict[str, Any]]] | None:
        """The rows of each partition of the next micro-batch; None if there is nothing new."""
        if self.offset is None:
            self.offset = self.reader.initialOffset()
        end = self.reader.latestOffset(self.offset, limit or self.reader.getDefaultReadLimit())
        if end == self.offset:
            return None
        parts = self.reader.partitions(self.offset, end)
        self.offset = end
        task = pickle.loads(pickle.dumps(self.reader))
        return [[row for batch in task.read(part) for row in batch.to_pylist()] for part in parts]

    def rows(self) -> list[dict[str, Any]]:
        """All that is new, in as many micro-batches as it takes."""
        found: list[dict[str, Any]] = []
        while (parts := self.step()) is not None:
            found += [row for part in parts for row in part]
        return found


def micros(time: datetime.datetime) -> int:
    return (time - _EPOCH) // datetime.timedelta(microseconds=1)


def told(rows: Iterable[dict[str, Any]]) -> list[Told]:
    return [_told(dict(row)) for row in rows]


def _told(row: dict[str, Any]) -> Told:
    time, change = row.pop("_time"), row.pop("_change")
    time = time if isinstance(time, int) else micros(time)
    if change != "deleted":
        return time, row["_id"], change, {name: shown(value) for name, value in row.items()}
    assert row["_class"] is not None
    assert {name for name, value in row.items() if value is not None} == {"_id", "_class"}
    return time, row["_id"], change, None


def expected(model: nm.Model, oids: Iterable[str], kind: EClass) -> list[Told]:
    """What the histories of objects tell, in order."""
    found: list[Told] = []
    for oid in oids:
        row = _new(oid, kind)
        for revision in nm.history(model[oid]):
            if kind.type_name not in revision.kind.names:
                continue
            row = row | {"_class": revision.kind.name}
            for name, change in revision.changes.items():
                if name in kind.features:
                    row |= {name: _shown(change.after, kind.features[name])}
            if revision.moved is not None:
                row |= _placed(revision.moved.after, kind)
            what = "created" if revision.created else "deleted" if revision.deleted else "changed"
            found.append((revision.time, oid, what, None if revision.deleted else row))
            row = _new(oid, kind) if revision.deleted else row
    return sorted(found, key=lambda one: one[:2])


def _new(oid: str, kind: EClass) -> dict[str, Any]:
    """The row of an object for which nothing was set."""
    features = [feature for feature in kind.features.values() if feature.kept and not feature.timeline]
    return {"_id": oid, **{one.name: _shown(nm.UNSET, one) for one in features}}


def _shown(value: Any, feature: EFeature) -> Any:
    if value is nm.UNSET:
        value = () if feature.many else feature.default
    return shown([one_of(one, feature) for one in value] if feature.many else one_of(value, feature))


def _placed(place: Any, kind: EClass) -> dict[str, Any]:
    above = None if place is nm.UNSET or place.container is None else str(nm.oid(place.container))
    by = None if above is None else place.feature
    ends = {one.name: one.eOpposite for one in kind.features.values() if one.container}
    return {
        "_container": above,
        "_feature": by,
        **{name: above if end is not None and end.name == by else None for name, end in ends.items()},
    }


Done = tuple[int, int, list[int]]
"""A change of a list: after a time, up to another, and what was in it then."""


def lengthened(one: Any, steps: int) -> list[Done]:
    """Change the numbers of an object, a list that is long already, at its end and within."""
    table, held, draw = one._neo.model.table, list(one.numbers), random.Random(1)
    done = []
    for number in range(steps):
        before = table.now()
        if draw.random() < 0.6:
            one.numbers.append(number)
            held.append(number)
        else:
            at = draw.randrange(len(held))
            del one.numbers[at], held[at]
        done.append((before, table.now(), list(held)))
    return done


def check_lengthened(rows: list[Told], done: list[Done]) -> None:
    """Each change of the list has come, with what was in it then, and nothing else."""
    for before, after, held in done:
        during = [row for time, _, _, row in rows if before < time <= after and row is not None]
        assert during, "a change is missing"
        assert [number for _, number in during[-1]["numbers"]] == held
    assert all(any(before < time <= after for before, after, _ in done) for time, *_ in rows)


class Busybody:
    """Changes a model at random, and remembers the id of every object there ever was."""

    def __init__(self, model: nm.Model, seed: int) -> None:
        self.model = model
        self.oids: list[str] = []
        self._alive: list[Any] = []
        self._draw = random.Random(seed)

    def work(self, steps: int) -> None:
        for _ in range(steps):
            if len(self._alive) < 3 or self._draw.random() < 0.25:
                self._create()
            else:
                self._change(self._draw.choice(self._alive), self._draw.choice(self._alive))

    def _create(self) -> None:
        kind = self._draw.choice([Thing, Thing, things.Special])
        made = kind(name=f"n{len(self.oids)}", colour=self._draw.choice([None, Colour.GREEN]))
        if self._draw.random() < 0.3:
            made.parts.append(Thing(name="inner"))
        self.model.roots.append(made)
        new = [made, *made.parts]
        self.oids += [str(nm.oid(obj)) for obj in new]
        self._alive += new
        if self._draw.random() < 0.2:
            self.model.roots.append(things.Other(label="o"))

    def _change(self, one: Any, other: Any) -> None:
        match self._draw.randrange(6):
            case 0:
                one.number = self._draw.randrange(1000)
            case 1:
                with nm.edit(one):
                    one.name, one.ratio, one.friend = f"x{self._draw.random()}", self._draw.random(), None
            case 2:
                one.friend = other
                if other not in one.friends:
                    one.friends.append(other)
            case 3:
                one.tags.extend([f"t{number}" for number in range(self._draw.randrange(1, 4))])
            case 4:
                self._move(one, other)
            case 5:
                gone = [one, *one.eAllContents()]
                nm.delete(one)
                self._alive = [obj for obj in self._alive if all(obj is not lost for lost in gone)]

    def _move(self, one: Any, other: Any) -> None:
        above = other
        while above is not None and above is not one:
            above = above.eContainer()
        (self.model.roots if above is one else other.parts).append(one)
