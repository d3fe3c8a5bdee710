"""PyEcore as a second opinion on containers and opposites: the same metamodel, the same changes, the same ends.

PyEcore has no store, so an object that nothing contains is there all the same. To compare, either nothing is stored
yet, or everything is: what a change takes out of the model becomes a root at once. Orders are not compared: a list
that mirrors another gets its entry anew when an object comes back.
"""

from typing import Any

from hypothesis.stateful import invariant, precondition, rule
from pyecore import ecore

from neomodel.metamodel import Feature, Reference
from tests.objects.machine import ModelMachine
from tests.objects.machine_metamodels import ANY, ROOTS, Shape
from tests.objects.machine_reference import Thing, World


class Oracle:
    """The references of a package and the objects of a machine, as PyEcore has them."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.kinds = {name: ecore.EClass(name, abstract=found.abstract) for name, found in shape.classes.items()}
        self.objects: dict[Thing, Any] = {}
        for name, found in shape.classes.items():
            # most derived first: Python can't line up every order of super types that Ecore takes
            for above in sorted((above.name for above in found.supers), reverse=True):
                self.kinds[name].eSuperTypes.append(self.kinds[above])
            for feature in found.features:
                if isinstance(feature, Reference):
                    self.kinds[name].eStructuralFeatures.append(self._reference(feature))
        for found in shape.classes.values():
            for feature in found.features:
                opposite = shape.opposite(feature)
                if opposite is not None:
                    self._named(found.name, feature).eOpposite = self._named(feature.type.name, opposite)

    def _reference(self, feature: Reference) -> Any:
        type_ = ecore.EObject.eClass if feature.type == ANY else self.kinds[feature.type.name]
        # PyEcore's lists of non-unique features hold opposites twice; EMF's never do
        return ecore.EReference(
            feature.name,
            type_,
            upper=feature.upper,
            containment=feature.containment,
            unique=self.shape.distinct(feature),
        )

    def _named(self, kind: str, feature: Feature) -> Any:
        return self.kinds[kind].findEStructuralFeature(feature.name)

    def create(self, thing: Thing) -> None:
        self.objects[thing] = self.kinds[thing.kind]()

    def held(self, thing: Thing, feature: Feature) -> list[Any]:
        found = getattr(self.objects[thing], feature.name)
        return list(found) if feature.many else [] if found is None else [found]

    # changes, all of them as removing and adding one object

    def hold(self, thing: Thing, feature: Feature, after: list[Thing]) -> None:
        """Let a feature hold these."""
        wanted = [self.objects[target] for target in after]
        for target in self.held(thing, feature):
            if not any(target is one for one in wanted):
                self._remove(self.objects[thing], feature, target)
        for target in after:
            if not any(self.objects[target] is one for one in self.held(thing, feature)):
                self._add(thing, feature, target)

    def _remove(self, obj: Any, feature: Feature, target: Any) -> None:
        if feature.many:
            # of a list that is its own opposite PyEcore takes the object itself out twice, and misses it then
            itself = obj is target and self.shape.opposite(feature) is feature
            getattr(obj, feature.name).remove(target, update_opposite=not itself)
        else:
            setattr(obj, feature.name, None)

    def _add(self, thing: Thing, feature: Feature, target: Thing) -> None:
        opposite = self.shape.opposite(feature)
        if opposite is not None and not opposite.many:
            # PyEcore lets the former partner of what comes keep its end; EMF clears it
            setattr(self.objects[target], opposite.name, None)
        if self.shape.container(feature):
            # nor does it leave a container that holds by another feature, if told so from the child's side
            self.out(target=thing)
        if feature.many:
            getattr(self.objects[thing], feature.name).append(self.objects[target])
        else:
            setattr(self.objects[thing], feature.name, self.objects[target])

    def out(self, target: Thing) -> None:
        """Out of its container, as a root is."""
        obj = self.objects[target]
        if obj.eContainer() is not None:
            feature = obj.eContainmentFeature()
            if feature.many:
                getattr(obj.eContainer(), feature.name).remove(obj)
            else:
                setattr(obj.eContainer(), feature.name, None)

    # comparing

    def ends(self, world: World) -> dict[Any, Any]:
        """Container, and the two ends of every reference that has two, of every object."""
        numbers = {id(obj): thing.number for thing, obj in self.objects.items()}
        found: dict[Any, Any] = {}
        for thing in world.there():
            obj = self.objects[thing]
            place = obj.eContainer()
            found[thing.number] = place and (numbers[id(place)], obj.eContainmentFeature().name)
            for feature in self.shape.features(thing.kind):
                if self.shape.opposite(feature) is not None:
                    found[thing.number, feature.name] = {numbers[id(one)] for one in self.held(thing, feature)}
        return found


def ends(world: World) -> dict[Any, Any]:
    """As `Oracle.ends`, of the reference, which the model agrees with."""
    found: dict[Any, Any] = {}
    for thing in world.there():
        place = thing.place if thing.place and thing.place[0] is not world.root else None
        found[thing.number] = place and (place[0].number, place[1].name)
        for feature in world.shape.features(thing.kind):
            if world.shape.opposite(feature) is not None:
                found[thing.number, feature.name] = {one.number for one in world.held(thing, feature)}
    return found


class Watched(World):
    """A reference that has PyEcore make the same changes."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.oracle = Oracle(shape)
        self._within = False

    def create(self, kind: str) -> Thing:
        thing = super().create(kind)
        self.oracle.create(thing)
        return thing

    def arrange(self, thing: Thing, feature: Feature, after: list[Any]) -> None:
        super().arrange(thing, feature, after)
        if feature is ROOTS:
            for child in after:
                self.oracle.out(child)
        elif isinstance(feature, Reference) and not self._within:
            self.oracle.hold(thing, feature, [target for target in after if not target.gone])

    def assign(self, thing: Thing, feature: Feature, target: Thing | None) -> None:
        outermost, self._within = not self._within, True  # the child's side comes down to the container's
        try:
            super().assign(thing, feature, target)
        finally:
            self._within = not outermost
        if outermost:
            self.oracle.hold(thing, feature, [target] if target else [])

    def delete(self, thing: Thing) -> None:
        inside = list(self.subtree(thing))
        super().delete(thing)
        self.oracle.out(thing)
        for one in inside:
            for feature in self.shape.features(one.kind):
                if self.shape.mirrored(feature):
                    self.oracle.hold(one, feature, [])


class OracleMachine(ModelMachine):
    """The model machine, with all objects transient at first and, from some step on, all of them stored."""

    world: Watched

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.storing = False

    def new_world(self) -> World:
        return Watched(self.shape)

    def may_store(self) -> bool:
        return self.storing

    def tidy(self) -> None:
        if self.storing:
            tops = [thing for thing in self.world.there() if not thing.stored and thing.place is None]
            for top in tops[:1]:  # and then it is tidied again
                self.store(top)

    def editable(self, feature: Feature) -> bool:
        """No children: one that leaves within an edit loses its far ends there, and PyEcore keeps them."""
        return super().editable(feature) and not self.shape.containing(feature)

    @precondition(lambda self: not self.storing and len(self.world.there()) > 2)
    @rule()
    def store_all(self) -> None:
        self.storing = True
        self.tidy()

    @invariant()
    def as_pyecore(self) -> None:
        if hasattr(self, "model"):
            found, expected = ends(self.world), self.world.oracle.ends(self.world)
            assert found == expected, {key: (found[key], expected[key]) for key in found if found[key] != expected[key]}
