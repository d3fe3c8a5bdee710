"""What has to come of every change: the rules of EMF on plain objects in memory, and when objects are stored.

Written to be read, one rule at a time, from EMF's rules and the promises of the library, not from its code.
"""

from collections.abc import Iterator
from typing import Any

from neomodel.metamodel import Feature, Reference
from tests.codecs.values import exact
from tests.objects.machine_metamodels import ROOTS, Shape, primitive


class Refused(Exception):
    """The change makes no sense; nothing has changed."""


class Thing:
    """An object. `values` holds lists for many, Things for references; what is not there is not set."""

    def __init__(self, number: int, kind: str) -> None:
        self.number = number
        self.kind = kind
        self.stored = False
        self.gone = False
        self.place: tuple[Thing, Feature] | None = None
        self.values: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"{self.kind}/{self.number}"


class World:
    """All objects there ever were, and the root that contains those without another container."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.root = Thing(-1, "")
        self.root.stored = True
        self.things: list[Thing] = []

    def create(self, kind: str) -> Thing:
        self.things.append(Thing(len(self.things), kind))
        return self.things[-1]

    def there(self) -> list[Thing]:
        return [thing for thing in self.things if not thing.gone]

    # reading

    def held(self, thing: Thing, feature: Feature) -> list[Any]:
        """All that a feature holds, of whichever sort it is."""
        if self.shape.container(feature):
            return [thing.place[0]] if thing.place and thing.place[1] == self.shape.opposite(feature) else []
        if feature.many:
            return list(thing.values.get(feature.name, []))
        value = thing.values.get(feature.name)
        return [] if value is None else [value]

    def children(self, thing: Thing) -> list[Thing]:
        features = [ROOTS] if thing is self.root else self.shape.features(thing.kind)
        return [child for feature in features if self.shape.containing(feature) for child in self.held(thing, feature)]

    def subtree(self, thing: Thing) -> Iterator[Thing]:
        yield thing
        for child in self.children(thing):
            yield from self.subtree(child)

    # attributes

    def set_value(self, thing: Thing, feature: Feature, value: Any, default: Any) -> None:
        """A value that is the default counts as not set, unless the feature can be unset."""
        if value is None and primitive(feature.type):
            raise Refused
        if not feature.unsettable and exact(value) == exact(default):
            thing.values.pop(feature.name, None)
        else:
            thing.values[feature.name] = value

    def unset_value(self, thing: Thing, feature: Feature) -> None:
        thing.values.pop(feature.name, None)

    # collections: how each change comes down to `arrange`

    def insert(self, thing: Thing, feature: Feature, new: list[Any], index: int | None = None) -> None:
        """What a unique collection holds already stays where it is."""
        before = self.held(thing, feature)
        if self.shape.distinct(feature):
            new = [value for at, value in enumerate(new) if not _among(value, before) and not _among(value, new[:at])]
        at = len(before) if index is None else index
        if new:
            self.arrange(thing, feature, [*before[:at], *new, *before[at:]])

    def arrange(self, thing: Thing, feature: Feature, after: list[Any]) -> None:
        """Let a collection hold exactly this."""
        before = self.held(thing, feature)
        if self.shape.distinct(feature) and any(_among(value, after[:at]) for at, value in enumerate(after)):
            raise Refused
        if feature.upper > 1 and len(after) > feature.upper:
            raise Refused
        gone = [value for value in before if not _among(value, after)]
        come = [value for value in after if not _among(value, before)]
        if self.shape.containing(feature):
            self._refuse_cycles(thing, come)
            for child in come:
                self._take(child)
            thing.values[feature.name] = after
            self._contain(thing, feature, come, gone)
        else:
            thing.values[feature.name] = after
            if isinstance(feature, Reference):
                self._mirror(thing, feature, gone, come)

    # single references

    def assign(self, thing: Thing, feature: Feature, target: Thing | None) -> None:
        if self.shape.container(feature):
            self._assign_container(thing, feature, target)
            return
        gone = self.held(thing, feature)
        come = [target] if target else []
        if gone == come:
            return
        if self.shape.containing(feature):
            self._refuse_cycles(thing, come)
            for child in come:
                self._take(child)
            thing.values[feature.name] = target
            self._contain(thing, feature, come, gone)
        else:
            thing.values[feature.name] = target
            self._mirror(thing, feature, gone, come)

    def _assign_container(self, child: Thing, feature: Feature, parent: Thing | None) -> None:
        holding = self.shape.opposite(feature)
        assert holding is not None
        if parent is None:
            for place in self.held(child, feature):
                self.out(place, holding, [child])
        elif holding.many:
            self.insert(parent, holding, [child])
        else:
            self.assign(parent, holding, child)

    # containment

    def out(self, parent: Thing, feature: Feature, children: list[Thing]) -> None:
        """Out of the container is out of the model."""
        for child in children:
            assert child.place == (parent, feature)
            self._take(child)
        self._unstore([child for child in children if child.stored])

    def delete(self, thing: Thing) -> None:
        """Gone with all it contains. Those that referred to it without an opposite are left with what is no more."""
        inside = list(self.subtree(thing))
        self._take(thing)
        for one in inside:
            for feature in self.shape.features(one.kind):
                if self.shape.mirrored(feature):
                    for target in self.held(one, feature):
                        self._drop(target, self.shape.opposite(feature), one)
        for one in inside:
            one.gone, one.stored, one.place = True, False, None

    def _refuse_cycles(self, parent: Thing, children: list[Thing]) -> None:
        if any(parent is inside for child in children for inside in self.subtree(child)):
            raise Refused

    def _take(self, child: Thing) -> None:
        if child.place is not None:
            self._drop(*child.place, child)
            child.place = None

    def _contain(self, parent: Thing, feature: Feature, come: list[Thing], gone: list[Thing]) -> None:
        """Children that come are stored if their container is, and those in their place leave."""
        for child in come:
            child.place = parent, feature
        if parent.stored:
            self._store([child for child in come if not child.stored])
        else:
            self._unstore([child for child in come if child.stored])
        for child in gone:
            child.place = None
        self._unstore([child for child in gone if child.stored])

    def _store(self, tops: list[Thing]) -> None:
        """What a transient object refers to knows of it from the moment it is stored."""
        new = [thing for top in tops for thing in self.subtree(top)]
        for thing in new:
            thing.stored = True
        for thing in new:
            for feature in self.shape.features(thing.kind):
                if self.shape.mirrored(feature):
                    self._mirror(thing, feature, [], self.held(thing, feature))

    def _unstore(self, tops: list[Thing]) -> None:
        """It keeps its references, but nobody outside knows of it any more."""
        left = [thing for top in tops for thing in self.subtree(top)]
        for thing in left:
            thing.stored = False
        for thing in left:
            for feature in self.shape.features(thing.kind):
                if self.shape.mirrored(feature):
                    for target in self.held(thing, feature):
                        if target not in left and target.stored:
                            self._drop(target, self.shape.opposite(feature), thing)

    # opposites

    def _mirror(self, thing: Thing, feature: Feature, gone: list[Thing], come: list[Thing]) -> None:
        opposite = self.shape.opposite(feature)
        if opposite is None:
            return
        for target in gone:
            self._drop(target, opposite, thing)
        for target in come:
            if target not in self.held(thing, feature) or (target.stored and not thing.stored):
                continue  # a stored object knows of a transient one only when that is stored
            if opposite.many:
                if thing not in self.held(target, opposite):
                    target.values[opposite.name] = [*self.held(target, opposite), thing]
                continue
            for partner in self.held(target, opposite):
                if partner is not thing:
                    self._drop(partner, feature, target)
            target.values[opposite.name] = thing

    def _drop(self, thing: Thing, feature: Feature | None, target: Thing) -> None:
        """Let a reference hold `target` no more, if it does."""
        assert feature is not None
        if feature.many:
            thing.values[feature.name] = [one for one in self.held(thing, feature) if one is not target]
        elif target in self.held(thing, feature):
            thing.values[feature.name] = None


def _among(value: Any, others: list[Any]) -> bool:
    if isinstance(value, Thing):
        return any(value is other for other in others)
    return any(exact(value) == exact(other) for other in others)
