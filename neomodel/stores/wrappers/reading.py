"""A store that can't be changed."""

from collections.abc import Callable
from typing import TypeVar

from neomodel.errors import ReadOnly
from neomodel.stores.wrappers.base import Call, WrappedStore

T = TypeVar("T")


class Reading(WrappedStore):
    """Reads as the inner store does; every write raises `ReadOnly` and does not reach it."""

    def writing(self, call: Call, ask: Callable[[], T]) -> T:  # noqa: ARG002  not asking is the point
        raise ReadOnly(call.operation, self.where(call))
