"""Rows of a model made of the rows of a DataFrame: the task of one partition.

For each Arrow batch the objects that may be there already are read in one call, and all rows are written in one, in the
order of their keys. What concerns other rows, the lists of containers and the far ends of references, is left to the
driver, which hears of it in the message that the task ends with: see `linking`.
"""

from collections.abc import Iterator
from functools import cached_property
from operator import itemgetter
from typing import Any

import attrs
import pyarrow as pa
from pyspark.sql.datasource import WriterCommitMessage

from neomodel import codecs, ids, layout
from neomodel.errors import InvalidValue
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import MANY, in_parts, is_long, tokens_in
from neomodel.model import Model
from neomodel.naming import key_part
from neomodel.stores import VERSION, Cells, Mutation, Row, is_by, signed, successor
from spark.cells import Cell, Encode, Where, encoder, tokens
from spark.columns import CLASS, CONTAINER, FEATURE, ID

Place = tuple[str, str]
"""A container, by its id, and a feature of it, by its name."""
ROOT: Place = (ids.ROOT, layout.ROOT_CONTENTS)
_NOTHING: Row = {}
_NONE: list[tuple[str, list[str]]] = []


@attrs.frozen
class Change:
    """What an object that was there is to hold besides, which concerns other rows as well."""

    oid: str
    place: Place | None
    features: dict[str, Cell]


@attrs.define
class Written(WriterCommitMessage):
    """What a task has done, and what it leaves to do."""

    partition: int
    begun: bool = False
    """Whether the attempt is on record, since there were rows to write."""
    created: dict[tuple[str, str, str], list[str]] = attrs.field(factory=dict)
    """By container, feature and class: the ids of the objects that are new there."""
    updated: list[str] = attrs.field(factory=list)
    met: list[str] = attrs.field(factory=list)
    """The objects that were there and to which nothing was written, since they hold it, or it is left to do."""
    ends: list[tuple[str, str, list[str]]] = attrs.field(factory=list)
    """Of new objects: the id, a reference that has an opposite, and what it refers to."""
    orders: list[tuple[str, str, list[str]]] = attrs.field(factory=list)
    """The id of a container, a feature, and the order of what it contains by it."""
    changes: list[Change] = attrs.field(factory=list)


class Shape:
    """What the columns mean for objects of one class."""

    def __init__(self, kind: EClass, names: list[str]) -> None:
        self.kind = kind
        features = [kind.features[name] for name in names]
        mirrored, containing = set(kind.mirrored), set(kind.containments)
        self.sides = [feature for feature in features if feature.container]
        self.containing = [feature for feature in features if feature in containing]
        self.mirrored = [feature for feature in features if feature in mirrored]
        stored = [feature for feature in features if feature.stored and feature not in containing]
        self.stored: list[tuple[EFeature, Encode]] = [(feature, encoder(feature)) for feature in stored]
        self.columns = [feature.column for feature in stored]
        self.linked = frozenset(feature.column for feature in self.mirrored)
        self.places: dict[Place, tuple[dict[bytes, bytes | None], list[str]]] = {}
        """Of each place where new objects lie: the cells that all of them have, and their ids."""

    @cached_property
    def name(self) -> str:
        return str(self.kind.type_name)


