"""What existing models would lose if a package took the place of another.

Rows hold the names and values of features that are set, and nothing else. So whatever changes a name, how values are
held or which are allowed can break a model; whatever is only added can't.
"""

from collections.abc import Iterator

from neomodel.metamodel import (
    ECORE,
    Attribute,
    Class,
    Classifier,
    DataType,
    Enum,
    Feature,
    Package,
    Reference,
    Timeline,
    TypeName,
)
from neomodel.scope import Known, Scope, unknown

# What a value of a data type of Ecore can be read as as well, a step at a time.
_WIDER = {
    "EShort": ["EInt", "EShortObject"],
    "EShortObject": ["EIntegerObject"],
    "EInt": ["ELong", "EIntegerObject"],
    "EIntegerObject": ["ELongObject"],
    "ELong": ["EBigInteger", "ELongObject"],
    "ELongObject": ["EBigInteger"],
    "EFloat": ["EDouble", "EFloatObject"],
    "EFloatObject": ["EDoubleObject"],
    "EDouble": ["EDoubleObject"],
    "EBoolean": ["EBooleanObject"],
    "EByte": ["EByteObject"],
    "EChar": ["ECharacterObject"],
}
_KINDS: dict[type, str] = {
    Class: "a class",
    DataType: "a data type",
    Enum: "an enum",
    Attribute: "an attribute",
    Reference: "a reference",
    Timeline: "a timeline",
    Feature: "a feature",
}


def breaks(old: Package, new: Package, known: Known = unknown) -> list[str]:
    """A sentence for each thing an existing model would lose if `new` replaced `old`; none if they are compatible.

    Both must be sound. `known` gives the other packages they refer to, needed only to tell super types there.

    Compatible are: a new package, class, feature or literal, also a required feature, which reads as its default until
    it is set; a wider bound; a reference to a super type of what it referred to; a number of a wider type; a feature
    that moved up to a super type; a class no longer abstract; another order, annotation or default. A default may
    change because no row holds one: it is what a feature that was never set reads as, from now on another.
    """
    if old.ns_uri != new.ns_uri:
        return [f"{old.name} is found by the ns_uri {new.ns_uri!r} instead of {old.ns_uri!r}"]
    return list(_package(old.name, old, new, Scope([new], known)))


def _package(path: str, old: Package, new: Package, scope: Scope) -> Iterator[str]:
    for before in old.classifiers:
        after = new.classifier(before.name)
        where = f"{path}.{before.name}"
        if after is None:
            yield f"{_KINDS[type(before)].partition(' ')[2]} {where} is removed"
        else:
            yield from _classifier(where, before, after, TypeName(new.ns_uri, after.name), scope)
    below = {package.ns_uri: package for package in new.packages}
    for package in old.packages:
        where = f"{path}.{package.name}"
        if package.ns_uri in below:
            yield from _package(where, package, below[package.ns_uri], scope)
        else:
            yield f"sub-package {where} ({package.ns_uri}) is removed"


def _classifier(where: str, old: Classifier, new: Classifier, type_: TypeName, scope: Scope) -> Iterator[str]:
    match old, new:
        case Class(), Class():
            yield from _class(where, old, new, type_, scope)
        case Enum(), Enum():
            yield from _enum(where, old, new)
        case DataType(), DataType():
            if old.instance_class != new.instance_class:
                yield f"data type {where} holds {new.instance_class} instead of {old.instance_class}"
            if old.serializable and not new.serializable:
                yield f"data type {where} is no longer serializable"
        case _:
            yield f"{where} is {_KINDS[type(new)]} instead of {_KINDS[type(old)]}"


def _enum(where: str, old: Enum, new: Enum) -> Iterator[str]:
    literals = {literal.name: literal for literal in new.literals}
    for before in old.literals:
        after = literals.get(before.name)
        if after is None:
            yield f"literal {where}.{before.name} is removed"
            continue
        if after.value != before.value:
            yield f"literal {where}.{before.name} has the number {after.value} instead of {before.value}"
        if after.text != before.text:
            yield f"literal {where}.{before.name} has the text {after.text!r} instead of {before.text!r}"


def _class(where: str, old: Class, new: Class, type_: TypeName, scope: Scope) -> Iterator[str]:
    for word in ("abstract", "interface"):
        if getattr(new, word) and not (old.abstract or old.interface):
            yield f"class {where} became {word}, its objects can't be"
            break
    if old.key != new.key:
        yield f"class {where} has the key {_listed(new.key)} instead of {_listed(old.key)}"
    for above in old.supers:
        if not scope.conforms(type_, above):
            yield f"class {where} is no longer a {above}"
    for before in old.features:
        found = scope.feature(type_, before.name)
        if found is None:
            yield f"feature {where}.{before.name} is removed"
        else:
            yield from _feature(f"feature {where}.{before.name}", before, found[1], scope)


def _feature(what: str, old: Feature, new: Feature, scope: Scope) -> Iterator[str]:
    if type(old) is not type(new):
        yield f"{what} is {_KINDS[type(new)]} instead of {_KINDS[type(old)]}"
        return
    if not _holds(new, old.type, scope):
        yield f"{what} has the type {new.type} instead of {old.type}"
    if old.many != new.many:
        yield f"{what} holds {_number(new)} instead of {_number(old)}"
    elif _highest(new) < _highest(old):
        yield f"{what} holds at most {new.upper} instead of {'many' if old.upper < 0 else old.upper}"
    if new.lower > old.lower:
        yield f"{what} holds at least {new.lower} instead of {old.lower}"
    for word in ("unique", "transient", "volatile"):
        if getattr(new, word) and not getattr(old, word):
            yield f"{what} became {word}"
    if isinstance(old, Attribute) and isinstance(new, Attribute) and old.id != new.id:
        yield f"{what} {'became' if new.id else 'is no longer'} the id"
    if isinstance(old, Reference) and isinstance(new, Reference):
        if old.containment != new.containment:
            yield f"{what} {'became' if new.containment else 'is no longer'} a containment"
        if old.opposite != new.opposite:
            yield f"{what} has the opposite {new.opposite} instead of {old.opposite}"


def _holds(feature: Feature, type_: TypeName, scope: Scope) -> bool:
    """Whether what was held as being of that type can be held by the feature."""
    if isinstance(feature, Reference):
        return scope.conforms(type_, feature.type)
    return feature.type == type_ or (feature.type.ns_uri == type_.ns_uri == ECORE and feature.type.name in _all(type_))


def _all(type_: TypeName) -> set[str]:
    """The names of all wider data types of Ecore."""
    found: set[str] = set()
    ahead = [type_.name]
    while ahead:
        wider = _WIDER.get(ahead.pop(), [])
        found.update(wider)
        ahead.extend(wider)
    return found


def _highest(feature: Feature) -> float:
    return float("inf") if feature.upper < 0 else feature.upper


def _number(feature: Feature) -> str:
    return "many values" if feature.many else "one value"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"
