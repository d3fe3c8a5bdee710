"""Every kind of store there is to test, wrappers included: an entry here is all it takes to join the suite.

An opener gets a folder of its own. Called again with the same folder it opens the same store again, if the store is
one that lasts. Tests never ask for a name; where not every store can do a thing they ask for the capability.
"""

from collections.abc import Callable
from pathlib import Path

import attrs

from neomodel.stores import Store, Table, open_store
from neomodel.stores.wrappers import Caching, Counting, Faulty, Reading, WrappedStore


@attrs.frozen
class Kind:
    """How to open a store, and how many examples of the agreement machine it has time for in `make test`.

    With `cluster`, there is a file `url` in the folder, of an HBase that runs for the session.
    """

    open: Callable[[Path], Store]
    examples: int = 80
    cluster: bool = False


class WrittenBehindTheBack(WrappedStore):
    """Reads through `Reading`, which lets no write through: those go past it to the inner store."""

    def table(self, name: str) -> Table:
        table, inner = Reading(self.inner).table(name), self.inner.table(name)
        for write in ("create", "drop", "swap", "put_many", "purge", "erase"):
            setattr(table, write, getattr(inner, write))
        return table


def _memory(_folder: Path) -> Store:
    return open_store("memory:")


def _lmdb(folder: Path) -> Store:
    return open_store(f"lmdb:{folder / 'store'}")


def _hbase(folder: Path) -> Store:
    return open_store((folder / "url").read_text())


KINDS = {
    "hbase": Kind(_hbase, examples=4, cluster=True),
    "memory": Kind(_memory),
    "lmdb": Kind(_lmdb),
    "counting": Kind(lambda folder: Counting(_memory(folder))),
    "caching": Kind(lambda folder: Caching(_memory(folder))),
    "reading": Kind(lambda folder: WrittenBehindTheBack(_memory(folder))),
    "faulty": Kind(lambda folder: Faulty(_memory(folder), lambda _operation, _key: None)),
}
