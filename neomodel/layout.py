"""Which cells of a row say what of an object. The only module that knows.

===================  =====================================================================================
cell                 holds
===================  =====================================================================================
``p:`` + feature     the value; of a collection all of them (`codecs` has the bytes), or where they are (`long_lists`)
``c:container``      the id of the object that contains this one, `ROOT` for a root of the model
``c:feature``        by which feature
``t:nsuri``          the namespace of its class's package
``t:eclass``         the name of its class
``t:version``        what a compare-and-swap of the row compares
``x:`` + feature …   what is too much to be read with the object: see `EXTENT`
===================  =====================================================================================

**The child's row decides containment.** What a container's cell lists is an index: an entry counts only if the row of
the child names that container and feature. So moving an object is one compare-and-swap of its own row, and a crash
between two rows leaves no object with two containers.
"""

from neomodel.stores import VERSION, Cells, Row

FAMILIES = "pctx"
CONTAINER = b"c:container"
FEATURE = b"c:feature"
NSURI = b"t:nsuri"
ECLASS = b"t:eclass"
PLACE = (b"c:",)
EXTENT = "x"
"""The family of what a row may hold millions of, each a cell ``x:feature 00 …``. It is read by slices only."""
OBJECT = (b"c:", b"p:", b"t:")
"""The columns that are read with an object."""
TYPE = (b"t:",)
"""The columns that tell the class of an object."""

ROOT_CLASS = "RootEObject"
ROOT_CONTENTS = "eContents"


def column(feature: str) -> bytes:
    """The cell of a feature."""
    return b"p:" + feature.encode()


def extent(feature: str) -> bytes:
    """What the columns of a feature start with in the family of extents."""
    return b"x:" + feature.encode() + b"\0"


def in_extent(qualifier: bytes) -> bytes:
    """The column of a cell in the family of extents."""
    return b"x:" + qualifier


def split(cells: Cells) -> tuple[Cells, Cells]:
    """Those that are read with an object, and its extents."""
    extents = {column: value for column, value in cells.items() if column[:2] == b"x:"}
    return {column: value for column, value in cells.items() if column not in extents} if extents else cells, extents


def placed(container: str | None, feature: str | None) -> dict[bytes, bytes | None]:
    """The cells that put an object into a container; of None, that take it out."""
    return {
        CONTAINER: None if container is None else container.encode(),
        FEATURE: None if feature is None else feature.encode(),
    }


def typed(ns_uri: str, name: str) -> dict[bytes, bytes | None]:
    return {NSURI: ns_uri.encode(), ECLASS: name.encode()}


def type_of(row: Row) -> tuple[str, str] | None:
    """Namespace and name of the object's class; None if the row holds no object."""
    ns_uri, name = row.get(NSURI), row.get(ECLASS)
    return None if ns_uri is None or name is None else (ns_uri.decode(), name.decode())


def place_of(row: Row) -> tuple[str, str] | None:
    """Id of the container and name of the feature; None if there is none."""
    container, feature = row.get(CONTAINER), row.get(FEATURE)
    return None if container is None or feature is None else (container.decode(), feature.decode())


def changed(row: Row, cells: Cells) -> Row:
    """The row after these cells were written to it."""
    after = {**row, **cells}
    return {name: value for name, value in after.items() if value is not None}


def erased(row: Row) -> dict[bytes, bytes | None]:
    """The cells that remove everything the row holds."""
    return dict.fromkeys(row)


__all__ = [
    "CONTAINER",
    "ECLASS",
    "EXTENT",
    "FAMILIES",
    "FEATURE",
    "NSURI",
    "OBJECT",
    "PLACE",
    "ROOT_CLASS",
    "ROOT_CONTENTS",
    "TYPE",
    "VERSION",
    "changed",
    "column",
    "erased",
    "extent",
    "in_extent",
    "place_of",
    "placed",
    "split",
    "type_of",
    "typed",
]
