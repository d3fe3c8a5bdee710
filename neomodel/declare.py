"""Metamodels declared in Python, in the manner of attrs: a decorator on a plain class, features as annotations.

::

    java = nm.package("java", "http://java")

    @java.define
    class Package:
        name: str
        ownedElements: list["ClassDeclaration"] = nm.contains()

        def size(self) -> int:                      # methods stay methods of the objects
            return len(self.ownedElements)

An annotation says the type and the bounds: ``str`` is one value that is meant to be there, ``str | None`` or one with a
default may be missing, ``list[X]`` and ``set[X]`` hold any number, ordered or not. A list of values takes one twice,
one of objects does not. ``int`` is any integer; `attribute` names a narrower type. What is no known type is a class of
the package, so names of classes that come later are fine in quotes.
"""

import builtins
import datetime
import decimal
import enum
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from neomodel import soundness
from neomodel.ecore_package import ECORE_DATA_TYPES
from neomodel.errors import InvalidModel
from neomodel.kinds import EClass, EEnum
from neomodel.metamodel import (
    ECORE,
    MANY,
    Annotation,
    Attribute,
    Class,
    Classifier,
    Enum,
    Feature,
    Literal,
    Package,
    Reference,
    TypeName,
)
from neomodel.metamodel import Timeline as TimelineValue
from neomodel.objects import Access, Element, build
from neomodel.packages import EPackage, ecore
from neomodel.timelines import Timeline

DECLARED: dict[str, "Declaration"] = {}
"""The packages that were declared in this process, by namespace."""

_TYPES = {
    str: "EString",
    int: "EBigInteger",
    float: "EDoubleObject",
    bool: "EBooleanObject",
    bytes: "EByteArray",
    datetime.datetime: "EDate",
    decimal.Decimal: "EBigDecimal",
}
_NOTHING: Any = object()


@attrs.frozen
class _Spec:
    """What a declaration says of a feature beside its annotation."""

    made: type[Attribute | Reference | TimelineValue]
    options: dict[str, Any]
    default: Any = _NOTHING


def attribute(default: Any = _NOTHING, *, type: str | None = None, **options: Any) -> Any:  # noqa: A002  Ecore's word
    """An attribute with more than a type and a default: ``type="EInt"``, ``id``, ``lower``, ``upper``, ``unique``,
    ``ordered``, ``changeable``, ``unsettable``, ``transient``, ``annotations``."""
    if type is not None:
        options["type"] = TypeName(ECORE, type)
    return _Spec(Attribute, options, default)


def reference(*, opposite: str | None = None, **options: Any) -> Any:
    """A reference; `opposite` is the name of the other class's feature that mirrors it."""
    return _Spec(Reference, {"opposite": opposite, **options})


def contains(*, opposite: str | None = None, **options: Any) -> Any:
    """A reference to objects that live in this one."""
    return _Spec(Reference, {"opposite": opposite, "containment": True, **options})


def timeline(*, type: str | None = None, annotations: Iterable[Annotation] = ()) -> Any:  # noqa: A002  Ecore's word
    """A timeline of values of the annotated type, or of a narrower one as with `attribute`. An annotation
    ``Timeline[int]`` says it too."""
    options: dict[str, Any] = {"annotations": annotations}
    return _Spec(TimelineValue, options if type is None else {**options, "type": TypeName(ECORE, type)})


def derived(method: Callable[[Any], Any]) -> property:
    """A method that is a feature, computed whenever it is read and stored nowhere."""
    return _Derived(method)


class _Derived(property):
    pass


def package(name: str, ns_uri: str, *, prefix: str | None = None, inside: "Declaration | None" = None) -> "Declaration":
    """A new package to declare classes in, if wanted inside another."""
    made = Declaration(Package(name, ns_uri, ns_prefix=prefix or name), inside)
    DECLARED[ns_uri] = made
    if inside is not None:
        inside.eSubpackages.append(made)
    return made


