"""Packages of every shape there is, sound or not, for Hypothesis."""

from typing import Any

import attrs
from hypothesis import strategies as st

from neomodel.metamodel import (
    Annotation,
    Attribute,
    Class,
    DataType,
    Enum,
    Feature,
    Literal,
    Package,
    Reference,
    Timeline,
    TypeName,
)

names = st.one_of(st.sampled_from(["", "a", "b", "name", "is"]), st.text(max_size=5))
flags = st.booleans()
perhaps = st.none() | names
bounds = st.integers(-3, 3)


def several(one: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[list[Any]]:
    return st.lists(one, max_size=most)


def made(class_: Any, **strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of the class, any field that has a default now given, now left to it. No field may be forgotten here."""
    fields = attrs.fields_dict(class_)
    assert strategies.keys() == fields.keys(), f"{class_.__name__}: {strategies.keys() ^ fields.keys()}"
    needed = {name: strategy for name, strategy in strategies.items() if fields[name].default is attrs.NOTHING}
    optional = {name: strategy for name, strategy in strategies.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=optional).map(lambda given: class_(**given))


def annotation(annotations: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return made(Annotation, source=names, details=several(st.tuples(names, names), 3), annotations=annotations)


annotations = several(
    st.recursive(annotation(st.just([])), lambda below: annotation(several(below)), max_leaves=3),
    1,
)
type_names = made(TypeName, ns_uri=names, name=names)

_feature: dict[str, st.SearchStrategy[Any]] = {
    "name": names,
    "type": type_names,
    "lower": bounds,
    "upper": bounds,
    **dict.fromkeys(["ordered", "unique", "changeable", "volatile", "transient", "unsettable", "derived"], flags),
    "default": perhaps,
    "annotations": annotations,
}
features = st.one_of(
    made(Feature, **_feature),
    made(Attribute, **_feature, id=flags),
    made(Timeline, **_feature),
    made(
        Reference,
        **_feature,
        containment=flags,
        opposite=perhaps,
        resolve_proxies=flags,
        keys=several(names),
    ),
)
literals = made(Literal, name=names, value=st.integers(), text=names, annotations=annotations)
classifiers = st.one_of(
    made(
        Class,
        name=names,
        features=several(features),
        supers=several(type_names),
        abstract=flags,
        interface=flags,
        key=several(names),
        hides=several(names),
        instance_class=perhaps,
        annotations=annotations,
    ),
    made(DataType, name=names, instance_class=perhaps, serializable=flags, annotations=annotations),
    made(Enum, name=names, literals=several(literals), instance_class=perhaps, annotations=annotations),
)


def package(packages: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return made(
        Package,
        name=names,
        ns_uri=names,
        ns_prefix=names,
        classifiers=several(classifiers),
        packages=packages,
        annotations=annotations,
    )


packages = st.recursive(package(st.just([])), lambda below: package(several(below)), max_leaves=3)
