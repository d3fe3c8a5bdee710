"""A many-valued feature as a Python list: live, and with all the rules that go with a change."""

from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

from neomodel import changes
from neomodel.amendments import Move, Replace
from neomodel.errors import InvalidValue, NeomodelError
from neomodel.kinds import EFeature
from neomodel.long_lists import LongList
from neomodel.mirrors import lies_in, lying_in, may_hold
from neomodel.states import Stored, holding, together
from neomodel.unstored import Transient

if TYPE_CHECKING:
    from neomodel.objects import Element

_PAGE = 500  # objects whose rows are read at a time
_MANY = 10_000  # objects made at a time
_SHOWN = 10  # values in a repr


def targets(obj: "Element", feature: EFeature, tokens: Sequence[Any]) -> "Iterator[Element]":
    """The objects that a collection of references holds; children only if they say so too."""
    state = obj._neo
    remaining = iter(tokens)
    if not feature.containment:
        while found := state.targets(islice(remaining, _MANY), feature):
            together(found)
            yield from found
        return
    while page := state.targets(islice(remaining, _PAGE), feature):
        yield from lying_in(page, obj, feature, state.model.epoch() if isinstance(state, Stored) else -1)


class FeatureList(MutableSequence[Any]):
    """What a many-valued feature holds now. Changing it changes the object; each change is one compare-and-swap.

    Children are read 500 at a time, and those only are seen whose own rows say that they lie here; ``len`` counts the
    entries without reading them. A value that a unique collection holds already is not added again.
    """

    __slots__ = ("_feature", "_obj")

    def __init__(self, obj: "Element", feature: EFeature) -> None:
        self._obj = obj
        self._feature = feature

    def _raw(self) -> Sequence[Any]:
        return self._obj._neo.raw(self._feature)  # type: ignore[no-any-return]

    # reading

    def __len__(self) -> int:
        return len(self._raw())

    def __iter__(self) -> Iterator[Any]:
        raw = self._raw()
        if not self._feature.reference:
            return iter(raw if isinstance(raw, LongList) else list(raw))
        return targets(self._obj, self._feature, raw)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        found = self._raw()[index]
        if not self._feature.reference:
            return found
        if isinstance(index, slice):
            return list(targets(self._obj, self._feature, found))
        target = self._obj._neo.target(found, self._feature)
        if self._feature.containment and not lies_in(target, self._obj, self._feature):
            return list(self)[index]  # an outdated entry: count without it
        return target

    def __contains__(self, value: object) -> bool:
        if not self._feature.reference:
            return value in self._raw()
        state = getattr(value, "_neo", None)
        if not isinstance(state, Stored | Transient) or not may_hold(self._obj._neo, value):
            return False
        if self._obj._neo.token(value, self._feature) not in self._raw():
            return False
        return not self._feature.containment or lies_in(value, self._obj, self._feature)  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FeatureList | list | tuple):
            return len(self) == len(other) and list(self) == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        try:
            shown = ", ".join(map(repr, islice(self, _SHOWN)))
            more = len(self) - _SHOWN
        except NeomodelError as exc:
            return f"<{self._feature}: {exc}>"
        return f"[{shown}{f', … {more} more' if more > 0 else ''}]"

    def __reduce__(self) -> Any:
        raise InvalidValue("a collection to pickle or copy", repr(self), "a list of what it holds, made by list()")

    # changing

    def insert(self, index: int, value: Any) -> None:
        """Put a value before the one at `index`."""
        with self._changing():
            changes.insert(self._obj, self._feature, [value], range(len(self))[index:].start)

    def append(self, value: Any) -> None:
        """Put a value at the end. Safe while others append too: nothing is lost."""
        self.extend([value])

    add = append

    def extend(self, values: Iterable[Any]) -> None:
        """Put values at the end, all at once."""
        with self._changing():
            changes.insert(self._obj, self._feature, values)

    update = extend

    def remove(self, value: Any) -> None:
        """Take a value out, the first one if there are several; `ValueError` if there is none."""
        with self._changing():
            del self[self.index(value)]

    def discard(self, value: Any) -> None:
        """Take a value out if it is there."""
        with self._changing():
            if value in self:
                self.remove(value)

    def clear(self) -> None:
        self[:] = []

    def pop(self, index: int = -1) -> Any:
        with self._changing():
            value = self[index]
            del self[self.index(value) if self._feature.containment else index]
        return value

    def move(self, to: int, index: int) -> Any:
        """Bring the value at `index` to position `to`, and return it."""
        with self._changing():
            value = self[index]
            changes.reorder(self._obj, self._feature, Move(to, index))
        return value

    def reverse(self) -> None:
        with self._changing():
            changes.reorder(self._obj, self._feature, Replace(self._feature, list(self._raw())[::-1]))

    def sort(self, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> None:
        with self._changing():
            self[:] = sorted(self, key=key, reverse=reverse)

    def __setitem__(self, index: int | slice, value: Any) -> None:
        with self._changing():
            values = list(self)
            values[index] = value
            changes.rearrange(self._obj, self._feature, values)

    def __delitem__(self, index: int | slice) -> None:
        with self._changing():
            positions = range(len(self))[index]
            changes.withdraw(self._obj, self._feature, {positions} if isinstance(positions, int) else set(positions))

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """The position of a value, or `ValueError`."""
        raw = self._raw()
        if not self._feature.reference or value in self:
            held = self._obj._neo.token(value, self._feature) if self._feature.reference else value
            with suppress(ValueError):
                return raw.index(held, start, len(raw) if stop is None else stop)
        raise InvalidValue(f"a value of {self._feature}", value, "one that it holds")

    def _changing(self) -> "AbstractContextManager[None]":
        """All that is looked at for a change is of one moment, and the change is refused if that has passed."""
        if not self._feature.changeable:
            raise InvalidValue(f"{self._feature} of {self._obj!r}", "not changeable", "a feature that is")
        return holding(self._obj)
