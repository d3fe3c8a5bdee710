"""A range of a model read in one scan, after which to go from object to object inside it costs no call.

Rows of one class are cohorts of some 500, in the order of the scan: so what lies outside is read for many objects of a
class at a time, however few of the rows are of that class.
"""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from neomodel import ids, layout
from neomodel.cohorts import PAGE, Cohort, Page
from neomodel.metamodel import ANYTHING, TypeName
from neomodel.model import Model
from neomodel.stores import Row

ROWS = 2_000_000
"""Rows of a range that are kept, if nobody says how many: about half a gigabyte of small ones."""

_ROOT = ids.ROOT.encode()
_READ = 1000  # rows at a time; `cohorts` has room for several times as many


def prefilled(
    model: Model, wanted: TypeName, start: bytes = b"", stop: bytes | None = None, *, rows: int = ROWS
) -> Iterator[Any]:
    """The objects of a class and of its subclasses whose keys are in a range, in the order of their ids. One scan.

    It has read so many `rows` before the first object comes, and the model knows them from then on. Objects beyond them
    come in the same scan, as it goes on; their rows are forgotten after some thousand others, and then read again when
    they are needed, 500 in a call.
    """
    filling = _Filling(model, wanted, start, stop)
    found: list[str] = []
    left = rows
    while left > 0 and (page := filling.read(min(_READ, left))):
        found += filling.brought(page, staying=True)
        left -= len(page)
    yield from _objects(model, found)
    while page := filling.read(_READ):
        yield from _objects(model, filling.brought(page, staying=False))


_Name = tuple[bytes, bytes]
"""The name of a class and its namespace, as a row has them."""


class _Filling:
    """A scan whose rows a model gets to know."""

    def __init__(self, model: Model, wanted: TypeName, start: bytes, stop: bytes | None) -> None:
        self._model = model
        self._wanted = wanted
        self._epoch = model.epoch()
        self._scan = model.table.scan(start, stop, at=model.as_of, columns=layout.OBJECT)
        self._cohorts: dict[_Name, Cohort] = {}
        self._chosen: dict[_Name, bool] = {}

    def read(self, count: int) -> list[tuple[bytes, Row]]:
        return list(islice(self._scan, count))

    def brought(self, page: list[tuple[bytes, Row]], *, staying: bool) -> list[str]:
        """Have the model know these rows; returns the ids of those that are wanted."""
        there = [(key.decode(), row) for key, row in page if layout.ECLASS in row and key != _ROOT]
        groups: dict[_Name, dict[str, Row]] = {}
        wanted = []
        for oid, row in there:
            name = row[layout.ECLASS], row.get(layout.NSURI, b"")
            group = groups.get(name)
            if group is None:
                group = groups[name] = {}
                self._chosen.setdefault(name, self._is_wanted(row))
            group[oid] = row
            if self._chosen[name]:
                wanted.append(oid)
        for name, group in groups.items():
            self._model.bring(group, self._joined(name, group), self._epoch, staying=staying)
        return wanted

    def _is_wanted(self, row: Row) -> bool:
        return self._wanted in (ANYTHING, *self._model.kind_of(row).names)

    def _joined(self, name: _Name, oids: Collection[str]) -> Cohort:
        """The cohort of which these are members from now on: the last one of their class, until it has 500."""
        found = self._cohorts.get(name)
        if found is None or found.count >= PAGE:
            found = self._cohorts[name] = Cohort()
        found.add(oids)
        return found


def _objects(model: Model, oids: list[str]) -> Iterator[Any]:
    for oid in oids:
        row = model.known_row(oid)
        yield model.there(oid, Page(model), None if row is None else model.kind_of(row))
