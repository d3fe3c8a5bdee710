"""The metamodels of a store, kept in the store itself, so that whoever has its URL can read its models.

They are in a table of their own, `TABLE`, which is made when the first is registered. The row of a root package has
its ns_uri as key and the cells ``p:definition`` (the package as `metamodel_json` writes it) and ``p:name``; the row of
a sub-package has its own ns_uri as key and ``p:root``, the ns_uri of the root package that holds it. An ns_uri belongs
to the root package that took it first. As everything in a store, earlier definitions stay readable.
"""

import difflib
from collections.abc import Iterable, Iterator

from neomodel.errors import IncompatibleMetamodel, InvalidModel, MetamodelNotFound, TableNotFound
from neomodel.evolution import breaks
from neomodel.metamodel import Package
from neomodel.metamodel_json import dumps, loads
from neomodel.soundness import check, faults
from neomodel.stores import VERSION, Row, Store, ensured, successor
from neomodel.xmltype import XML_TYPE, xml_type

TABLE = "_metamodels"
FAMILIES = "pct"
DEFINITION = b"p:definition"
NAME = b"p:name"
ROOT = b"p:root"
LONGEST = 200  # bytes of an ns_uri; with a column every store takes it

Rows = dict[bytes, Row]

_SHOWN = 10  # namespaces in an error, where none is like the one that is missing


