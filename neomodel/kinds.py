"""Metamodels at work: classes, features, enums and data types that know one another. The names are EMF's own.

They are made of the values of `metamodel.py`, package by package (`packages.link`). A class has a Python class, made
when first asked for, whose instances are its objects.
"""

import enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from neomodel import codecs, layout
from neomodel.codecs import Codec
from neomodel.errors import FeatureNotFound, InvalidModel, near
from neomodel.metamodel import (
    ANYTHING,
    ECORE,
    Class,
    Classifier,
    DataType,
    Enum,
    Feature,
    Reference,
    Timeline,
    TypeName,
)
from neomodel.xmltype import EXTENDED, XML_TYPE

if TYPE_CHECKING:
    from neomodel.packages import EPackage


class EFeature:
    """A feature of a class: `value` has all that was declared of it, the rest is that in the form work needs."""

    known_as: str | None = None
    """What it is called in sentences, if not by its class and name."""

    def __init__(self, value: Feature, owner: "EClass") -> None:
        self.value = value
        self.eContainingClass = owner
        self.name = value.name
        self.column = layout.column(value.name)
        self.tag = value.name.encode()
        """How rows of children name it."""
        self.many = value.many
        self.reference = isinstance(value, Reference)
        self.timeline = isinstance(value, Timeline)
        self.containment = isinstance(value, Reference) and value.containment
        self.unique = value.unique or self.containment or getattr(value, "opposite", None) is not None
        """Whether it holds nothing twice. Children and mirrored references are so in any case, as with EMF's lists."""
        self.computed = value.volatile
        """Not held anywhere: the Python class computes it."""
        self.kept = not value.volatile and not value.transient
        """Held in the store."""

    def __repr__(self) -> str:
        return f"<feature {self}>"

    def __str__(self) -> str:
        return self.known_as or f"{self.eContainingClass}.{self.name}"

    @cached_property
    def eType(self) -> "EClassifier":
        return self.eContainingClass.ePackage.resolve(self.value.type)

    @cached_property
    def eOpposite(self) -> "EFeature | None":
        name = self.value.opposite if isinstance(self.value, Reference) else None
        if name is None or not isinstance(self.eType, EClass):
            return None
        return self.eType.features[name]

    @cached_property
    def container(self) -> bool:
        """Whether this is the child's side of a containment."""
        return self.eOpposite is not None and self.eOpposite.containment

    @cached_property
    def stored(self) -> bool:
        """Whether the row has a cell for it."""
        return self.kept and not self.container

    @cached_property
    def codec(self) -> Codec:
        """How values of an attribute or a timeline are checked and stored."""
        if isinstance(self.eType, EDataType | EEnum):
            return self.eType.codec
        raise InvalidModel(str(self), "it holds values, but its type is a class; declare a reference")

    @cached_property
    def default(self) -> Any:
        """What a single-valued feature reads as while it is not set."""
        if self.reference or self.many:
            return None
        if self.value.default is None:
            return self.codec.default
        try:
            return self.codec.from_text(self.value.default)
        except ValueError as exc:
            raise InvalidModel(str(self), f"its default {self.value.default!r} is not {self.codec.expected}") from exc

    @property
    def lowerBound(self) -> int:
        return self.value.lower

    @property
    def upperBound(self) -> int:
        return self.value.upper

    @property
    def ordered(self) -> bool:
        return self.value.ordered

    @property
    def changeable(self) -> bool:
        return self.value.changeable

    @property
    def unsettable(self) -> bool:
        return self.value.unsettable

    @property
    def derived(self) -> bool:
        return self.value.derived


