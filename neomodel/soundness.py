"""Whether packages make sense, by themselves and with those they refer to.

Every rule is a generator of faults: where, and what is wrong there. Rules come in an order in which the later ones can
rely on what the earlier ones found true. The text of default literals is left to those who read it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import attrs

from neomodel.errors import InvalidModel
from neomodel.metamodel import (
    UNSPECIFIED,
    Attribute,
    Class,
    Classifier,
    Enum,
    Feature,
    Package,
    Reference,
    Timeline,
    TypeName,
)
from neomodel.scope import Known, Scope

Faults = Iterator[tuple[str, str]]
Visible = dict[TypeName, dict[str, tuple[TypeName, Feature]]]

_OF_TIMELINES = ("name", "type", "annotations")


def check(packages: Iterable[Package], known: Known) -> None:
    """Raise `InvalidModel`, naming the first nonsense found and where it is, or return.

    `known` gives packages that are known already, by ns_uri; those given come first. They are asked for what the given
    ones refer to and aren't checked themselves. Asks `known` once or more for each namespace referred to.
    """
    fault = next(faults(packages, known), None)
    if fault is not None:
        raise InvalidModel(*fault)


def check_alone(classifier: Classifier, package: str) -> None:
    """Raise `InvalidModel` for nonsense that shows in a classifier by itself, before its package is known."""
    found: list[tuple[str, str]] = []
    where = f"{package}.{classifier.name}"
    if isinstance(classifier, Enum):
        found += _enum(where, classifier)
    if isinstance(classifier, Class):
        found += _distinct(where, "feature", (feature.name for feature in classifier.features))
        for feature in classifier.features:
            found += _bounds(f"{where}.{feature.name}", feature)
    if found:
        raise InvalidModel(*found[0])


def faults(packages: Iterable[Package], known: Known) -> Faults:
    """All that `check` would find, as the fields of `InvalidModel`; what follows from another fault is told too."""
    roots = list(packages)
    scope = Scope(roots, known)
    for root in roots:
        yield from _names(root.name, root)
    inside = [found for root in roots for found in _with_paths(root, root.name)]
    yield from _namespaces(inside)
    for path, package in inside:
        for found in package.classifiers:
            if isinstance(found, Enum):
                yield from _enum(f"{path}.{found.name}", found)
    classes = [
        (f"{path}.{found.name}", TypeName(package.ns_uri, found.name), found)
        for path, package in inside
        for found in package.classifiers
        if isinstance(found, Class)
    ]
    for where, _, found in classes:
        yield from _supers(where, found, scope)
    yield from _cycles(classes, scope)
    for where, _, found in classes:
        for feature in found.features:
            yield from _feature(f"{where}.{feature.name}", feature, scope)
    memo: Visible = {}
    for where, type_, found in classes:
        yield from _inheritance(where, type_, found, scope, memo)
        yield from _key(where, type_, found, scope)
        for feature in found.features:
            if isinstance(feature, Reference):
                yield from opposite_faults(f"{where}.{feature.name}", type_, feature, scope)
                yield from _reference_keys(f"{where}.{feature.name}", feature, scope)


def _with_paths(package: Package, path: str) -> Iterator[tuple[str, Package]]:
    yield path, package
    for below in package.packages:
        yield from _with_paths(below, f"{path}.{below.name}")


# names


def _names(path: str, package: Package) -> Faults:
    if not package.name:
        yield f"package {package.ns_uri!r}", "it has no name"
    if not package.ns_uri:
        yield path, "it has no ns_uri"
    yield from _distinct(path, "classifier", (found.name for found in package.classifiers))
    yield from _distinct(path, "sub-package", (below.name for below in package.packages))
    for found in package.classifiers:
        if isinstance(found, Class):
            yield from _distinct(f"{path}.{found.name}", "feature", (feature.name for feature in found.features))
        if isinstance(found, Enum):
            yield from _distinct(f"{path}.{found.name}", "literal", (literal.name for literal in found.literals))
    for below in package.packages:
        yield from _names(f"{path}.{below.name}", below)


def _distinct(where: str, what: str, names: Iterable[str]) -> Faults:
    for name, count in Counter(names).items():
        if not name:
            yield where, f"it has a {what} without a name"
        if count > 1:
            yield f"{where}.{name}", f"there are {count} {what}s of that name"


def _namespaces(inside: list[tuple[str, Package]]) -> Faults:
    seen: dict[str, str] = {}
    for path, package in inside:
        if package.ns_uri in seen:
            yield path, f"its ns_uri {package.ns_uri!r} is that of {seen[package.ns_uri]} too"
        seen[package.ns_uri] = path


def _enum(where: str, enum: Enum) -> Faults:
    if not enum.literals:
        yield where, "an enum needs a literal"
    for text, count in Counter(literal.text for literal in enum.literals).items():
        if count > 1:
            yield where, f"{count} of its literals have the text {text!r}"


# super types


def _supers(where: str, class_: Class, scope: Scope) -> Faults:
    for name, count in Counter(class_.supers).items():
        if count > 1:
            yield where, f"its super type {name} is named {count} times"
        found = scope.classifier(name)
        if found is None:
            yield where, f"its super type {name} does not exist"
        elif not isinstance(found, Class):
            yield where, f"its super type {name} is {_kind(found)}, not a class"


def _cycles(classes: list[tuple[str, TypeName, Class]], scope: Scope) -> Faults:
    if not any(found.supers for _, _, found in classes):
        return
    import networkx  # takes longer to import than all of ours together

    graph = networkx.DiGraph()
    for _, type_, _ in classes:
        for below, found in scope.lineage(type_):
            graph.add_edges_from((below, above) for above in found.supers)
    for where, type_, _ in classes:
        if type_ in graph:
            try:
                cycle = [below for below, _ in networkx.find_cycle(graph, type_)]
            except networkx.NetworkXNoCycle:
                continue
            way = " -> ".join(str(one) for one in (*cycle, cycle[0]))
            yield where, f"its super types go round in a circle, {way}"


def _inheritance(where: str, type_: TypeName, class_: Class, scope: Scope, memo: Visible) -> Faults:
    for name, (first, feature), (second, other) in clashes(type_, class_, scope, memo):
        if name in class_.hides:
            for declaring, hidden in ((first, feature), (second, other)):
                if declaring != type_ and isinstance(hidden, Reference) and hidden.opposite is not None:
                    yield (
                        f"{where}.{name}",
                        f"{declaring} has a feature of that name with an opposite, it can't be hidden",
                    )
        elif first == type_:
            yield f"{where}.{name}", f"it differs from the feature of that name inherited from {second}"
        else:
            yield f"{where}.{name}", f"{first} and {second} have different features of that name"
    visible = scope.visible(type_, memo)
    ids = [name for name, (_, feature) in visible.items() if isinstance(feature, Attribute) and feature.id]
    if len(ids) > 1:
        yield where, f"it has {len(ids)} id attributes, {', '.join(ids)}, one is allowed"


def clashes(
    type_: TypeName, class_: Class, scope: Scope, memo: Visible
) -> Iterator[tuple[str, tuple[TypeName, Feature], tuple[TypeName, Feature]]]:
    """The names of which a class has or inherits several features that differ: the one that counts, and another."""
    seen = {feature.name: (type_, feature) for feature in class_.features}
    for above in class_.supers:
        for name, inherited in scope.visible(above, memo).items():
            first = seen.setdefault(name, inherited)
            if first[1] != inherited[1]:
                yield name, first, inherited


# features


def _feature(where: str, feature: Feature, scope: Scope) -> Faults:
    found = scope.classifier(feature.type)
    if not isinstance(feature, Attribute | Reference | Timeline):
        yield where, "it is neither an attribute nor a reference nor a timeline"
    if found is None:
        yield where, f"its type {feature.type} does not exist"
    elif isinstance(feature, Attribute | Timeline) and isinstance(found, Class):
        what = "an attribute" if isinstance(feature, Attribute) else "a timeline"
        yield where, f"{what} can't have the type {feature.type}, which is a class"
    elif isinstance(feature, Reference) and not isinstance(found, Class):
        yield where, f"a reference can't have the type {feature.type}, which is {_kind(found)}"
    yield from _bounds(where, feature)


def _bounds(where: str, feature: Feature) -> Faults:
    if feature.lower < 0:
        yield where, f"its lower bound is {feature.lower}, expected 0 or more"
    if feature.upper == 0 or feature.upper < UNSPECIFIED:
        yield where, f"its upper bound is {feature.upper}, expected 1 or more, -1 for many or -2 for not stated"
    if feature.lower > feature.upper > 0:
        yield where, f"its lower bound {feature.lower} is above its upper bound {feature.upper}"
    if feature.default is not None and (feature.many or isinstance(feature, Reference)):
        what = "a reference" if isinstance(feature, Reference) else "a feature of many values"
        yield where, f"{what} can't have a default, it has {feature.default!r}"
    if isinstance(feature, Timeline):
        for field in attrs.fields(Timeline):
            if field.name not in _OF_TIMELINES and getattr(feature, field.name) != field.default:
                yield where, f"a timeline has a type and annotations only, it has {field.name}"


def _key(where: str, type_: TypeName, class_: Class, scope: Scope) -> Faults:
    for name, count in Counter(class_.key).items():
        found = scope.feature(type_, name)
        if count > 1:
            yield where, f"its key names {name!r} {count} times"
        if found is None:
            yield where, f"its key names {name!r}, which it does not have"
        elif isinstance(found[1], Reference):
            yield where, f"its key names {name!r}, which is a reference"
        elif isinstance(found[1], Timeline):
            yield where, f"its key names {name!r}, which is a timeline"
        elif found[1].many:
            yield where, f"its key names {name!r}, which has many values"
        else:
            unkept = [word for word in ("volatile", "transient", "derived") if getattr(found[1], word)]
            if unkept:
                yield where, f"its key names {name!r}, which is {' and '.join(unkept)}"


def _reference_keys(where: str, reference: Reference, scope: Scope) -> Faults:
    for name in reference.keys:
        found = scope.feature(reference.type, name)
        if found is None or not isinstance(found[1], Attribute):
            yield where, f"its keys name {name!r}, which is no attribute of {reference.type}"


def opposite_faults(where: str, type_: TypeName, reference: Reference, scope: Scope) -> Faults:
    """What is wrong with the opposite of a reference of that class."""
    if reference.opposite is None:
        return
    found = scope.feature(reference.type, reference.opposite)
    name = f"its opposite {reference.type}.{reference.opposite}"
    if found is None:
        yield where, f"{name} does not exist"
        return
    declaring, other = found
    if not isinstance(other, Reference):
        yield where, f"{name} is no reference"
    elif other.opposite != reference.name:
        yield where, f"{name} does not point back, its own opposite is {other.opposite!r}"
    elif other.type != type_:
        yield where, f"{name} has the type {other.type}, expected {type_}"
    elif declaring != reference.type:
        yield where, f"{name} is inherited from {declaring}, which must be the type of both ends"
    elif reference.containment and other.containment:
        yield where, f"{name} is a containment too, only one end can be"
    elif reference.containment and other.many:
        yield where, f"{name} has many values, but a child has one container"


def _kind(classifier: Classifier) -> str:
    return {"Class": "a class", "Enum": "an enum", "DataType": "a data type"}[type(classifier).__name__]
