"""Packages that make sense, of every shape there is, for Hypothesis."""

from typing import Any

import attrs
from hypothesis import strategies as st

from neomodel.metamodel import (
    ECORE,
    Annotation,
    Attribute,
    Class,
    DataType,
    Enum,
    Literal,
    Package,
    Reference,
    Timeline,
    TypeName,
)
from neomodel.xmltype import XML_TYPE

flags = st.booleans()
texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
    | st.sampled_from("\t\n\r &<>\"'%/#"),
    max_size=6,
)
names = texts.filter(bool)
perhaps = st.none() | texts
PLAIN = [TypeName(ECORE, "EString"), TypeName(ECORE, "EInt"), TypeName(XML_TYPE, "Token")]


def annotation(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    details = st.lists(st.tuples(texts, texts), max_size=2)
    return st.builds(Annotation, source=texts, details=details.map(tuple), annotations=below)


annotations = st.lists(annotation(st.lists(annotation(st.just([])), max_size=1)), max_size=1)


@st.composite
def packages(draw: st.DrawFn) -> Package:
    """A package, with one below it now and then; its classes refer to one another and to the other package's."""
    uris = draw(st.lists(names, min_size=2, max_size=2, unique=True))
    below = draw(st.booleans())
    kinds = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    values = draw(
        st.lists(names, max_size=2, unique=True).map(lambda found: [one for one in found if one not in kinds])
    )
    types = [TypeName(uri, name) for uri in uris[: 1 + below] for name in kinds]
    plain = [*PLAIN, *(TypeName(uri, name) for uri in uris[: 1 + below] for name in values)]
    made = [_package(draw, uri, kinds, values, types, plain) for uri in uris[: 1 + below]]
    inside = [attrs.evolve(one, name=draw(names)) for one in made[1:]]
    return attrs.evolve(_with_opposites(draw, made[0]), packages=inside)


def _package(
    draw: st.DrawFn, uri: str, kinds: list[str], values: list[str], types: list[TypeName], plain: list[TypeName]
) -> Package:
    classes = []
    for number, name in enumerate(kinds):
        above = [TypeName(uri, kind) for kind in kinds[:number]]  # so there is no circle
        classes.append(_class(draw, name, above, types, plain))
    others = [draw(st.one_of(_enums(name), _data_types(name))) for name in values]
    mixed = draw(st.permutations([*classes, *others]))
    return Package(draw(names), uri, ns_prefix=draw(texts), classifiers=mixed, annotations=draw(annotations))


def _class(draw: st.DrawFn, name: str, above: list[TypeName], types: list[TypeName], plain: list[TypeName]) -> Class:
    own = [f"{len(above)}{feature}" for feature in draw(st.lists(names, max_size=3, unique=True))]  # none is inherited
    features = [
        draw(st.one_of(_attributes(one, plain), _references(one, types), _timelines(one, plain))) for one in own
    ]
    keys = [one.name for one in features if isinstance(one, Attribute) and not one.many and _stored(one)]
    return Class(
        name,
        features=features,
        supers=draw(st.lists(st.sampled_from(above), max_size=2, unique=True)) if above else [],
        abstract=draw(flags),
        interface=draw(flags),
        key=draw(st.lists(st.sampled_from(keys), max_size=2, unique=True)) if keys else [],
        instance_class=draw(perhaps),
        annotations=draw(annotations),
    )


def _stored(feature: Attribute) -> bool:
    return not (feature.volatile or feature.transient or feature.derived)


_MARKS = dict.fromkeys(["ordered", "unique", "changeable", "volatile", "transient", "unsettable", "derived"], flags)
_BOUNDS = st.sampled_from([(0, 1), (1, 1), (0, -1), (2, -2), (2, 5)])


def _bounded(found: Any, bounds: tuple[int, int]) -> Any:
    lower, upper = bounds
    default = None if upper != 1 else found.default
    return attrs.evolve(found, lower=lower, upper=upper, default=default)


def _attributes(name: str, plain: list[TypeName]) -> st.SearchStrategy[Any]:
    made = st.one_of(
        st.builds(Attribute, st.just(name), st.sampled_from(plain), **_MARKS, annotations=annotations),
        st.builds(Attribute, st.just(name), st.just(PLAIN[0]), **_MARKS, default=perhaps),
    )
    return st.builds(_bounded, made, _BOUNDS)


def _references(name: str, types: list[TypeName]) -> st.SearchStrategy[Any]:
    made = st.builds(
        Reference,
        st.just(name),
        st.sampled_from([*types, TypeName(ECORE, "EObject")]),
        **_MARKS,
        containment=flags,
        resolve_proxies=flags,
        annotations=annotations,
    )
    return st.builds(_bounded, made, _BOUNDS)


def _timelines(name: str, plain: list[TypeName]) -> st.SearchStrategy[Any]:
    return st.builds(Timeline, st.just(name), st.sampled_from(plain), annotations=annotations)


def _enums(name: str) -> st.SearchStrategy[Any]:
    literals = st.lists(names, min_size=1, max_size=3, unique=True).flatmap(
        lambda found: st.tuples(
            *(
                st.builds(
                    Literal,
                    st.just(one),
                    st.integers(-9, 9),
                    text=st.sampled_from([one, f"{number}."]),
                    annotations=annotations,
                )
                for number, one in enumerate(found)
            )
        )
    )
    distinct = literals.filter(lambda found: len({one.text for one in found}) == len(found))
    return st.builds(Enum, st.just(name), literals=distinct, instance_class=perhaps, annotations=annotations)


def _data_types(name: str) -> st.SearchStrategy[Any]:
    return st.builds(DataType, st.just(name), instance_class=perhaps, serializable=flags, annotations=annotations)


def _with_opposites(draw: st.DrawFn, package: Package) -> Package:
    """The package with two references more, each the other's opposite."""
    classes = [found for found in package.classifiers if isinstance(found, Class)]
    left, right = draw(st.sampled_from(classes)), draw(st.sampled_from(classes))
    one, other = TypeName(package.ns_uri, left.name), TypeName(package.ns_uri, right.name)
    containment = draw(flags)
    added = [
        (left, Reference("left-end", other, upper=-1, opposite="right-end", containment=containment)),
        (
            right,
            Reference(
                "right-end", one, opposite="left-end", upper=1 if containment else draw(st.sampled_from([1, -1]))
            ),
        ),
    ]
    for class_, feature in added:
        classifiers = [
            attrs.evolve(found, features=(*found.features, feature)) if found.name == class_.name else found
            for found in package.classifiers
        ]
        package = attrs.evolve(package, classifiers=classifiers)
    return package