class Rows:
    """Makes rows of one partition after another, and writes them."""

    def __init__(self, model: Model, kind: EClass | None, classes: dict[str, EClass], token: str) -> None:
        self._model = model
        self._kind = kind
        self._classes = classes
        self._token = token
        self._new = b"1-" + token.encode()

    def begin(self, partition: int, *, again: bool) -> Written:
        """Begin with a partition, `again` if others may have tried before; what is returned fills as rows are taken."""
        self.written = Written(partition, begun=True)
        self._again = again
        self._made = ids.numbered(f"{self._token}.{partition}")
        self._shards = f"{self._model.name}.{self._token}.{partition}"
        self._current = -1, ""
        """The shard of roots whose numbers are in a certain group of 500."""
        self._rows = 0
        self._children: dict[str, int] = {}
        self._shapes: dict[EClass, Shape] = {}
        self._met: set[str] = set()
        """The containers that were looked at already."""
        return self.written

    def take(self, batch: pa.RecordBatch) -> None:
        """Write a batch. At most one read and one write for each class, however many rows."""
        mutations: list[Mutation] = []
        for kind, numbers, some in self._by_class(batch):
            mutations += self._of_class(kind, some, numbers)
        self._rows += batch.num_rows
        mutations.sort(key=itemgetter(0))  # by key
        self._model.put(mutations)

    def _by_class(self, batch: pa.RecordBatch) -> Iterator[tuple[EClass, list[int], pa.RecordBatch]]:
        """The rows of each class, and their numbers in the partition."""
        numbers = list(range(self._rows, self._rows + batch.num_rows))
        names = batch.column(CLASS) if CLASS in batch.schema.names else pa.nulls(batch.num_rows, pa.string())
        found = names.unique().to_pylist()
        for name in found:
            kind = self._kind if name is None else self._classes.get(name)
            if kind is None:
                what = f"a concrete class{f' that is {self._kind} or a subclass of it' if self._kind else ''}"
                expected = f"{what}: {', '.join(self._known())}"
                raise InvalidValue(f"{CLASS} of a row for {self._model.name}", name, expected)
            if len(found) == 1:
                yield kind, numbers, batch
            else:
                at = [number for number, one in enumerate(names.to_pylist()) if one == name]
                yield kind, [numbers[one] for one in at], batch.take(pa.array(at, pa.int64()))

    def _known(self) -> list[str]:
        return sorted({kind.name for kind in self._classes.values()})

    def _of_class(self, kind: EClass, batch: pa.RecordBatch, numbers: list[int]) -> Iterator[Mutation]:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        shape = self._shape(kind, batch.schema.names)
        given = columns[ID].to_pylist() if ID in columns else [None] * len(numbers)

        def where(at: int) -> str:
            named = f"object {self._model.name}/{given[at]}" if given[at] is not None else "an object without _id"
            return f"{named}, row {numbers[at]} of partition {self.written.partition}"

        cells = [encode(columns[feature.name], where) for feature, encode in shape.stored]
        places = self._places(shape, columns, len(numbers), where)
        oids = self._oids(shape, given, places, cells, numbers, where)
        keys = [oid.encode() for oid in oids]
        asked = keys if self._again or kind.key else [key for key, one in zip(keys, given, strict=True) if one]
        wanted = None if self._again else layout.OBJECT
        found = self._model.table.get_many(asked, columns=wanted) if asked else {}
        if len(set(keys)) < len(keys):
            twice = next(at for at, key in enumerate(keys) if key in keys[:at])
            raise InvalidValue(f"{ID} of {where(twice)}", oids[twice], "an id that no other row has")
        orders = [(feature, tokens(feature, columns[feature.name], where)) for feature in shape.containing]
        demanding = kind.abstract or bool(kind.key)
        for at, values in enumerate(zip(*cells, strict=True) if cells else [()] * len(keys)):
            row = found.get(keys[at], _NOTHING)
            ordered = [(feature.name, listed[at]) for feature, listed in orders] if orders else _NONE
            if layout.ECLASS not in row or row.get(VERSION) == self._new:
                if demanding:
                    self._check_new(shape, oids[at], given[at], cells, at, where)
                made = self._created(shape, oids[at], places[at] or ROOT, values, ordered)
                if row:
                    made = {**dict.fromkeys(row), **made}  # nothing of another attempt shows through
                if len(made) <= MANY:
                    yield Mutation(keys[at], made)
                else:
                    yield from _mutations(keys[at], made)
            else:
                self._check_kind(row, shape, columns, at, where)
                changed = self._updated(shape, oids[at], row, places[at], values, ordered)
                if changed:
                    yield from _mutations(keys[at], changed)

    def _shape(self, kind: EClass, names: list[str]) -> Shape:
        if kind not in self._shapes:
            self._shapes[kind] = Shape(kind, [name for name in names if name in kind.features])
        return self._shapes[kind]

    # where objects lie, and what they are called

    def _places(self, shape: Shape, columns: dict[str, Any], count: int, where: Where) -> list[Place | None]:
        """Where each row says that its object lies; None if it says nothing of it."""
        said: list[Place | None] = [None] * count
        if CONTAINER in columns:
            pairs = zip(columns[CONTAINER].to_pylist(), columns[FEATURE].to_pylist(), strict=True)
            for at, (container, feature) in enumerate(pairs):
                if (container is None) != (feature is None):
                    found = (container, feature)
                    raise InvalidValue(f"{CONTAINER} and {FEATURE} of {where(at)}", found, "both, or none of a root")
                if container is not None and container not in self._met:
                    self._met.add(_known_oid(container, where, at))
                said[at] = ROOT if container is None else (container, feature)
        for side in shape.sides:
            holding = side.eOpposite
            assert holding is not None
            for at, container in enumerate(columns[side.name].to_pylist()):
                if container is None:
                    continue
                place = _known_oid(container, where, at), holding.name
                if said[at] not in (None, place):
                    raise InvalidValue(
                        f"{side} of {where(at)}", container, f"what else is said of its place: {said[at]}"
                    )
                said[at] = place
        return said

    def _oids(
        self,
        shape: Shape,
        given: list[str | None],
        places: list[Place | None],
        cells: list[list[Cell]],
        numbers: list[int],
        where: Where,
    ) -> list[str]:
        if None not in given:
            return _known_oids(given, where)
        found = []
        keyed, abstract = bool(shape.kind.key), shape.kind.abstract
        made, shard = self._made, self._shard
        for oid, place, number in zip(given, places, numbers, strict=True):
            if oid is None and not keyed and not abstract:
                found.append(made(shard(place, number), number))
            elif oid is not None:
                found.append(_known_oid(oid, where, len(found)))
            elif keyed:
                found.append(self._natural(shape, cells, len(found), where))
            else:
                raise self._abstract(shape, where(len(found)))
        return found

    def _shard(self, place: Place | None, number: int) -> str:
        """Beside its container; of 500 or more of this partition, and of roots, where others of it are."""
        if place is None or place == ROOT:
            part, shard = self._current
            if part != number // ids.FANOUT:
                part, shard = self._current = number // ids.FANOUT, ids.spread(self._shards, number // ids.FANOUT)
            return shard
        child = self._children.get(place[0], 0)
        self._children[place[0]] = child + 1
        return ids.shard_for(place[0], child)

    def _natural(self, shape: Shape, cells: list[list[Cell]], at: int, where: Where) -> str:
        """The id that the key gives, as rows have it."""
        held = dict(zip(shape.columns, (column[at] for column in cells), strict=True))
        parts = []
        for feature in shape.kind.key:
            cell = held.get(feature.column)
            value = codecs.decode_single(feature.codec, cell) if isinstance(cell, bytes) else feature.default
            parts.append(key_part(feature, value, where(at)))
        return ids.natural(shape.kind.ePackage.nsPrefix, shape.kind.name, parts)

    def _check_new(
        self, shape: Shape, oid: str, given: str | None, cells: list[list[Cell]], at: int, where: Where
    ) -> None:
        if shape.kind.abstract:
            raise self._abstract(shape, where(at))
        if given is not None and shape.kind.key and (expected := self._natural(shape, cells, at, where)) != oid:
            raise InvalidValue(f"{ID} of {where(at)}", oid, f"what its key makes: {expected}")

    def _abstract(self, shape: Shape, where: str) -> InvalidValue:
        names = ", ".join(self._known())
        return InvalidValue(f"the class of {where}", shape.kind.name, f"a concrete one, named in {CLASS}: {names}")

    def _check_kind(self, row: Row, shape: Shape, columns: dict[str, Any], at: int, where: Where) -> None:
        kind = self._model.kind_of(row)
        named = CLASS in columns and columns[CLASS][at].as_py() is not None
        fits = self._kind is None or self._kind.type_name in kind.names
        if kind is not shape.kind and (named or not fits):
            raise InvalidValue(f"the class of {where(at)}", str(shape.kind), f"{kind}, which it is of")

    # what they hold

    def _created(
        self, shape: Shape, oid: str, place: Place, values: tuple[Cell, ...], ordered: list[tuple[str, list[str]]]
    ) -> dict[bytes, bytes | None]:
        common, beside = shape.places.get(place) or self._place(shape, place)
        beside.append(oid)
        cells = common.copy()
        for column, value in zip(shape.columns, values, strict=True):
            if type(value) is bytes:
                cells[column] = value
            elif value is not None:
                _put(cells, column, value)
        for feature in shape.mirrored:
            held = values_in(feature, cells)
            if held:
                self.written.ends.append((oid, feature.name, held))
        if ordered:
            self.written.orders += [(oid, name, listed) for name, listed in ordered if listed]
        return cells

    def _place(self, shape: Shape, place: Place) -> tuple[dict[bytes, bytes | None], list[str]]:
        """What is known of a place from now on: see `Shape.places`."""
        beside = self.written.created.setdefault((*place, shape.name), [])
        common = {VERSION: self._new, **shape.kind.cells, **layout.placed(*place)}
        shape.places[place] = common, beside
        return common, beside

    def _updated(
        self,
        shape: Shape,
        oid: str,
        row: Row,
        place: Place | None,
        values: tuple[Cell, ...],
        ordered: list[tuple[str, list[str]]],
    ) -> dict[bytes, bytes | None]:
        """What to write to an object that is there; what concerns others as well, or a long list, is put down."""
        cells: dict[bytes, bytes | None] = {}
        later: dict[str, Cell] = {}
        for (feature, _), value in zip(shape.stored, values, strict=True):
            before = row.get(feature.column)
            if before == value:
                continue
            if feature.column in shape.linked or (feature.many and is_long(before or b"")):
                later[feature.name] = value
            else:
                _put(cells, feature.column, value)
        moved = place is not None and place != layout.place_of(row)
        if moved or later:
            self.written.changes.append(Change(oid, place if moved else None, later))
        for name, listed in ordered:
            held = row.get(layout.column(name))
            if held is None or is_long(held) or codecs.decode_refs(held) != listed:
                self.written.orders += [(oid, name, listed)] if listed or held is not None else []
        own = is_by(row.get(VERSION), self._token)
        (self.written.updated if cells or own else self.written.met).append(oid)
        if cells:
            with signed(self._token):
                cells[VERSION] = row[VERSION] if own else successor(row.get(VERSION) or self._new)
        return cells


