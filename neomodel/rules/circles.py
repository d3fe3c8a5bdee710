"""Circles of containers: results that rules have put into one another, so that none of them would be in the model.

There can be circles only among objects of classes that may lie in one another (`Plan.nesting`). One whose results are
held in memory at once is found there. Of any other, at least one result lies in one that is not at hand: those
containers are followed up when all rows are written, as far as they lie in others, and nothing else is.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from neomodel import ids, layout
from neomodel.errors import RuleFailed
from neomodel.kinds import EClass
from neomodel.metamodel import TypeName
from neomodel.model import Model
from neomodel.rules.drafts import takes
from neomodel.rules.origins import traced

_PAGE = 2000  # rows
_TOLD = 4
"""Results of a circle that are told of."""


class Held(NamedTuple):
    """What is in the row of a result that lies in another one: the id of that, and which rule has made it of what."""

    container: str
    trace: bytes


Look = Callable[[list[str]], Mapping[str, Held]]
"""Of these results, those that lie in others."""


def nesting(kinds: Iterable[EClass]) -> frozenset[TypeName]:
    """The classes whose objects may lie in others of the same class, be it that there are some of others between."""
    known = {kind.type_name: kind for kind in kinds}
    within = {
        name: {
            other
            for other, inner in known.items()
            if any(one.containment and one.stored and takes(one, inner) for one in kind.features.values())
        }
        for name, kind in known.items()
    }
    return frozenset(name for name in known if name in _reached(name, within))


def _reached(name: TypeName, within: Mapping[TypeName, set[TypeName]]) -> set[TypeName]:
    found: set[TypeName] = set()
    ahead = [name]
    while ahead:
        more = within[ahead.pop()] - found
        found |= more
        ahead += more
    return found


def circles(starts: Iterable[str], look: Look) -> list[RuleFailed]:
    """The circles that one gets to from these results. Each object is looked at once: with `stored`, a call for 2,000
    of them that lie equally high above the starts."""
    known: dict[str, Held] = {}
    seen: set[str] = set()
    ahead = set(starts)
    while ahead:
        seen |= ahead
        found = look(sorted(ahead))
        known |= found
        ahead = {one.container for one in found.values()} - seen
    return [_failure(circle, known) for circle in _closed(known)]


def stored(target: Model) -> Look:
    """Looks at rows of a model."""

    def look(oids: list[str]) -> dict[str, Held]:
        found: dict[str, Held] = {}
        remaining = iter(oids)
        while page := list(islice(remaining, _PAGE)):
            keys = [oid.encode() for oid in page]
            rows = target.table.get_many(keys, columns=(*layout.PLACE, layout.TRACE))
            for key, row in rows.items():
                place = layout.place_of(row)
                if place is not None and place[0] != ids.ROOT:
                    found[key.decode()] = Held(place[0], row[layout.TRACE])
        return found

    return look


def _closed(known: Mapping[str, Held]) -> list[list[str]]:
    """The circles among these, each once: from its first id on, each before the one it lies in."""
    found: list[list[str]] = []
    passed: set[str] = set()
    for oid in sorted(known):
        way: list[str] = []
        while oid in known and oid not in passed:
            passed.add(oid)
            way.append(oid)
            oid = known[oid].container
        if oid in way:
            met = way[way.index(oid) :]
            first = met.index(min(met))
            found.append([*met[first:], *met[:first]])
    return found


def _failure(circle: list[str], known: Mapping[str, Held]) -> RuleFailed:
    rule, output, source = traced(known[circle[0]].trace)
    told = [
        f"what rule {rule} made of {source}"
        for rule, _, source in (traced(known[oid].trace) for oid in circle[1:_TOLD])
    ]
    if len(circle) > _TOLD:
        told.append(f"{len(circle) - _TOLD} more")
    reason = f"{circle[0]} would lie in itself, within {', within '.join(told)}"
    return RuleFailed(rule, f"source {source}", f"output {output}", reason)
