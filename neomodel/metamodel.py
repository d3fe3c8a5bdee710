"""Metamodels as values: what Ecore's structural part says of packages, classes, features, enums and data types.

Everything here is frozen, compares by content and refers to other types by name (`TypeName`), so a metamodel can be
stored, sent, compared and built in any order. `kinds.py` links such values into classes that have instances.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

MANY = -1
"""The upper bound of a feature that holds any number of values."""

UNSPECIFIED = -2
"""Ecore's other upper bound: the number is not stated. Read as many."""


def _tuple(given: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(given)


def _details(given: Mapping[str, str] | tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple(given.items()) if isinstance(given, Mapping) else tuple(given)


@attrs.frozen
class TypeName:
    """Where a classifier is found: the namespace of its package, and its name there."""

    ns_uri: str
    name: str

    def __str__(self) -> str:
        return f"{self.ns_uri}#{self.name}"


@attrs.frozen
class Annotation:
    """Kept as it is, never interpreted."""

    source: str
    details: tuple[tuple[str, str], ...] = attrs.field(default=(), converter=_details)
    annotations: tuple["Annotation", ...] = attrs.field(default=(), converter=_tuple)


@attrs.frozen(kw_only=True)
class Feature:
    """What attributes, references and timelines have in common. The defaults are Ecore's."""

    name: str = attrs.field(kw_only=False)
    type: TypeName = attrs.field(kw_only=False)
    lower: int = 0
    upper: int = 1
    ordered: bool = True
    unique: bool = True
    changeable: bool = True
    volatile: bool = False
    transient: bool = False
    unsettable: bool = False
    derived: bool = False
    default: str | None = None
    """The default as a literal, as `.ecore` has it: text that the data type's codec reads. None: the type's own."""
    annotations: tuple[Annotation, ...] = attrs.field(default=(), converter=_tuple)

    @property
    def many(self) -> bool:
        return self.upper < 0 or self.upper > 1


@attrs.frozen(kw_only=True)
class Attribute(Feature):
    """Holds values of a data type or an enum."""

    id: bool = False


@attrs.frozen(kw_only=True)
class Reference(Feature):
    """Holds objects of a class. `opposite` is the name of the feature of the other class that mirrors it."""

    containment: bool = False
    opposite: str | None = None
    resolve_proxies: bool = True
    keys: tuple[str, ...] = attrs.field(default=(), converter=_tuple)
    """Ecore's eKeys: attributes of the referenced class that tell the objects of this collection apart."""


@attrs.frozen(kw_only=True)
class Timeline(Feature):
    """Holds values of a data type or an enum by the time they are of. Beside its type it has annotations only: all else
    that features have stays at its default."""


@attrs.frozen(kw_only=True)
class Class:
    """A class. `key` names the features its natural key is made of; empty: its objects get ids of their own.

    `hides` names those features of which it has one and inherits others that differ, or inherits several that do: its
    own counts, else that of the super type named first.
    """

    name: str = attrs.field(kw_only=False)
    features: tuple[Feature, ...] = attrs.field(default=(), converter=_tuple)
    supers: tuple[TypeName, ...] = attrs.field(default=(), converter=_tuple)
    abstract: bool = False
    interface: bool = False
    key: tuple[str, ...] = attrs.field(default=(), converter=_tuple)
    hides: tuple[str, ...] = attrs.field(default=(), converter=_tuple)
    instance_class: str | None = None
    annotations: tuple[Annotation, ...] = attrs.field(default=(), converter=_tuple)


@attrs.frozen(kw_only=True)
class DataType:
    """A data type. `instance_class` is the Java name that says what its values are; of an unknown one they are text."""

    name: str = attrs.field(kw_only=False)
    instance_class: str | None = None
    serializable: bool = True
    annotations: tuple[Annotation, ...] = attrs.field(default=(), converter=_tuple)


@attrs.frozen(kw_only=True)
class Literal:
    """One value of an enum: its name, its number, and the text that stands for it in files (by default the name)."""

    name: str = attrs.field(kw_only=False)
    value: int = attrs.field(default=0, kw_only=False)
    text: str = attrs.field(default=attrs.Factory(lambda self: self.name, takes_self=True))
    annotations: tuple[Annotation, ...] = attrs.field(default=(), converter=_tuple)


@attrs.frozen(kw_only=True)
class Enum:
    """An enum; its first literal is the default of its attributes."""

    name: str = attrs.field(kw_only=False)
    literals: tuple[Literal, ...] = attrs.field(default=(), converter=_tuple)
    instance_class: str | None = None
    annotations: tuple[Annotation, ...] = attrs.field(default=(), converter=_tuple)


Classifier = Class | DataType | Enum


@attrs.frozen(kw_only=True)
class Package:
    """A package with its classifiers and sub-packages. `ns_uri` is its identity."""

    name: str = attrs.field(kw_only=False)
    ns_uri: str = attrs.field(kw_only=False)
    ns_prefix: str = attrs.field(default=attrs.Factory(lambda self: self.name, takes_self=True))
    classifiers: tuple[Classifier, ...] = attrs.field(default=(), converter=_tuple)
    packages: tuple["Package", ...] = attrs.field(default=(), converter=_tuple)
    annotations: tuple[Annotation, ...] = attrs.field(default=(), converter=_tuple)

    def with_subpackages(self) -> Iterator["Package"]:
        """This package and all below it, each before its own."""
        yield self
        for package in self.packages:
            yield from package.with_subpackages()

    def classifier(self, name: str) -> Classifier | None:
        """The classifier of that name in this package itself, None if there is none."""
        return next((found for found in self.classifiers if found.name == name), None)


ECORE = "http://www.eclipse.org/emf/2002/Ecore"
"""The namespace of Ecore itself, whose types every metamodel may use."""

ANYTHING = TypeName(ECORE, "EObject")
"""The type whose references hold objects of every class."""
