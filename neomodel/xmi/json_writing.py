"""A small model as a file of JSON, in the dialect of PyEcore's JsonResource. All of it is in memory at once.

An object is a JSON object with its features by name, and ``eClass`` where its class does not follow from the feature
that contains it; ``uuid`` if all objects have an xmi:id and none a feature of that name. A reference is
``{"eClass": class, "$ref": fragment}``.
"""

import json
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from neomodel import codecs, layout
from neomodel.document_order import Frame, long_list, pages_of
from neomodel.errors import CorruptRow, NotWritable
from neomodel.kinds import EClass, EEnum, EFeature
from neomodel.long_cells import is_long
from neomodel.stores import Row
from neomodel.xmi import output
from neomodel.xmi.exporting import Export, notices
from neomodel.xmi.fragments import Fragments
from neomodel.xmi.places import ELSEWHERE, Directory, Places, Survey

if TYPE_CHECKING:
    from neomodel.model import Model

CLASS, REFERENCE, IDENTITY = "eClass", "$ref", "uuid"

Json = dict[str, Any]


def export_json(model: "Model", target: output.Target, *, own_ids: bool = False, timelines: bool = True) -> Export:
    """Write a model to a file, or to a stream of bytes; see `Model.export_json`."""
    began = time.perf_counter()
    output.check(target)
    fragments = Fragments()
    tree = _Tree(model, fragments, own_ids=own_ids, timelines=timelines)
    directory = Directory(fragments, alone=False)
    places = Places(tree.model, directory, suffix=".json", own_ids=own_ids)
    try:
        tree.run()
        directory.alone, directory.named = tree.roots == 1, tree.named
        tree.refer(places)
    finally:
        places.close()
    tops = tree.tops[0] if len(tree.tops) == 1 else tree.tops
    with output.opened(target) as stream:
        stream.write(json.dumps(tops, ensure_ascii=False, indent=2).encode())
    told = notices("JSON", timelines=tree.without, lost=tree.lost, example=tree.example)
    if tree.some_named and not tree.named:
        occupied = f"a feature is called {IDENTITY}, as they are in JSON"
        reason = occupied if tree.occupied else "JSON has place for them only if all objects have one"
        told += (f"no xmi:id was written: {reason}",)
    file = os.fspath(target) if isinstance(target, str | os.PathLike) else "-"
    return Export(model.name, file, tree.elements, tree.references, time.perf_counter() - began, told)


def class_name(kind: EClass) -> str:
    """What ``eClass`` says: the namespace of the outermost package, and the way from there."""
    package, way = kind.ePackage, [kind.name]
    while package.eSuperPackage is not None:
        way.append(package.name)
        package = package.eSuperPackage
    return f"{package.nsURI}#//{'/'.join(reversed(way))}"


