"""An `.ecore` file as a tree of its elements, each with its line. Nothing is resolved yet."""

import os
from collections.abc import Iterator
from pathlib import Path

from neomodel.errors import InvalidFile, near
from neomodel.metamodel import ECORE
from neomodel.xmi.ecore_schema import ATTRIBUTES, children_of, references_of
from neomodel.xmi.notices import Notices
from neomodel.xmi.source import XMI, XML, XSI, Source, split

DEPTH = 100
"""How deep elements may lie in one another."""


class File:
    """One file: its roots, and its elements by xmi:id."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self.path = Path(path).resolve()
        self.roots: list[Node] = []
        self.ids: dict[str, Node] = {}


class Node:
    """An element: `values` are its attributes, written as such or as elements; `links` what it refers to by href."""

    def __init__(self, file: File, tag: str, kind: str, line: int, parent: "Node | None") -> None:
        self.file = file
        self.tag = tag
        self.kind = kind
        self.line = line
        self.parent = parent
        self.values: dict[str, str] = {}
        self.links: dict[str, list[str]] = {}
        self.children: list[Node] = []
        self.href: str | None = None
        """Where it is, if it is in another file and only mentioned here."""
        self.ns_uri = ""
        """Of a package: its namespace, its own or made."""
        self.changed: dict[str, str] = {}
        """What of it was given another value, to make sense of it, with the one in the file; empty if it had none."""
        self.dropped: list[tuple[str, str]] = []
        """References that the file has but that mean nothing, or nothing that can be, with their names."""

    @property
    def name(self) -> str:
        return self.values.get("name", "")

    def fault(self, reason: str) -> InvalidFile:
        return InvalidFile(f"{self.file.name}:{self.line}", reason)

    def inside(self, tag: str) -> "Iterator[Node]":
        """The children that lie in it by that name."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> "Node | None":
        return next(self.inside(tag), None)

    def change(self, name: str, value: str | None) -> None:
        """Take another value, or none, for one of the file, which is remembered."""
        self.changed.setdefault(name, self.values.get(name, ""))
        if value is None:
            self.values.pop(name, None)
        else:
            self.values[name] = value

    @property
    def package(self) -> "Node":
        """The package that it is or lies in."""
        found = self
        while found.kind != "EPackage" and found.parent is not None:
            found = found.parent
        return found

    def __str__(self) -> str:
        """Its name with those of what it lies in, below the root package."""
        names = []
        found: Node | None = self
        while found is not None:
            names.append(found.name or found.tag)
            found = found.parent
        return ".".join(reversed(names))


def read_tree(path: str | os.PathLike[str], notices: Notices) -> File:
    """The elements of a file; `InvalidFile` if it is no XML, or has elements that Ecore has not."""
    file = File(path)
    source = Source(path)
    source.parse(_Builder(source, file, notices))
    if not file.roots:
        raise InvalidFile(file.name, "there is no package in it")
    return file


_WRAPPER = ""


