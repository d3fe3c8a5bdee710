"""A tree of objects for people: a line for each, below it what it holds."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

from neomodel import ids
from neomodel.cli.frame import visible
from neomodel.cli.rows import cell_lines
from neomodel.cli.text import LONGEST
from neomodel.cli.tree import Branch, Node, Target, class_name, naming, targets
from neomodel.codecs import Codec
from neomodel.kinds import EFeature
from neomodel.model import Model

FEW = 5  # targets of one reference
SOME = 10  # values of one attribute
NAME = 60  # characters of a value beside an object's id


def lines(model: Model, trunk: Branch) -> Iterator[str]:
    """The tree, line by line."""
    tokens = [token for node in trunk.nodes() for held in node.references.values() for token in held[:FEW]]
    known = targets(model, [*tokens, *_containers(trunk)])
    for node in trunk.shown:
        above = known.get(node.container)
        if above is not None and node.place is not None:
            yield f"in {_described(above)}, {visible(node.place[1])}"
        yield from _node(node, known, "")
    if more := trunk.total - len(trunk.shown):
        yield f"… {more:,} more"


def _containers(trunk: Branch) -> list[str]:
    return [node.container for node in trunk.shown if node.container not in ("", ids.ROOT)]


def _node(node: Node, known: dict[str, Target], indent: str) -> Iterator[str]:
    if node.kind is None:
        yield f"{indent}{class_name(node.row)} {node.oid}  (as its row)"
        yield from (indent + line for line in cell_lines(node.row))
        return
    named = naming(node.attributes)
    yield f"{indent}{node.kind} {node.oid}{_named(named)}"
    for feature, value in node.attributes.items():
        if feature not in named or len(_text(feature.codec, value)) > NAME:
            yield f"{indent}  {feature.name} = {_value(feature, value)}"
    for feature in node.timelines:
        yield f"{indent}  {feature.name}: a timeline"
    for feature, tokens in node.references.items():
        yield from _references(feature, [known[token] for token in tokens[:FEW]], len(tokens), indent + "  ")
    for branch in node.branches:
        yield from _branch(branch, known, indent + "  ")


def _branch(branch: Branch, known: dict[str, Target], indent: str) -> Iterator[str]:
    if not branch.total:
        return
    name = branch.feature.name if branch.feature else ""
    if not branch.shown:
        yield f"{indent}{name}: {branch.total:,}, not shown"
        return
    yield f"{indent}{name}: {branch.total:,}"
    for node in branch.shown:
        yield from _node(node, known, indent + "  ")
    if more := branch.total - len(branch.shown):
        yield f"{indent}  … {more:,} more"


# references


def _references(feature: EFeature, found: list[Target], total: int, indent: str) -> Iterator[str]:
    blank = " " * len(feature.name)
    for name, target in zip(itertools.chain([feature.name], itertools.repeat(blank)), found, strict=False):
        yield f"{indent}{name} -> {_described(target)}"
    if not found:
        yield f"{indent}{feature.name} -> nothing"
    if more := total - len(found):
        yield f"{indent}{blank} … {more:,} more"


def _described(target: Target) -> str:
    if target.uri is not None:
        return f"{visible(target.uri)}  (in no model)"
    oid = visible(ids.ref(target.oid, target.model))
    if target.row is None:
        return f"{oid}  (missing)"
    if target.kind is None:
        return f"{class_name(target.row)} {oid}"
    return f"{target.kind} {oid}{_named(target.names)}"


# values


def _named(names: dict[EFeature, Any]) -> str:
    return "".join(f"  {f.name}={_cut(_text(f.codec, value), NAME)}" for f, value in names.items())


def _value(feature: EFeature, value: Any) -> str:
    if not feature.many:
        return _cut(_text(feature.codec, value), LONGEST)
    entries = [_cut(_text(feature.codec, entry), NAME) for entry in value[:SOME]]
    more = [f"… {len(value) - SOME:,} more"] if len(value) > SOME else []
    return f"[{', '.join(entries + more)}]"


def _text(codec: Codec, value: Any) -> str:
    """Text in quotes, bytes as 0x and hex digits, everything else as files have it."""
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    return visible(json.dumps(value, ensure_ascii=False) if isinstance(value, str) else codec.to_text(value))


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}… ({len(text):,} characters)"
