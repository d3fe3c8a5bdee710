"""Classes as a reader of files needs them: for each name that may stand in a file, what to do with what it names."""

import enum
from collections.abc import Callable, Iterable
from typing import Any

from neomodel import codecs
from neomodel.checks import or_default
from neomodel.errors import MetamodelNotFound
from neomodel.kinds import EClass, EEnum, EFeature
from neomodel.metamodel import ECORE, TypeName
from neomodel.packages import EPackage
from neomodel.unstored import UNSET
from neomodel.xmi.source import XML, XSI, split
from neomodel.xmltype import EXTENDED

FEATURE_MAPS = frozenset({TypeName(ECORE, "EFeatureMapEntry"), TypeName(ECORE, "EFeatureMap")})
_MEMO = 10_000  # texts of a feature whose cells are remembered
_XMI = ("http://www.omg.org/XMI", "http://schema.omg.org/spec/XMI", "http://www.omg.org/spec/XMI")


class Role(enum.IntEnum):
    """What a name in a file stands for."""

    VALUE = 0
    LINK = 1
    CHILD = 2
    UP = 3
    """The child's side of a containment."""
    MAP = 4
    UNKEPT = 5
    """A feature that is not stored: transient or volatile."""
    TIMELINE = 6
    PASSED = 7
    """What says nothing of the object: versions, locations of schemas, and what is looked for elsewhere."""
    ID = 8
    MARK = 9
    """What says that an element is no ordinary object: nil, idref."""
    UNKNOWN = 10


class Slot:
    """A feature of a class, or another name that may stand there."""

    __slots__ = (
        "cell",
        "column",
        "feature",
        "fits",
        "form",
        "group",
        "id",
        "many",
        "name",
        "number",
        "pair",
        "role",
        "side",
        "spelled",
        "unique",
        "usual",
    )

    def __init__(self, role: Role, name: str, feature: EFeature | None = None, number: int = -1) -> None:
        self.role = role
        self.name = name
        self.number = number
        """Its place in the slots of its class."""
        self.feature: Any = feature
        self.many = feature is not None and feature.many
        self.unique = feature is not None and feature.unique and role is not Role.MAP
        self.column = feature.column if feature is not None else b""
        self.id = bool(feature is not None and getattr(feature.value, "id", False))
        self.cell: Callable[[str], bytes | None] = _unreadable
        self.pair: Pair | None = None
        self.side = 0
        self.group: Slot | None = None
        """The feature map that it is a member of."""
        self.usual: Shape | None = None
        """The class of what is held here, where a file says nothing of it."""
        self.fits: dict[Any, bool] = {}
        """Of classes that were met here, whether their objects may be."""
        self.form = ""
        """What its values came in, if not in attributes: `spellings` has the words for it."""
        self.spelled = ""
        """The name it came by, if not its own."""

    def takes(self, kind: EClass) -> bool:
        """Whether objects of that class may be held here."""
        found = self.fits.get(kind)
        if found is None:
            found = self.fits[kind] = self.feature.eType.takes(kind)
        return found


class Pair:
    """A reference and its opposite: whether a file names each link at both ends. Sums of the links' hashes tell."""

    def __init__(self, features: tuple[EFeature, EFeature], number: int) -> None:
        self.features = features
        self.number = number
        self.sums = [0, 0]

    @property
    def even(self) -> bool:
        return self.sums[0] == self.sums[1]


class Shape:
    """A class: what the names of attributes and elements of its objects stand for, and what their rows begin with."""

    def __init__(self, kind: EClass, number: int) -> None:
        self.kind = kind
        self.number = number
        self.mark = chr(0x20 + number)
        """What tells the class of a target beside its id."""
        self.cells = kind.cells
        self.slots: list[Slot] = []
        self.attributes: dict[str, Slot] = {}
        self.elements: dict[str, Slot] = {}
        self.aliases: dict[str, Slot] = {}
        """By other names that the metamodel has for them in XML."""
        self.waits = False
        """Whether others may have to say something of its objects: then their rows come last."""
        self.mixed: Slot | None = None
        """The feature map that has all elements, and the text between them."""
        self.wild: Slot | None = None
        """The feature map that takes elements of other namespaces."""
        self.simple: Slot | None = None
        """Where the text of an element goes that has no other place for it."""
        self.key = kind.key

    def __str__(self) -> str:
        return str(self.kind)

    def unusual(self, name: str) -> Slot:
        """The slot of an attribute that is no feature, or one by another name."""
        role = special(name)
        local = split(name)[1]
        slot: Slot | None
        if role is not None:
            slot = Slot(role, name)
        else:
            slot = (self.attributes.get(local) if local != name else None) or self.alias(local)
        if slot is None:
            return Slot(Role.UNKNOWN, name)
        self.attributes[name] = slot
        return slot

    def alias(self, name: str) -> Slot | None:
        """The slot of a name that the metamodel has for a feature in XML."""
        slot = self.aliases.get(name)
        if slot is not None:
            slot.spelled = name
        return slot


