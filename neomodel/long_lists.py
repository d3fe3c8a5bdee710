"""A collection that outgrew its cell: a tree of cells in the row of its object, and a tail where everybody appends.

The cell of the feature, ``p:feature``, holds the root of the tree (`trees`). The rest is in the family of extents, each
column ``x:feature 00 name`` and a letter, where `name` is the root's:

===================  =====================================================================================
``e`` + position     an entry of the tail, which comes after all that is in the tree
``i`` + digest       where to look for an entry, by its value: its position (of unique collections)
``n`` + name         a node of the tree
===================  =====================================================================================

Appending writes an entry of the tail, without comparing anything: whoever appends at the same time does the same, and
nothing is lost. A position is a time and a mark of the process, so what somebody has seen comes before what he appends.
Now and then whoever appends moves older entries from the tail to the tree. That, and every other change, is a
compare-and-swap of the object.

What decides is the tree and the tail. The digests are hints: one that leads to nothing is as good as none.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from neomodel import layout, trees
from neomodel.errors import Conflict, CorruptRow, NeomodelError
from neomodel.kinds import EFeature
from neomodel.long_cells import (
    MANY,
    column_of,
    hint_of,
    hints_of,
    in_parts,
    is_long,
    new_positions,
    planted,
    single_cell,
    single_value,
    written_by,
)
from neomodel.stores import Mutation
from neomodel.stores.versions import is_signed
from neomodel.trees import Leaf, OutdatedError, Root, Tree

if TYPE_CHECKING:
    from neomodel.states import Stored

T = TypeVar("T")

_ATTEMPTS = 100
_LEAVES = 8  # read at a time in a walk over all


class Splice(NamedTuple):
    """At an index, values that take the place of so many others."""

    at: int
    removed: int
    values: Sequence[Any] = ()


class LongList(Sequence[Any]):
    """What a stored object holds in a long collection: raw values or tokens. As new as the row of its object."""

    def __init__(self, state: "Stored", feature: EFeature, cell: bytes, due: int | None = None) -> None:
        self._state = state
        self._feature = feature
        self.epoch = state.page.epoch
        self.due = secrets.randbelow(trees.LIMITS.leaf // 2) if due is None else due
        """How many more to append before the tail is looked after."""
        self._plant(cell)

    def _plant(self, cell: bytes) -> None:
        self._cell = cell
        self._tree = planted(self._feature, Root.load(cell), self._nodes)
        self._known_tail: dict[bytes, Any] | None = None
        self._useless: list[bytes] = []
        """Positions in the tail whose entries don't count."""

    # reading

    def __len__(self) -> int:
        return self._steady(lambda: self._tree.root.count + len(self._tail()))

    @property
    def about(self) -> int:
        """How many there are, as far as that is known without a call: some of the newest may be missing."""
        return self._tree.root.count + len(self._known_tail or ())

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, int):
            at = range(len(self))[index] if index < 0 or index >= self._tree.root.count else index
            return self._values(at, at + 1)[0]
        wanted = range(len(self))[index]
        if not wanted:
            return []
        low, high = min(wanted[0], wanted[-1]), max(wanted[0], wanted[-1]) + 1
        found = self._values(low, high)
        return found if wanted.step == 1 else [found[at - low] for at in wanted]

    def __iter__(self) -> Iterator[Any]:
        """Page by page; what changes meanwhile may be seen."""
        at = 0
        while page := self._values(at, at + _LEAVES * trees.LIMITS.leaf):
            yield from page
            at += len(page)

    def __contains__(self, value: object) -> bool:
        return bool(self._all_of(value))

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        for at in self._all_of(value):
            if at in range(len(self))[start:stop]:
                return at
        raise ValueError(f"{value!r} is not in the list")

    def _all_of(self, value: Any) -> list[int]:
        if not self._feature.reference and value is not None:
            try:
                value = self._feature.codec.check(value)
            except (ValueError, TypeError):
                return []  # what it can't hold
        return self.where([value]).get(self._same(value), [])

    def held(self, values: list[Any]) -> list[bool]:
        """Of each value, whether it is in it."""
        found = self.where(values)
        return [self._same(value) in found for value in values]

    def where(self, values: Iterable[Any]) -> dict[Any, list[int]]:
        """Where values are, by what tells one from another. Of a unique collection, two or three calls; else all of it
        is read."""
        return self._steady(lambda: self._where({self._same(value): value for value in values}))

    def _where(self, values: dict[Any, Any]) -> dict[Any, list[int]]:
        found: dict[Any, list[int]] = {}
        if not self._feature.unique:
            for at, value in enumerate(self):
                if self._same(value) in values:
                    found.setdefault(self._same(value), []).append(at)
            return found
        name, count = self._tree.root.name, self._tree.root.count
        columns = {hint_of(self._feature, name, value): same for same, value in values.items()}
        hints = self._cells(list(columns))
        order = {position: count + at for at, position in enumerate(self._tail())} if hints else {}
        for column, position in hints.items():
            same = columns[column]
            if position in order and self._same(self._tail()[position]) == same:
                found[same] = [order[position]]
            elif (place := self._tree.find(position, values[same])) is not None:
                found[same] = [place]
        return found

    def _same(self, value: Any) -> Any:
        return single_cell(self._feature, value)

    def _values(self, start: int, stop: int) -> list[Any]:
        return self._steady(lambda: self._read(start, stop))

    def _read(self, start: int, stop: int) -> list[Any]:
        count = self._tree.root.count
        found = self._tree.values(start, min(stop, count)) if start < count else []
        if stop > count:
            found = [*found, *list(self._tail().values())[max(0, start - count) : stop - count]]
        return found

    def _tail(self) -> dict[bytes, Any]:
        """The entries after those of the tree, by position."""
        if self._known_tail is None:
            self._known_tail = self._read_tail()
        return self._known_tail

    def _read_tail(self) -> dict[bytes, Any]:
        state, feature, root = self._state, self._feature, self._tree.root
        head = column_of(feature, root.name, b"e")
        start, stop = (column.partition(b":")[2] for column in (head, head[:-1] + b"f"))
        found: dict[bytes, Any] = {}
        seen = set()
        self._useless = []
        for cell in state.model.table.cells(state.oid.encode(), layout.EXTENT, start, stop, at=state.model.as_of):
            position = cell.qualifier[len(start) :]
            value = single_value(feature, cell.value)
            if state.edit is not None and state.edit.cells.get(head + position, b"") is None:
                continue
            twice = feature.unique and self._same(value) in seen  # two have appended it at once
            if twice or (position <= root.last and self._tree.find(position, value) is not None):
                self._useless.append(position)  # in the tree: its removal has an older time, by a clock that is behind
                continue
            seen.add(self._same(value))
            found[position] = value
        if not self._is_current():
            raise OutdatedError  # what was moved to the tree meanwhile would be in neither
        return found

    def _is_current(self) -> bool:
        """Whether the root is still the one that was read. One get, where the store can't tell that nobody wrote."""
        state, model = self._state, self._state.model
        if model.as_of is not None or (model.table.mark() is not None and state.page.epoch == model.epoch()):
            return True
        row = model.table.get(state.oid.encode(), columns=(self._feature.column,)) or {}
        seen = self._cell if state.edit is None else state.edit.seen.get(self._feature.column)
        return row.get(self._feature.column) == seen

    def _nodes(self, names: list[bytes]) -> dict[bytes, bytes]:
        columns = {name: column_of(self._feature, self._tree.root.name, b"n" + name) for name in names}
        found = self._cells(list(columns.values()))
        return {name: found[column] for name, column in columns.items() if column in found}

    def _cells(self, columns: list[bytes]) -> dict[bytes, bytes]:
        """Cells of the extents, those of an edit that is not written yet among them. One get."""
        state = self._state
        staged = state.edit.cells if state.edit is not None else {}
        missing = [column for column in columns if column not in staged]
        row = state.model.table.get(state.oid.encode(), at=state.model.as_of, columns=missing) if missing else {}
        found = {**(row or {}), **{column: staged[column] for column in columns if column in staged}}
        return {column: value for column, value in found.items() if value is not None}

    def _steady(self, work: Callable[[], T]) -> T:
        """Do it, on a newer root if the list has changed since it was read, unless a change depends on that."""
        state = self._state
        for _ in range(_ATTEMPTS):
            try:
                return work()
            except OutdatedError:
                if state.is_firm:
                    raise self._conflict() from None
                state.model.reload(state)
                cell = state.read().get(self._feature.column, b"")
                if not is_long(cell):
                    break
                self._plant(cell)
            except ValueError as exc:
                raise self._damaged(exc) from exc
        raise self._damaged()

    def _damaged(self, found: Exception | None = None) -> Exception:
        """What it means that a part is missing, or that it can't be read; what stores refuse is raised as it is."""
        if isinstance(found, NeomodelError):
            return found
        stored = self._tree.root.stored()
        check = (
            f"run `neomodel check {self._state.model.name} --repair`, which tells what is wrong and mends what it can"
        )
        return CorruptRow(self._state.where(), str(self._feature), stored, f"a list with all its parts: {check}")

    def _conflict(self) -> Conflict:
        """That the list is not what was seen any more. The row is read again."""
        state, seen = self._state, self._state.version
        if state.edit is None:
            state.model.reload(state)
        return Conflict(state.where(), seen, state.version)

    # changing

    def append(self, values: Sequence[Any]) -> None:
        """Put values at the end. One write that compares nothing; of many values, within an edit, and where writes are
        signed, a swap."""
        state, feature = self._state, self._feature
        if state.edit is not None or is_signed() or len(values) > trees.LIMITS.leaf // 2:
            self.apply([Splice(len(self), 0, values)])
            return
        if self.due < len(values):
            self.due = trees.LIMITS.leaf // 2
            self._pack(self.due)
        self.due -= len(values)
        name, tail = self._tree.root.name, self._known_tail  # of the list that is there by now
        seen = max([self._tree.root.last, *(tail or ())])
        positions = new_positions(len(values), after=seen)
        cells: dict[bytes, bytes | None] = {}
        for position, value in zip(positions, values, strict=True):
            cells[column_of(feature, name, b"e" + position)] = single_cell(feature, value)
            if feature.unique:
                cells[hint_of(feature, name, value)] = position
        state.model.put([Mutation(state.oid.encode(), cells)])
        if tail is not None:
            tail.update(zip(positions, values, strict=True))

    def apply(self, splices: Sequence[Splice]) -> None:
        """Change the list, one splice after another, by one compare-and-swap."""
        self._state.swap(self.cells_after(splices))

    def _check_seen(self) -> None:
        """Raise `Conflict` if the row that a swap will be compared with is not the one whose list this is."""
        row = self._state.edit.row if self._state.edit is not None else self._state.row
        if row is None or row.get(self._feature.column) is not self._cell:
            raise self._conflict()

    def cells_after(self, splices: Sequence[Splice]) -> dict[bytes, bytes | None]:
        """What a compare-and-swap has to write to change the list. If it is much, some is written here: new nodes that
        nobody knows yet, and hints."""
        try:
            tree, cells = self._spliced(splices)
        except OutdatedError:
            raise self._conflict() from None
        except ValueError as exc:
            raise self._damaged(exc) from exc
        if tree.root.count - self._tree.root.count != len(self._tail()) + sum(
            len(s.values) - s.removed for s in splices
        ):
            self._pack(0)  # it held a value twice
            raise self._conflict()
        self._check_seen()
        if len(cells) > MANY and self._state.edit is None:
            new = {column_of(self._feature, tree.root.name, b"n" + name) for name in tree.made}
            digest = column_of(self._feature, tree.root.name, b"i")
            early = {c: v for c, v in cells.items() if v is not None and (c in new or c.startswith(digest))}
            self._state.model.put(in_parts(self._state.oid.encode(), early))
            cells = {column: value for column, value in cells.items() if column not in early}
        return cells

    def replacing(self, values: list[Any]) -> Splice:
        """What makes the list hold exactly these values: all between what is the same at its start and end."""
        now = list(self)
        start = 0
        while start < min(len(now), len(values)) and self._same(now[start]) == self._same(values[start]):
            start += 1
        end = 0
        while end < min(len(now), len(values)) - start and self._same(now[-1 - end]) == self._same(values[-1 - end]):
            end += 1
        return Splice(start, len(now) - start - end, values[start : len(values) - end])

    def _spliced(self, splices: Sequence[Splice]) -> tuple[Tree, dict[bytes, bytes | None]]:
        feature, tail = self._feature, self._tail()
        tree = planted(feature, self._tree.root, self._nodes)
        tree.nodes.update(self._tree.nodes)
        name, moved = tree.root.name, self._move(list(tail.items()), tree)
        digests: dict[bytes, bytes | None] = {}
        for at, removed, values in splices:
            if feature.unique and removed <= trees.LIMITS.leaf:  # else they stay: a hint that leads to nothing
                gone = tree.values(at, at + removed)
                digests.update(dict.fromkeys(hints_of(feature, name, gone)))
            if at + removed >= tree.root.count:
                positions = new_positions(len(values), after=tree.root.last)
            else:
                before = tree.positions(at - 1, at) if at else [bytes(trees.POSITION)]
                positions = before * len(values)
            tree.splice(at, removed, Leaf(positions, list(values)))
            if feature.unique:
                digests.update(zip(hints_of(feature, name, values), positions, strict=True))
        return tree, {**written_by(feature, tree), **moved, **digests}

    def _pack(self, newest: int) -> None:
        """Move what is not among the newest from the tail to the tree, if that is not less."""
        self._known_tail = None
        some = list(self._steady(self._tail).items())
        some = some[: len(some) - newest]
        if len(some) < newest:
            return
        cells = self._steady(lambda: self._packed(some))
        try:
            self._check_seen()
            self._state.swap(cells)
        except Conflict:
            cell = self._state.read().get(self._feature.column, b"")  # then whoever comes next does it
        else:
            cell = cells[self._feature.column] or b""
        self._plant(cell)

    def _packed(self, some: list[tuple[bytes, Any]]) -> dict[bytes, bytes | None]:
        tree = planted(self._feature, self._tree.root, self._nodes)
        tree.nodes.update(self._tree.nodes)
        moved = self._move(some, tree)
        return {**written_by(self._feature, tree), **moved}

    def _move(self, some: list[tuple[bytes, Any]], tree: Tree) -> dict[bytes, bytes | None]:
        """Put entries of the tail into a tree; the cells that go with that."""
        if not some and not self._useless:
            return {}
        feature, name, count = self._feature, tree.root.name, tree.root.count
        gone = [*(position for position, _ in some), *self._useless]
        cells: dict[bytes, bytes | None] = {column_of(feature, name, b"e" + position): None for position in gone}
        if feature.unique:  # what is in the tree already stays there
            known = self._where({self._same(value): value for _, value in some})
            some = [(p, v) for p, v in some if known.get(self._same(v), [count])[0] >= count]
            cells.update((hint_of(feature, name, value), position) for position, value in some)
        tree.splice(count, 0, Leaf([p for p, _ in some], [v for _, v in some]))
        return cells
