"""When models were created, in a table of their own, so that a time before that is told from an empty model.

The row of a model has its name as key and the cell ``p:created``, whose own time is what counts; its value is for
people. A model that is dropped takes it along, and one that is created anew under its name has a later one. Of a model
that was restored from a backup ``p:since`` says, in microseconds, when the one was created that the backup is of.
"""

from neomodel.errors import TableNotFound
from neomodel.stores import Mutation, Store, ensured
from neomodel.stores.clock import wall
from neomodel.times import instant

TABLE = "_models"
FAMILIES = "p"
CREATED = b"p:created"
SINCE = b"p:since"


class Catalogue:
    """The models of a store, by when they were created."""

    def __init__(self, store: Store) -> None:
        self._table = store.table(TABLE)

    def enter(self, name: str, *, since: int | None = None) -> None:
        """A model was created in this moment, or restored that was created then. One write; the first one ever makes
        the table."""
        told = None if since is None else b"%d" % since
        mutation = Mutation(name.encode(), {CREATED: instant(wall()).isoformat().encode(), SINCE: told})
        try:
            self._table.put_many([mutation])
        except TableNotFound:
            ensured(self._table, FAMILIES)
            self._table.put_many([mutation])

    def strike(self, name: str) -> None:
        """A model was dropped. One write."""
        try:
            self._table.put_many([Mutation(name.encode(), {CREATED: None, SINCE: None})])
        except TableNotFound:
            return  # nor is there anything to strike

    def created(self, name: str) -> int | None:
        """When a model was created; None if nobody wrote that down. One read."""
        try:
            cells = {cell.qualifier: cell for cell in self._table.cells(name.encode(), "p")}
        except TableNotFound:
            return None
        if SINCE[2:] in cells:
            return int(cells[SINCE[2:]].value)
        return cells[CREATED[2:]].time if CREATED[2:] in cells else None
