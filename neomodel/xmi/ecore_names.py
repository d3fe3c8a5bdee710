"""Which packages files have, in which one another, and what they and all in them are called.

Everything gets the name and every package the namespace by which it will be found. Where a file has none, or has it
twice, one is made, and said so.
"""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from neomodel.registry import LONGEST
from neomodel.xmi.ecore_links import Links
from neomodel.xmi.ecore_tree import DEPTH, File, Node
from neomodel.xmi.notices import Notices

_NAMED = {
    "EPackage": {"eClassifiers": "classifier", "eSubpackages": "sub-package"},
    "EClass": {"eStructuralFeatures": "feature"},
    "EEnum": {"eLiterals": "literal"},
}


def arrange(files: Iterable[File], links: Links, notices: Notices) -> list[Node]:
    """The root packages of the files, in order; `InvalidFile` if one can't be named or lies in itself."""
    roots = [root for file in files for root in file.roots]
    for root in roots:
        _gather(root, links, notices)
    for root in roots:
        _check_depth(root)
    tops = [root for root in roots if root.parent is None]
    seen: dict[str, Node] = {}
    for top in tops:
        _name(top, notices)
    for top in sorted(tops, key=lambda top: not top.values.get("nsURI")):  # what is made gives way
        _place(top, _namespace(top), seen, notices)
    for top in tops:
        _tell_apart(top, notices)
    links.settle(tops)
    return tops


# what lies in what


def _gather(package: Node, links: Links, notices: Notices) -> None:
    """Put what a package holds in other files to where it is mentioned."""
    for number, child in enumerate(package.children):
        if child.href is None:
            if child.kind == "EPackage":
                _gather(child, links, notices)
            continue
        target = links.target(child, child.href)
        node = target.node if target is not None else None
        wanted = ("EPackage",) if child.tag == "eSubpackages" else ("EClass", "EDataType", "EEnum")
        if node is None:
            beside = links.beside(child, child.href)
            if beside:
                raise child.fault(f"a part of the package is in {beside}; give that file too")
            notices.add(child.file.name, child.line, f"nothing is found at {child.href}; it is left out")
        elif node.kind not in wanted or (node.parent is not None and node.parent is not package):
            raise child.fault(f"what is at {child.href} can't be a part of {package.name or 'this package'} too")
        else:
            node.parent, node.tag = package, child.tag
            package.children[number] = node


def _check_depth(node: Node) -> None:
    depth = 0
    above = node.parent
    while above is not None:
        depth, above = depth + 1, above.parent
        if depth > DEPTH:
            raise node.fault("the package lies in itself, or too deep in others")


# packages


def _name(package: Node, notices: Notices) -> None:
    for below in package.inside("eSubpackages"):
        if below.href is None:
            _name(below, notices)
    if package.name:
        return
    uri = package.values.get("nsURI", "").rstrip("/#")
    name = PurePosixPath(uri).name or (package.file.path.stem if package.parent is None else "")
    if not name:
        raise package.fault("the sub-package has no name")
    package.values["name"] = name
    notices.add(package.file.name, package.line, f"the package has no name; it is called {name!r} here")


def _namespace(top: Node) -> str:
    """What a root package without a namespace is found by: its name. Where others of its file have the classes, and it
    only types for them, their name comes first: many a file has `PrimitiveTypes` of its own."""
    others = [root for root in top.file.roots if root is not top and root.parent is None and _classes(root)]
    if others and not _classes(top):
        return f"{others[0].values.get('nsURI') or others[0].name}/{top.name}"
    return top.name


def _classes(package: Node) -> bool:
    return any(child.kind == "EClass" or (child.kind == "EPackage" and _classes(child)) for child in package.children)


def _place(package: Node, made: str, seen: dict[str, Node], notices: Notices) -> None:
    ns_uri = package.values.get("nsURI", "")
    if not ns_uri:
        ns_uri = made
        text = f"package {package.name} has no nsURI; it is found by {ns_uri!r}"
        notices.add(package.file.name, package.line, text)
    if ns_uri in seen:
        first = seen[ns_uri]
        where = f"{first.file.name}:{first.line}"
        if package.parent is None:
            raise package.fault(f"the nsURI {ns_uri!r} of package {package.name} is that of the one in {where} too")
        package.change("nsURI", free(made, seen))
        ns_uri = package.values["nsURI"]
        text = f"the nsURI of package {package.name} is that of the package in {where} too; it is found by {ns_uri!r}"
        notices.add(package.file.name, package.line, text)
    if len(ns_uri.encode()) > LONGEST:
        raise package.fault(f"the nsURI of package {package.name} has more than {LONGEST} bytes")
    package.ns_uri = ns_uri
    seen[ns_uri] = package
    for below in package.inside("eSubpackages"):
        if below.href is None:
            _place(below, f"{ns_uri}/{below.name}", seen, notices)


# names


def _tell_apart(node: Node, notices: Notices) -> None:
    for tag, what in _NAMED.get(node.kind, {}).items():
        children = [child for child in node.inside(tag) if child.href is None]
        taken = {child.name for child in children}
        seen: set[str] = set()
        for child in children:
            if not child.name:
                raise child.fault(f"a {what} of {node.name} has no name")
            if child.name in seen:
                name = free(child.name, taken, "_")
                text = f"{node.name} has another {what} {child.name!r}; this one is called {name!r} here"
                notices.add(child.file.name, child.line, text)
                child.change("name", name)
                taken.add(name)
            seen.add(child.name)
            _tell_apart(child, notices)


def free(name: str, taken: Iterable[str], separator: str = ".") -> str:
    """The name with the first number that makes it one that is not taken."""
    return next(found for found in _numbered(name, separator) if found not in taken)


def _numbered(name: str, separator: str) -> Iterator[str]:
    number = 1
    while True:
        yield f"{name}{separator}{number}"
        number += 1
