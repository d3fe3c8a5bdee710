"""What the references in `.ecore` files mean: of every dialect, in the same file, in another, in a known package.

A reference is a URI and a fragment. The URI is empty, the path of a file that was given, or the namespace of a package
that was given, is registered or is always there. Nothing else is looked for: what a file names is never opened. The
fragment is a path of names from a root (``//A/b``, ``/1/A``, ``//%source%/x``, ``//@eClassifiers.0``) or an xmi:id.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

import attrs

from neomodel.metamodel import ECORE, Attribute, Class, DataType, Enum, Package, TypeName
from neomodel.packages import ecore
from neomodel.xmi.ecore_schema import references_of
from neomodel.xmi.ecore_tree import File, Node
from neomodel.xmi.notices import Notices
from neomodel.xmltype import XML_TYPE, xml_type

_UNSAFE = re.compile(r"""[\s%/#?"]|^@""")
_TYPED = re.compile(r"[\w.-]+:E\w+")
_POSITION = re.compile(r"@(\w+)\.(\d+)")
_REPEATED = re.compile(r"(.*)\.(\d+)", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_KINDS: dict[type, str] = {Class: "EClass", DataType: "EDataType", Enum: "EEnum"}


@attrs.frozen
class Target:
    """What a reference means: an element of a file that was given, or a type or feature of a known package."""

    kind: str
    type: TypeName | None
    """The classifier that it is, or lies in."""
    address: str
    """Namespace and path: what the reference would be from anywhere."""
    node: Node | None = None
    feature: str | None = None

    @property
    def text(self) -> str:
        """The reference as it is written from another file."""
        return f"ecore:{self.kind} {self.address}"


class Links:
    """The files and packages that references may mean."""

    def __init__(self, files: Iterable[File], registered: Iterable[Package], notices: Notices) -> None:
        self._files = {file.path: file for file in files}
        self._notices = notices
        always = (ecore().value, xml_type())
        self._registered = [part for root in registered for part in root.with_subpackages()]
        self._known = {package.ns_uri: package for package in (*always, *self._registered)}
        self._given: dict[str, Node] = {}
        self._indices: dict[Node, dict[str, list[Node]]] = {}

    def settle(self, roots: Iterable[Node]) -> None:
        """Packages have been put where they belong and have their namespaces: from now on they are found by those."""
        self._indices.clear()
        self._given = {found.ns_uri: found for root in roots for found in _packages(root)}

    def targets(self, node: Node, name: str) -> Iterator[tuple[str, Target | None]]:
        """What a reference of an element means, each with how the file has it; None for what means nothing."""
        wanted = references_of(node.kind).get(name, ())
        type_, words = "", node.values.get(name, "").split()
        while words:
            word = words.pop(0)
            if _TYPED.fullmatch(word) and words and not type_:
                type_ = f"{word} "
                continue
            if len(wanted) == 1:
                type_ = ""  # it says nothing more
            target = self.target(node, word, wanted)
            if target is None and words:
                word, target, words = self._spaced(node, word, words, wanted)
            yield type_ + word, target
            type_ = ""
        for href in node.links.get(name, ()):
            yield href, self.target(node, href, wanted)

    def _spaced(
        self, node: Node, word: str, words: list[str], wanted: tuple[str, ...]
    ) -> tuple[str, Target | None, list[str]]:
        """A reference with spaces, as in the names of what it means: as many words as mean something together."""
        for count in range(1, len(words) + 1):
            together = " ".join([word, *words[:count]])
            target = self.target(node, together, wanted)
            if target is not None:
                text = f"the reference {together!r} has spaces; it is taken for one, Ecore would write %20"
                self._notices.add(node.file.name, node.line, text)
                return together, target, words[count:]
        return word, None, words

    def target(self, node: Node, text: str, wanted: tuple[str, ...] = ()) -> Target | None:
        """What one reference means; of several elements of the name, one of the wanted kinds."""
        uri, separator, fragment = text.partition("#")
        if not separator:
            return self._in_file(node.file, text, wanted)
        found = self._at(node.file, uri, fragment, wanted)
        if found is None and "#" in fragment:  # a namespace may have one too
            uri, _, fragment = text.rpartition("#")
            found = self._at(node.file, uri, fragment, wanted)
        return found

    def _at(self, origin: File, uri: str, fragment: str, wanted: tuple[str, ...]) -> Target | None:
        if not uri:
            return self._in_file(origin, fragment, wanted)
        file = self._file(origin, uri)
        if file is not None:
            return self._in_file(file, fragment, wanted)
        package = self._given.get(uri) or self._given.get(unquote(uri))
        found = self._found([package], fragment, wanted) if package is not None else None
        if found is not None:
            return found
        known = self._package(uri)
        return None if known is None else self._in_package(known, [unquote(name) for name in _segments(fragment)[1:]])

    def beside(self, node: Node, text: str) -> str | None:
        """The files to be given too, if a reference is into one that lies there but was not given."""
        if not self._lies_there(node, text):
            return None
        found: dict[str, None] = {}
        ahead = [*node.file.roots]
        for one in ahead:
            ahead += one.children
            words = [one.href or "", *(word for value in one.values.values() for word in value.split())]
            words += [href for links in one.links.values() for href in links]
            found |= dict.fromkeys(word.partition("#")[0] for word in words if self._lies_there(one, word))
        return " ".join(found)

    def _lies_there(self, node: Node, text: str) -> bool:
        text = text.rpartition(" ")[2]
        uri, separator, _ = text.partition("#")
        if not separator or not uri or _SCHEME.match(uri) or self.target(node, text) is not None:
            return False
        path = node.file.path.parent / unquote(uri)
        try:
            return path.is_file() and path.resolve() not in self._files
        except (OSError, ValueError):
            return False  # no path of this system

    def address(self, node: Node) -> str:
        """Namespace and path of an element."""
        segments = []
        package = node.package
        while node is not package and node.parent is not None:
            segments.append(self._segment(node, node.parent))
            node = node.parent
        return f"{package.ns_uri}#//{'/'.join(reversed(segments))}"

    # files and packages

    def _file(self, origin: File, uri: str) -> File | None:
        """The file of that path, or of that name and as much of the path as possible."""
        plain = unquote(uri.removeprefix("file:"))
        if not _SCHEME.match(plain):
            try:
                found = self._files.get((origin.path.parent / plain).resolve())
            except (OSError, ValueError):
                return None  # no path of this system
            if found is not None:
                return found
        if not plain.endswith(".ecore"):
            return None
        parts = PurePosixPath(plain).parts
        alike = {file: _alike(parts, file.path.parts) for file in self._files.values()}
        best = max(alike, key=alike.__getitem__, default=None)
        return best if best is not None and alike[best] else None

    def _package(self, uri: str) -> Package | None:
        """The known package of that namespace, or one that has the name of the file."""
        found = self._known.get(uri) or self._known.get(unquote(uri))
        if found is not None:
            return found
        name = PurePosixPath(unquote(uri)).name
        always = {"Ecore.ecore": ECORE, "XMLType.ecore": XML_TYPE}.get(name)
        if always is not None:
            return self._known[always]
        stem = name.removesuffix(".ecore").lower()
        named = [package for package in self._registered if package.name.lower() == stem and name.endswith(".ecore")]
        return named[0] if len(named) == 1 else None

    def _in_package(self, package: Package, path: list[str]) -> Target | None:
        for number, name in enumerate(path):
            found = package.classifier(name)
            if found is not None and number == len(path) - 1:
                return Target(
                    _KINDS[type(found)], TypeName(package.ns_uri, name), f"{package.ns_uri}#//{segment(name)}"
                )
            if isinstance(found, Class) and number == len(path) - 2:
                feature = next((one for one in found.features if one.name == path[-1]), None)
                if feature is not None:
                    kind = "EAttribute" if isinstance(feature, Attribute) else "EReference"
                    address = f"{package.ns_uri}#//{segment(name)}/{segment(path[-1])}"
                    return Target(kind, TypeName(package.ns_uri, name), address, feature=path[-1])
            below = next((one for one in package.packages if one.name == name), None)
            if below is None:
                return None
            package = below
        return None

    # fragments

    def _in_file(self, file: File, fragment: str, wanted: tuple[str, ...]) -> Target | None:
        node = file.ids.get(fragment) or file.ids.get(unquote(fragment))
        return self._of(node) if node is not None else self._found(file.roots, fragment, wanted)

    def _found(self, roots: list[Node], fragment: str, wanted: tuple[str, ...]) -> Target | None:
        first, *path = _segments(fragment)
        if first and not (first.isdecimal() and len(first) < 6):
            return None
        found = roots[int(first or 0) :][:1]
        for segment in path:
            found = [child for node in found for child in self._step(node, segment)]
        meant = [node for node in found if node.kind in wanted] or found
        return self._of(meant[0]) if meant else None

    def _step(self, node: Node, segment: str) -> list[Node]:
        index = self._index(node)
        plain = unquote(segment)
        found = index.get(segment) or index.get(plain)
        if found:
            return found
        if position := _POSITION.fullmatch(segment):
            return [*node.inside(position[1])][int(position[2]) :][:1] if len(position[2]) < 6 else []
        if segment.startswith("%") and segment.endswith("%"):
            source = unquote(segment[1:-1])
            return [child for child in node.inside("eAnnotations") if child.values.get("source", "") == source]
        if repeated := _REPEATED.fullmatch(plain):
            return index.get(repeated[1], [])[int(repeated[2]) :][:1] if len(repeated[2]) < 6 else []
        return []

    def _index(self, node: Node) -> dict[str, list[Node]]:
        """Its children by the names that the file has."""
        found = self._indices.get(node)
        if found is None:
            found = self._indices[node] = {}
            for child in node.children:
                found.setdefault(_name(child), []).append(child)
            found.pop("", None)
        return found

    def _of(self, node: Node) -> Target:
        owner: Node | None = node
        while owner is not None and owner.tag != "eClassifiers":
            owner = owner.parent
        type_ = None if owner is None else TypeName(owner.package.ns_uri, owner.name)
        feature = node.name if node.tag == "eStructuralFeatures" else None
        return Target(node.kind, type_, self.address(node), node, feature)

    def _segment(self, node: Node, parent: Node) -> str:
        name = _name(node)
        if name and self._index(parent)[name][0] is node:
            return segment(name)
        if node.tag == "eAnnotations" and next(_sources(parent, node)) is node:
            return f"%{quote(node.values.get('source', ''), safe='')}%"
        return f"@{node.tag}.{[*parent.inside(node.tag)].index(node)}"


def segment(name: str) -> str:
    """A name in the path of a reference; what would end it there, or begin something else, is encoded."""
    return _UNSAFE.sub(lambda found: quote(found[0], safe=""), name)


def _name(node: Node) -> str:
    """The name that the file has."""
    return node.changed.get("name", node.name)


def _sources(parent: Node, node: Node) -> Iterator[Node]:
    source = node.values.get("source", "")
    return (child for child in parent.inside("eAnnotations") if child.values.get("source", "") == source)


def _segments(fragment: str) -> list[str]:
    """The root, empty for the first, and the names below it."""
    if not fragment.startswith("/"):
        return ["?"] if fragment else [""]
    return fragment[1:].removesuffix("/").split("/")


def _packages(node: Node) -> Iterator[Node]:
    yield node
    for below in node.inside("eSubpackages"):
        if below.href is None:
            yield from _packages(below)


def _alike(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many parts two paths have in common at their ends."""
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count
