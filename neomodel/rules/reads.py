"""What rules read: a model whose objects note each feature that is asked of them."""

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from neomodel import layout
from neomodel.cohorts import Page
from neomodel.errors import ObjectNotFound
from neomodel.kinds import EClass, EFeature
from neomodel.model import Model
from neomodel.objects import Element
from neomodel.packed import Kept, cell
from neomodel.states import Stored

if TYPE_CHECKING:
    from neomodel.repository import Repository

PLACE = "/"
"""Noted in place of a feature: where an object lies."""
CLASS = ""
"""Noted in place of a feature: that there is an object, and of which class."""
EXISTENCE = frozenset({CLASS})

_HELD = 50_000  # objects


class Readable(Protocol):
    """What can be read: an object of the source model, or a constant."""

    @property
    def oid(self) -> str: ...

    def lies_in(self, container: bytes) -> bool:
        """Whether it is an object in the one of that key."""
        ...


Noted = set[tuple[Readable, str]]
"""What was read: the states of objects, each with the name of a feature."""


class Reading(NamedTuple):
    """What was read for an object, but for the object itself: names of features."""

    others: dict[str, set[str]]
    """By the ids of those of which they were read."""
    inside: set[str]
    """Of any that lie in the object."""

    def beyond(self, known: "Reading") -> "Reading":
        """What is not among what was read before; who has read something has read that it is there."""
        if known is NOTHING:
            return self
        others, inside = known
        more = {
            oid: names
            for oid, names in self.others.items()
            if oid not in others or not names - EXISTENCE <= others[oid]
        }
        return Reading(more, set() if inside and self.inside - EXISTENCE <= inside else self.inside)


NOTHING = Reading({}, set())
"""What most guards read but for the object they are asked of."""


def reading(noted: Noted, own: Readable | None) -> Reading:
    """What was read for an object, or for none; `NOTHING` if that is nothing."""
    by_state: dict[Readable, set[str]] = {}
    for one, name in noted:
        if one is own:
            continue
        names = by_state.get(one)
        if names is None:
            by_state[one] = {name}
        else:
            names.add(name)
    if not by_state:
        return NOTHING
    key = own.oid.encode() if own is not None else b""
    others: dict[str, set[str]] = {}
    inside: set[str] = set()
    for one, names in by_state.items():
        if key and one.lies_in(key):
            inside |= names
        else:
            oid = one.oid
            others[oid] = names | others[oid] if oid in others else names  # it was met anew
    return Reading(others, inside)


class Reads:
    """Where it is noted what is read."""

    def __init__(self) -> None:
        self.noted: Noted = set()

    def into(self, noted: Noted) -> "_Into":
        """Note what is read in the block here."""
        return _Into(self, noted)


class _Into:
    """A block in which reads are noted elsewhere."""

    __slots__ = ("_before", "_noted", "_reads")

    def __init__(self, reads: Reads, noted: Noted) -> None:
        self._reads, self._noted = reads, noted

    def __enter__(self) -> None:
        self._before, self._reads.noted = self._reads.noted, self._noted

    def __exit__(self, *error: object) -> None:
        self._reads.noted = self._before


class Watched(Stored):
    """The state of an object of such a model."""

    __slots__ = ()
    page: Any

    def known(self) -> Kept:
        return self.kept if self.kept is not None else Stored.known(self)  # as of a time: it stays as it is

    @property
    def kind(self) -> EClass:
        self.page.model.reads.noted.add((self, CLASS))
        return _kind(self)  # type: ignore[no-any-return]

    def raw(self, feature: EFeature) -> Any:
        self.page.model.reads.noted.add((self, feature.name))
        return Stored.raw(self, feature)

    @property
    def place(self) -> Any:
        self.page.model.reads.noted.add((self, PLACE))
        return super().place

    def lies_in(self, container: bytes) -> bool:
        try:
            return cell(self.known(), layout.CONTAINER) == container
        except ObjectNotFound:
            return False

    @property
    def container(self) -> Any:
        self.page.model.reads.noted.add((self, PLACE))
        return super().container


_kind: Any = Stored.kind.fget  # type: ignore[attr-defined]


class WatchedModel(Model):
    """A model as of a time that notes what is read of its objects. It holds those that were met last, as rules come
    to them by several ways."""

    state = Watched

    def __init__(self, repository: "Repository", name: str, as_of: int | None, *, unstable: bool = False) -> None:
        self.reads = Reads()
        self._held: deque[Element] = deque(maxlen=_HELD)
        super().__init__(repository, name, as_of, unstable=unstable)

    def meet(self, oid: str, page: Page, kind: EClass | None = None) -> Element:
        made = super().meet(oid, page, kind)
        row, answers = self._rows.staying.rows.get(oid), self._rows.staying.answers
        if row is not None:  # as of a time: it is believed for ever
            made._neo.kept, made._neo.page = row, answers[oid].page
        self._held.append(made)
        return made