def _put(cells: dict[bytes, bytes | None], column: bytes, value: Cell) -> None:
    if isinstance(value, bytes | None):
        cells[column] = value
    else:
        cells.update(value)


def _mutations(key: bytes, cells: Cells) -> Iterator[Mutation]:
    """What writes a row: one write, or if it is much several, each of which says whose it is."""
    if len(cells) <= MANY:
        yield Mutation(key, cells)
        return
    own, extents = layout.split(cells)
    for part in in_parts(key, extents):
        yield Mutation(key, {**part.cells, VERSION: cells[VERSION]})
    yield Mutation(key, own)


def values_in(feature: EFeature, cells: Cells) -> list[Any]:
    """What a feature holds whose cells are at hand."""
    cell = cells.get(feature.column)
    if cell is None or cell == codecs.NULL:
        return []
    if not feature.many:
        return [cell.decode()]
    if feature.reference or is_long(cell):
        return tokens_in(feature, cells)
    return codecs.decode_many(feature.codec, cell)


def _known_oids(oids: list[Any], where: Where) -> list[str]:
    """All of them, if they are ids, or `InvalidValue`: looked at together, and one by one only if something is odd."""
    whole = "".join(oids)
    plain = whole.isprintable() and whole.isascii() and not any(mark in whole for mark in " ,@") and all(oids)
    if not plain or ids.ROOT in oids or max(map(len, oids), default=0) > ids.LIMIT:
        return [_known_oid(oid, where, at) for at, oid in enumerate(oids)]
    return oids


def _known_oid(oid: Any, where: Where, at: int) -> str:
    try:
        return ids.check_oid(oid)
    except InvalidValue as exc:
        raise InvalidValue(f"an id in {where(at)}", oid, exc.expected) from exc
