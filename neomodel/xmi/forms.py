"""How the objects of each class are written: their tags, and which cell becomes what."""

import enum
import re
from collections.abc import Callable
from typing import NamedTuple

from neomodel import codecs, layout
from neomodel.codecs import Codec
from neomodel.errors import NotWritable
from neomodel.kinds import EClass, EEnum, EFeature
from neomodel.metamodel import ECORE
from neomodel.packages import EPackage
from neomodel.stores import Row
from neomodel.xmi import escaping
from neomodel.xmi.shapes import FEATURE_MAPS
from neomodel.xmi.spellings import ELEMENT, TEXT, Spellings

Raw = Callable[[bytes], bytes | None]
"""From the cell of a single value to its text, before it is escaped; None for None."""

_USUAL = Spellings()
_TAKEN = {"xmi", "xsi"}
_NAME = layout.column("name")
_PLAIN = re.compile(rb"[A-Za-z_][\w$-]*")
"""Names that mean nothing else in a path."""
_ELEMENTS = {"href", "xmlns"}
"""Features of these names are no attributes: to readers those would mean something else."""


class Sort(enum.IntEnum):
    """What a feature becomes: an attribute; or elements, or an attribute if it leads to objects of this document."""

    VALUE = 0
    LINKS = 1
    VALUES = 2
    CHILDREN = 3
    MAP = 4
    TIMELINE = 5
    TEXT = 6
    """A value that is the text of its object's element."""


class Part(NamedTuple):
    """A feature of a class, in the order in which Ecore has them."""

    column: bytes
    sort: Sort
    name: bytes
    opening: bytes
    """What an attribute begins with."""
    raw: Raw
    feature: EFeature


class Prefixes:
    """The namespaces that a document uses, each with its prefix."""

    def __init__(self) -> None:
        self.declared: dict[str, bytes] = {}
        """Prefixes by namespaces, in the order in which they were used first."""
        self.instances = False
        """Whether there is anything of XML Schema's namespace for instances."""

    def of(self, ns_uri: str, wanted: str) -> bytes:
        """The prefix of a namespace: the wanted one, or if another has that, the next that is free."""
        known = self.declared.get(ns_uri)
        if known is not None:
            return known
        try:
            escaping.name(wanted)
        except ValueError:
            wanted = "ns"
        taken = {prefix.decode() for prefix in self.declared.values()} | _TAKEN
        prefix, number = wanted, 0
        while prefix in taken or prefix.lower().startswith("xml"):
            number += 1
            prefix = f"{wanted}_{number}" if not wanted.lower().startswith("xml") else f"ns_{number}"
        self.declared[ns_uri] = prefix.encode()
        return self.declared[ns_uri]

    def class_name(self, kind: EClass) -> bytes:
        """The name of a class with its prefix."""
        package: EPackage = kind.ePackage
        return self.of(package.nsURI, package.nsPrefix) + b":" + _name(kind.name, str(kind))


