"""How what a crash has left is mended. Each repair is a compare-and-swap of one row, as it was when it was looked at.

A change has one decisive write, which comes first (see `changes.py`); the rest follows from it. So what is mended is
what should have followed: lists of children follow what the children's rows say, and of a reference that is known at
one end only, the end that was written later is the decisive one. The history of the two cells tells which.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from neomodel import ids, layout
from neomodel.ancestry import Ancestry
from neomodel.errors import Conflict
from neomodel.findings import Change, Choice, Mend, Removal, Suspect, Touch
from neomodel.holdings import PAGE, Holdings, held, is_object, whole
from neomodel.kinds import EFeature
from neomodel.long_cells import hint_of, in_parts, is_long
from neomodel.roots import as_read
from neomodel.states import encode
from neomodel.stores import VERSION, Row, Table, successor
from neomodel.trees import Root
from neomodel.unstored import UNSET

if TYPE_CHECKING:
    from neomodel.model import Model

_Row = tuple[str, str]
"""The names of a model and of an object in it."""


def mend(model: "Model", suspects: list[Suspect], began: int) -> set[Suspect]:
    """Mend what can be, and tell which that was. `began` is a time since when all of it has been wrong.

    One read for 500 rows, one swap for each row that changes, and two reads of a cell's history for each reference
    that is known at one end only.
    """
    holdings = Holdings(model)
    by_row: dict[_Row, list[tuple[int, Suspect, Change | Removal | Touch]]] = defaultdict(list)
    for suspect in _certain(model, suspects, began):
        assert suspect.mend is not None
        time, chosen = _chosen(holdings, suspect.mend)
        by_row[chosen.model, chosen.oid].append((time, suspect, chosen))
    done: set[Suspect] = set()
    remaining = iter(by_row.items())
    while page := list(islice(remaining, PAGE)):
        rows = _rows(holdings, [place for place, _ in page])
        for (name, oid), mends in page:
            row = rows[name, oid]
            current = [mend for mend in sorted(mends, key=_time) if mend[2].version == row.get(VERSION)]
            if current and _written(holdings.home(name), oid, row, [one for _, _, one in current]):
                done |= {suspect for _, suspect, _ in current}
    return done


def _certain(model: "Model", suspects: list[Suspect], began: int) -> list[Suspect]:
    """Those of the suspects that are nobody's unfinished work, and that one repair is right for."""
    mendable = [suspect for suspect in suspects if suspect.mend is not None]
    if any(suspect.kind == "lost" for suspect in mendable) and _storing(model, began):
        mendable = [suspect for suspect in mendable if suspect.kind not in ("lost", "entry")]
    claims: dict[tuple[str, str], int] = defaultdict(int)
    for suspect in mendable:
        if suspect.kind == "unlisted" and isinstance(suspect.mend, Change) and not suspect.mend.feature.many:
            claims[suspect.mend.oid, suspect.mend.feature.name] += 1
    return [
        suspect
        for suspect in mendable
        if not (isinstance(suspect.mend, Change) and claims[suspect.mend.oid, suspect.mend.feature.name] > 1)
    ]


def _storing(model: "Model", since: int) -> bool:
    """Whether somebody has written rows lately that lie in nothing yet, as one who stores a large subtree does."""
    ancestry = Ancestry(Holdings(model))
    keys = (version.key for version in model.table.history(columns=[VERSION], since=since))
    while page := list(islice(keys, PAGE)):
        rows = model.table.get_many(set(page), columns=layout.OBJECT)
        objects = {key.decode(errors="surrogateescape"): row for key, row in rows.items() if key != ids.ROOT.encode()}
        objects = {oid: row for oid, row in objects.items() if is_object(oid, row)}
        if any(end.kind == "lost" for end in ancestry.ends(objects).values()):
            return True
    return False


def _time(mend: tuple[int, Suspect, Change | Removal | Touch]) -> int:
    return mend[0]


def _rows(holdings: Holdings, places: Iterable[_Row]) -> dict[_Row, Row]:
    """Rows as they are now; an empty one where there is none."""
    by_model: dict[str, list[str]] = defaultdict(list)
    for name, oid in places:
        by_model[name].append(oid)
    found: dict[_Row, Row] = {}
    for name, oids in by_model.items():
        rows = holdings.home(name).table.get_many([oid.encode() for oid in oids], columns=layout.OBJECT)
        found |= {(name, oid): rows.get(oid.encode(), {}) for oid in oids}
    return found