class Shapes:
    """The shapes of all classes that were met, and which class a name in a file means."""

    def __init__(self, find: Callable[[str], EPackage], known: Iterable[EPackage]) -> None:
        self._find = find
        self._known = [part for package in known for part in package.with_subpackages()]
        self._shapes: dict[EClass, Shape] = {}
        self.all: list[Shape] = []
        self.pairs: list[Pair] = []
        self._pairs: dict[tuple[EFeature, EFeature], Pair] = {}

    def of(self, kind: EClass) -> Shape:
        found = self._shapes.get(kind)
        if found is None:
            found = self._shapes[kind] = Shape(kind, len(self.all))
            self.all.append(found)
            self._fill(found)
        return found

    def marked(self, target: str) -> Shape:
        """The shape of a target's class."""
        return self.all[ord(target[0]) - 0x20]

    def named(self, uri: str, name: str) -> tuple[EClass | None, bool]:
        """The class of that name in that namespace; else the only one of that name there is, and that it is so."""
        package = self._package(uri) if uri else None
        found = package.classifiers.get(name) if package is not None else None
        if isinstance(found, EClass):
            return found, False
        if package is not None:
            return None, False
        others = {part.classifiers.get(name) for part in self._known}
        kinds = [kind for kind in others if isinstance(kind, EClass)]
        return (kinds[0] if len(kinds) == 1 else None), True

    def names(self, uri: str) -> list[str]:
        """The classes that a name in that namespace may have meant."""
        package = self._package(uri) if uri else None
        packages = [package] if package is not None else self._known
        return [name for part in packages for name, kind in part.classifiers.items() if isinstance(kind, EClass)]

    def knows(self, uri: str) -> bool:
        return self._package(uri) is not None

    def _package(self, uri: str) -> EPackage | None:
        try:
            return self._find(uri)
        except MetamodelNotFound:
            return None

    def _fill(self, shape: Shape) -> None:
        for number, feature in enumerate(shape.kind.features.values()):
            slot = Slot(_role(feature), feature.name, feature, number)
            shape.slots.append(slot)
            shape.attributes[slot.name] = shape.elements[slot.name] = slot
            if slot.role is Role.VALUE and not slot.many:
                slot.cell = _cell_of(feature)
            if slot.role is Role.LINK and feature.eOpposite is not None:
                self._join(slot, feature, feature.eOpposite)
                shape.waits = True
        _arrange_maps(shape)
        for slot in shape.slots:
            alias = _extended(slot.feature).get("name", "")
            if alias and alias[0] != ":" and alias not in shape.elements:
                shape.aliases.setdefault(alias, slot)

    def _join(self, slot: Slot, feature: EFeature, opposite: EFeature) -> None:
        first = min(feature, opposite, key=str)
        ends = (first, opposite if first is feature else feature)
        if ends not in self._pairs:
            self._pairs[ends] = Pair(ends, len(self.pairs))
            self.pairs.append(self._pairs[ends])
        slot.pair = self._pairs[ends]
        slot.side = 0 if first is feature else 1


def _arrange_maps(shape: Shape) -> None:
    """Find out which features are members of feature maps, and where text and unknown elements go."""
    maps = {}
    for slot in shape.slots:
        said = _extended(slot.feature)
        if slot.role is Role.MAP:
            name = said.get("name", slot.name)
            maps[name] = slot
            if name in (":mixed", "mixed"):
                shape.mixed = slot
            elif said.get("kind") == "elementWildcard":
                shape.wild = slot
        elif said.get("kind") == "simple" or said.get("name") == ":0":
            shape.simple = slot
    shape.wild = shape.wild or shape.mixed
    for slot in shape.slots:
        group = _extended(slot.feature).get("group", "").lstrip("#")
        slot.group = None if slot.role is Role.MAP else shape.mixed or maps.get(group)


def special(name: str) -> Role | None:
    """The role of an attribute of the namespaces of XMI and of XML Schema's instances; None for others."""
    uri, local = split(name)
    if uri == XSI:
        return Role.MARK if local == "nil" else Role.PASSED
    if is_xmi(uri):
        return {"id": Role.ID, "idref": Role.MARK, "type": Role.PASSED, "version": Role.PASSED}.get(local)
    return Role.PASSED if name == f"{XML} space" else None


def is_xmi(uri: str) -> bool:
    """Whether a namespace is that of any version of XMI."""
    return uri.startswith(_XMI)


def read_value(feature: EFeature, text: str) -> Any:
    """The value of a text, in any form that tools write; ValueError if it is none."""
    codec = feature.codec
    try:
        return codec.from_text(text)
    except ValueError:
        bare = text.strip()
        kind = feature.eType
        if isinstance(kind, EEnum):
            for literal in kind.value.literals:
                if str(literal.value) == bare:
                    return kind.members[literal.name]
        if bare == text:
            raise
        return codec.from_text(bare)


def _role(feature: EFeature) -> Role:
    if feature.timeline:
        return Role.TIMELINE
    if feature.container:
        return Role.UP
    if not feature.kept:
        return Role.UNKEPT
    if feature.containment:
        return Role.CHILD
    if feature.reference:
        return Role.LINK
    return Role.MAP if feature.many and feature.value.type in FEATURE_MAPS else Role.VALUE


def _cell_of(feature: EFeature) -> Callable[[str], bytes | None]:
    """From a text to the cell of a single-valued feature; None where the feature stays unset."""
    codec = feature.codec
    if codec.native is str and feature.default is None and codec.from_text is codec.check:
        return str.encode
    memo: dict[str, bytes | None] = {}

    def cell(text: str) -> bytes | None:
        if text in memo:
            return memo[text]
        raw = or_default(feature, read_value(feature, text))
        found = None if raw is UNSET else codecs.encode_single(codec, raw)
        if len(memo) < _MEMO:
            memo[text] = found
        return found

    return cell


def _unreadable(text: str) -> bytes | None:
    raise ValueError(text)


def _extended(feature: EFeature) -> dict[str, str]:
    """What a metamodel says of a feature's form in XML."""
    return next((dict(found.details) for found in feature.value.annotations if found.source == EXTENDED), {})
