"""A timeline as users see it: what was the case at which time, and since when that is known."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from neomodel.checks import checked
from neomodel.editing import redo
from neomodel.entries import Entry, decoded, inserted, put, retracted, source
from neomodel.errors import NeomodelError
from neomodel.kinds import EFeature
from neomodel.times import FIRST, LAST, Time, instant, micros

if TYPE_CHECKING:
    from neomodel.objects import Element

_ATTEMPTS = 20

T = TypeVar("T")


class Timeline(Generic[T]):
    """The entries of a timeline, live. Each has an *event* time, from which on its value holds until the next event,
    and an *ingest* time, which the store gives it. Nothing is ever overwritten: what is recorded for an event again
    is a newer version of its entry, and a retraction is an entry too.

    Times are aware datetimes or microseconds since the epoch. Reading looks at the object's row, as every feature does,
    which costs nothing if that is known; what else it costs is said below.
    """

    __slots__ = ("_feature", "_obj")

    def __init__(self, obj: "Element", feature: EFeature) -> None:
        self._obj = obj
        self._feature = feature

    def __repr__(self) -> str:
        name = f"timeline {self._feature} of {self._obj!r}"
        try:
            last = self.entry()
        except NeomodelError as exc:
            return f"<{name}: {exc}>"
        if last is None:
            return f"<{name}: no entries>"
        what = "retracted" if last.retracted else repr(last.value)
        return f"<{name}: {what} since {_shown(last.event)}>"

    # writing

    def record(self, value: T | None, *, event: Time) -> None:
        """Add an entry: from `event` on there is this value. One compare-and-swap of the object, done again if others
        were first; within `nm.edit`, part of its swap. Entries of an object that is not stored are stored with it. As
        long as it is not written, what is recorded for the same event once more takes its place. After `OutcomeUnknown`
        it may be recorded again: at worst there is one version more, of the same value."""
        self._put(event, inserted(self._feature, checked(self._feature, value)))

    def retract(self, *, event: Time) -> None:
        """Add an entry that says: from `event` on there is no value. Costs what `record` does."""
        self._put(event, retracted())

    def _put(self, event: Time, cell: bytes) -> None:
        when = micros(f"the event time of an entry of {self._feature}", event, first=FIRST)
        redo(lambda: put(self._obj._neo, self._feature, when, cell), attempts=_ATTEMPTS)

    # reading

    def at(self, *, event: Time | None = None, ingest: Time | None = None) -> T | None:
        """The value at a time, as far as it was known at another: of the entries up to `event`, stored up to `ingest`,
        both included, that of the latest event, and of its versions the newest. None if there is none or it is a
        retraction; `entry` tells that from a None that was recorded. Without `event` the last of all, without `ingest`
        what is known now, or at the time of the snapshot.

        One seek in the store, however many entries and versions there are.
        """
        found = self.entry(event=event, ingest=ingest)
        return None if found is None else found.value

    def entry(self, *, event: Time | None = None, ingest: Time | None = None) -> Entry | None:
        """The entry that `at` goes by, which may be a retraction; None if there is none. Costs what `at` does."""
        until, known = _bound(event, "event", LAST), _known(ingest)
        state = self._obj._neo
        record = next(source(state, self._feature).newest(FIRST, until, known, reverse=True, limit=1), None)
        return None if record is None else decoded(state, self._feature, record)

    def entries(
        self,
        *,
        since: Time | None = None,
        until: Time | None = None,
        ingest: Time | None = None,
        versions: bool = False,
        reverse: bool = False,
    ) -> Iterator[Entry]:
        """The entries from event `since` to `until`, both included, as far as they were known at `ingest`: in order of
        their events, each in its newest version, retractions too.

        `versions`: all versions of each, in order of ingest. `reverse`: from the end, which is how they are stored and
        the cheaper way on HBase. Streams: one call to the store on LMDB and in memory, one for 1,000 entries on HBase;
        with `versions` two for 500.
        """
        first, last, known = _bound(since, "since", FIRST), _bound(until, "until", LAST), _known(ingest)
        state = self._obj._neo
        where = source(state, self._feature)
        walk = where.versions if versions else where.newest
        return (decoded(state, self._feature, one) for one in walk(first, last, known, reverse=reverse))


def _bound(given: Time | None, what: str, otherwise: int) -> int:
    return otherwise if given is None else micros(what, given, first=FIRST)


def _known(ingest: Time | None) -> int | None:
    return None if ingest is None else micros("ingest", ingest)


def _shown(event: int) -> str:
    """An event time as people read it, if it is of their times."""
    try:
        return instant(event).isoformat()
    except OverflowError:
        return str(event)