class Declaration(EPackage):
    """A package that is declared class by class. It is checked as a whole when it is first used."""

    def __init__(self, value: Package, parent: "Declaration | None") -> None:
        super().__init__(value, self._find, build, parent=parent, python={})
        self._others: dict[str, EPackage] = {}
        self._checked = 0

    @property
    def value(self) -> Package:
        """All that was declared so far."""
        return attrs.evolve(
            self._empty,
            classifiers=[found.value for found in self.classifiers.values()],
            packages=[sub.value for sub in self.eSubpackages],
        )

    @value.setter
    def value(self, value: Package) -> None:
        self._empty = value

    def define(
        self,
        cls: Any = None,
        *,
        abstract: bool = False,
        interface: bool = False,
        key: Iterable[str] = (),
        annotations: Iterable[Annotation] = (),
    ) -> Any:
        """The decorator: makes a class of the package out of a plain one, or an enum of it out of a Python enum."""
        if cls is None:
            return lambda found: self.define(
                found, abstract=abstract, interface=interface, key=key, annotations=annotations
            )
        if isinstance(cls, type) and issubclass(cls, enum.Enum):
            return self._define_enum(cls, annotations)
        names = _Names(self, cls, sys._getframe(1))
        features = [*_features(cls, names, self), *_derived_features(cls, names, self)]
        supers = [base.eClass.type_name for base in cls.__bases__ if base is not Element and issubclass(base, Element)]
        value = Class(
            cls.__name__,
            features=features,
            supers=supers,
            abstract=abstract,
            interface=interface,
            key=key,
            annotations=annotations,
        )
        self._add(value)
        kind = EClass(value, self)
        made = _remade(cls, kind)
        self.classifiers[cls.__name__] = kind
        self.python[cls.__name__] = made
        return made

    def _define_enum(self, cls: type[enum.Enum], annotations: Iterable[Annotation]) -> type[enum.Enum]:
        literals = [
            Literal(
                member.name,
                member.value if isinstance(member.value, int) else number,
                text=member.value if isinstance(member.value, str) else member.name,
            )
            for number, member in enumerate(cls)
        ]
        value = Enum(cls.__name__, literals=literals, annotations=annotations)
        self._add(value)
        self.classifiers[cls.__name__] = EEnum(value, self)
        self.python[cls.__name__] = cls
        return cls

    def _add(self, value: Classifier) -> None:
        if value.name in self.classifiers:
            raise InvalidModel(f"{self.name}.{value.name}", "it is declared twice")
        soundness.check_alone(value, self.name)

    def check(self) -> None:
        """Raise `InvalidModel` if what was declared makes no sense. Costs nothing if nothing was added since."""
        count = sum(len(sub.classifiers) for sub in self.with_subpackages())
        if count != self._checked:
            soundness.check([self.value], lambda ns_uri: self._find(ns_uri).value)
            self._checked = count

    def using(self, package: EPackage) -> None:
        """Know a package that one of the declared classes refers to."""
        self._others[package.nsURI] = package

    def _find(self, ns_uri: str) -> EPackage:
        if ns_uri == ECORE:
            return ecore()
        found = self._others.get(ns_uri) or DECLARED.get(ns_uri)
        if found is None:
            raise InvalidModel(self.name, f"it refers to {ns_uri}, which is not declared")
        return found


# annotations


class _Names(Mapping[str, Any]):
    """What names in an annotation mean: as in the module, and a name that means nothing yet is a class to come."""

    def __init__(self, package: Declaration, cls: Any, frame: types.FrameType) -> None:
        while frame.f_globals.get("__name__") == __name__ and frame.f_back is not None:
            frame = frame.f_back
        module = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
        known = {**package.python, cls.__name__: _Later(cls.__name__)}
        self._scopes: list[Mapping[str, Any]] = [known, frame.f_locals, frame.f_globals, module, vars(builtins)]

    def __getitem__(self, name: str) -> Any:
        return next((scope[name] for scope in self._scopes if name in scope), _Later(name))

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


@attrs.frozen
class _Later:
    """A class whose name is known and no more."""

    name: str

    def __or__(self, other: Any) -> Any:
        return typing.Union[typing.ForwardRef(self.name), other]  # noqa: UP007  the operator is what is defined here

    __ror__ = __or__


def _features(cls: Any, names: _Names, package: Declaration) -> list[Feature]:
    made = []
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        given = vars(cls).get(name, _NOTHING)
        spec = given if isinstance(given, _Spec) else _Spec(Attribute, {}, given)
        where = f"{package.name}.{cls.__name__}.{name}"
        if typing.get_origin(annotation) is typing.ClassVar or str(annotation).startswith(("ClassVar", "typing.Class")):
            continue
        made.append(_feature(name, annotation, spec, package, where, names))
    return made


def _derived_features(cls: Any, names: _Names, package: Declaration) -> list[Feature]:
    options = {"derived": True, "volatile": True, "transient": True, "changeable": False}
    made = []
    for name, found in vars(cls).items():
        if isinstance(found, _Derived):
            annotation = (found.fget.__annotations__ if found.fget else {}).get("return", str)
            where = f"{package.name}.{cls.__name__}.{name}"
            made.append(_feature(name, annotation, _Spec(Attribute, options), package, where, names))
    return made


def _meant(annotation: Any, names: _Names, where: str) -> Any:
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {}, names)  # the author's own code
    except (SyntaxError, NameError, AttributeError, TypeError) as exc:
        raise InvalidModel(where, f"its annotation {annotation!r} means nothing: {exc}") from exc


