"""A store of manual actions: those of each process, what failed in its last run, and which time is stable."""

import neomodel as nm
from metamodels.anna.actions import Actions
from metamodels.anna.failures import Failures
from metamodels.anna.records import anna
from metamodels.opening import await_stable, opened

NAME = "anna"


def open(repository: nm.Repository, name: str = NAME, *, create: bool = True) -> "AnnaStore":  # noqa: A001  as elsa.open
    """The store of actions of that name in a repository, made if it is not there unless `create` is false."""
    return AnnaStore(repository, name, create=create)


class AnnaStore:
    """Manual actions, in one model. For one thread at a time."""

    def __init__(self, repository: nm.Repository, name: str, *, create: bool) -> None:
        self.repository = repository
        self.name = name
        self.model = opened("ANNA", repository, name, anna, create=create)
        self._stable = -1

    def __repr__(self) -> str:
        return f"<ANNA {self.name!r} in {self.repository.store.url}>"

    def actions(self, process: str) -> Actions:
        """The manual actions of a process. Costs nothing."""
        return Actions(self, process)

    def failures(self, process: str) -> Failures:
        """The cells that failed checks in runs of a process. Costs nothing."""
        return Failures(self.model, process)

    def stable(self) -> int:
        """The latest ingest time that nobody can write under any more. Two reads."""
        self._stable = max(self._stable, self.repository.stable(self.name))
        return self._stable

    def check_stable(self, ingest: int, *, wait: bool | float = False) -> None:
        """Return once nobody can write under a time any more: at once or, with `wait`, after a while, or so many
        seconds at most. `NotStable` otherwise. Costs nothing if that is known already."""
        if ingest <= self._stable:
            return
        await_stable(self.stable, ingest, wait=wait, where=repr(self))
