"""What stores of a metamodel have in common: the model that one is in, and waiting until a time is stable."""

import time as clock
from collections.abc import Callable

import neomodel as nm
from neomodel.declare import Declaration
from neomodel.times import told

_REMEDY = "wait, which wait=True does, or read as of a stable time"
_PAUSE = 0.02  # seconds between two looks at the stable time


def opened(what: str, repository: nm.Repository, name: str, package: Declaration, *, create: bool) -> nm.Model:
    """The model of that name in a repository, made if it is not there unless `create` is false, with its metamodel
    registered. `what` is how errors call it."""
    if not isinstance(repository, nm.Repository):
        raise nm.InvalidValue(f"where to open {what}", repository, "a repository, such as nm.connect('lmdb:my.db')")
    try:
        model = repository.open(name)
    except nm.ModelNotFound:
        if not create:
            hint = f": nothing was written to {what} there yet; `neomodel {what.lower()} load` does that, for one"
            raise nm.ModelNotFound(name, repository.store.url, hint) from None
        repository.register(package)
        try:
            model = repository.create(name)
        except nm.ModelExists:  # by somebody else, in this moment
            model = repository.open(name)
    repository.register(package)
    return model


def await_stable(look: Callable[[], int], ingest: int, *, wait: bool | float, where: str) -> None:
    """Return once nobody can write under a time any more, by what `look` tells: at once or, with `wait`, after a while,
    or so many seconds at most. `NotStable` otherwise."""
    patience = clock.monotonic() + (float("inf") if wait is True else float(wait))
    while (stable := look()) < ingest:
        if clock.monotonic() >= patience:
            raise nm.NotStable(where, told(ingest), told(stable), _REMEDY)
        clock.sleep(_PAUSE)
