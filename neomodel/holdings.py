"""Rows as a check reads them: past all objects, many at a time, in bounded memory; and what their references hold."""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from neomodel import codecs, ids, layout
from neomodel.errors import Conflict, CorruptRow, InvalidValue, MetamodelNotFound, ModelNotFound
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import is_long
from neomodel.roots import as_read
from neomodel.states import Stored, encode_inline
from neomodel.stores import VERSION, Row

if TYPE_CHECKING:
    from neomodel.model import Model

PAGE = 500  # rows read in one call
_ROOM = 16_000_000  # bytes of rows that are kept
_SETS = 64  # collections whose members are kept as sets
_ATTEMPTS = 20


def held(row: Row, feature: EFeature) -> list[str]:
    """The tokens that a reference holds in a row, one or many; ValueError if its cell holds no such thing.

    All that a check or a repair knows of what collections hold it knows from here, and from `Holdings.holds`.
    """
    cell = row.get(feature.column)
    if cell is None or (cell == codecs.NULL and not feature.many):
        return []
    tokens = codecs.decode_refs(cell) if feature.many else [cell.decode()]
    for token in tokens:
        check_token(token)
    return tokens


def check_token(token: str) -> None:
    """Raise ValueError for what refers to no object, wherever it is."""
    if token.startswith(ids.ELSEWHERE):
        return
    model, oid = ids.split_ref(token)
    if model == "" or not oid or len(oid.encode()) > ids.LIMIT:
        raise ValueError(f"{token!r} is no reference")


def place_of(row: Row) -> tuple[str, str] | None:
    """As `layout.place_of`; ValueError if the container's id can't be one."""
    place = layout.place_of(row)
    if place is not None:
        check_token(place[0])
    return place


def is_object(oid: str, row: Row | None) -> bool:
    """Whether there is such an object for readers. The row of the roots is there before it is written."""
    return oid == ids.ROOT or (row is not None and layout.ECLASS in row)


def whole(model: "Model", oid: str, row: Row) -> Row:
    """The row with its long collections as if they were short, each in one cell. Costs nothing if there are none. One
    that can't be read stays as it is, and so can't be read by who looks at its cell."""
    if not any(map(is_long, row.values())):
        return row
    for _ in range(_ATTEMPTS):
        state = as_read(model, oid, row)
        try:
            cells = {feature.column: _inline(state, feature) for feature in longs(state)}
            return layout.of_object({**row, **cells}).cells()
        except Conflict:
            row = {} if state.row is None else state.row.cells()  # as it is by now
    return row


def _inline(state: Stored, feature: EFeature) -> bytes | None:
    """The cell of a long collection as if it were short; as it is if it can't be read; `Conflict` if it has changed."""
    row = state.read()
    found: bytes = row.get(feature.column)
    try:
        return encode_inline(feature, list(state.raw(feature)))
    except CorruptRow:
        return found
    except Conflict:  # it was read again
        if state.row is None or state.row.get(VERSION) != row.get(VERSION):
            raise
        return found  # nobody has changed it: a part is missing


def longs(state: Stored) -> list[EFeature]:
    """The features of a stored object that are long collections; none if its class is not known."""
    try:
        features = state.kind.features.values()
    except (MetamodelNotFound, InvalidValue):
        return []
    return [feature for feature in features if feature.many and is_long(state.read().get(feature.column, b""))]


class Holdings:
    """The rows of a model and of those it refers to, as they were when each was read first, or later."""

    def __init__(self, model: "Model") -> None:
        self.model = model
        self._rows: dict[tuple[str, str], Row | None] = {}
        self._size = 0
        self._kinds: dict[tuple[bytes, bytes], EClass | str] = {}
        self._sets: dict[tuple[str, str, str], frozenset[str] | None] = {}

    def load(self, model: str, oids: Iterable[str]) -> dict[str, Row | None]:
        """Rows of a model; None where there is none. 500 in a call, and none for those that are known."""
        wanted = dict.fromkeys(oids)
        found = {oid: self._rows[model, oid] for oid in wanted if (model, oid) in self._rows}
        home = self.home(model)
        missing = iter([oid for oid in wanted if oid not in found])
        while page := list(islice(missing, PAGE)):
            rows = home.table.get_many((oid.encode() for oid in page), at=self.model.as_of, columns=layout.OBJECT)
            for oid in page:
                row = rows.get(oid.encode())
                found[oid] = None if row is None else whole(home, oid, row)
                self.keep(model, oid, found[oid])
        return found

    def home(self, model: str) -> "Model":
        """The model of that name, as of the time of the check; `ModelNotFound`."""
        if model == self.model.name:
            return self.model
        return self.model.repository.opened(model, self.model)

    def there(self, model: str) -> bool:
        try:
            self.home(model)
        except (ModelNotFound, InvalidValue):
            return False
        return True

    def keep(self, model: str, oid: str, row: Row | None) -> None:
        """Know a row that was read."""
        if (model, oid) in self._rows:
            return
        self._rows[model, oid] = row
        self._size += _size(row)
        while self._size > _ROOM and len(self._rows) > PAGE:
            self._size -= _size(self._rows.pop(next(iter(self._rows))))

    def kind(self, oid: str, row: Row) -> EClass | str:
        """The class of an object, or why there is none."""
        if oid == ids.ROOT:
            return self.model[ids.ROOT]._neo.kind  # type: ignore[no-any-return]
        name = row.get(layout.NSURI, b""), row[layout.ECLASS]
        if name not in self._kinds:
            try:
                self._kinds[name] = self.model.kind_of(row)
            except (MetamodelNotFound, InvalidValue) as exc:
                self._kinds[name] = str(exc)
        return self._kinds[name]

    def holds(self, model: str, oid: str, row: Row, feature: EFeature, token: str) -> bool | None:
        """Whether a reference holds a token; None if its cell can't be read, so that nobody knows."""
        place = model, oid, feature.name
        if place not in self._sets:
            try:
                self._sets[place] = frozenset(held(row, feature))
            except ValueError:
                self._sets[place] = None
            while len(self._sets) > _SETS:
                del self._sets[next(iter(self._sets))]
        found = self._sets[place]
        return None if found is None else token in found


def _size(row: Row | None) -> int:
    return 200 + sum(100 + len(value) for value in row.values()) if row else 100
