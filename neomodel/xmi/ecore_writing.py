"""Writes metamodels to `.ecore` files that Eclipse and PyEcore open."""

import os
import re
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from neomodel.errors import InvalidModel
from neomodel.metamodel import ECORE, Package
from neomodel.xmi import output
from neomodel.xmi.ecore_kept import HREF, KIND, Packed, unkept
from neomodel.xmi.ecore_links import segment
from neomodel.xmi.ecore_packing import Packer
from neomodel.xmi.ecore_schema import ATTRIBUTES, children_of, references_of
from neomodel.xmi.source import XMI, XSI

_HEAD = f'xmi:version="2.0" xmlns:xmi="{XMI}" xmlns:xsi="{XSI}" xmlns:ecore="{ECORE}"'
_ESCAPED = {'"': "&quot;", "\n": "&#xA;", "\r": "&#xD;", "\t": "&#x9;"}
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_ecore(packages: Package | Iterable[Package], path: str | os.PathLike[str]) -> None:
    """Write a package, or several, to one file; `read_ecore` reads the same again.

    What Ecore has no place for (natural keys, timelines) is in annotations of its own. Raises `InvalidModel` if a text
    has characters that XML has not. The file is there as a whole, or as it was before.
    """
    roots = [packages] if isinstance(packages, Package) else list(packages)
    text = "\n".join(_Writer(roots).lines()) + "\n"
    found = _NO_XML.search(text)
    if found:
        raise InvalidModel(roots[0].name, f"a text in it has the character {found[0]!a}, which XML has not")
    with output.opened(path) as stream:
        stream.write(text.encode())


class _Writer:
    def __init__(self, roots: list[Package]) -> None:
        self._roots = roots
        self._packer = Packer(roots)
        self._places: dict[str, str] = {}
        """Where packages are in the file, by namespace."""
        for number, root in enumerate(roots):
            self._place(root, "/" if len(roots) == 1 else f"/{number}")

    def _place(self, package: Package, path: str) -> None:
        self._places[package.ns_uri] = path
        for number, below in enumerate(package.packages):
            renamed = "name" in unkept(below.annotations, below.name, "EPackage").attributes
            self._place(below, f"{path}/{f'@eSubpackages.{number}' if renamed else segment(below.name)}")

    def lines(self) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        if len(self._roots) == 1:
            yield from self._element("ecore:EPackage", self._packer.package(self._roots[0]), "EPackage", 0, _HEAD)
            return
        yield f"<xmi:XMI {_HEAD}>"
        for root in self._roots:
            yield from self._element("ecore:EPackage", self._packer.package(root), "EPackage", 1)
        yield "</xmi:XMI>"

    def _element(self, tag: str, packed: Packed, usual: str, depth: int, head: str = "") -> Iterator[str]:
        kind = packed.get(KIND, usual)
        uri, _, local = kind.rpartition("#")
        words = [tag, *([head] if head else [])]
        if uri:
            words += [f"xmlns:held={_quoted(uri)}", f"xsi:type={_quoted(f'held:{local}')}"]
        elif kind != usual:
            words.append(f"xsi:type={_quoted(f'ecore:{kind}')}")
        words += [f"{name}={_quoted(text)}" for name, text in self._values(packed, kind)]
        below = [
            line
            for name, found in self._children(packed, kind)
            for child in found
            for line in self._element(name, child, children_of(kind).get(name, ("",))[0], depth + 1)
        ]
        indent = "  " * depth
        yield f"{indent}<{' '.join(words)}{'' if below else '/'}>"
        yield from below
        if below:
            yield f"{indent}</{tag}>"

    def _values(self, packed: Packed, kind: str) -> Iterator[tuple[str, str]]:
        order = [*ATTRIBUTES.get(kind, ()), *references_of(kind), HREF]
        for name in sorted(packed, key=lambda name: order.index(name) if name in order else len(order)):
            found = packed[name]
            if name in references_of(kind) and isinstance(found, list):
                typed = len(references_of(kind)[name]) != 1  # else it goes without saying
                yield name, " ".join(self._reference(text, typed=typed) for text in found)
            elif isinstance(found, str) and name != KIND:
                yield name, found

    def _children(self, packed: Packed, kind: str) -> list[tuple[str, list[Packed]]]:
        order = [*children_of(kind)]
        found = [
            (name, held) for name, held in packed.items() if isinstance(held, list) and name not in references_of(kind)
        ]
        return sorted(found, key=lambda one: order.index(one[0]) if one[0] in order else len(order))

    def _reference(self, text: str, *, typed: bool) -> str:
        """A reference as it is in this file."""
        type_, _, address = text.partition(" ") if text.startswith("ecore:") and " " in text else ("", "", text)
        uri, separator, fragment = address.rpartition("#")
        here = uri in self._places and (
            uri != ECORE or self._packer.has(uri, fragment)
        )  # an Ecore of its own lacks some
        if separator and here and type_:
            return f"#{self._places[uri]}{fragment[1:]}"
        address = f"{uri.replace(' ', '%20')}{separator}{fragment}"
        return f"{type_} {address}" if type_ and typed else address


def _quoted(text: str) -> str:
    return f'"{escape(text, _ESCAPED)}"'
