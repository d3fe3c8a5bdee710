"""A tree of objects for programs: nested as it is, values whole."""

from typing import Any

from neomodel.cli.rows import cells_as_json
from neomodel.cli.text import plain
from neomodel.cli.tree import Branch, Node, Target, targets
from neomodel.codecs import Codec
from neomodel.kinds import EFeature
from neomodel.layout import ECLASS, NSURI
from neomodel.model import Model
from neomodel.stores import Row


def objects(model: Model, trunk: Branch) -> list[dict[str, Any]]:
    """The tree as `show --help` describes it."""
    known = targets(model, [token for node in trunk.nodes() for held in node.references.values() for token in held])
    return [_node(node, known) for node in trunk.shown]


def _node(node: Node, known: dict[str, Target]) -> dict[str, Any]:
    made: dict[str, Any] = {**_class(node.row), "id": node.oid}
    if node.why:
        return made | {"why": node.why, "cells": cells_as_json(node.row)}
    made["attributes"] = {f.name: _value(f, value) for f, value in node.attributes.items()}
    made["timelines"] = [feature.name for feature in node.timelines]
    made["references"] = {f.name: _held(f, [known[token] for token in held]) for f, held in node.references.items()}
    made["children"] = {_name(branch): [_node(child, known) for child in branch.shown] for branch in node.branches}
    left_out = {_name(branch): branch.total - len(branch.shown) for branch in node.branches}
    return made | {"left_out": {name: number for name, number in left_out.items() if number}}


def _name(branch: Branch) -> str:
    return branch.feature.name if branch.feature else ""


def _value(feature: EFeature, value: Any) -> Any:
    return [_plain(feature.codec, entry) for entry in value] if feature.many else _plain(feature.codec, value)


def _plain(codec: Codec, value: Any) -> Any:
    return codec.to_json(value) if codec.to_json and value is not None else value


def _held(feature: EFeature, found: list[Target]) -> Any:
    made = [_target(target) for target in found]
    return made if feature.many else made[0] if made else None


def _target(target: Target) -> dict[str, Any]:
    if target.uri is not None:
        return {"uri": target.uri}
    made: dict[str, Any] = {"id": target.oid} if target.row is None else {**_class(target.row), "id": target.oid}
    if target.model is not None:
        made["model"] = target.model
    return made if target.row is not None else made | {"missing": True}


def _class(row: Row) -> dict[str, Any]:
    return {"class": plain(row.get(ECLASS, b"")), "ns_uri": plain(row.get(NSURI, b""))}
