"""Several changes at once, and changes done again."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from neomodel.edits import Edit
from neomodel.errors import Conflict, InvalidValue
from neomodel.states import Stored
from neomodel.unstored import Transient, state_of

if TYPE_CHECKING:
    from neomodel.objects import Element

T = TypeVar("T")


@contextmanager
def edit(obj: "Element") -> Iterator[Any]:
    """Make all changes of the object's own features in the block one compare-and-swap, written when the block ends.

    Reads of the object within the block see its changes, and otherwise the object as it was when the block began. The
    other ends of references, its children's rows and its own move into another container follow after the swap, by
    what it holds in the end. Nobody else may move or remove it meanwhile. If somebody else has changed it since,
    nothing is written and `Conflict` is raised. If the block raises, nothing is written. Of a transient object nothing
    is to be written.
    """
    state = state_of(obj)
    if isinstance(state, Transient):
        yield obj
        return
    if not isinstance(state, Stored):
        raise InvalidValue("an object to edit", obj, "one that is there")
    if state.edit is not None:
        raise InvalidValue("an object to edit", obj, "one that is not being edited already")
    state.model.writable()
    more = state.having_more()
    more.edit = changes = Edit(state.read())
    try:
        yield obj
    finally:
        more.edit = None
        state.tidy()
    if changes.cells:
        state.swap_row(changes.seen, changes.cells)
    for action in (*changes.mirroring, *changes.following):
        action()


def redo(change: Callable[[], T], *, attempts: int = 5) -> T:
    """Call `change` until it meets no `Conflict`, at most so many times; then raise the last one.

    It has to read what it changes within the call, so that it works on what the others left.
    """
    for attempt in range(attempts - 1):
        try:
            return change()
        except Conflict:
            time.sleep(random.uniform(0, 0.004 * 2 ** min(attempt, 6)))
    return change()
