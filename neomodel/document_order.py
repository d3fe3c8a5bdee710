"""All rows of a model, or of a subtree, in document order: each object before what it contains, past all objects.

Subtrees lie together, in the order of their making; so a row that is not at hand is the first of a scan, and what comes
with it is likely to be next. Where that does not hold, because objects were moved or were made in another order, the
rows that will be needed are known beforehand: they are read 500 in a call. Memory does not grow with the model.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from neomodel import codecs, ids, layout
from neomodel.cohorts import PAGE
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import is_long
from neomodel.long_lists import LongList
from neomodel.roots import ROOT_KIND, ROOTS, as_read
from neomodel.stores import Row
from neomodel.stores.base import ORDERED

if TYPE_CHECKING:
    from neomodel.model import Model

_ROOM = 5000  # rows at hand
_ENTRIES = 2048  # of a long collection that are known at a time
_GLANCE = 5000  # entries looked at to find what will be needed
_WARY = 8  # calls until a scan is tried again

Page = tuple[EFeature, list[bytes]]
"""A feature, and some of the keys that it lists."""


def pages_of(model: "Model", key: bytes, row: Row, feature: EFeature) -> Iterator[list[bytes]]:
    """What a reference holds, each token once in a page; a long collection in several pages."""
    cell = row.get(feature.column)
    if cell is None or (not feature.many and cell == codecs.NULL):
        return
    if not feature.many:
        yield [cell]
    elif is_long(cell):
        entries = iter(long_list(model, key, row, feature))
        while page := [token.encode() for token in islice(entries, _ENTRIES)]:
            yield page
    elif cell:
        yield cell.split(b",")


def long_list(model: "Model", key: bytes, row: Row, feature: EFeature) -> LongList:
    """A long collection, as the row has it."""
    return LongList(as_read(model, key.decode(), row), feature, row[feature.column])


class Frame:
    """An object whose children are being looked at."""

    __slots__ = ("at", "counts", "feature", "key", "note", "number", "page", "pages")

    def __init__(self, key: bytes, pages: Iterator[Page], note: Any = None) -> None:
        self.key = key
        self.pages = pages
        self.note = note
        """Whatever whoever walks wants to know of it."""
        self.number = 0
        """How many children of the feature there were so far."""
        self.counts: dict[EFeature, int] | None = None
        self.feature: EFeature = ROOTS
        self.page: list[bytes] = []
        self.at = 0

    def turn(self, feature: EFeature, page: list[bytes]) -> None:
        """Go on with these children."""
        self.page, self.at = page, 0
        if feature is not self.feature:
            self.counts = self.counts or {}
            self.counts[self.feature] = self.number
            self.feature, self.number = feature, self.counts.get(feature, 0)


class Walk(ABC):
    """Goes through a model as it is now, whatever is written meanwhile, where the store's times tell; or as it was.
    Subclasses say what is done with each object, and in what order its children come."""

    def __init__(self, model: "Model") -> None:
        mark = None
        if model.as_of is None and ORDERED in model.repository.store.capabilities:
            mark = model.table.mark()
            model = model.at(model.table.now())
        self.model = model
        self.rows = _Rows(model, mark, self._ahead)
        self._stack: list[Frame] = []

    @abstractmethod
    def entered(self, parent: Frame, feature: EFeature, key: bytes, row: Row) -> Frame | None:
        """An object is there, in the feature of the parent, whose `number` says which of its children it is. Returns
        the frame to go on with, None if it has nothing in it."""

    def left(self, frame: Frame) -> None:  # noqa: B027  whoever does nothing then need not say so
        """All that is in an object has been there."""

    def outside(self, parent: Frame, feature: EFeature, token: bytes) -> None:  # noqa: B027
        """A child that lies in another model or file."""

    def run(self, top: str = ids.ROOT) -> None:
        """Go through all that an object contains; of the model, if none is named."""
        key = top.encode()
        row = self.rows.get(key)
        kind = ROOT_KIND if top == ids.ROOT else self.model.kind_of(row)
        self.walk(Frame(key, self.children(key, row, kind)))

    def children(self, key: bytes, row: Row, kind: EClass) -> Iterator[Page]:
        """The children that an object lists, by features in order."""
        for feature in kind.containments:
            for page in pages_of(self.model, key, row, feature):
                yield feature, page

    def walk(self, first: Frame) -> None:
        stack, take = self._stack, self.rows.take
        stack.append(first)
        container, tag, eclass = layout.CONTAINER, layout.FEATURE, layout.ECLASS
        while stack:
            frame = stack[-1]
            at, page = frame.at, frame.page
            if at == len(page):
                found = next(frame.pages, None)
                if found is None:
                    stack.pop()
                    self.left(frame)
                else:
                    frame.turn(*found)
                continue
            key, feature, frame.at = page[at], frame.feature, at + 1
            if key[:1] == b"@":
                self.outside(frame, feature, key)
                continue
            row = take(key)
            if row is None or row.get(container) != frame.key or row.get(tag) != feature.tag or eclass not in row:
                continue  # the child's row decides
            inner = self.entered(frame, feature, key, row)
            frame.number += 1
            if inner is not None:
                stack.append(inner)

    def _ahead(self, known: Callable[[bytes], Row | None]) -> Iterator[bytes]:
        """What will be needed next and is not at hand, in that order, as far as rows at hand tell."""
        left = _GLANCE
        for frame in reversed(self._stack):
            waiting = frame.page[: frame.at - 1 : -1] if frame.at else frame.page[::-1]
            while waiting and left:
                left -= 1
                token = waiting.pop()
                row = known(token)
                if row is None:
                    yield token
                elif layout.ECLASS in row:
                    for feature in reversed(self.model.kind_of(row).containments):
                        cell = row.get(feature.column)
                        if cell and not is_long(cell) and cell != codecs.NULL:
                            waiting += reversed(cell.split(b","))


class _Rows:
    """Rows by key, each asked for once; read many at a time."""

    def __init__(
        self, model: "Model", mark: int | None, ahead: Callable[[Callable[[bytes], Row | None]], Iterator[bytes]]
    ) -> None:
        self._table = model.repository.store.table(model.name)
        self._time = model.as_of
        self._mark = mark
        """While this is the table's, nobody has written since that time; then it need not be asked for."""
        self._ahead = ahead
        self._new: dict[bytes, Row] = {}
        self._old: dict[bytes, Row] = {}
        self._wary = 0
        self._scanned = 0
        self._used = 0

    def get(self, key: bytes) -> Row:
        """The row of that key, if there is one. One get."""
        return self._table.get(key, at=self._time, columns=layout.OBJECT) or {}

    def take(self, key: bytes) -> Row | None:
        row = self._new.pop(key, None)
        if row is None:
            row = self._old.pop(key, None) if self._old else None
            if row is None:
                self._fill(key)
                return self._new.pop(key, None)
        self._used += 1
        return row

    def _known(self, key: bytes) -> Row | None:
        return self._new.get(key) or self._old.get(key)

    def _fill(self, key: bytes) -> None:
        if len(self._new) >= _ROOM:
            self._old, self._new = self._new, {}
        if self._scanned and self._used < self._scanned // 4:
            self._wary = _WARY
        self._used = self._scanned = 0
        wanted = [key]
        if self._wary:
            self._wary -= 1
            ahead = (token for token in self._ahead(self._known) if token[:1] != b"@")
            wanted += islice(ahead, PAGE - 1)
        read = self._some if self._wary else self._scan
        if self._mark is not None:
            rows = read(wanted, None)
            if self._table.mark() == self._mark:
                self._new |= rows
                return
            self._mark = None
        self._new |= read(wanted, self._time)

    def _some(self, wanted: list[bytes], at: int | None) -> dict[bytes, Row]:
        return self._table.get_many(dict.fromkeys(wanted), at=at, columns=layout.OBJECT)

    def _scan(self, wanted: list[bytes], at: int | None) -> dict[bytes, Row]:
        rows = dict(islice(self._table.scan(wanted[0], at=at, columns=layout.OBJECT), PAGE))
        self._scanned = len(rows)
        return rows
