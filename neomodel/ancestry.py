"""Where the containers of objects end: at the model, as they should, or before."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from neomodel import ids
from neomodel.holdings import Holdings, is_object, place_of
from neomodel.stores import Row

_ROOM = 200_000  # objects known to lie in the model


class End(NamedTuple):
    """How a way up ends: at the roots of the model, at an object that is not there, at one that has no container, or
    never, since it comes back to where it began or to another on the way."""

    kind: Literal["root", "lost", "orphan", "cycle", "beneath"]
    at: str


class Ancestry:
    """Climbs from objects to their containers, many at a time. What led to the roots once is not climbed again."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._safe: dict[str, None] = {ids.ROOT: None}

    def ends(self, rows: Mapping[str, Row]) -> dict[str, End]:
        """Where the ways up from these objects end. One read for each level that is not known yet, and 500 objects."""
        above = {oid: _container(row) for oid, row in rows.items()}
        ahead = self._unknown(above, above)
        while ahead:
            found = self._holdings.load(self._holdings.model.name, ahead)
            here = {oid: _container(row) for oid, row in found.items() if row is not None and is_object(oid, row)}
            above |= here
            ahead = self._unknown(here, above) - found.keys()
        ends = {oid: self._end(oid, above) for oid in rows}
        self._make_room()  # not before: what was safe when the climb began was not read again
        return ends

    def _unknown(self, from_: Mapping[str, str | None], above: Mapping[str, str | None]) -> set[str]:
        return {oid for oid in from_.values() if oid is not None and oid not in above and oid not in self._safe}

    def _end(self, oid: str, above: Mapping[str, str | None]) -> End:
        passed: dict[str, None] = {}
        current = oid
        while current not in self._safe:
            if current in passed:
                return End("cycle" if current == oid else "beneath", current)
            if current not in above:
                return End("lost", current)
            passed[current] = None
            container = above[current]
            if container is None:
                return End("orphan", current)
            current = container
        for safe in passed:
            self._safe[safe] = None
        return End("root", ids.ROOT)

    def _make_room(self) -> None:
        while len(self._safe) > _ROOM:
            del self._safe[next(one for one in self._safe if one != ids.ROOT)]


def _container(row: Row) -> str | None:
    try:
        place = place_of(row)
    except ValueError:
        return None
    return place[0] if place else None
