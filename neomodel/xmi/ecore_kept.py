"""What Ecore says and `metamodel` has no field for, kept in annotations of one source, so that files get it back.

The details of such an annotation are of three sorts. One with the name of an attribute of Ecore holds what a file had
there, or nothing, where something else was made of it; with that of a reference, one that is to be written too. One
with the name of an element (`eOperations`, `eTypeParameters` ...) holds that element as JSON, one detail for each. And
`MARKS`, `KEY`, `TIMELINE` are ours.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from neomodel.errors import InvalidModel
from neomodel.metamodel import Annotation
from neomodel.xmi.ecore_links import Links
from neomodel.xmi.ecore_schema import ATTRIBUTES, children_of, references_of
from neomodel.xmi.ecore_tree import Node

SOURCE = "neomodel:ecore"
KIND = "is"
HREF = "href"
KEY = "key"
"""The natural key of a class: names, as a JSON list."""
TIMELINE = "timeline"
"""That an attribute is a timeline."""
MARKS = "marks"
"""Which marks were taken off a feature whose values are told by a feature map."""

_HELD = {"eAnnotations", "eClassifiers", "eSubpackages", "eStructuralFeatures", "eLiterals", "details"}

_NAME = re.compile(r"[A-Za-z_][\w.-]*")

Packed = dict[str, Any]


@attrs.frozen
class Kept:
    """What is kept of one element: attributes and references by name, elements in order, and what is ours."""

    attributes: Mapping[str, str]
    references: Mapping[str, tuple[str, ...]]
    elements: tuple[tuple[str, Packed], ...]
    own: Mapping[str, str]


def kept(node: Node, links: Links) -> Iterator[tuple[str, str]]:
    """The details that keep what has no field of an element; none if all has."""
    yield from node.changed.items()
    yield from node.dropped
    for child in node.children:
        if child.tag not in _HELD or child.href is not None:
            yield child.tag, dumped(packed(child, links))


def annotation(details: Iterable[tuple[str, str]]) -> list[Annotation]:
    """The annotation that keeps this; none if it is nothing."""
    found = tuple(details)
    return [Annotation(SOURCE, found)] if found else []


def packed(node: Node, links: Links) -> Packed:
    """An element with all in it: values are text, references a list of text, elements a list of such as this."""
    made: Packed = {}
    expected = children_of(node.parent.kind).get(node.tag, ("",)) if node.parent is not None else ("",)
    if node.kind != expected[0]:
        made[KIND] = node.kind
    if node.href is not None:
        made[HREF] = node.href
    references = references_of(node.kind)
    made |= {name: value for name, value in node.values.items() if name not in references}
    made |= {name: value for name, value in node.changed.items() if value}
    for name in references:
        found = [text if target is None else target.text for text, target in links.targets(node, name)]
        if found:
            made[name] = found
    for child in node.children:
        made.setdefault(child.tag, []).append(packed(child, links))
    return made


def dumped(plain: Any) -> str:
    """JSON, of equal values equal."""
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def unkept(annotations: Iterable[Annotation], where: str, kind: str) -> Kept:
    """What annotations keep of an element; `InvalidModel` if they can't be ours."""
    attributes: dict[str, str] = {}
    references: dict[str, tuple[str, ...]] = {}
    elements: list[tuple[str, Packed]] = []
    own: dict[str, str] = {}
    for found in annotations:
        for name, text in found.details if found.source == SOURCE else ():
            if name in (KEY, TIMELINE, MARKS):
                own[name] = text
            elif name in children_of(kind):
                elements.append((name, _loaded(text, where, name)))
            elif name in references_of(kind):
                references[name] = (*references.get(name, ()), *([text] if text else []))
            elif name in ATTRIBUTES[kind] or name == KIND:
                attributes[name] = text
            else:
                raise InvalidModel(where, f"its annotation {SOURCE} has a {name!r}, which means nothing")
    return Kept(attributes, references, tuple(elements), own)


def without(annotations: Iterable[Annotation]) -> list[Annotation]:
    """The others."""
    return [found for found in annotations if found.source != SOURCE]


def _loaded(text: str, where: str, name: str) -> Packed:
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidModel(where, f"its annotation {SOURCE} has a {name!r} that is no JSON ({exc})") from exc
    if not _is_packed(plain):
        raise InvalidModel(where, f"its annotation {SOURCE} has a {name!r} that is no element of Ecore")
    return plain  # type: ignore[no-any-return]


def _is_packed(plain: Any) -> bool:
    if not isinstance(plain, dict) or not all(_NAME.fullmatch(name) for name in plain):
        return False
    return all(
        isinstance(held, str)
        or (isinstance(held, list) and (all(isinstance(one, str) for one in held) or all(map(_is_packed, held))))
        for held in plain.values()
    )
