"""One model: a table of rows, seen as objects."""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from neomodel import ids, layout
from neomodel.always import known
from neomodel.checks import checked
from neomodel.cohorts import PAGE, Page
from neomodel.collections import FeatureList
from neomodel.entries import joined
from neomodel.errors import InvalidValue
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import MANY, in_parts, tokens_in
from neomodel.long_lists import LongList
from neomodel.metamodel import ANYTHING
from neomodel.mirrors import drop_tokens
from neomodel.naming import key_part, new_oid
from neomodel.newcomers import Newcomer
from neomodel.objects import Element, Unloaded, unload
from neomodel.packed import FORM, Kept, PackedRow, cell, pack
from neomodel.roots import ROOT_KIND, ROOTS, RootState
from neomodel.row_access import RowAccess
from neomodel.states import Stored, encode, together
from neomodel.stores import Mutation
from neomodel.stores.base import ORDERED
from neomodel.unstored import Elsewhere, Gone, Transient

if TYPE_CHECKING:
    from neomodel.repository import Repository
    from neomodel.xmi.exporting import Export
    from neomodel.xmi.output import Target


_set_state = Element.__dict__["_neo"].__set__


class Model(RowAccess):
    """The objects of one table. Made by a `Repository`; for one thread at a time.

    There is one Python object for each id, for as long as somebody holds it. Reads see what others have written:
    at once where the store can tell that somebody wrote, else after 50 ms. As of a time, nothing ever changes.
    """

    state = Stored
    """What the objects hold that are met here."""

    def __init__(self, repository: "Repository", name: str, as_of: int | None, *, unstable: bool = False) -> None:
        super().__init__(repository, name, as_of, unstable=unstable)
        self.metamodels = repository if as_of is None else repository.vintage(as_of)
        """Where the classes of its objects are."""
        self.kinds: dict[tuple[bytes, bytes] | bytes, EClass] = {}
        """The classes that were met, by name and namespace as rows have them, and by the form of compact rows."""
        self._registered: set[EClass] = set()
        """Classes whose objects may be stored here, as far as that was looked at."""
        self._root: Element = object.__new__(ROOT_KIND.python)
        _set_state(self._root, RootState.entered(self._root, ids.ROOT, Page(self)))

    def __repr__(self) -> str:
        time = "" if self.as_of is None else f" as of {self.as_of}"
        return f"<model {self.name!r} of {self.repository.store.url}{time}>"

    def __reduce__(self) -> Any:
        raise InvalidValue("what to pickle or copy", repr(self), "objects of it; or open it by name where it is needed")

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
        if not isinstance(oid, str) or oid in ("", ids.ROOT):
            return False
        return layout.ECLASS in (self.table.get(oid.encode(), at=self.as_of, columns=layout.TYPE) or {})

    def all(self, cls: Any) -> Iterator[Any]:
        """The objects of a class and of its subclasses, in the order of their ids. One scan of the types alone; rows
        are read 500 at a time when they are needed."""
        wanted = _kind(cls).type_name
        rows = self.table.scan(at=self.as_of, columns=layout.TYPE)
        kinds = ((key, self.kind_of(row)) for key, row in rows if layout.ECLASS in row and key != ids.ROOT.encode())
        found = ((key, kind) for key, kind in kinds if wanted == ANYTHING or wanted in kind.names)
        while page := list(islice(found, PAGE)):
            elements = [self.there(key.decode(), Page(self), kind) for key, kind in page]
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
        epoch, page = self.epoch(), Page(self)
        for found, row in self.table.scan(start, stop, at=self.as_of, columns=layout.OBJECT):
            if layout.ECLASS not in row:
                continue
            element = self.there(found.decode(), page)
            element._neo.take(pack(row), epoch)
            if all(element.eGet(name) == value for name, value in values.items()):
                yield element

    # out of it

    def export_xmi(
        self,
        path: "Target",
        progress: Callable[[int], None] | None = None,
        *,
        ids: bool = False,
        without_timelines: bool = False,
    ) -> "Export":
        """Write the model to a file of XMI as EMF writes it, in constant memory: about n / 500 calls for n objects.

        Objects are referred to by the xmi:id they came with, by their attribute that is an id, or by their path; with
        `ids`, all have their own id as xmi:id. The file is an archive if its name ends in .zxmi or .zip; one that is
        there is replaced once all is written. `progress` is called now and then with the number of objects so far. XMI
        has no place for timelines: `NotWritable` if there are any, unless `without_timelines`.
        """
        from neomodel.xmi.exporting import export_xmi

        return export_xmi(self, path, own_ids=ids, timelines=not without_timelines, progress=progress)

    def export_json(self, path: "Target", *, ids: bool = False, without_timelines: bool = False) -> "Export":
        """Write a small model to a file of JSON in the dialect of PyEcore's JsonResource; all of it is in memory then.

        Otherwise as `export_xmi`; an xmi:id is written, as uuid, only if all objects have one.
        """
        from neomodel.xmi.json_writing import export_json

        return export_json(self, path, own_ids=ids, timelines=not without_timelines)

    # objects by id

    def element(
        self,
        oid: str,
        *,
        page: Page | None = None,
        kind: EClass | None = None,
    ) -> Element:
        """The object of that id; if nobody holds it, a new one, of which that is known which is known of the page."""
        found = self.live.get(oid)
        if found is not None and not isinstance(found._neo, Gone):
            return found
        return self.meet(oid, page or Page(self), kind)

    def there(self, oid: str, page: Page, kind: EClass | None = None) -> Element:
        """As `element`, of an id that has a row: one in memory that got the same id from its key is not that object as
        long as it is not stored."""
        found = self.live.get(oid)
        return found if found is not None and isinstance(found._neo, Stored) else self.meet(oid, page, kind)

    def meet(self, oid: str, page: Page, kind: EClass | None = None) -> Element:
        """An object for an id that has none."""
        made: Element = object.__new__(kind.python if kind else Unloaded)
        _set_state(made, self.state.entered(made, oid, page))
        return made

    def resolve(self, token: str, page: Page) -> Element:
        """The object a row refers to, in this model or another of the repository; or of a file that is in none."""
        if token.startswith(ids.ELSEWHERE):
            found = known(token)
            if found is not None:
                return found
            made: Element = object.__new__(Unloaded)
            _set_state(made, Elsewhere(token))
            return made
        name, oid = ids.split_ref(token)
        home = self if name is None else self.repository.opened(name, self)
        if home is not self:
            page = Page(home, met=page.met and (None, *page.met[1:]))
        return home.element(oid, page=page)

    def token(self, target: Element, feature: EFeature, *, beside: str) -> str:
        """What a row of this model holds to refer to `target`. One that is not stored yet gets its id now."""
        state = target._neo
        if isinstance(state, Elsewhere):
            return state.deleted
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

    def kind_of(self, row: Kept) -> EClass:
        """The class of the object in a row."""
        if type(row) is bytes and (known := self.kinds.get(row[FORM])) is not None:
            return known
        name = cell(row, layout.ECLASS) or b"", cell(row, layout.NSURI) or b""
        found = self.kinds.get(name)
        if found is None:
            eclass, ns_uri = (part.decode(errors="backslashreplace") for part in name)
            found = self.kinds[name] = self.metamodels.kind(ns_uri, eclass)
        if type(row) is bytes:
            self.kinds[row[FORM]] = found
        return found

    def check_registered(self, kinds: set[EClass]) -> None:
        """Raise `MetamodelNotFound` or `InvalidValue` if whoever reads the store could not know one of these classes
        with all its features. One get for a namespace that nobody has asked for yet."""
        for kind in kinds - self._registered:
            found = self.metamodels.kind(kind.ePackage.nsURI, kind.name)
            for name in kind.features.keys() - found.features.keys():
                expected = "one that its metamodel has as it is registered; register a newer version"
                raise InvalidValue(f"a feature of {kind}", name, expected)
            self._registered.add(kind)

    def forget_classes(self) -> None:
        """Ask for the classes of all objects again, since a metamodel has changed."""
        self.kinds.clear()
        self._registered.clear()
        for element in self.live:
            if isinstance(element._neo, Stored) and element is not self._root:
                unload(element)

    def add(self, ready: list[Newcomer]) -> None:
        """Store new objects with these rows. One whose key is there already is that object from now on."""
        known = self._already_there(ready)
        new = {one.key: one for one in reversed(ready)}  # the first of each key
        for oid in known:
            new.pop(oid.encode(), None)
        # The top comes last: until it is there nobody sees what lies below it, so a subtree comes whole or not at all.
        in_order = ORDERED in self.repository.store.capabilities
        epoch = min(
            self.put(chain.from_iterable(map(_writes, part)))
            for part in ([list(new.values())] if in_order else _below_and_tops(new))
        )
        page = Page(self, epoch)
        states = []
        for element, _, cells, _ in reversed(new.values()):
            state = Stored.entered(element, element._neo.oid, page)
            state.kept = cells  # type: ignore[assignment]  # no None
            _set_state(element, state)
            states.append(state)
        self.gather(states)
        self.lately(states)
        for element, _, cells, extents in ready if len(new) < len(ready) else ():
            if element._neo.model is None:
                row = known.get(element._neo.oid) or self.element(element._neo.oid)._neo.row
                element._neo = self._merged(element, row, {**cells, **extents}, epoch)

    def _already_there(self, ready: list[Newcomer]) -> dict[str, PackedRow]:
        keyed = [key for element, key, _, _ in ready if element._neo.kind.key]
        if not keyed:
            return {}
        found = self.table.get_many(keyed, columns=layout.OBJECT)
        return {key.decode(): pack(row) for key, row in found.items() if layout.ECLASS in row}

    def _merged(self, element: Element, row: PackedRow, cells: dict[bytes, bytes | None], epoch: int) -> Stored:
        """The state of the object that has this key, after it was given what a new one says. If somebody holds that
        object already both share it, else the new one is that object."""
        oid = element._neo.oid
        held = self.live.setdefault(oid, element)  # may be the new one, which got its id before it was looked for
        state: Stored = held._neo if isinstance(held._neo, Stored) else Stored.entered(held, oid, Page(self))
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
        if former and former != layout.place_of(layout.of_object(cells)):
            parent = self.element(former[0])
            drop_tokens(parent, parent._neo.kind.feature(former[1]), {oid})
        return state

    def pickled(self, oid: str) -> Any:
        from neomodel.sharing import restored

        return restored, (self.repository.store.url, self.name, oid, self.as_of, self.unstable)


def _kind(cls: Any) -> EClass:
    kind = cls if isinstance(cls, EClass) else getattr(cls, "eClass", None)
    if not isinstance(kind, EClass):
        raise InvalidValue("a class of a metamodel", cls, "one of a registered package, such as java.Package")
    return kind


def _below_and_tops(new: dict[bytes, Newcomer]) -> Iterator[list[Newcomer]]:
    """What lies in other new objects, and what does not."""
    below = [one for one in new.values() if one.cells[layout.CONTAINER] in new]
    if below:
        yield below
    yield [one for one in new.values() if one.cells[layout.CONTAINER] not in new]


def _writes(new: Newcomer) -> Iterator[Mutation]:
    """What stores a new object: one write, or if it is much several, its extents first; they don't count alone."""
    _, key, cells, extents = new
    if len(extents) > MANY:
        yield from in_parts(key, extents)
    elif extents:
        cells = {**cells, **extents}
    yield Mutation(key, cells)
