"""A store that loses answers on purpose, to see what the layers above make of it."""

import random
from collections.abc import Callable, Iterator
from typing import Literal, TypeVar

from neomodel.errors import OutcomeUnknown, StoreUnavailable
from neomodel.stores.base import Store
from neomodel.stores.wrappers.base import Call, WrappedStore

T = TypeVar("T")
Fault = Callable[[str, bytes | None], Literal["refused", "lost"] | None]

_REASON = "a fault was injected"


class Faulty(WrappedStore):
    """Asks `fault(operation, key)` before each operation; a stream is one, begun when it is first advanced.

    A write that is "refused" raises `StoreUnavailable` and does not reach the inner store; one that is "lost" is
    written, all of it, and raises `OutcomeUnknown`. A read that meets either raises `StoreUnavailable`. What the inner
    store itself refuses (a bad argument, a missing table) is raised as it is.
    """

    def __init__(self, inner: Store, fault: Fault) -> None:
        super().__init__(inner)
        self._fault = fault

    def reading(self, call: Call, ask: Callable[[], T]) -> T:
        if self._fault(call.operation, call.key):
            raise StoreUnavailable(call.operation, self.where(call), _REASON)
        return ask()

    def streaming(self, call: Call, ask: Callable[[], Iterator[T]]) -> Iterator[T]:
        yield from self.reading(call, ask)

    def writing(self, call: Call, ask: Callable[[], T]) -> T:
        fault = self._fault(call.operation, call.key)
        if fault == "refused":
            raise StoreUnavailable(call.operation, self.where(call), _REASON)
        answer = ask()
        if fault == "lost":
            raise OutcomeUnknown(call.operation, self.where(call), _REASON)
        return answer


def faults(seed: int, rate: float) -> Fault:
    """A schedule in which each operation fails with probability `rate`, refused and lost alike.

    The same seed gives the same faults for the same sequence of operations.
    """
    dice = random.Random(seed)

    def fault(operation: str, key: bytes | None) -> Literal["refused", "lost"] | None:  # noqa: ARG001  all alike
        failed, lost = dice.random() < rate, dice.random() < 0.5
        return ("lost" if lost else "refused") if failed else None

    return fault
