"""One model: a table of rows, seen as objects."""

import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from neomodel import ids, layout
from neomodel.checks import checked
from neomodel.cohorts import BELIEVED, Cohort, Origin, Rows, likely, outdated
from neomodel.collections import FeatureList
from neomodel.entries import joined
from neomodel.errors import InvalidValue, ReadOnly
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import MANY, in_parts, tokens_in
from neomodel.long_lists import LongList
from neomodel.mirrors import drop_tokens
from neomodel.naming import key_part, new_oid
from neomodel.objects import Element, Unloaded, unload
from neomodel.packages import ANYTHING
from neomodel.roots import ROOT_KIND, ROOTS, RootState
from neomodel.states import Gone, Stored, Transient, encode, together
from neomodel.stores import Cells, Mutation, Row

if TYPE_CHECKING:
    from neomodel.prefetching import Hint
    from neomodel.repository import Repository

PAGE = 500  # rows read or written in one call


class Model:
    """The objects of one table. Made by a `Repository`; for one thread at a time.

    There is one Python object for each id, for as long as somebody holds it. Reads see what others have written:
    at once where the store can tell that somebody wrote, else after 50 ms. As of a time, nothing ever changes.
    """

    def __init__(self, repository: "Repository", name: str, as_of: int | None, *, unstable: bool = False) -> None:
        self.repository = repository
        self.name = name
        self.as_of = as_of
        self.unstable = unstable
        """Whether others may still write under that time."""
        self.table = (repository.store if as_of is None or unstable else repository.snapshots).table(name)
        self.metamodels = repository if as_of is None else repository.vintage(as_of)
        """Where the classes of its objects are."""
        self.live: WeakValueDictionary[str, Element] = WeakValueDictionary()
        self._kinds: dict[tuple[bytes, bytes], EClass] = {}
        self._mark: Any = None
        self._epoch = 0
        self._writes = _writes_of(repository.store.url, name)
        self._rows = Rows()
        self.hint: Hint | None = None
        self._watched = as_of is not None
        self._rivals = 0
        """How often others in this process were seen to have written, where the store can't tell of writes."""
        self._root = self._new(ROOT_KIND.python, RootState(self, ids.ROOT))

    def __repr__(self) -> str:
        time = "" if self.as_of is None else f" as of {self.as_of}"
        return f"<model {self.name!r} of {self.repository.store.url}{time}>"

    def at(self, time: int) -> "Model":
        """The same model as of a time, to look at single rows; its objects are not shared with anybody."""
        return Model(self.repository, self.name, time, unstable=True)

    # what is in it

    @property
    def roots(self) -> FeatureList:
        """The objects that nothing contains. Putting one here stores it, with all it contains."""
        return FeatureList(self._root, ROOTS)

    def __getitem__(self, oid: str) -> Any:
        """The object of that id. Costs nothing; if there is none, touching it raises `ObjectNotFound`."""
        return self.element(oid)

    def __contains__(self, oid: object) -> bool:
        """Whether there is an object of that id. One get."""
        return isinstance(oid, str) and self.table.get(oid.encode(), at=self.as_of, columns=layout.TYPE) is not None

    def all(self, cls: Any) -> Iterator[Any]:
        """The objects of a class and of its subclasses, in the order of their ids. One scan of the types alone; rows
        are read 500 at a time when they are needed."""
        wanted = _kind(cls).type_name
        rows = self.table.scan(at=self.as_of, columns=layout.TYPE)
        kinds = ((key, self.kind_of(row)) for key, row in rows if layout.ECLASS in row and key != ids.ROOT.encode())
        found = ((key, kind) for key, kind in kinds if wanted == ANYTHING or wanted in kind.names)
        while page := list(islice(found, PAGE)):
            elements = [self.element(key.decode(), kind=kind) for key, kind in page]
            together(elements)
            yield from elements

    def find(self, cls: Any, **key: Any) -> Iterator[Any]:
        """The objects of a class with a natural key, by the first features of that key. One scan of their rows."""
        kind = _kind(cls)
        names = [feature.name for feature in kind.key]
        given = names[: len(key)]
        if not names or set(given) != set(key):
            raise InvalidValue(f"what to find {kind} by", sorted(key), f"the first ones of its key {names}")
        values = {f.name: checked(f, key[f.name]) for f in kind.key[: len(key)]}
        parts = [key_part(f, values[f.name], kind) for f in kind.key[: len(key)]]
        start, stop = ids.natural_range(kind.ePackage.nsPrefix, kind.name, parts)
        epoch = self.epoch()
        for found, row in self.table.scan(start, stop, at=self.as_of, columns=layout.OBJECT):
            if layout.ECLASS not in row:
                continue
            element = self.element(found.decode())
            element._neo.take(row, epoch)
            if all(element.eGet(name) == value for name, value in values.items()):
                yield element

    # objects by id

    def element(
        self,
        oid: str,
        *,
        via: tuple[str, str] | None = None,
        kind: EClass | None = None,
        origin: Origin | None = None,
    ) -> Element:
        found = self.live.get(oid)
        if found is not None and not isinstance(found._neo, Gone):
            return found
        return self._new(kind.python if kind else Unloaded, Stored(self, oid, via, origin))

    def _new(self, python: type[Any], state: Stored) -> Element:
        made: Element = object.__new__(python)
        object.__setattr__(made, "_neo", state)
        self.live[state.oid] = made
        return made

    def resolve(self, token: str, via: tuple[str, str], origin: Origin | None = None) -> Element:
        """The object a row refers to, in this model or another of the repository."""
        name, oid = ids.split_ref(token)
        home = self if name is None else self.repository.opened(name, self)
        return home.element(oid, via=via, origin=origin if home is self else None)

    def token(self, target: Element, feature: EFeature, *, beside: str) -> str:
        """What a row of this model holds to refer to `target`. One that is not stored yet gets its id now."""
        state = target._neo
        if isinstance(state, Gone):
            raise InvalidValue(str(feature), target, "an object that is still there")
        if isinstance(state, Transient):
            state.oid = state.oid or new_oid(target, self.name, beside=beside)
            self.live.setdefault(state.oid, target)
            return state.oid
        if state.model is self:
            return state.oid  # type: ignore[no-any-return]
        if state.model.repository is not self.repository:
            raise InvalidValue(str(feature), target, "an object of the same repository; copy it here first")
        return ids.ref(state.oid, state.model.name)

    def kind_of(self, row: Row) -> EClass:
        """The class of the object in a row."""
        name = row.get(layout.NSURI, b""), row[layout.ECLASS]
        found = self._kinds.get(name)
        if found is None:
            ns_uri, eclass = (part.decode(errors="backslashreplace") for part in name)
            found = self._kinds[name] = self.metamodels.kind(ns_uri, eclass)
        return found

    def forget_classes(self) -> None:
        """Ask for the classes of all objects again, since a metamodel has changed."""
        self._kinds.clear()
        for element in list(self.live.values()):
            if isinstance(element._neo, Stored) and element is not self._root:
                unload(element)

    # rows

    def epoch(self) -> int:
        """A number that tells whether somebody may have written since. No round trip."""
        if self.as_of is None:
            mark: Any = self.table.mark()
            self._watched = mark is not None
            if mark is None:
                mark = self._writes[0], int(time.monotonic() / BELIEVED)
                if self._mark is not None and mark[0] != self._mark[0]:
                    self._rivals += 1
            if mark != self._mark:
                self._mark = mark
                self._epoch += 1
        return self._epoch

    def reload(self, state: Stored) -> None:
        """Read the row of an object again. One get."""
        epoch = self.epoch()
        self.forget_row(state.oid)
        state.take(self.table.get(state.oid.encode(), at=self.as_of, columns=layout.OBJECT), epoch)

    def want(self, states: list[Stored], origin: Origin | None) -> None:
        """Have the rows of these objects, as they are now. What has to be read is read 500 at a time, and an answer
        that has room is filled with what may be wanted next: see `cohorts`."""
        epoch = self.epoch()
        missing = [
            one for one in states if one.row is None or (one.epoch != epoch and one.edit is None and not one.held)
        ]
        missing = [state for state in missing if not self._has_row(state, epoch)]
        new = all(state.row is None for state in missing)
        if len(missing) == 1 and not (missing[0].cohort or (new and (origin or self.hint))):
            self.reload(missing[0])
            return
        remaining = iter(missing)
        while page := list(islice(remaining, PAGE)):
            oids = dict.fromkeys(state.oid for state in page)
            for oid in self._guessed(page[0], origin, epoch) if new else outdated(self, page[0], epoch):
                if len(oids) >= PAGE:
                    break
                oids.setdefault(oid)
            found = self._read(list(oids), {state.oid: state for state in page}, epoch)
            if new and self.hint:
                self.hint.follow(self, found)

    def read_ahead(self, oids: Iterable[str], room: int) -> dict[str, Row]:
        """Have rows that may be wanted later; returns those that had to be read, at most so many, 500 in a call."""
        epoch = self.epoch()
        found: dict[str, Row] = {}
        known = self._rows.believes
        missing = (oid for oid in oids if not known(oid, epoch, self._rivals, watched=self._watched))
        ahead = islice(missing, room)
        while page := list(islice(ahead, PAGE)):
            found |= self._read(page, {}, epoch)
        return found

    def expect(self, hint: "Hint | None") -> None:
        """Read ahead by a hint from now on, or by none. What was read ahead before is forgotten."""
        self.hint = hint
        self._rows = Rows(hint.rows, lasting=True) if hint else Rows()

    def _read(self, oids: list[str], wanted: dict[str, Stored], epoch: int) -> dict[str, Row]:
        """Read rows, for objects that want them and ahead."""
        rows = self.table.get_many([oid.encode() for oid in oids], at=self.as_of, columns=layout.OBJECT)
        new = Cohort(oids)
        now = time.monotonic()
        found = {}
        for oid in oids:
            row = rows.get(oid.encode())
            state = wanted.get(oid)
            again = state is not None and state.row is not None and state.cohort  # once met, always together
            cohort = again or new
            if row is not None:
                found[oid] = row
                asked = state is not None and len(wanted) == 1  # of several, the others come later
                self._rows.put(oid, row, cohort, epoch, self._rivals, now, asked=asked)
            if state is not None:
                state.take(row, epoch)
                state.cohort = cohort
        return found

    def forget_row(self, oid: str) -> None:
        """Before a row is written."""
        self._rows.forget(oid)

    def _has_row(self, state: Stored, epoch: int) -> bool:
        found = self._rows.ask(state.oid, epoch, self._rivals, watched=self._watched)
        if found is None:
            return False
        state.take(found[0], epoch)
        state.cohort = found[1]
        return True

    def _guessed(self, state: Stored, origin: Origin | None, epoch: int) -> Iterator[str]:
        """What may be wanted next: those that were met together with an object, and where those it came by lead to."""
        guesses = chain(state.cohort.after(state.oid) if state.cohort else (), likely(self, origin))
        return (oid for oid in guesses if not self._believes(oid, epoch))

    def _believes(self, oid: str, epoch: int) -> bool:
        held = self.live.get(oid)
        if held is not None and isinstance(held._neo, Stored) and held._neo.row is not None:
            return True  # it is read again, with others, when it is touched
        return self._rows.believes(oid, epoch, self._rivals, watched=self._watched)

    def known_row(self, oid: str) -> Row | None:
        """A row that is known, be it outdated."""
        found = self.live.get(oid)
        state = found._neo if found is not None else None
        return state.row if isinstance(state, Stored) and state.row is not None else self._rows.peek(oid)

    def writable(self) -> None:
        """Before every write: refuse it in a snapshot, and in a batch that has expired."""
        if self.as_of is not None:
            raise ReadOnly("a change", f"model {self.name!r} as of {self.as_of}")
        if self.repository.batch is not None:
            self.repository.batch.check()

    def written(self) -> int:
        """After a write of our own: the epoch of what is known of it. If nobody else has written, all stays known."""
        self._writes[0] += 1
        mark: Any = self.table.mark()
        alone: Any = None
        if self._mark is not None:
            alone = (self._mark[0] + 1, self._mark[1]) if mark is None else self._mark + 1
        if mark is None:
            mark = self._writes[0], self._mark[1] if self._mark else 0
        if mark != alone:
            return -1
        self._mark = mark
        return self._epoch

    def outdated(self) -> None:
        """After a write of this process past the objects: let all rows be read again when they are needed."""
        self._writes[0] += 1

    def put(self, mutations: Iterable[Mutation]) -> int:
        """Write rows nobody else can know, or that may be written again; 500 in a batch. As `written`."""
        epochs = {self.epoch()}
        remaining = iter(mutations)
        while page := list(islice(remaining, PAGE)):
            self.writable()
            if self._rows:
                for key, _, _ in page:
                    self.forget_row(key.decode())
            self.table.put_many(page)
            epochs.add(self.written())
        return min(epochs)

    def add(self, pairs: list[tuple[Element, dict[bytes, bytes | None]]]) -> None:
        """Store new objects with these rows. One whose key is there already is that object from now on."""
        known = self._already_there(pairs)
        new = {
            e._neo.oid: (e, cells) for e, cells in reversed(pairs) if e._neo.oid not in known
        }  # the first of each key
        # The top comes last: until it is there nobody sees what lies below it, so a subtree comes whole or not at all.
        epoch = self.put(chain.from_iterable(_writes(oid, cells) for oid, (_, cells) in new.items()))
        live = self.live
        for oid, (element, cells) in new.items():
            state = Stored(self, oid)
            object.__setattr__(element, "_neo", state)
            state.take(layout.changed({}, cells), epoch)
            if live.get(oid) is not element:
                live[oid] = element
        for element, cells in pairs:
            if element._neo.model is None:
                row = known.get(element._neo.oid) or self.element(element._neo.oid)._neo.row
                element._neo = self._merged(element, row, cells, epoch)

    def _already_there(self, pairs: list[tuple[Element, Any]]) -> dict[str, Row]:
        keyed = [element._neo.oid.encode() for element, _ in pairs if element._neo.kind.key]
        if not keyed:
            return {}
        found = self.table.get_many(keyed, columns=layout.OBJECT)
        return {key.decode(): row for key, row in found.items() if layout.ECLASS in row}

    def _merged(self, element: Element, row: Row, cells: dict[bytes, bytes | None], epoch: int) -> Stored:
        """The state of the object that has this key, after it was given what a new one says. If somebody holds that
        object already both share it, else the new one is that object."""
        oid = element._neo.oid
        held = self.live.setdefault(oid, element)  # may be the new one, which got its id before it was looked for
        state: Stored = held._neo if isinstance(held._neo, Stored) else Stored(self, oid)
        state.take(row, epoch)
        former = layout.place_of(row)
        cells = joined(state.kind, row, cells)
        for feature in state.kind.features.values():
            if feature.reference and feature.many and feature.stored and feature.column in cells:
                before, came = state.raw(feature), tokens_in(feature, cells)
                both = dict.fromkeys([*before, *came])
                cells = {
                    c: v for c, v in cells.items() if not c.startswith(layout.extent(layout.collection(feature.name)))
                }
                if isinstance(before, LongList):
                    cells |= before.cells_after([before.replacing(list(both))])
                else:
                    cells |= encode(feature, list(both))
        news = {c: value for c, value in cells.items() if c != layout.VERSION and row.get(c) != value}
        if news:
            state.swap(news)
        if former and former != layout.place_of(layout.changed({}, cells)):
            parent = self.element(former[0])
            drop_tokens(parent, parent._neo.kind.feature(former[1]), {oid})
        return state

    def pickled(self, oid: str) -> Any:
        from neomodel.repository import restored

        return restored, (self.repository.store.url, self.name, oid, self.as_of, self.unstable)


def _kind(cls: Any) -> EClass:
    kind = cls if isinstance(cls, EClass) else getattr(cls, "eClass", None)
    if not isinstance(kind, EClass):
        raise InvalidValue("a class of a metamodel", cls, "one of a registered package, such as java.Package")
    return kind


def _writes(oid: str, cells: Cells) -> Iterator[Mutation]:
    """What stores a new object: one write, or if it is much several, its extents first; they don't count alone."""
    key = oid.encode()
    if len(cells) > MANY:
        cells, extents = layout.split(cells)
        yield from in_parts(key, extents)
    yield Mutation(key, cells)


_all_writes: dict[tuple[str, str], list[int]] = {}


def _writes_of(url: str, name: str) -> list[int]:
    """How often this process has written to a model: the same list for all who ask."""
    return _all_writes.setdefault((url, name), [0])
