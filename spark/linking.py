"""What is left to do when all tasks have written: containers list their new children, references are mirrored, and what
concerned several rows is changed. It is done in the driver, in the batch of the job, signed with its token.

Rows that the job made itself are read and written many at a time: nobody else knows them. All others are changed as
objects are, by compare-and-swap, one after another.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import attrs

from neomodel import changes, ids, layout
from neomodel.checks import check_bound
from neomodel.cohorts import Page
from neomodel.errors import InvalidValue
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import is_long
from neomodel.long_lists import LongList, Splice
from neomodel.mirrors import adjust, mirror
from neomodel.model import Model
from neomodel.roots import ROOT_KIND
from neomodel.states import encode, together
from neomodel.stores import VERSION, Mutation, Row
from spark.rows import Change, Written, values_in

_PAGE = 500  # rows
_MANY = 20_000  # entries that come to a list in one swap


@attrs.frozen
class Joined:
    """Let a collection hold these as well, at its end, but for those that it holds; if `fresh`, it holds none."""

    feature: EFeature
    tokens: list[str]
    fresh: bool = False

    def __call__(self, raw: list[Any]) -> list[Any]:
        known = set(raw)
        after = [*raw, *(token for token in self.tokens if token not in known)]
        check_bound(self.feature, len(after))
        return after

    def on(self, long: LongList) -> None:
        there = [False] * len(self.tokens) if self.fresh else long.held(self.tokens)
        missing = [token for token, is_held in zip(self.tokens, there, strict=True) if not is_held]
        if missing:
            check_bound(self.feature, len(long) + len(missing))
            long.apply([Splice(len(long), 0, missing)])


@attrs.frozen
class Ordered:
    """Let a collection hold what it holds, these first, in their order."""

    tokens: list[str]

    def __call__(self, raw: list[Any]) -> list[Any]:
        known = set(self.tokens)
        return [*self.tokens, *(token for token in raw if token not in known)]

    def on(self, long: LongList) -> None:
        splice = long.replacing(self(list(long)))
        if splice.removed or splice.values:
            long.apply([splice])


class Linking:
    """Completes what tasks have written to a model."""

    def __init__(self, model: Model, messages: Iterable[Written]) -> None:
        self._model = model
        self._messages = sorted(messages, key=lambda message: message.partition)
        self._kinds: dict[str, EClass] = {}
        self._above: dict[str, str] = {}
        """Of each object that the job made, its container."""
        for message in self._messages:
            for (container, _, _), oids in message.created.items():
                self._above.update(dict.fromkeys(oids, container))

    def complete(self) -> None:
        self._check()
        self._list()
        self._mirror()
        for message in self._messages:
            for change in message.changes:
                self._change(change)
        self._order()

    # before anything is done

    def _check(self) -> None:
        """Refuse two rows of one id, and objects that lie in one another."""
        there = [oids for one in self._messages for oids in (one.updated, one.met)]
        rows = [*there, *(oids for one in self._messages for oids in one.created.values())]
        if len({*self._above, *chain.from_iterable(there)}) < sum(map(len, rows)):
            (twice, _), *_ = Counter(chain.from_iterable(rows)).most_common(1)
            raise InvalidValue(f"the id of two rows for model {self._model.name}", twice, "one row for each object")
        sound: set[str] = {ids.ROOT}
        for oid in self._above.keys() & set(self._above.values()):  # what has nothing in it is in no circle
            way: dict[str, None] = {}
            above = oid
            while above in self._above and above not in sound:
                if above in way:
                    raise InvalidValue(f"the container of {self._where(oid)}", above, "no object that lies in itself")
                way[above] = None
                above = self._above[above]
            sound.update(way)

    # containers

    def _list(self) -> None:
        """Let containers list their new children."""
        children: dict[str, dict[str, list[tuple[str, list[str]]]]] = {}
        for message in self._messages:
            for (container, name, kind), oids in message.created.items():
                children.setdefault(container, {}).setdefault(name, []).append((kind, oids))
        for page in _pages(children):
            rows = self._rows(page)
            mutations = []
            for container in page:
                holder = self._kind_of(container, rows.get(container.encode(), {}), children[container])
                held = {
                    self._containing(holder, container, name, some): [oid for _, oids in some for oid in oids]
                    for name, some in children[container].items()
                }
                if container in self._above:
                    mutations.append(self._listing(container, rows[container.encode()], held))
                else:
                    self._list_elsewhere(container, held)
            self._model.put(mutations)

    def _kind_of(self, container: str, row: Row, children: dict[str, Any]) -> EClass:
        if container == ids.ROOT:
            return ROOT_KIND
        if layout.ECLASS not in row:
            child = next(oids[0] for some in children.values() for _, oids in some)
            raise InvalidValue(f"the container of {self._where(child)}", container, "an object that is there")
        return self._model.kind_of(row)

    def _containing(self, kind: EClass, container: str, name: str, children: list[tuple[str, list[str]]]) -> EFeature:
        feature = kind.features.get(name)
        for child, oids in children:
            if feature is None or not feature.containment or not feature.kept:
                raise InvalidValue(f"_feature of {self._where(oids[0])}", name, f"a containment of {kind}")
            if not _takes(feature, self._class(child)):
                what = f"the class of {self._where(oids[0])} in {container}"
                raise InvalidValue(what, child, f"{feature.eType}, as {feature} takes")
        assert feature is not None
        return feature

    def _listing(self, container: str, row: Row, held: dict[EFeature, list[str]]) -> Mutation:
        """What makes a container that the job made list its children."""
        cells: dict[bytes, bytes | None] = {VERSION: row[VERSION]}
        for feature, oids in held.items():
            cells |= self._cells(container, feature, oids)
        return Mutation(container.encode(), cells)

    def _cells(self, holder: str, feature: EFeature, tokens: list[str]) -> dict[bytes, bytes | None]:
        """The cells of a feature that holds these, of an object that the job made."""
        if feature.many:
            check_bound(feature, len(tokens))
        elif len(tokens) > 1:
            raise InvalidValue(f"{feature} of {self._where(holder)}", tokens, "one object at most")
        return encode(feature, tokens if feature.many else tokens[0])

    def _list_elsewhere(self, container: str, held: dict[EFeature, list[str]]) -> None:
        obj = self._model.element(container)
        for feature, oids in held.items():
            first_child = self._model.element(oids[0])  # held: the row of the roots says of which package they are
            if feature.many:
                fresh = not obj._neo.raw(feature)  # and the job has no id twice
                for first in range(0, len(oids), _MANY):
                    adjust(obj, feature, Joined(feature, oids[first : first + _MANY], fresh))
                continue
            before = obj.eGet(feature.name)
            if len(oids) > 1 or (before is not None and before._neo.oid != oids[0]):
                raise InvalidValue(
                    f"{feature} of {self._where(container)}", oids, "one object at most, and none before"
                )
            obj._neo.write({feature: first_child._neo.oid})

    # references

    def _mirror(self) -> None:
        """Let what new objects refer to refer to them."""
        ends: dict[str, list[tuple[str, str]]] = {}
        for message in self._messages:
            for oid, name, targets in message.ends:
                for target in _local(targets, name, self._where(oid)):
                    ends.setdefault(target, []).append((oid, name))
        here = [target for target in ends if target in self._above]
        for page in _pages(here):
            rows = self._rows([*page, *{oid for target in page for oid, _ in ends[target]}])
            self._model.put(self._mirrored(target, rows, ends[target]) for target in page)
        for target in ends:
            if target not in self._above:
                for oid, name in ends[target]:
                    self._mirror_elsewhere(oid, name, target)

    def _mirrored(self, target: str, rows: dict[bytes, Row], ends: list[tuple[str, str]]) -> Mutation:
        row = rows[target.encode()]
        kind = self._model.kind_of(row)
        held: dict[EFeature, dict[str, None]] = {}
        for oid, name in ends:
            feature = self._model.kind_of(rows[oid.encode()]).features[name]
            self._check_takes(feature, oid, kind)
            assert feature.eOpposite is not None
            opposite = kind.features[feature.eOpposite.name]
            if opposite not in held:
                before = self._model.element(target)._neo if _is_long(row, opposite) else None
                tokens = before.raw(opposite) if before else values_in(opposite, row)
                held[opposite] = dict.fromkeys(tokens)
            held[opposite].setdefault(oid)
        cells: dict[bytes, bytes | None] = {VERSION: row[VERSION]}
        for opposite, tokens in held.items():
            cells |= self._cells(target, opposite, list(tokens))
        return Mutation(target.encode(), cells)

    def _mirror_elsewhere(self, oid: str, name: str, target: str) -> None:
        obj = self._model.element(oid)
        feature = obj.eClass.features[name]
        other = self._object(target, oid, feature)
        self._check_takes(feature, oid, other.eClass)
        mirror(obj, feature, gone=(), come=[other])

    def _object(self, token: str, oid: str, feature: EFeature) -> Any:
        return self._model.resolve(token, Page(self._model, met=(None, oid, feature)))

    def _check_takes(self, feature: EFeature, oid: str, kind: EClass) -> None:
        if not _takes(feature, kind):
            raise InvalidValue(f"{feature} of {self._where(oid)}", str(kind), f"an object of class {feature.eType}")

    # what was there

    def _change(self, change: Change) -> None:
        """Let an object that was there lie elsewhere, and hold something else, with all that follows."""
        obj = self._model.element(change.oid)
        if change.place is not None:
            self._move(obj, *change.place)
        for name, value in change.features.items():
            feature = obj.eClass.features[name]
            cells = value if value is not None and not isinstance(value, bytes) else {feature.column: value}
            held = values_in(feature, cells)
            if not feature.reference or feature.eOpposite is None:
                obj._neo.write({feature: held})
                continue
            _local(held, name, self._where(change.oid))
            targets = [self._object(token, change.oid, feature) for token in held]
            if feature.many:
                changes.rearrange(obj, feature, targets)
            else:
                changes.assign(obj, feature, targets[0] if targets else None)

    def _move(self, obj: Any, container: str, name: str) -> None:
        parent = self._model.element(container)
        kind = ROOT_KIND if container == ids.ROOT else parent.eClass
        feature = self._containing(kind, container, name, [(str(obj.eClass.type_name), [obj._neo.oid])])
        if feature.many:
            changes.insert(parent, feature, [obj])
        elif parent.eGet(name) not in (None, obj):
            raise InvalidValue(f"{feature} of {self._where(container)}", obj, "one object at most, and none before")
        else:
            changes.assign(parent, feature, obj)

    def _order(self) -> None:
        """Let containers list what lies in them in the order that was given."""
        orders = [order for message in self._messages for order in message.orders]
        for page in _pages(orders):
            self._check_inside(page)
            objects = [self._model.element(oid) for oid, _, _ in page]
            together(objects)
            for obj, (_, name, tokens) in zip(objects, page, strict=True):
                feature = obj.eClass.features[name]
                if feature.many:
                    adjust(obj, feature, Ordered(tokens))

    def _check_inside(self, orders: list[tuple[str, str, list[str]]]) -> None:
        """Refuse an order of what does not lie there: where it lies, an object's own row says."""
        named = ((token, oid, name) for oid, name, tokens in orders for token in tokens)
        while some := list(islice(named, _PAGE)):
            rows = self._model.table.get_many({token.encode() for token, _, _ in some}, columns=layout.PLACE)
            for token, oid, name in some:
                if layout.place_of(rows.get(token.encode(), {})) != (oid, name):
                    expected = "what lies there; to put something there, write its own row with _container and _feature"
                    raise InvalidValue(f"{name} of {self._where(oid)}", token, expected)

    # how

    def _rows(self, oids: Iterable[str]) -> dict[bytes, Row]:
        return self._model.table.get_many([oid.encode() for oid in oids], columns=layout.OBJECT)

    def _class(self, name: str) -> EClass:
        if name not in self._kinds:
            ns_uri, _, own = name.rpartition("#")
            self._kinds[name] = self._model.metamodels.kind(ns_uri, own)
        return self._kinds[name]

    def _where(self, oid: str) -> str:
        return f"object {self._model.name}/{oid}"


def _takes(feature: EFeature, kind: EClass) -> bool:
    expected = feature.eType
    return isinstance(expected, EClass) and expected.takes(kind)


def _local(tokens: list[str], name: str, where: str) -> list[str]:
    """Those that are mirrored: all but what is in no model. One job writes to one model, and undoes no other."""
    for token in tokens:
        if token.startswith("@") and not token.startswith(ids.ELSEWHERE):
            raise InvalidValue(f"{name} of {where}", token, "an object of the same model, since it has an opposite")
    return ids.local(tokens)


def _is_long(row: Row, feature: EFeature) -> bool:
    return feature.many and is_long(row.get(feature.column, b""))


def _pages(items: Iterable[Any]) -> Iterator[list[Any]]:
    remaining = iter(items)
    while page := list(islice(remaining, _PAGE)):
        yield page
