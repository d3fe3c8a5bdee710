"""Everything that can be done to a collection, as one change of the model and of the reference."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from neomodel.metamodel import Feature, Reference
from tests.objects.machine_reference import Thing

_ON_EMPTY = ["append", "append", "append", "insert", "extend", "assign"]
_ON_SOME = [*_ON_EMPTY, "remove", "pop", "move", "reverse", "clear", "delete", "delete slice", "set", "set slice"]


def list_change(machine: Any, data: st.DataObject, thing: Thing, feature: Feature) -> Any:
    """One of them, at random; None if there is nothing to do it with."""
    held = machine.world.held(thing, feature)
    dangling = any(isinstance(value, Thing) and value.gone for value in held)
    if isinstance(feature, Reference) and not machine.pool(feature):
        return None
    sort = data.draw(st.sampled_from(_ON_SOME if held else _ON_EMPTY))
    if dangling and sort in ("set", "set slice", "assign", "remove"):
        return None  # a value given back is checked, and what is no more has no class to check
    return _List(machine, data, thing, feature).change(sort)


class _List:
    def __init__(self, machine: Any, data: st.DataObject, thing: Thing, feature: Feature) -> None:
        self.machine, self.thing, self.feature = machine, thing, feature
        self.draw = data.draw
        self.before = machine.world.held(thing, feature)

    def change(self, sort: str) -> Any:
        found: Callable[[], Any] = getattr(self, f"_{sort.replace(' ', '_')}")
        return found()

    # parts

    def _value(self) -> Any:
        return self.draw(self.machine.values(self.feature))

    def _values(self) -> list[Any]:
        return self.draw(st.lists(self.machine.values(self.feature), max_size=3))  # type: ignore[no-any-return]

    def _at(self, after: int = 0) -> int:
        return self.draw(st.integers(0, len(self.before) - 1 + after))  # type: ignore[no-any-return]

    def _slice(self) -> slice:
        start = self._at(1)
        return slice(start, self.draw(st.integers(start, len(self.before))))

    def _list(self) -> Any:
        return self.machine.collection(self.thing, self.feature)

    def _given(self, values: list[Any]) -> list[Any]:
        return [self.machine.given(value) for value in values]

    def _arranged(self, after: list[Any], change: Callable[[], Any]) -> Any:
        return change, lambda: self.machine.world.arrange(self.thing, self.feature, after)

    def _inserted(self, new: list[Any], index: int | None, change: Callable[[], Any]) -> Any:
        return change, lambda: self.machine.world.insert(self.thing, self.feature, new, index)

    # changes

    def _append(self) -> Any:
        value = self._value()
        return self._inserted([value], None, lambda: self._list().append(self.machine.given(value)))

    def _extend(self) -> Any:
        new = self._values()
        return self._inserted(new, None, lambda: self._list().extend(self._given(new)))

    def _insert(self) -> Any:
        value, index = self._value(), self._at(1)
        return self._inserted([value], index, lambda: self._list().insert(index, self.machine.given(value)))

    def _assign(self) -> Any:
        after = self._values()
        if self.thing is self.machine.world.root:
            return self._arranged(after, lambda: self._list().__setitem__(slice(None), self._given(after)))
        element, name = self.machine.element(self.thing), self.feature.name
        return self._arranged(after, lambda: setattr(element, name, self._given(after)))

    def _set(self) -> Any:
        value, index = self._value(), self._at()
        after = [*self.before[:index], value, *self.before[index + 1 :]]
        return self._arranged(after, lambda: self._list().__setitem__(index, self.machine.given(value)))

    def _set_slice(self) -> Any:
        span, new = self._slice(), self._values()
        after = list(self.before)
        after[span] = new
        return self._arranged(after, lambda: self._list().__setitem__(span, self._given(new)))

    def _delete(self) -> Any:
        index = self._at()
        after = [*self.before[:index], *self.before[index + 1 :]]
        return self._arranged(after, lambda: self._list().__delitem__(index))

    def _delete_slice(self) -> Any:
        span = self._slice()
        after = list(self.before)
        del after[span]
        return self._arranged(after, lambda: self._list().__delitem__(span))

    def _remove(self) -> Any:
        """By value. Of an attribute the first that is equal as Python has it goes, which may be 0.0 for -0.0."""
        value = self.before[self._at()]
        after = list(self.before)
        del after[next(at for at, one in enumerate(after) if one is value or one == value)]
        return self._arranged(after, lambda: self._list().remove(self.machine.given(value)))

    def _pop(self) -> Any:
        return self._arranged(self.before[:-1], lambda: self._list().pop())

    def _clear(self) -> Any:
        return self._arranged([], lambda: self._list().clear())

    def _move(self) -> Any:
        to, index = self._at(), self._at()
        after = list(self.before)
        after.insert(to, after.pop(index))
        return self._arranged(after, lambda: self._list().move(to, index))

    def _reverse(self) -> Any:
        return self._arranged(self.before[::-1], lambda: self._list().reverse())