def _written(home: "Model", oid: str, row: Row, mends: list[Change | Removal | Touch]) -> bool:
    """Do all this to a row at once, if nobody else was first. A row that is removed needs no other change."""
    if any(isinstance(one, Removal) for one in mends):
        cells = layout.erased(row)
    else:
        cells = _changed(home, oid, row, [one for one in mends if isinstance(one, Change)])
    version = row.get(VERSION)
    touched = any(isinstance(one, Touch) for one in mends)
    home.forget_row(oid)
    if not (cells or touched) or not home.table.swap(oid.encode(), version, {VERSION: successor(version), **cells}):
        return False
    if cells.get(layout.ECLASS, b"") is None and any(map(is_long, row.values())):
        home.put(in_parts(oid.encode(), layout.erased(_extents(home.table, oid))))
    home.outdated()
    return True


def _extents(table: Table, oid: str) -> Row:
    return {layout.extent(cell.qualifier): cell.value for cell in table.cells(oid.encode(), layout.EXTENT)}


def _changed(home: "Model", oid: str, row: Row, changes: list[Change]) -> dict[bytes, bytes | None]:
    listed = whole(home, oid, row)
    tokens: dict[EFeature, list[str]] = {}
    for change in changes:
        feature = change.feature
        before = tokens[feature] if feature in tokens else held(listed, feature)
        first = before.index(change.token) if change.token in before else len(before)
        others = [token for token in before if token != change.token]
        if not feature.many and change.times:
            others = []
        tokens[feature] = [*others[:first], *[change.token] * change.times, *others[first:]]
    cells: dict[bytes, bytes | None] = {}
    for feature, held_then in tokens.items():
        cells |= _cells(home, oid, row, feature, held_then)
    return cells


def _cells(home: "Model", oid: str, row: Row, feature: EFeature, tokens: list[str]) -> dict[bytes, bytes | None]:
    if not feature.many:
        return encode(feature, tokens[0] if tokens else None if feature.unsettable else UNSET)
    if not is_long(row.get(feature.column, b"")):
        return encode(feature, tokens)
    long = as_read(home, oid, row).raw(feature)
    try:
        return long.cells_after([long.replacing(tokens)])  # type: ignore[no-any-return]
    except Conflict:
        return {}  # somebody is changing it: looked at again in the next pass


# references that are known at one end only


def _chosen(holdings: Holdings, one: Mend) -> tuple[int, Change | Removal | Touch]:
    """What to do, and since when that is right: of two that claim one place, the later one comes last and has it."""
    if not isinstance(one, Choice):
        return 0, one
    taken = _since(holdings, one.go, held_now=True)
    dropped = _since(holdings, one.follow, held_now=False)
    if dropped is not None and taken is not None and dropped > taken:
        return dropped, one.go
    return taken or 0, one.follow


def _since(holdings: Holdings, change: Change, *, held_now: bool) -> int | None:
    """Since when a reference has held a token, or not; None if it never did. A single-valued one that holds something
    else has not held it since it holds that: whoever came last has it."""
    table: Table = holdings.home(change.model).table
    key = change.oid.encode()
    cell = (table.get(key, columns=[change.feature.column]) or {}).get(change.feature.column, b"")
    if change.feature.many and is_long(cell):
        return _since_hint(table, key, change, cell, held_now=held_now)
    since = None
    latest: bytes | None = None
    for version in table.history(key, key + b"\0", columns=[change.feature.column]):
        if since is not None and not change.feature.many and not held_now and version.value != latest:
            return since
        if (change.token in _tokens(change.feature, version.value)) is not held_now:
            return since
        since, latest = version.time, version.value
    return since if held_now or not change.feature.many else None


def _since_hint(table: Table, key: bytes, change: Change, cell: bytes, *, held_now: bool) -> int | None:
    """As `_since`, of a long collection: when the hint to the token was written last, or removed."""
    hint = hint_of(change.feature, Root.load(cell).name, change.token)
    newest = next(table.history(key, key + b"\0", columns=[hint]), None)
    return newest.time if newest is not None and (newest.value is not None) is held_now else None


def _tokens(feature: EFeature, cell: bytes | None) -> list[str]:
    row: Mapping[bytes, bytes] = {} if cell is None else {feature.column: cell}
    try:
        return held(dict(row), feature)
    except ValueError:
        return []