class _Builder:
    """Makes nodes of what a source tells. On its stack: a node for an element that is one, else the name of a value."""

    def __init__(self, source: Source, file: File, notices: Notices) -> None:
        self._source = source
        self._file = file
        self._notices = notices
        self._stack: list[Node | str] = []
        self._skipped = 0
        """How deep in an element that is left out."""
        self._text: list[str] = []

    def start(self, name: str, attributes: list[str]) -> None:
        self._say_text()
        if self._skipped:
            self._skipped += 1
            return
        if len(self._stack) > DEPTH:
            raise self._source.fault(f"elements of a metamodel lie more than {DEPTH} deep in one another")
        uri, local = split(name)
        given = dict(zip(attributes[::2], attributes[1::2], strict=True))
        above = self._stack[-1] if self._stack else _WRAPPER
        if not self._stack and (uri, local) == (XMI, "XMI"):
            self._stack.append(_WRAPPER)
        elif uri == XMI:
            self._say(f"xmi:{local} is no part of a metamodel; it is left out")
            self._skipped = 1
        elif isinstance(above, Node):
            self._stack.append(self._below(above, local, given))
        elif above == _WRAPPER:
            self._stack.append(self._root(uri, local, given))
        else:
            raise self._source.fault(f"{above} is a value, no element can be in it; found {local}")

    def end(self, _name: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        ended = self._stack.pop()
        above = self._stack[-1] if self._stack else None
        if isinstance(ended, Node):
            order = [*children_of(ended.kind)]  # as EMF has them, whatever their order in the file
            ended.children.sort(key=lambda child: order.index(child.tag) if child.tag in order else 0)
        if isinstance(ended, Node) or not isinstance(above, Node):
            self._say_text()
            return
        text, self._text = "".join(self._text), []
        if ended in ATTRIBUTES.get(above.kind, {}):
            above.values[ended] = text
        elif text.strip():
            above.links.setdefault(ended, []).append(text.strip())

    def text(self, data: str) -> None:
        if not self._skipped:
            self._text.append(data)

    def _say_text(self) -> None:
        text, self._text = "".join(self._text).strip(), []
        if text:
            self._say(f"the text {text[:40]!r} means nothing here; it is left out")

    def _say(self, text: str) -> None:
        self._notices.add(self._file.name, self._source.line, text)

    def _root(self, uri: str, local: str, given: dict[str, str]) -> Node:
        if (uri, local) != (ECORE, "EPackage"):
            raise self._source.fault(f"expected a package of Ecore ({ECORE}), found {local} of {uri or 'no namespace'}")
        root = Node(self._file, local, local, self._source.line, None)
        self._file.roots.append(root)
        self._fill(root, given)
        return root

    def _below(self, above: Node, local: str, given: dict[str, str]) -> Node | str:
        children = children_of(above.kind)
        own = above.kind in ATTRIBUTES
        if local in children or not own:
            node = Node(self._file, local, self._kind(above, local, given), self._source.line, above)
            above.children.append(node)
            self._fill(node, given)
            return node
        if local in references_of(above.kind):
            target = given.get("href", given.get(f"{XMI} idref"))
            if target is not None:
                above.links.setdefault(local, []).append(target)
            return local
        if local in ATTRIBUTES[above.kind]:
            return local if given.get(f"{XSI} nil") not in ("true", "1") else "nil"
        known = [*children, *references_of(above.kind), *ATTRIBUTES[above.kind]]
        raise self._source.fault(f"{above.kind} has no {local!r}{near(local, known)}")

    def _kind(self, above: Node, local: str, given: dict[str, str]) -> str:
        allowed = children_of(above.kind).get(local, ("",))
        type_ = given.get(f"{XSI} type", given.get(f"{XMI} type"))
        if type_ is None:
            if not allowed[0] and "href" not in given and above.kind in ATTRIBUTES:
                raise self._source.fault(f"{local} does not say what it is; expected xsi:type, one of {_said(allowed)}")
            return allowed[0]
        prefix, _, kind = type_.rpartition(":")
        uri = self._source.namespace(prefix)
        if uri is None:
            raise self._source.fault(f"the type {type_} is of no package: its prefix {prefix!r} stands for nothing")
        if uri != ECORE:
            if local == "contents" or above.kind not in ATTRIBUTES:
                return f"{uri}#{kind}"
            raise self._source.fault(f"{local} has the type {type_}, expected one of Ecore's: {_said(allowed)}")
        if above.kind in ATTRIBUTES and kind not in allowed:
            raise self._source.fault(f"{local} has the type {type_}, expected {_said(allowed)}{near(kind, allowed)}")
        return kind

    def _fill(self, node: Node, given: dict[str, str]) -> None:
        own = node.kind in ATTRIBUTES
        known = [*ATTRIBUTES.get(node.kind, ()), *references_of(node.kind)]
        for name, value in given.items():
            uri, local = split(name)
            if uri == XMI and local == "id":
                self._file.ids.setdefault(value, node)
            elif uri in (XMI, XSI):
                continue
            elif uri not in ("", ECORE):
                if uri != XML:
                    self._say(f"the attribute {local} of {uri} is none of Ecore's; it is left out")
            elif local == "href" and node.tag in ("eClassifiers", "eSubpackages"):
                node.href = value
            elif own and local not in known:
                raise self._source.fault(f"{node.kind} has no {local!r}{near(local, known)}")
            else:
                node.values[local] = value


def _said(kinds: tuple[str, ...]) -> str:
    return ", ".join(kind for kind in kinds if kind)