class _Tree(Survey):
    """A model as nested objects; references are made when all of it is known."""

    def __init__(self, model: "Model", fragments: Fragments, *, own_ids: bool, timelines: bool) -> None:
        super().__init__(model, fragments, own_ids=own_ids)
        self.tops: list[Json] = []
        self.elements = self.references = self.lost = self.without = 0
        self.example = b""
        self.occupied = False
        """Whether a class has a feature in the place of ids."""
        self._timelines = timelines
        self._made: dict[bytes, Json] = {}
        self._named: dict[bytes, str] = {}
        self._open: list[tuple[Json, EFeature, list[bytes]]] = []

    @property
    def named(self) -> bool:
        """Whether all objects have ids, and place for them; else none is written."""
        return not self.occupied and len(self._named) == len(self._made)

    @property
    def some_named(self) -> bool:
        return bool(self._named)

    def called(self, row: Row, kind: EClass) -> bytes | None:  # noqa: ARG002  as `Survey` has it
        return row.get(layout.XMI_ID)  # PyEcore does not look for attributes that are ids

    def entered(self, parent: Frame, feature: EFeature, key: bytes, row: Row) -> Frame | None:
        frame = super().entered(parent, feature, key, row)
        kind, made = self.model.kind_of(row), self._made.setdefault(key, {})
        above = self._made.get(parent.key)
        self.elements += 1
        self.occupied |= IDENTITY in kind.features
        if layout.ASIDE in row:
            raise self._unwritable(key, "there is no place for what was kept aside of it", "export it as XMI")
        if above is None or feature.eType.type_name != kind.type_name:
            made[CLASS] = class_name(kind)
        if self.own_ids or layout.XMI_ID in row:
            self._named[key] = (key if self.own_ids else row[layout.XMI_ID]).decode()
        for one in kind.features.values():
            cell = row.get(one.column) if one.stored and not one.containment else None
            if cell is not None:
                self._add(made, one, cell, key, row)
        if above is None:
            self.tops.append(made)
        elif feature.many:
            above.setdefault(feature.name, []).append(made)
        else:
            above[feature.name] = made
        return frame

    def outside(self, parent: Frame, feature: EFeature, token: bytes) -> None:  # noqa: ARG002
        raise self._unwritable(parent.key, f"what is in {feature} lies in another file", "export it as XMI")

    def _add(self, made: Json, feature: EFeature, cell: bytes, key: bytes, row: Row) -> None:
        if feature.timeline:
            if self._timelines:
                raise self._unwritable(key, f"there is no place for its timeline {feature}", "export without timelines")
            self.without += 1
        elif feature.reference:
            tokens = [token for page in pages_of(self.model, key, row, feature) for token in page]
            self._open.append((made, feature, tokens))
        else:
            try:
                values = [_plain(feature, value) for value in self._values(feature, cell, key, row)]
            except ValueError as exc:
                where = f"{self.model.name}/{key.decode()}"
                raise CorruptRow(where, str(feature), cell, feature.codec.expected) from exc
            made[feature.name] = values if feature.many else values[0]

    def _values(self, feature: EFeature, cell: bytes, key: bytes, row: Row) -> Iterator[Any]:
        if not feature.many:
            yield codecs.decode_single(feature.codec, cell)
        elif is_long(cell):
            yield from long_list(self.model, key, row, feature)
        else:
            yield from codecs.decode_many(feature.codec, cell)

    def refer(self, places: Places) -> None:
        """Make the references, and the ids if all have one."""
        tokens = {token for _, _, found in self._open for token in found}
        places.look_up(tokens, tokens)
        for made, feature, found in self._open:
            there = [self._reference(places, token) for token in found if token in places.known]
            self.references += len(there)
            self.lost += len(found) - len(there)
            if len(there) < len(found):
                self.example = next(token for token in found if token not in places.known)
            if there or not found:
                made[feature.name] = there if feature.many else there[0] if there else None
        if self.named:
            for key, name in self._named.items():
                self._made[key][IDENTITY] = name

    def _reference(self, places: Places, token: bytes) -> Json:
        file, fragment = places.file(token), places.known[token].decode()
        kind = places.kinds.get(token)
        found = {} if kind is None else {CLASS: class_name(kind)}
        if token[:2] == ELSEWHERE and (said := places.said(token)) is not None:
            found = {CLASS: f"{said[0]}#//{said[2]}"}
        return found | {REFERENCE: f"{file}#{fragment}" if file else fragment}

    def _unwritable(self, key: bytes, reason: str, remedy: str) -> NotWritable:
        return NotWritable(f"object {self.model.name}/{key.decode()}", "JSON", reason, remedy)


def _plain(feature: EFeature, value: Any) -> Any:
    """A value as JSON has it: numbers, truth and text as they are, literals by name, the rest as text."""
    if type(value) is int and feature.codec.to_json is not None:
        return feature.codec.to_json(value)  # a very large one is text
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(feature.eType, EEnum):
        return next(name for name, member in feature.eType.members.items() if member is value)
    return feature.codec.to_text(value)