class EClassifier:
    """What classes, enums and data types have in common."""

    def __init__(self, value: Classifier, package: "EPackage") -> None:
        self.value = value
        self.name = value.name
        self.ePackage = package
        self.type_name = TypeName(package.nsURI, value.name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __str__(self) -> str:
        return f"{self.ePackage.name}.{self.name}"


class EDataType(EClassifier):
    @cached_property
    def codec(self) -> Codec:
        assert isinstance(self.value, DataType)
        return data_codec(self.value, self.ePackage.nsURI)


def data_codec(value: DataType, ns_uri: str) -> Codec:
    """The codec of a data type of a package: by its name if that is Ecore's or XML's own, else by its Java class."""
    by_name = {ECORE: codecs.codec, XML_TYPE: codecs.xml_codec}.get(ns_uri)
    found = by_name(value.name) if by_name else None
    if found is not None:
        return found
    found = codecs.codec_of_java(value.instance_class)
    details = [detail for one in value.annotations if one.source == EXTENDED for detail in one.details]
    for base in (text for key, text in details if key == "baseType" and text.startswith(f"{XML_TYPE}#")):
        found = codecs.in_xml(found, base.removeprefix(f"{XML_TYPE}#"))
    return found


class EEnum(EClassifier):
    """An enum. Its values are the members of a Python enum."""

    value: Enum

    @cached_property
    def python(self) -> type[enum.Enum]:
        return self.ePackage.python.get(self.name) or _python_enum(self.value, self.ePackage)

    @cached_property
    def members(self) -> dict[str, enum.Enum]:
        """The members by the names of their literals, which not always are names in Python."""
        return dict(zip((literal.name for literal in self.value.literals), self.python, strict=True))

    @cached_property
    def codec(self) -> Codec:
        texts = {literal.name: literal.text for literal in self.value.literals}
        return codecs.enum_codec(str(self), self.members, texts)

    @property
    def eLiterals(self) -> list[enum.Enum]:
        return list(self.python)


class EClass(EClassifier):
    """A class. Called, it makes an object: ``obj.eClass(name="a")``."""

    value: Class
    ready = False
    """Whether it is known that objects of it may be made."""

    @cached_property
    def eSuperTypes(self) -> "tuple[EClass, ...]":
        supers = (self.ePackage.resolve(name) for name in self.value.supers)
        return tuple(found for found in supers if isinstance(found, EClass))

    @cached_property
    def names(self) -> frozenset[TypeName]:
        """Its own name and those of all its super types: what its objects may be used as."""
        return frozenset({self.type_name}).union(*(parent.names for parent in self.eSuperTypes))

    @cached_property
    def eStructuralFeatures(self) -> tuple[EFeature, ...]:
        """Those it declares itself."""
        return tuple(EFeature(value, self) for value in self.value.features)

    @cached_property
    def features(self) -> dict[str, EFeature]:
        """All of them by name, inherited ones first."""
        found: dict[str, EFeature] = {}
        for parent in self.eSuperTypes:
            for name, feature in parent.features.items():
                found.setdefault(name, feature)
        return found | {feature.name: feature for feature in self.eStructuralFeatures}

    @cached_property
    def containments(self) -> tuple[EFeature, ...]:
        """The features that hold its children in the store."""
        return tuple(feature for feature in self.features.values() if feature.containment and feature.kept)

    @cached_property
    def unkept(self) -> tuple[EFeature, ...]:
        """The features whose values stay in memory."""
        return tuple(feature for feature in self.features.values() if not feature.kept)

    @cached_property
    def timelines(self) -> tuple[EFeature, ...]:
        return tuple(feature for feature in self.features.values() if feature.timeline)

    @cached_property
    def mirrored(self) -> tuple[EFeature, ...]:
        """The references whose other end lies in another row: those with an opposite, containment aside."""
        return tuple(
            feature
            for feature in self.features.values()
            if feature.eOpposite and feature.stored and not feature.containment
        )

    @cached_property
    def simple(self) -> bool:
        """Whether an object of it is stored by writing its row, and nothing else."""
        return not (self.mirrored or self.unkept or self.timelines)

    @cached_property
    def key(self) -> tuple[EFeature, ...]:
        """The features of its natural key, its own or the nearest inherited one."""
        names = self.value.key
        if not names:
            return next((parent.key for parent in self.eSuperTypes if parent.key), ())
        return tuple(self.features[name] for name in names)

    @cached_property
    def cells(self) -> dict[bytes, bytes | None]:
        """The cells that make a row an object of this class."""
        return layout.typed(self.ePackage.nsURI, self.name)

    @cached_property
    def python(self) -> type[Any]:
        """The Python class of its objects."""
        return self.ePackage.python.get(self.name) or self.ePackage.build(self)

    @property
    def abstract(self) -> bool:
        return self.value.abstract or self.value.interface

    def takes(self, kind: "EClass") -> bool:
        """Whether objects of that class are objects of this one, too."""
        return self.type_name in kind.names or self.type_name == ANYTHING

    def __call__(self, **features: Any) -> Any:
        return self.python(**features)

    def feature(self, name: "str | EFeature") -> EFeature:
        """The feature of that name, or `FeatureNotFound`."""
        if isinstance(name, EFeature):
            name = name.name
        found = self.features.get(name)
        if found is None:
            raise FeatureNotFound(str(self), name, near(name, self.features))
        return found

    def findEStructuralFeature(self, name: str) -> EFeature | None:
        return self.features.get(name)

    def eAllStructuralFeatures(self) -> list[EFeature]:
        return list(self.features.values())

    def eAllAttributes(self) -> list[EFeature]:
        return [feature for feature in self.features.values() if not feature.reference and not feature.timeline]

    def eAllReferences(self) -> list[EFeature]:
        return [feature for feature in self.features.values() if feature.reference]

    @property
    def eAttributes(self) -> list[EFeature]:
        return [feature for feature in self.eStructuralFeatures if not feature.reference and not feature.timeline]

    @property
    def eReferences(self) -> list[EFeature]:
        return [feature for feature in self.eStructuralFeatures if feature.reference]

    def eAllSuperTypes(self) -> "list[EClass]":
        found: dict[TypeName, EClass] = {}
        for parent in self.eSuperTypes:
            found |= {kind.type_name: kind for kind in (*parent.eAllSuperTypes(), parent)}
        return list(found.values())


def _python_enum(value: Enum, package: "EPackage") -> type[enum.Enum]:
    """A Python enum with a member for each literal; its value is the literal's number, or name where numbers repeat."""
    numbers = [literal.value for literal in value.literals]
    distinct = len(set(numbers)) == len(numbers)
    members = [(_member_name(literal.name), literal.value if distinct else literal.name) for literal in value.literals]
    return enum.Enum(value.name, members, module=package.name)  # type: ignore[return-value]


def _member_name(name: str) -> str:
    """Python keeps some names of members to itself."""
    return f"{name}_" if name == "mro" or name.startswith("_") else name
