"""Every kind of store there is to test, wrappers included: an entry here is all it takes to join the suite.

An opener gets a folder of its own. Called again with the same folder it opens the same store again, if the store is
one that lasts. Tests never ask for a name; where not every store can do a thing they ask for the capability.
"""

from collections.abc import Callable
from pathlib import Path

import attrs

from neomodel.stores import Store, open_store


@attrs.frozen
class Kind:
    """How to open a store, and how many examples of the agreement machine it has time for in `make test`."""

    open: Callable[[Path], Store]
    examples: int = 60


KINDS = {
    "memory": Kind(lambda _: open_store("memory:")),
}
