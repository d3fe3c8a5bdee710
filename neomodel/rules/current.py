"""Which rule is being applied in this thread: what `trace`, helpers and lazy rules go by."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def applied_by(applying: "Applying") -> Iterator[None]:
    """Let this one apply rules in the block."""
    before, _current.applying = _current.applying, applying
    try:
        yield
    finally:
        _current.applying = before
