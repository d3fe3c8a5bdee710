"""When models were created, in a table of their own, so that a time before that is told from an empty model.

The row of a model has its name as key and the cell ``p:created``, whose own time is what counts; its value is for
people. A model that is dropped takes it along, and one that is created anew under its name has a later one.
"""

from neomodel.errors import TableNotFound
from neomodel.stores import Mutation, Store, ensured
from neomodel.stores.clock import wall
from neomodel.times import instant

TABLE = "_models"
FAMILIES = "p"
CREATED = b"p:created"


class Catalogue:
    """The models of a store, by when they were created."""

    def __init__(self, store: Store) -> None:
        self._table = store.table(TABLE)

    def enter(self, name: str) -> None:
        """A model was created in this moment. One write; the first one ever makes the table."""
        mutation = Mutation(name.encode(), {CREATED: instant(wall()).isoformat().encode()})
        try:
            self._table.put_many([mutation])
        except TableNotFound:
            ensured(self._table, FAMILIES)
            self._table.put_many([mutation])

    def strike(self, name: str) -> None:
        """A model was dropped. One write."""
        try:
            self._table.put_many([Mutation(name.encode(), {CREATED: None})])
        except TableNotFound:
            return  # nor is there anything to strike

    def created(self, name: str) -> int | None:
        """When a model was created; None if nobody wrote that down. One read."""
        try:
            cells = self._table.cells(name.encode(), "p", CREATED[2:], CREATED[2:] + b"\0", limit=1)
            return next((cell.time for cell in cells), None)
        except TableNotFound:
            return None