class Form:
    """How the objects of one class are written."""

    def __init__(self, kind: EClass, prefixes: Prefixes, spellings: Spellings = _USUAL) -> None:
        self.kind = kind
        self._prefixes = prefixes
        self._spellings = spellings
        self.parts = [_part(feature, spellings) for feature in kind.features.values() if feature.stored]
        self.text = any(part.sort is Sort.TEXT for part in self.parts)
        """Whether one of its features may be the text of its element."""
        self.starts: dict[EFeature, bytes] = {}
        """What the tag begins with, by the feature that contains the object."""
        self.maps = [part for part in self.parts if part.sort is Sort.MAP]
        identity = next((part for part in self.parts if getattr(part.feature.value, "id", False)), None)
        self.identity = identity if identity is not None and identity.sort in (Sort.VALUE, Sort.TEXT) else None
        """The attribute that other documents would know the object by."""
        self.of_ecore = kind.ePackage.nsURI == ECORE
        """Whether Eclipse has a form of its own for it: paths go by names, and attributes refer to other files, too."""

    def start(self, feature: EFeature) -> bytes:
        """Where it is contained by that feature: ``<feature``, and which class it is of, if that has to be said."""
        found = self.starts.get(feature)
        if found is None:
            found = b"<" + self.tag(feature)
            if feature.eType.type_name != self.kind.type_name:
                found += self.type()
            self.starts[feature] = found
        return found

    def tag(self, feature: EFeature) -> bytes:
        """The name of its elements by a feature that contains them."""
        return _name(self._spellings.name(feature), str(feature))

    def called(self, row: Row) -> bytes | None:
        """What an object is called in its own file: by its xmi:id, or by its attribute for that."""
        name = row.get(layout.XMI_ID)
        if name is None and self.identity is not None and (cell := row.get(self.identity.column)) is not None:
            return self.identity.raw(cell)
        return name

    def step(self, row: Row, before: set[bytes]) -> bytes | None:
        """By which name a path leads to an object of Ecore; None for one that has none, or that has not one of its own
        among its siblings. Those `before` it are known, and so is it from now on."""
        name = row.get(_NAME, b"")
        if name in before or not _PLAIN.fullmatch(name):
            return None
        before.add(name)
        return b"/" + name

    def type(self) -> bytes:
        """The attribute that tells the class."""
        self._prefixes.instances = True
        return b' xsi:type="%b"' % self._prefixes.class_name(self.kind)

    def root(self) -> bytes:
        """The name of the tag of a root."""
        return self._prefixes.class_name(self.kind)


def _part(feature: EFeature, spellings: Spellings) -> Part:
    spelled, form, sort = spellings.name(feature), spellings.form(feature), _sort(feature)
    name = _name(spelled, str(feature))
    raw = _nothing if feature.reference or feature.many or feature.timeline else raw_of(feature)
    opening = b' %b="' % name if spelled not in _ELEMENTS else b""
    if sort is Sort.VALUE and form == TEXT:
        sort = Sort.TEXT
    if sort is Sort.VALUE and form == ELEMENT:
        opening = b""
    return Part(feature.column, sort, name, opening, raw, feature)


def _sort(feature: EFeature) -> Sort:
    if feature.timeline:
        return Sort.TIMELINE
    if feature.reference:
        return Sort.CHILDREN if feature.containment else Sort.LINKS
    if feature.value.type in FEATURE_MAPS and feature.many:
        return Sort.MAP
    return Sort.VALUES if feature.many else Sort.VALUE


def _name(name: str, where: str) -> bytes:
    try:
        return escaping.name(name)
    except ValueError as exc:
        raise NotWritable(where, "XMI", str(exc), "rename it in the metamodel") from exc


def _nothing(_cell: bytes) -> None:
    return None


def raw_of(feature: EFeature) -> Raw:
    """How the text of a single value is made of its cell."""
    codec = feature.codec
    if codec.native is str and codec.to_text is str:
        return _text
    if isinstance(feature.eType, EEnum):
        return _literals(codec, feature.eType)
    if codec.native is int:
        return lambda cell: cell if cell.isdigit() else _converted(codec, cell)
    return lambda cell: _converted(codec, cell)


def _text(cell: bytes) -> bytes | None:
    if cell[:1] != codecs.NULL:
        return cell
    return None if cell == codecs.NULL else cell[1:]


def _converted(codec: Codec, cell: bytes) -> bytes | None:
    value = codecs.decode_single(codec, cell)
    return None if value is None else codec.to_text(value).encode()


def _literals(codec: Codec, kind: EEnum) -> Raw:
    known: dict[bytes, bytes | None] = {
        codecs.encode_single(codec, member): codec.to_text(member).encode() for member in kind.members.values()
    }

    def found(cell: bytes) -> bytes | None:
        return known[cell] if cell in known else _converted(codec, cell)

    return found
