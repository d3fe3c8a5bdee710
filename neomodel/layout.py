"""Which cells of a row say what of an object. The only module that knows.

===================  =====================================================================================
cell                 holds
===================  =====================================================================================
``p:`` + feature     the value; of a collection all of them (`codecs` has the bytes), or where they are (`long_lists`)
``c:container``      the id of the object that contains this one, `ROOT` for a root of the model
``c:feature``        by which feature
``c:from``           of an object that came from another model: ``@model/version``, what its row was like there
``t:nsuri``          the namespace of its class's package
``t:eclass``         the name of its class
``t:version``        what a compare-and-swap of the row compares
``t:xmiid``          the xmi:id it had in its file
``t:trace``          of what a transformation made: rule, output and source
``t:aside``          what its file says of it and its metamodel has no place for, as JSON
``x:`` + feature …   what is too much to be read with the object: see `EXTENT`
===================  =====================================================================================

**A timeline** has a cell for each event time, ``x:`` + feature + ``00`` + life + event, whose versions are what was
recorded for it, each at its ingest time. The event is a signed number of 8 bytes, its sign bit flipped, all bits
inverted: so the first cell from an event on is the latest one up to it. The *life*, 8 characters, is in the cell ``p:``
+ feature, which the first entry is written with: an object that is erased takes it along, so one that gets the same id
has no part in what was recorded before. An entry is ``+`` and the value as a cell of an attribute has it, or ``-``.

**The child's row decides containment.** What a container's cell lists is an index: an entry counts only if the row of
the child names that container and feature. So moving an object is one compare-and-swap of its own row, and a crash
between two rows leaves no object with two containers.
"""

import json
import secrets

from neomodel.packed import Kept, PackedRow, cell, pack
from neomodel.stores import VERSION, Cells, Row
from neomodel.times import LAST

FAMILIES = "pctx"
CONTAINER = b"c:container"
FEATURE = b"c:feature"
FROM = b"c:from"
NSURI = b"t:nsuri"
ECLASS = b"t:eclass"
XMI_ID = b"t:xmiid"
ASIDE = b"t:aside"
TRACE = b"t:trace"
PLACE = (b"c:",)
ALIKE = (FEATURE, NSURI, ECLASS)
"""The cells that have few values in all of a model."""
EXTENT = "x"
"""The family of what a row may hold millions of, each a cell ``x:feature 00 …``. It is read by slices only."""
OBJECT = (b"c:", b"p:", b"t:")
"""The columns that are read with an object."""
TYPE = (b"t:",)
"""The columns that tell the class of an object."""

LEDGER = "--------"
"""The life of timelines that are found by the key of their object alone: see `ledgers`."""

_EXTENT = b"x:"  # all that is read with an object sorts before it
_EVENT = 8  # bytes

ROOT_CLASS = "RootEObject"
ROOT_CONTENTS = "eContents"


def column(feature: str) -> bytes:
    """The cell of a feature."""
    return b"p:" + feature.encode()


def collection(feature: str) -> bytes:
    """What the qualifiers of a long collection begin with."""
    return feature.encode() + b"\0"


def new_life() -> str:
    """What tells the entries of one object from those of others that had its id, and no more."""
    return secrets.token_hex(4)


def timeline(feature: str, life: str) -> bytes:
    """What the qualifiers of the entries of a timeline begin with."""
    return b"%s\0%s" % (feature.encode(), life.encode())


def entry(timeline: bytes, event: int) -> bytes:
    """The qualifier of the entry of an event time."""
    return timeline + (LAST - event).to_bytes(_EVENT, "big")


def event_of(qualifier: bytes) -> int:
    """The event time of an entry."""
    return LAST - int.from_bytes(qualifier[-_EVENT:], "big")


def extent(qualifier: bytes) -> bytes:
    """The column of what lies in `EXTENT`; of no qualifier, all of it."""
    return _EXTENT + qualifier


def split(cells: Cells) -> tuple[Cells, Cells]:
    """Those that are read with an object, and its extents."""
    extents = {column: value for column, value in cells.items() if column >= _EXTENT}
    return {column: value for column, value in cells.items() if column < _EXTENT} if extents else cells, extents


def placed(container: str | None, feature: str | None) -> dict[bytes, bytes | None]:
    """The cells that put an object into a container; of None, that take it out."""
    return {
        CONTAINER: None if container is None else container.encode(),
        FEATURE: None if feature is None else feature.encode(),
    }


def typed(ns_uri: str, name: str) -> dict[bytes, bytes | None]:
    return {NSURI: ns_uri.encode(), ECLASS: name.encode()}


def type_of(row: Row | PackedRow) -> tuple[str, str] | None:
    """Namespace and name of the object's class; None if the row holds no object."""
    ns_uri, name = row.get(NSURI), row.get(ECLASS)
    return None if ns_uri is None or name is None else (ns_uri.decode(), name.decode())


def place_of(row: Kept) -> tuple[str, str] | None:
    """Id of the container and name of the feature; None if there is none."""
    container, feature = cell(row, CONTAINER), cell(row, FEATURE)
    return None if container is None or feature is None else (container.decode(), feature.decode())


def aside(kept: list[dict[str, str]]) -> bytes:
    """The cell `ASIDE`, of what was kept, in its order: ``attribute`` and ``value``, or an ``element`` as XML."""
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def changed(row: PackedRow, cells: Cells) -> PackedRow:
    """The row after these cells were written to it, as far as it is read with the object."""
    return of_object({**row.cells(), **cells})


def lies_in(row: Kept, container: bytes, feature: bytes) -> bool:
    """Whether the row says that its object lies there."""
    if type(row) is dict:  # as most are that were read just now
        return row.get(CONTAINER) == container and row.get(FEATURE) == feature
    return cell(row, CONTAINER) == container and cell(row, FEATURE) == feature


def of_object(cells: Cells) -> PackedRow:
    """What is read with an object of whose row these are the cells."""
    if None in cells.values() or max(cells, default=b"") > _EXTENT:
        cells = {name: value for name, value in cells.items() if value is not None and name < _EXTENT}
    return pack(cells)  # type: ignore[arg-type]  # no None any more


def erased(row: Row | PackedRow) -> dict[bytes, bytes | None]:
    """The cells that remove everything the row holds."""
    return dict.fromkeys(row)


__all__ = [
    "ALIKE",
    "ASIDE",
    "CONTAINER",
    "ECLASS",
    "EXTENT",
    "FAMILIES",
    "FEATURE",
    "FROM",
    "LEDGER",
    "NSURI",
    "OBJECT",
    "PLACE",
    "ROOT_CLASS",
    "ROOT_CONTENTS",
    "TRACE",
    "TYPE",
    "VERSION",
    "XMI_ID",
    "aside",
    "changed",
    "collection",
    "column",
    "entry",
    "erased",
    "event_of",
    "extent",
    "lies_in",
    "new_life",
    "of_object",
    "place_of",
    "placed",
    "split",
    "timeline",
    "type_of",
    "typed",
]
