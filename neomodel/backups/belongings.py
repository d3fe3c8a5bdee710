"""What belongs to a model beside its rows, in the store's own tables: metamodels, records of purges, of runs.

Each backup has these records whole, with all their versions and times: there are few. Those of a table are one file.
They are read again from the last one of a chain.

**Metamodels.** All that are registered go along, since values of records may be of any class. A store that has one of
them already keeps its own, if what the backup has of it is contained in that; it takes the newer one if its own
models survive that; and refuses if neither is so, and the models need it. What is earlier than all that the store
knows of a package is put beneath it, so that models as of then find it.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import attrs

from neomodel import purging, registry
from neomodel.backups.files import Shelf, blocks
from neomodel.backups.manifest import File
from neomodel.errors import IncompatibleMetamodel, TableNotFound
from neomodel.evolution import breaks
from neomodel.metamodel import Package
from neomodel.metamodel_json import loads
from neomodel.repository import Repository
from neomodel.rules import runs
from neomodel.stores import Store, Version, ensured
from neomodel.stores.blocks import versions_of, without
from neomodel.vintages import referred

FOLDER = "_records"
FAMILIES = {registry.TABLE: registry.FAMILIES, purging.TABLE: purging.FAMILIES, runs.TABLE: runs.FAMILIES}
_TRANSFORMATIONS = (b"!", b'"')


def collected(store: Store, models: Collection[str], folder: Path, until: int) -> dict[str, File]:
    """Put the records of models into files. Metamodels and runs as of a time; purges as they are, since they change
    the past. Some scans."""
    found = {}
    for table, ranges, last in (
        (registry.TABLE, [(b"", None)], until),
        (purging.TABLE, [(b"%b/" % name.encode(), b"%b/:" % name.encode()) for name in models], None),
        (runs.TABLE, _of_runs(models), until),
    ):
        shelf = Shelf(folder, FOLDER, table, cells=None)
        if not shelf.files:
            shelf.put(versions_of(_history(store, table, ranges, last)))
        if shelf.files:
            (found[table],) = shelf.files
    return found


def _of_runs(models: Collection[str]) -> list[tuple[bytes, bytes | None]]:
    """Those that made a model, what is left to be written to it, and all transformations."""
    heads = [prefix + name.encode() + b"#" for prefix in (b"", b"~") for name in models]
    return sorted([_TRANSFORMATIONS, *((head, head + b":") for head in heads)])


def _history(
    store: Store, table: str, ranges: Iterable[tuple[bytes, bytes | None]], until: int | None
) -> Iterator[Version]:
    try:
        for start, stop in sorted(ranges, key=lambda one: one[0]):
            yield from store.table(table).history(start, stop, until=until)
    except TableNotFound:
        return


# bringing them into a store


def bring(store: Store, folder: Path, records: dict[str, File]) -> None:
    """Write the records of purges and of runs. What a store has on record of a transformation stays as it is."""
    for name in (purging.TABLE, runs.TABLE):
        if name in records:
            table = ensured(store.table(name), FAMILIES[name])
            known = {key for key, _ in table.scan(*_TRANSFORMATIONS)} if name == runs.TABLE else set()
            table.put_history(without(blocks(folder, records[name]), known))


@attrs.frozen
class _Kept:
    """What a backup has of the rows of metamodels."""

    versions: dict[bytes, list[Version]]
    roots: dict[str, Package]

    @classmethod
    def read(cls, folder: Path, file: File | None) -> "_Kept":
        cells: Iterable[Any] = blocks(folder, file) if file else ()
        listed = [Version(*row.values()) for block in cells for row in block.to_pylist()]
        versions = {key: list(some) for key, some in groupby(listed, key=lambda version: version.key)}
        roots = {}
        for key, some in versions.items():
            newest = next((version.value for version in some if version.column == registry.DEFINITION), None)
            if newest is not None:
                roots[key.decode()] = loads(newest)
        return cls(versions, roots)

    def needed(self, namespaces: Collection[str]) -> set[str]:
        """The root packages that these namespaces lead to."""
        home = {part.ns_uri: root.ns_uri for root in self.roots.values() for part in root.with_subpackages()}
        found: set[str] = set()
        ahead = [home[ns_uri] for ns_uri in namespaces if ns_uri in home]
        while ahead:
            root = ahead.pop()
            if root not in found:
                found.add(root)
                ahead += [home[ns_uri] for ns_uri in referred(self.roots[root]) if ns_uri in home]
        return found


class Metamodels:
    """The metamodels of a backup on their way into a repository: `check` first, and `bring` then."""

    def __init__(
        self, repository: Repository, folder: Path, records: dict[str, File], namespaces: Collection[str]
    ) -> None:
        self._repository = repository
        self._kept = _Kept.read(folder, records.get(registry.TABLE))
        self._needed = self._kept.needed(namespaces)
        self._newer: list[Package] = []
        self.left: list[str] = []
        """Those that are not brought, since there is another one of that name, and no object needs them."""

    def check(self) -> None:
        """Raise `IncompatibleMetamodel` if one that the models need can't be registered. One scan."""
        there = {package.ns_uri: package for package in self._repository.registry.find()}
        for ns_uri, package in self._kept.roots.items():
            broken = self._broken(package, there)
            if broken and ns_uri in self._needed:
                raise IncompatibleMetamodel(ns_uri, self._repository.store.url, "; ".join(broken))
            if broken:
                self.left.append(ns_uri)

    def _broken(self, package: Package, there: dict[str, Package]) -> list[str]:
        names = {part.ns_uri for part in package.with_subpackages()}
        for other in there.values():
            taken = names & {part.ns_uri for part in other.with_subpackages()}
            if taken and other.ns_uri != package.ns_uri:
                return [f"{min(taken)!r} is a package of {other.ns_uri!r} there"]
        mine = there.get(package.ns_uri)
        if mine is None or not breaks(package, mine, _parts(there).get):
            return []
        broken = breaks(mine, package, (_parts(there) | _parts(self._kept.roots)).get)
        if not broken:
            self._newer.append(package)
        return broken

    def bring(self) -> None:
        """Register those that are new, with their history. One scan, some writes. Doing it again changes nothing."""
        if not self._kept.versions:
            return
        table = ensured(self._repository.store.table(registry.TABLE), registry.FAMILIES)
        first: dict[bytes, int] = {}
        for version in table.history():
            first[version.key] = min(version.time, first.get(version.key, version.time))
        left = {part.ns_uri.encode() for name in self.left for part in self._kept.roots[name].with_subpackages()}
        earlier = (
            version
            for key, some in self._kept.versions.items()
            for version in some
            if key not in left and version.time < first.get(key, version.time + 1)
        )
        table.put_history(versions_of(earlier))
        if self._newer:
            self._repository.registry.register(*self._newer)


def _parts(roots: dict[str, Package]) -> dict[str, Package]:
    """All packages by their namespaces."""
    return {part.ns_uri: part for root in roots.values() for part in root.with_subpackages()}
