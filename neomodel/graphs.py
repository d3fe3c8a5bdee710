"""A model, or a part of it, as a graph of networkx, for who wants to draw or analyse it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from neomodel import codecs
from neomodel.document_order import Frame, Walk, long_list, pages_of
from neomodel.errors import CorruptRow, InvalidValue
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import is_long
from neomodel.model import Model
from neomodel.objects import Element
from neomodel.states import Stored
from neomodel.stores import Row

if TYPE_CHECKING:
    import networkx

_LABELS = ("name", "label", "title", "id")
"""Features that tell an object from others, the best ones first."""


def to_networkx(
    of: Any,
    *,
    containment: bool = True,
    references: bool = True,
    attributes: bool = False,
    classes: Iterable[Any] | None = None,
) -> "networkx.MultiDiGraph":
    """The objects of a model, or an object and all it contains, as a `networkx.MultiDiGraph`.

    Nodes are ids, in document order; each has `cls`, the name of its class, `package`, its namespace, and `label`; with
    `attributes`, also `values`, those that are set. Edges have the name of their feature as key, and `containment`;
    one that a list holds several times has how often in `times`. Of `classes` none but their objects are nodes,
    subclasses included. Edges join nodes of the graph only. n objects cost about n / 500 calls; all of it is in memory.
    """
    import networkx

    model, top = _place(of)
    walk = _Graph(model, networkx.MultiDiGraph(), attributes=attributes, classes=classes)
    if top is None:
        walk.run()
    else:
        walk.run_from(top)
    walk.connect(containment=containment, references=references)
    return walk.graph


def _place(of: Any) -> tuple[Model, str | None]:
    if isinstance(of, Model):
        return of, None
    if isinstance(of, Element) and isinstance(of._neo, Stored):
        return of._neo.model, of._neo.oid
    raise InvalidValue("what to make a graph of", of, "a model, or an object that is stored in one")


class _Graph(Walk):
    def __init__(self, model: Model, graph: Any, *, attributes: bool, classes: Iterable[Any] | None) -> None:
        super().__init__(model)
        self.graph = graph
        self._attributes = attributes
        self._wanted = None if classes is None else {_kind(one).type_name for one in classes}
        self._contained: list[tuple[str, str, str]] = []
        self._referred: list[tuple[str, str, str]] = []

    def run_from(self, top: str) -> None:
        """Go through an object and all it contains."""
        key = top.encode()
        row = self.rows.get(key)
        if row:
            self.walk(self._entered(key, row))

    def entered(self, parent: Frame, feature: EFeature, key: bytes, row: Row) -> Frame | None:
        if parent.note is not None:
            self._contained.append((parent.note, key.decode(), feature.name))
        return self._entered(key, row)

    def _entered(self, key: bytes, row: Row) -> Frame:
        kind, oid = self.model.kind_of(row), key.decode()
        if self._wanted is None or not self._wanted.isdisjoint(kind.names):
            found: dict[str, Any] = {
                "cls": kind.name,
                "package": kind.ePackage.nsURI,
                "label": self._label(kind, oid, row),
            }
            if self._attributes:
                held = [
                    feature for feature in kind.features.values() if _is_attribute(feature) and feature.column in row
                ]
                found["values"] = {feature.name: self._value(feature, key, row) for feature in held}
            self.graph.add_node(oid, **found)
        for feature in kind.features.values():
            if feature.reference and feature.stored and not feature.containment:
                for page in pages_of(self.model, key, row, feature):
                    self._referred += [(oid, token.decode(), feature.name) for token in page]
        return Frame(key, self.children(key, row, kind), oid)

    def connect(self, *, containment: bool, references: bool) -> None:
        """Add the edges between nodes that are there."""
        for edges, contains in ((self._contained, True), (self._referred, False)):
            if not (containment if contains else references):
                continue
            for start, end, name in edges:
                if start in self.graph and end in self.graph:
                    times = self.graph.get_edge_data(start, end, name, {}).get("times", 0) + 1
                    self.graph.add_edge(start, end, name, containment=contains, times=times)

    def _label(self, kind: EClass, oid: str, row: Row) -> str:
        for name in _LABELS:
            feature = kind.features.get(name)
            if feature is not None and _is_attribute(feature) and not feature.many and feature.column in row:
                value = self._value(feature, oid.encode(), row)
                if value is not None:
                    return feature.codec.to_text(value)
        return oid

    def _value(self, feature: EFeature, key: bytes, row: Row) -> Any:
        """What an attribute holds that is set, or `CorruptRow`."""
        cell = row[feature.column]
        try:
            if not feature.many:
                return codecs.decode_single(feature.codec, cell)
            if is_long(cell):
                return list(long_list(self.model, key, row, feature))
            return codecs.decode_many(feature.codec, cell)
        except ValueError as exc:
            where = f"{self.model.name}/{key.decode()}"
            raise CorruptRow(where, str(feature), cell, feature.codec.expected) from exc


def _is_attribute(feature: EFeature) -> bool:
    return feature.stored and not feature.reference and not feature.timeline


def _kind(cls: Any) -> EClass:
    kind = cls if isinstance(cls, EClass) else getattr(cls, "eClass", None)
    if not isinstance(kind, EClass):
        raise InvalidValue("a class of a graph's nodes", cls, "one of a registered package, such as java.Package")
    return kind
