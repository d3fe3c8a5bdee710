"""Models at random of a metamodel, made through objects."""

import contextlib
from typing import Any

import attrs
from hypothesis import strategies as st

import neomodel as nm
from neomodel.metamodel import Attribute, Reference, TypeName
from tests.objects.machine_metamodels import Shape, attribute_values, shapes

URI = "http://random"


def values_for_xml(type_: TypeName) -> st.SearchStrategy[Any]:
    """Values of a data type; text without what XML 1.0 has no place for. Characters are written as numbers."""
    found = attribute_values(type_)
    return found if type_.name in ("EChar", "ECharacterObject") else found.map(_kept)


def _kept(value: Any) -> Any:
    return "".join(filter(_in_xml, value)) if isinstance(value, str) else value


def _in_xml(character: str) -> bool:
    code = ord(character)
    return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


@st.composite
def fillings(draw: Any, shape: Shape) -> list[dict[str, Any]]:
    """Objects: the class, where each may lie, and what its features may hold; others by numbers."""
    count = draw(st.integers(1, 9))
    found = []
    for number in range(count):
        kind = draw(st.sampled_from(shape.concrete))
        values = {}
        for feature in shape.features(kind):
            if feature.transient or feature.type.name.startswith("EFeatureMap") or not draw(st.booleans()):
                continue
            if isinstance(feature, Attribute):
                one = values_for_xml(feature.type)
                values[feature.name] = draw(st.lists(one, max_size=3) if feature.many else one)
            elif isinstance(feature, Reference) and not feature.containment:
                values[feature.name] = draw(st.lists(st.integers(0, count - 1), max_size=3, min_size=1))
        place = draw(st.integers(-1, number - 1)), draw(st.integers(0, 5))
        found.append({"kind": kind, "values": values, "place": place})
    return found


@attrs.frozen
class Filled:
    """A metamodel, and objects of it: see `fillings`."""

    shape: Shape
    filling: list[dict[str, Any]]


filled = shapes(URI).flatmap(lambda shape: st.builds(Filled, st.just(shape), fillings(shape)))


def fill(model: nm.Model, package: Any, filled: Filled) -> None:
    """Make the objects. What the metamodel does not allow is left out."""
    shape, filling = filled.shape, filled.filling
    objects = [getattr(package, one["kind"])() for one in filling]
    for obj, one in zip(objects, filling, strict=True):
        above, choice = one["place"]
        features = [] if above < 0 else _containing(shape, filling[above]["kind"], one["kind"])
        if features:
            feature = features[choice % len(features)]
            with contextlib.suppress(nm.InvalidValue):
                if feature.many:
                    getattr(objects[above], feature.name).append(obj)
                elif getattr(objects[above], feature.name) is None:
                    setattr(objects[above], feature.name, obj)
        if obj.eContainer() is None:
            model.roots.append(obj)
        for name, value in one["values"].items():
            held = obj.eClass.feature(name)
            if held.reference:
                continue
            with contextlib.suppress(nm.InvalidValue):
                setattr(obj, name, value)
    for obj, one in zip(objects, filling, strict=True):
        for name, numbers in one["values"].items():
            held = obj.eClass.feature(name)
            if not held.reference or held.container:
                continue
            for number in numbers:
                if objects[number].eResource is None or not shape.fits(filling[number]["kind"], held.value):
                    continue
                with contextlib.suppress(nm.InvalidValue):
                    if held.many:
                        getattr(obj, name).append(objects[number])
                    else:
                        setattr(obj, name, objects[number])


def _containing(shape: Shape, above: str, below: str) -> list[Reference]:
    features = shape.features(above)
    return [f for f in features if isinstance(f, Reference) and f.containment and shape.fits(below, f)]
