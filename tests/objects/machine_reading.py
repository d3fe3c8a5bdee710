"""All that can be read of a model, and all that the reference says of it, in a form that compares.

Objects are told by their numbers. A fact is a key of object and feature, or of object and what is asked of it.
"""

import enum
from collections.abc import Callable, Iterator
from typing import Any

import neomodel as nm
from neomodel.metamodel import Attribute, Feature, Reference
from tests.codecs.values import exact
from tests.objects.machine_metamodels import Shape
from tests.objects.machine_reference import Thing, World


def same(value: Any) -> Any:
    """Equal for the same values only. Every connection has Python enums of its own, so of their members the names."""
    if isinstance(value, list):
        return [same(one) for one in value]
    return value.name if isinstance(value, enum.Enum) else exact(value)


Facts = dict[tuple[int, str], Any]


def facts(world: World, default: Callable[[Feature], Any], *, stored: bool = False) -> Facts:
    """What the reference says, of all objects or of the stored ones alone, as another connection sees them."""
    found: Facts = {(-1, "roots"): [child.number for child in world.children(world.root)]}
    for thing in world.there():
        if stored and not thing.stored:
            continue
        place = thing.place if thing.place and thing.place[0] is not world.root else None
        found[thing.number, "eClass"] = thing.kind
        found[thing.number, "eContainer"] = place and (place[0].number, place[1].name)
        found[thing.number, "eContents"] = [child.number for child in world.children(thing)]
        found[thing.number, "stored"] = thing.stored
        for feature in world.shape.features(thing.kind):
            if stored and feature.transient:
                continue
            held = world.held(thing, feature)
            if isinstance(feature, Reference):
                held = [target.number for target in held]
                value = held if feature.many else (held or [None])[0]
            else:
                value = same(held if feature.many else thing.values.get(feature.name, default(feature)))
                if not feature.many:
                    found[thing.number, f"is {feature.name} set"] = feature.name in thing.values
            found[thing.number, feature.name] = value
    return found


class Reading:
    """Reads a model. `live` are the objects somebody holds; the others are asked of the model by their ids."""

    def __init__(self, shape: Shape, model: nm.Model, live: dict[Thing, nm.Element], oids: dict[Thing, str]) -> None:
        self.shape, self.model, self.live, self.oids = shape, model, live, oids
        self._by_identity = {id(element): thing.number for thing, element in live.items()}
        self._by_oid = {oid: thing.number for thing, oid in oids.items()}

    def facts(self, world: World) -> Facts:
        return self._facts(world.there(), transient=True)

    def stored_facts(self, things: list[Thing]) -> Facts:
        """Of objects that are stored in this model, whatever became of them since."""
        return self._facts(things, transient=False)

    def _facts(self, things: list[Thing], *, transient: bool) -> Facts:
        found: Facts = {(-1, "roots"): self._numbers(self.model.roots)}
        assert len(self.model.roots) == len(found[-1, "roots"])
        for thing in things:
            element = self.live.get(thing)
            if thing.stored or not transient:
                kept = element
                element = self.model[self.oids[thing]]
                assert kept is None or kept is element, "two objects of one id"
            assert element is not None
            found |= self._of(element, thing, transient=transient)
        return found

    def _of(self, element: nm.Element, thing: Thing, *, transient: bool) -> Facts:
        number = thing.number
        container, feature = element.eContainer(), element.eContainmentFeature()
        assert (container is None) == (feature is None)
        found: Facts = {
            (number, "eClass"): element.eClass.name,
            (number, "eContainer"): container and feature and (self._number(container), feature.name),
            (number, "eContents"): self._numbers(element.eContents),
            (number, "stored"): element.eResource is self.model,
        }
        assert container is None or any(child is element for child in container.eContents)
        for one in self.shape.features(thing.kind):
            if transient or not one.transient:
                found[number, one.name] = self._value(getattr(element, one.name), one)
                if isinstance(one, Attribute) and not one.many:
                    found[number, f"is {one.name} set"] = element.eIsSet(one.name)
                elif one.many:
                    assert element.eIsSet(one.name) == bool(found[number, one.name])
                    assert len(getattr(element, one.name)) == len(found[number, one.name])
        return found

    def _value(self, value: Any, feature: Feature) -> Any:
        if isinstance(feature, Reference):
            return self._numbers(value) if feature.many else None if value is None else self._number(value)
        return same(list(value) if feature.many else value)

    def _numbers(self, elements: Any) -> list[int]:
        return [self._number(element) for element in elements]

    def _number(self, element: nm.Element) -> int:
        known = self._by_identity.get(id(element))
        return known if known is not None else self._by_oid[nm.oid(element) or "none"]


def faults(shape: Shape, found: Facts) -> Iterator[str]:
    """What no model may be, whatever was done to it: told of what was read, without the reference."""
    numbers = {number for number, what in found if what == "eClass"}
    for number in numbers:
        holders = [one for one in numbers if number in found[one, "eContents"]]
        place = found[number, "eContainer"]
        if ([place[0]] if place else []) != holders:
            yield f"{number} lies in {place}, but is held by {holders}"
        above = _above(number, found)
        if number in above:
            yield f"{number} contains itself, by way of {above}"
        for feature in shape.features(found[number, "eClass"]):
            opposite = shape.opposite(feature)
            for target in _many(found[number, feature.name]) if opposite else ():
                both_stored = found[number, "stored"] and found[target, "stored"]
                if opposite and both_stored and number not in _many(found[target, opposite.name]):
                    yield f"{number} has {target} as {feature.name}, but not that {number} as {opposite.name}"


def _above(number: int, found: Facts) -> list[int]:
    above: list[int] = []
    place = found[number, "eContainer"]
    while place and place[0] not in above:
        above.append(place[0])
        place = found[place[0], "eContainer"]
    return above


def _many(value: Any) -> list[int]:
    return value if isinstance(value, list) else [] if value is None else [value]