class Registry:
    """The metamodels of one store. Holds nothing itself: every call reads what is registered at that moment."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._table = store.table(TABLE)

    def register(self, *packages: Package) -> tuple[Package, ...]:
        """Make these root packages the registered ones, with their sub-packages, and return them.

        Packages that refer to one another come in one call. Raises, before anything is written, `InvalidModel` if they
        make no sense together with all that is registered, and `IncompatibleMetamodel` if an existing model would lose
        something. If another process registers at the same time, one is first and the other decides anew. Rows are
        written one after the other: if the store fails in between, register the same again.

        One multi-get if nothing is new; otherwise one scan of the table more and a swap for each row that is.
        """
        while not self._has(packages):
            rows = self._rows()
            self._decide(packages, rows)
            try:
                if self._write(packages, rows):
                    break
            except TableNotFound:
                ensured(self._table, FAMILIES)
        return packages

    def load(self, ns_uri: str, *, at: int | None = None) -> Package:
        """The root package that has, or holds, this ns_uri, as of a time; `MetamodelNotFound` if there is none.
        That of XML's types is always there.

        One get, for the ns_uri of a sub-package two.
        """
        row = self._get(ns_uri, at) or {}
        if ROOT in row:
            row = self._get(row[ROOT].decode(), at) or {}
        package = loads(row[DEFINITION]) if DEFINITION in row else None
        if package is None and ns_uri == XML_TYPE:
            return xml_type()
        if package is None or not _holds(package, ns_uri):
            raise self._not_found(ns_uri, at)
        return package

    def find(self, *, at: int | None = None) -> Iterator[Package]:
        """All root packages, by ns_uri. One scan."""
        for row in self._rows(at, [DEFINITION]).values():
            yield loads(row[DEFINITION])

    def names(self, *, at: int | None = None) -> list[str]:
        """The ns_uris of all root packages, sorted. One scan, of names only."""
        return [key.decode() for key in self._rows(at, [NAME])]

    def versions(self, ns_uri: str) -> list[tuple[int, int, Package]]:
        """Number, time and value of each version that is kept of the root package that has, or holds, this ns_uri.

        The oldest first; of a sub-package those versions that hold it. Raises `MetamodelNotFound` if there is none.
        One get, and one read of a row's history.
        """
        row = self._get(ns_uri, None)
        key = row.get(ROOT, ns_uri.encode()) if row else b""
        history = self._table.history(key, key + b"\x00", columns=[DEFINITION, VERSION]) if row else ()
        cells = {(cell.column, cell.time): cell.value or b"" for cell in history}
        found = [
            (int(cells[VERSION, time].partition(b"-")[0]), time, package)
            for column, time in sorted(cells)
            if column == DEFINITION and _holds(package := loads(cells[column, time]), ns_uri)
        ]
        if not found:
            raise self._not_found(ns_uri, None)
        return found

    # registering

    def _has(self, packages: Iterable[Package]) -> bool:
        wanted = [(key, cells) for package in packages for key, cells in _cells(package)]
        rows = self._get_many([key for key, _ in wanted])
        return len(rows) == len(wanted) and all(cells.items() <= rows[key].items() for key, cells in wanted)

    def _decide(self, packages: tuple[Package, ...], rows: Rows) -> None:
        """Return if these packages may be written over what the table holds."""
        before = {key.decode(): loads(row[DEFINITION]) for key, row in rows.items() if DEFINITION in row}
        given = {package.ns_uri for package in packages}
        others = [package for ns_uri, package in before.items() if ns_uri not in given]
        known = _by_ns_uri([*others, *packages]).get
        check(packages, _by_ns_uri(others).get)
        for package in packages:
            _check_owners(package, rows)
            broken = breaks(before[package.ns_uri], package, known) if package.ns_uri in before else []
            if broken:
                raise IncompatibleMetamodel(package.ns_uri, self._store.url, "; ".join(broken))
        known_before = _by_ns_uri(before.values()).get
        for other in others:  # one may have been left without what it refers to, by a registration that failed halfway
            had = set(faults([other], known_before))
            for fault in faults([other], known):
                if fault not in had:
                    raise InvalidModel(*fault)

    def _write(self, packages: Iterable[Package], rows: Rows) -> bool:
        """Write what is new, of each package the root last, or tell that somebody else was first."""
        for package in packages:
            for key, cells in _cells(package):
                row = rows.get(key, {})
                version = row.get(VERSION)
                if cells.items() <= row.items():
                    continue
                if not self._table.swap(key, version, {**cells, VERSION: successor(version)}):
                    return False
        return True

    # reading

    def _get(self, ns_uri: str, at: int | None) -> Row | None:
        if not 0 < len(ns_uri.encode()) <= LONGEST:
            return None
        try:
            return self._table.get(ns_uri.encode(), at=at, columns=[DEFINITION, ROOT])
        except TableNotFound:
            return None

    def _get_many(self, keys: list[bytes]) -> Rows:
        try:
            return self._table.get_many(keys)
        except TableNotFound:
            return {}

    def _rows(self, at: int | None = None, columns: list[bytes] | None = None) -> Rows:
        try:
            return dict(self._table.scan(at=at, columns=columns))
        except TableNotFound:
            return {}

    def _not_found(self, ns_uri: str, at: int | None) -> MetamodelNotFound:
        there = [key.decode() for key in self._rows(at, [NAME, ROOT])]
        near = difflib.get_close_matches(ns_uri, there)
        if near or not there:
            told = f"the nearest are: {', '.join(near)}" if near else "none is registered"
        else:
            told = f"registered are: {', '.join(sorted(there)[:_SHOWN])}{' …' * (len(there) > _SHOWN)}"
        return MetamodelNotFound(ns_uri, self._store.url, told)


def _cells(root: Package) -> Iterator[tuple[bytes, Row]]:
    """The rows of a root package but for their version: what reserves the names of its sub-packages, then its own."""
    definition = dumps(root)
    for package in root.with_subpackages():
        size = len(package.ns_uri.encode())
        if not 0 < size <= LONGEST:
            raise InvalidModel(f"package {package.name}", f"its ns_uri has {size} bytes, expected 1 to {LONGEST}")
        if package is not root:
            yield package.ns_uri.encode(), {ROOT: root.ns_uri.encode()}
    yield root.ns_uri.encode(), {DEFINITION: definition, NAME: root.name.encode()}


def _check_owners(root: Package, rows: Rows) -> None:
    for package in root.with_subpackages():
        row = rows.get(package.ns_uri.encode(), {})
        owner = row.get(ROOT, package.ns_uri.encode() if DEFINITION in row else root.ns_uri.encode()).decode()
        if owner != root.ns_uri:
            raise InvalidModel(
                f"package {package.name}", f"its ns_uri {package.ns_uri!r} is taken by package {owner!r}"
            )


def _holds(root: Package, ns_uri: str) -> bool:
    return any(package.ns_uri == ns_uri for package in root.with_subpackages())


def _by_ns_uri(roots: Iterable[Package]) -> dict[str, Package]:
    return {package.ns_uri: package for root in roots for package in root.with_subpackages()}
