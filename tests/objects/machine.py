"""The model machine: random edits of random models, each made of stored objects and of the reference, then compared.

After every step all that can be read is read, of every object there is, and has to be as the reference has it.
"""

import gc
import uuid
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import neomodel as nm
from neomodel.metamodel import ECORE, Attribute, Feature, Reference
from tests.codecs.values import named
from tests.objects.machine_lists import list_change
from tests.objects.machine_metamodels import ROOTS, attribute_values, shapes
from tests.objects.machine_reading import Facts, Reading, facts, faults
from tests.objects.machine_reference import Refused, Thing, World

MOST = 9  # objects in a model

Change = tuple[Callable[[], Any], Callable[[], Any]]
"""The same change of the model and of the reference."""


class ModelMachine(RuleBasedStateMachine):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        self.name = f"machine-{uuid.uuid4().hex}"
        self.live: dict[Thing, nm.Element] = {}
        """Objects that the application holds: all that are transient, and of the stored ones some."""
        self.oids: dict[Thing, str] = {}
        self.past: list[tuple[int, list[Thing], Facts]] = []
        """What was stored at the times that were the present: which objects, and what the reference said of them."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.shape = data.draw(shapes(f"http://{self.name}"))
        self.world = self.new_world()
        self.repository = nm.connect(self.url)
        self.package = self.repository.register(self.shape.package)
        self.model = self.repository.create(self.name)
        for _ in range(data.draw(st.integers(0, 4))):
            self.create_one(data, stored=data.draw(st.booleans()))

    def new_world(self) -> World:
        return World(self.shape)

    def may_store(self) -> bool:
        return True

    def tidy(self) -> None:
        """Called after every change."""

    # both sides

    def element(self, thing: Thing) -> nm.Element:
        found = self.live.get(thing)
        return found if found is not None else self.model[self.oids[thing]]

    def given(self, value: Any) -> Any:
        """A value of the reference as one of the model."""
        return self.element(value) if isinstance(value, Thing) else value

    def collection(self, thing: Thing, feature: Feature) -> Any:
        return self.model.roots if feature is ROOTS else getattr(self.element(thing), feature.name)

    def apply(self, *changes: Change) -> None:
        """Make changes on both sides; what the reference refuses the model has to refuse too."""
        elements = {thing: self.element(thing) for thing in self.world.there()}  # none that leaves may be lost
        for change, expected in changes:
            self.compare_refusals(change, expected)
        self.remember(elements)
        self.tidy()

    def compare_refusals(self, change: Callable[[], Any], expected: Callable[[], Any]) -> None:
        refused = raised = None
        try:
            expected()
        except Refused as found:
            refused = found
        try:
            change()
        except nm.InvalidValue as found:
            raised = found
            if refused is None:
                raise
        assert (raised is None) == (refused is None), "the model takes what makes no sense"

    def remember(self, elements: dict[Thing, nm.Element]) -> None:
        for thing, element in elements.items():
            if thing.gone:
                self.live.pop(thing, None)
                continue
            if self.only_in_memory(thing):
                self.live[thing] = element
            if oid := nm.oid(element):
                self.oids[thing] = oid

    def only_in_memory(self, thing: Thing) -> bool:
        """Whether there is something of it that lives no longer than its Python object."""
        features = self.shape.features(thing.kind)
        return not thing.stored or any(feature.transient and feature.name in thing.values for feature in features)

    # what a change can be

    def pick(self, data: st.DataObject, wanted: Callable[[Feature], bool], things: list[Thing]) -> Any:
        """An object, and a feature of it that is wanted; None if there is none."""
        pairs = [(thing, feature) for thing in things for feature in self.shape.features(thing.kind) if wanted(feature)]
        named = {f"{thing}.{feature.name}": (thing, feature) for thing, feature in pairs}
        return named[data.draw(st.sampled_from(list(named)))] if named else None

    def pool(self, feature: Feature) -> list[Thing]:
        return [thing for thing in self.world.there() if self.shape.fits(thing.kind, feature)]

    def values(self, feature: Feature) -> st.SearchStrategy[Any]:
        if isinstance(feature, Reference):
            return st.sampled_from(self.pool(feature))
        found = attribute_values(feature.type)
        return found if feature.type.ns_uri == ECORE else found.map(self.literal)

    def literal(self, name: str) -> Any:
        return self.package.getEClassifier("Colour").members[name]

    def default(self, feature: Feature) -> Any:
        if feature.type.ns_uri != ECORE:
            return self.literal(feature.default or "red")
        codec = named(feature.type.name)
        return codec.default if feature.default is None else codec.from_text(feature.default)

    def value_change(self, data: st.DataObject, thing: Thing, feature: Feature) -> Change:
        element = self.element(thing)
        sort = data.draw(st.sampled_from(["set", "set", "default", "none", "unset"]))
        if sort == "unset":
            return lambda: element.eUnset(feature.name), lambda: self.world.unset_value(thing, feature)
        default = self.default(feature)
        value = {"set": data.draw(self.values(feature)), "default": default, "none": None}[sort]
        return (
            lambda: setattr(element, feature.name, value),
            lambda: self.world.set_value(thing, feature, value, default),
        )

    def reference_change(self, data: st.DataObject, thing: Thing, feature: Feature) -> Change:
        target = data.draw(st.sampled_from([None, *self.pool(feature)]))
        element, value = self.element(thing), self.given(target)
        unset = target is None and data.draw(st.booleans())
        return (
            lambda: element.eUnset(feature.name) if unset else setattr(element, feature.name, value),
            lambda: self.world.assign(thing, feature, target),
        )

    def a_change(self, data: st.DataObject, thing: Thing, feature: Feature) -> Change | None:
        if feature.many:
            return list_change(self, data, thing, feature)
        if isinstance(feature, Attribute):
            return self.value_change(data, thing, feature)
        return self.reference_change(data, thing, feature)

    def change(self, data: st.DataObject, wanted: Callable[[Feature], bool]) -> None:
        if picked := self.pick(data, wanted, self.world.there()):
            made = self.a_change(data, *picked)
            if made:
                self.apply(made)

    # rules

    @precondition(lambda self: len(self.world.there()) < MOST)
    @rule(data=st.data(), stored=st.sampled_from([True, True, False]))
    def create(self, data: st.DataObject, stored: bool) -> None:
        self.create_one(data, stored=stored)

    def create_one(self, data: st.DataObject, *, stored: bool) -> None:
        kind = data.draw(st.sampled_from(self.shape.concrete))
        thing = self.world.create(kind)
        self.live[thing] = getattr(self.package, kind)()
        if stored and self.may_store():
            self.store(thing)
        self.tidy()

    def store(self, thing: Thing) -> None:
        """Make it a root."""
        element = self.element(thing)
        self.apply(
            (lambda: self.model.roots.append(element), lambda: self.world.insert(self.world.root, ROOTS, [thing]))
        )

    @rule(data=st.data())
    def change_attribute(self, data: st.DataObject) -> None:
        self.change(data, lambda feature: isinstance(feature, Attribute))

    @rule(data=st.data())
    def change_reference(self, data: st.DataObject) -> None:
        self.change(data, lambda feature: isinstance(feature, Reference) and not self.shape.containing(feature))

    @rule(data=st.data())
    def change_children(self, data: st.DataObject) -> None:
        self.change(data, self.shape.containing)

    @rule(data=st.data())
    def change_opposites(self, data: st.DataObject) -> None:
        self.change(data, lambda feature: self.shape.opposite(feature) is not None)

    @precondition(lambda self: self.world.there() and self.may_store())
    @rule(data=st.data())
    def change_roots(self, data: st.DataObject) -> None:
        made = list_change(self, data, self.world.root, ROOTS)
        if made:
            self.apply(made)

    @precondition(lambda self: self.world.there())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        thing = data.draw(st.sampled_from(self.world.there()))
        inside = list(self.world.subtree(thing))
        outside = [one for one in self.world.there() if not one.stored and one not in inside]
        if any(target in inside for one in outside for target in self.references(one)):
            return  # what a transient object refers to is not deleted: it could not be stored any more
        element, count = self.element(thing), len(inside)

        def change() -> None:
            assert nm.delete(element).objects == count

        self.apply((change, lambda: self.world.delete(thing)))

    def references(self, thing: Thing) -> list[Thing]:
        found = [feature for feature in self.shape.features(thing.kind) if isinstance(feature, Reference)]
        return [target for feature in found for target in self.world.held(thing, feature)]

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        stored = [thing for thing in self.world.there() if thing.stored]
        picked = self.pick(data, self.editable, stored)
        if picked:
            thing = picked[0]
            elements = {thing: self.element(thing) for thing in self.world.there()}
            places, mirrored = {one: one.place for one in elements}, False
            with nm.edit(elements[thing]):
                for _ in range(data.draw(st.integers(1, 3))):
                    _, feature = self.pick(data, self.editable, [thing])
                    # What is given and taken back within an edit stays what it was: it loses no container, no partner.
                    if mirrored if self.shape.mirrored(feature) else self.took(feature, thing, places):
                        continue
                    mirrored = mirrored or self.shape.mirrored(feature)
                    made = self.a_change(data, thing, feature)
                    if made:
                        self.compare_refusals(*made)
            self.remember(elements)
            self.tidy()

    def took(self, feature: Feature, thing: Thing, places: dict[Thing, Any]) -> bool:
        """Whether the feature may hold a child that was not in this container before."""
        former = [places[child] for child in self.world.children(thing)] if self.shape.containing(feature) else []
        return any(place is None or place[0] is not thing for place in former)

    def editable(self, feature: Feature) -> bool:
        return not self.shape.container(feature)

    @rule(data=st.data())
    def let_go(self, data: st.DataObject) -> None:
        """What the application drops can be collected, unless a transient object refers to it."""
        stored = [thing for thing in self.live if not self.only_in_memory(thing)]
        dropped = data.draw(st.sets(st.sampled_from(stored))) if stored else set()
        for thing in dropped:
            del self.live[thing]
        gc.collect()
        if all(thing.stored for thing in self.live):
            assert not [thing for thing in dropped if self.oids[thing] in self.model.live]

    @precondition(lambda self: any(thing.stored for thing in self.world.things))
    @rule(data=st.data())
    def compete(self, data: st.DataObject) -> None:
        """An edit that another connection overtakes raises `Conflict` and changes nothing."""
        stored = [thing for thing in self.world.there() if thing.stored]
        picked = self.pick(data, lambda f: isinstance(f, Attribute) and not f.many and not f.transient, stored)
        if not picked:
            return
        thing, feature = picked
        mine, theirs = (data.draw(self.values(feature)) for _ in range(2))
        element = self.element(thing)
        with nm.connect(self.url) as other:
            try:
                with nm.edit(element):
                    setattr(element, feature.name, mine)
                    setattr(other.open(self.name)[self.oids[thing]], feature.name, self.theirs(other, feature, theirs))
                raise AssertionError("the edit was written over another")
            except nm.Conflict:
                self.world.set_value(thing, feature, theirs, self.default(feature))

    def theirs(self, other: nm.Repository, feature: Feature, value: Any) -> Any:
        if feature.type.ns_uri == ECORE:
            return value
        return other.metamodel(self.package.nsURI).getEClassifier("Colour").members[value.name.rstrip("_")]

    @rule()
    def open_elsewhere(self) -> None:
        """Another connection reads the same."""
        with nm.connect(self.url) as other:
            reading = Reading(self.shape, other.open(self.name), {}, self.oids)
            found, expected = reading.stored_facts(self.stored()), facts(self.world, self.default, stored=True)
            assert found == expected, _difference(found, expected)

    @precondition(lambda self: self.past)
    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        """A time that was the present reads as it did then."""
        self.read_past(data.draw(st.integers(0, len(self.past) - 1)))

    def read_past(self, number: int) -> None:
        at, things, expected = self.past[number]
        with nm.connect(self.url) as other:
            snapshot = other.open(self.name, as_of=at, unstable=True)  # so far as nobody but us writes, it is complete
            found = Reading(self.shape, snapshot, {}, self.oids).stored_facts(things)
            assert found == expected, _difference(found, expected)

    @invariant()
    def as_the_reference(self) -> None:
        if not hasattr(self, "model"):
            return
        reading = Reading(self.shape, self.model, self.live, self.oids)
        found = reading.facts(self.world)
        expected = facts(self.world, self.default)
        assert found == expected, _difference(found, expected)
        assert list(faults(self.shape, found)) == []
        self.past.append((self.model.table.now(), self.stored(), facts(self.world, self.default, stored=True)))

    def stored(self) -> list[Thing]:
        return [thing for thing in self.world.there() if thing.stored]

    def teardown(self) -> None:
        if hasattr(self, "model"):
            self.open_elsewhere()
            wrong = [finding for finding in nm.check(self.model).findings if finding.kind != "dangling"]
            assert wrong == []
            for number in range(0, len(self.past), 7):
                self.read_past(number)
            self.repository.drop(self.name)
            self.repository.close()


def _difference(found: Facts, expected: Facts) -> dict[Any, Any]:
    """What was read where something else was expected."""
    keys = [key for key in {**found, **expected} if found.get(key) != expected.get(key)]
    return {key: f"{found.get(key)}, expected {expected.get(key)}" for key in keys}