def _feature(name: str, annotation: Any, spec: _Spec, package: Declaration, where: str, names: _Names) -> Feature:
    options = dict(spec.options)
    given = spec.default is not _NOTHING
    annotation, optional = _without_none(_meant(annotation, names, where))
    origin = typing.get_origin(annotation)
    if origin is Timeline:
        spec = attrs.evolve(spec, made=TimelineValue)
        annotation = typing.get_args(annotation)[0]
    if origin in (list, set, frozenset):
        options.setdefault("upper", MANY)
        options.setdefault("ordered", origin is list)
        annotation = typing.get_args(annotation)[0]
    elif not optional and not given and not options.get("derived") and spec.made is not TimelineValue:
        options.setdefault("lower", 1)
    type_name, is_class = _type(_meant(annotation, names, where), package, where)
    made: type[Any] = Reference if is_class else spec.made
    if is_class != (spec.made is Reference) and (spec.made is not Attribute or "type" in options):
        raise InvalidModel(where, f"its type {type_name} is {'a' if is_class else 'no'} class")
    type_name = options.pop("type", type_name)
    if made is Attribute and origin is list:
        options.setdefault("unique", False)
    if given:
        options["default"] = _literal(spec.default, type_name, package, where)
    try:
        return made(name, type_name, **options)  # type: ignore[no-any-return]
    except TypeError as exc:
        raise InvalidModel(where, f"{'a reference' if is_class else 'an attribute'} is not declared so: {exc}") from exc


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if typing.get_origin(annotation) not in (typing.Union, types.UnionType):
        return annotation, False
    parts = typing.get_args(annotation)
    rest = [part for part in parts if part is not type(None)]
    return rest[0] if len(rest) == 1 else annotation, len(rest) < len(parts)


def _type(annotation: Any, package: Declaration, where: str) -> tuple[TypeName, bool]:
    """The type an annotation names, and whether that is a class."""
    if isinstance(annotation, _Later):
        return TypeName(package.nsURI, annotation.name), True
    if annotation in _TYPES:
        return TypeName(ECORE, _TYPES[annotation]), False
    if isinstance(annotation, type) and issubclass(annotation, Element):
        if annotation is Element:
            return TypeName(ECORE, "EObject"), True
        kind: EClass = annotation.eClass
        package.using(kind.ePackage)
        return kind.type_name, True
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        for known in (package, *DECLARED.values()):
            if annotation in known.python.values():
                package.using(known)
                return TypeName(known.nsURI, annotation.__name__), False
        raise InvalidModel(where, f"its enum {annotation.__name__} is in no package; put @….define above it")
    raise InvalidModel(where, f"its type {annotation!r} is none that can be stored")


def _literal(default: Any, type_name: TypeName, package: Declaration, where: str) -> str | None:
    """The default as text, as metamodels hold it."""
    if default is None:
        return None
    if type_name.ns_uri == ECORE and type_name.name not in ECORE_DATA_TYPES:
        raise InvalidModel(where, "a reference has no default")
    found: Any = package.resolve(type_name)
    try:
        return found.codec.to_text(found.codec.check(default))  # type: ignore[no-any-return]
    except (ValueError, TypeError) as exc:
        raise InvalidModel(where, f"its default {default!r} is not {found.codec.expected}") from exc


# Python classes


def _remade(cls: Any, kind: EClass) -> type[Any]:
    """The class again, with features instead of annotations, on top of `Element`."""
    for base in cls.__bases__:
        if base is not object and not issubclass(base, Element) and base.__dict__.get("__slots__") != ():
            raise InvalidModel(str(kind), f"its base {base.__name__} is neither a declared class nor without slots")
    bases = tuple(base for base in cls.__bases__ if base is not object)
    if not any(issubclass(base, Element) for base in bases):
        bases += (Element,)
    annotated = vars(cls).get("__annotations__", {})
    dropped = {
        "__dict__",
        "__weakref__",
        "__annotations__",
        *(f.name for f in kind.value.features if f.name in annotated),
    }
    body = {name: value for name, value in vars(cls).items() if name not in dropped}
    own = {f.name: Access(f) for f in kind.eStructuralFeatures if not f.computed and f.name not in vars(Element)}
    made: type[Any] = type(cls)(cls.__name__, bases, {**body, **own, "__slots__": (), "eClass": kind})
    for value in body.values():  # `super()` and `__class__` in methods mean the new class
        for function in _functions(value):
            for cell in getattr(function, "__closure__", None) or ():
                if _holds(cell, cls):
                    cell.cell_contents = made
    return made


def _holds(cell: types.CellType, cls: Any) -> bool:
    try:
        return cell.cell_contents is cls
    except ValueError:  # it is empty: what the method names comes later in the function that declares it
        return False


def _functions(value: Any) -> tuple[Any, ...]:
    if isinstance(value, property):
        return value.fget, value.fset, value.fdel
    return (getattr(value, "__func__", value),)
