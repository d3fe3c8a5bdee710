"""Where the objects of a file lie: with their containers, and in shards of about equal size."""

from neomodel import ids

ROWS = 2000
"""Objects of a shard: so few that a model of some ten thousand lies evenly in a few regions, and so many that nearly
every object lies in the shard of its container."""


class Shards:
    """Gives shards to objects in the order of a file. A child has that of its container while there is room; then the
    one that is being filled, so that what lies together in the file still does."""

    def __init__(self, model: str, used: int) -> None:
        self._model = model
        self._next = used
        self._sizes: dict[str, int] = {}
        self._filling = self.fresh()

    def fresh(self) -> str:
        """A shard for an object that nothing contains. Those that are given lie evenly among all, however many."""
        shard = ids.spread(self._model, self._next)
        self._next += 1
        self._sizes[shard] = 1
        return shard

    def beside(self, shard: str | None) -> str:
        """The shard for a child of an object in that one; None: of one that has no shard."""
        if shard is None or self._sizes.get(shard, 0) >= ROWS:
            if self._sizes[self._filling] >= ROWS:
                self._filling = self.fresh()
            shard = self._filling
        self._sizes[shard] = self._sizes.get(shard, 0) + 1
        return shard
