"""Which rule is being applied in this thread: what `trace`, helpers and lazy rules go by."""

import threading
from typing import TYPE_CHECKING

from neomodel.errors import InvalidValue

if TYPE_CHECKING:
    from neomodel.rules.applying import Applying


class _Current(threading.local):
    applying: "Applying | None" = None


_current = _Current()


def running() -> "Applying | None":
    """Who applies rules in this thread; None if nobody does."""
    return _current.applying


def application(what: str) -> "Applying":
    """Who applies rules in this thread, for `what` is of no use outside of them."""
    if _current.applying is None:
        raise InvalidValue("where it is used,", what, "in a rule of a transformation that runs")
    return _current.applying


class applied_by:  # noqa: N801  it is used as a function; a generator would take longer than many a rule
    """Let this one apply rules in the block."""

    __slots__ = ("_applying", "_before")

    def __init__(self, applying: "Applying") -> None:
        self._applying = applying

    def __enter__(self) -> None:
        self._before, _current.applying = _current.applying, self._applying

    def __exit__(self, *error: object) -> None:
        _current.applying = self._before
