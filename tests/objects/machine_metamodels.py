"""Metamodels at random, and what they say, read from their values alone.

Names of features are used once in a package, so that inheritance never brings two of one name together.
"""

from typing import Any

import attrs
from hypothesis import strategies as st

from neomodel.codecs import NAMES
from neomodel.metamodel import ECORE, MANY, Attribute, Class, Enum, Feature, Literal, Package, Reference, TypeName
from tests.codecs.values import named, values

ENUM = "Colour"
LITERALS = ("red", "green", "mro")
ANY = TypeName(ECORE, "EObject")
ROOTS = Reference("roots", ANY, containment=True, upper=MANY)
"""The roots of a model, seen as the feature that contains them."""

_many = st.sampled_from([1, 1, MANY, MANY, 3])


def attribute_values(type_: TypeName) -> st.SearchStrategy[Any]:
    """Values of a data type; of an enum, the names of its literals."""
    return st.sampled_from(LITERALS) if type_.ns_uri != ECORE else values(type_.name)


def primitive(type_: TypeName) -> bool:
    return type_.ns_uri == ECORE and named(type_.name).primitive


@st.composite
def _attributes(draw: Any, name: str, uri: str) -> Attribute:
    type_ = draw(st.sampled_from([TypeName(uri, ENUM), *(TypeName(ECORE, name) for name in NAMES)]))
    upper = draw(_many)
    default = None
    if upper == 1 and draw(st.booleans()):
        default = draw(attribute_values(type_))
        default = default if type_.ns_uri == uri else named(type_.name).to_text(default)
    return Attribute(
        name,
        type_,
        upper=upper,
        unique=draw(st.booleans()),
        unsettable=draw(st.booleans()),
        transient=draw(st.sampled_from([False, False, False, True])),
        default=default,
    )


@st.composite
def _references(draw: Any, names: tuple[str, str], classes: list[str], uri: str) -> list[tuple[str, Reference]]:
    """A reference of some class and, if it has one, its opposite; each with the class that declares it."""
    source, target = (draw(st.sampled_from(classes)) for _ in range(2))
    near, far = names
    made = Reference(
        near,
        TypeName(uri, target),
        upper=draw(_many),
        unique=draw(st.sampled_from([True, True, False])),
        unsettable=draw(st.sampled_from([False, False, True])),
        containment=draw(st.booleans()),
    )
    sort = draw(st.sampled_from(["alone", "anything", "opposite", "opposite", "itself"]))
    if sort == "itself" and not made.containment:
        return [(source, attrs.evolve(made, type=TypeName(uri, source), opposite=near, upper=_open(made.upper)))]
    if sort != "opposite":
        return [(source, attrs.evolve(made, type=ANY) if sort == "anything" else made)]
    back = Reference(far, TypeName(uri, source), opposite=near, upper=1 if made.containment else draw(_many))
    if not made.containment:  # what mirrors can't be refused for want of room
        made, back = (attrs.evolve(one, upper=_open(one.upper)) for one in (made, back))
    return [(source, attrs.evolve(made, opposite=far)), (target, back)]


def _open(upper: int) -> int:
    return 1 if upper == 1 else MANY


@st.composite
def packages(draw: Any, uri: str) -> Package:
    """A sound package of that namespace: two to four classes of which the last is concrete, and an enum."""
    names = [f"C{number}" for number in range(draw(st.integers(2, 4)))]
    features: dict[str, list[Feature]] = {name: [] for name in names}
    for number in range(draw(st.integers(0, 4))):
        features[draw(st.sampled_from(names))].append(draw(_attributes(f"a{number}", uri)))
    for number in range(draw(st.integers(1, 6))):
        for owner, made in draw(_references((f"r{number}", f"o{number}"), names, uri)):
            features[owner].append(made)
    classes = [
        Class(
            name,
            features=features[name],
            supers=[
                TypeName(uri, above)
                for above in draw(st.lists(st.sampled_from(names[:at]), unique=True, max_size=2) if at else st.just([]))
            ],
            abstract=name != names[-1] and draw(st.sampled_from([False, False, True])),
        )
        for at, name in enumerate(names)
    ]
    colours = Enum(ENUM, literals=[Literal(name, at) for at, name in enumerate(LITERALS)])
    return Package("p", uri, classifiers=[*classes, colours])


def _shown(feature: Feature) -> str:
    told = [field.name for field in attrs.fields(type(feature))[2:] if getattr(feature, field.name) != field.default]
    more = ", ".join(f"{name}={getattr(feature, name)!r}" for name in told if name not in ("annotations", "keys"))
    return f"{feature.name}: {feature.type.name} {more}"


class Shape:
    """What a package says, looked up by name."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.classes = {found.name: found for found in package.classifiers if isinstance(found, Class)}
        self.concrete = [name for name, found in self.classes.items() if not found.abstract]
        self._named = {feature.name: feature for found in self.classes.values() for feature in found.features}

    def __repr__(self) -> str:
        """The package in short: Hypothesis shows it with a failing example."""
        lines = [f"{found.name} {[above.name for above in found.supers]}" for found in self.classes.values()]
        for at, found in enumerate(self.classes.values()):
            lines[at] += " abstract" if found.abstract else ""
            lines[at] += "".join(f"\n    {_shown(feature)}" for feature in found.features)
        return "\n".join(lines)

    def features(self, kind: str) -> list[Feature]:
        """All features of a class, inherited ones first, each once."""
        found = self.classes[kind]
        inherited = [feature for above in found.supers for feature in self.features(above.name)]
        return list(dict.fromkeys([*inherited, *found.features]))

    def above(self, kind: str) -> set[str]:
        """The class and all its super types."""
        return {kind}.union(*(self.above(found.name) for found in self.classes[kind].supers))

    def fits(self, kind: str, feature: Feature) -> bool:
        """Whether a reference takes objects of that class."""
        return feature.type == ANY or feature.type.name in self.above(kind)

    def opposite(self, feature: Feature) -> Reference | None:
        found = self._named[feature.opposite] if isinstance(feature, Reference) and feature.opposite else None
        assert found is None or isinstance(found, Reference)
        return found

    def containing(self, feature: Feature) -> bool:
        return isinstance(feature, Reference) and feature.containment

    def container(self, feature: Feature) -> bool:
        """Whether it is the child's side of a containment."""
        opposite = self.opposite(feature)
        return opposite is not None and opposite.containment

    def mirrored(self, feature: Feature) -> bool:
        """Whether it has an opposite and neither contains nor names a container."""
        return self.opposite(feature) is not None and not self.containing(feature) and not self.container(feature)

    def distinct(self, feature: Feature) -> bool:
        """Whether no value may be there twice. With EMF lists of children and of opposites are so in any case."""
        return feature.unique or self.containing(feature) or self.opposite(feature) is not None


@st.composite
def shapes(draw: Any, uri: str) -> Shape:
    return Shape(draw(packages(uri)))
