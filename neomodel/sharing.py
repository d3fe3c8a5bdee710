"""Repositories that all in this process have, and the objects of them that were pickled."""

from collections import OrderedDict
from typing import Any
from weakref import finalize

from neomodel.repository import Repository, connect

_shared: OrderedDict[str, Repository] = OrderedDict()
_SHARED = 32
"""Repositories that are kept though nobody uses them. Each may take a TB of addresses, of which there are 128."""


def shared(url: str) -> Repository:
    """The repository at `url` that all in this process have who ask here: a store is opened once, and closed when many
    others have been asked for since, and nobody has this one or an object of it any more."""
    found = _shared.get(url)
    if found is None:
        found = _shared[url] = connect(url, create=False)
    _shared.move_to_end(url)
    if len(_shared) > _SHARED:
        _, oldest = _shared.popitem(last=False)
        finalize(oldest, oldest.store.close)
    return found


def restored(url: str, name: str, oid: str, at: int | None, unstable: bool) -> Any:
    """The object that was pickled. Those that are restored one after another are read together."""
    repository = shared(url)
    if at is not None and not unstable:
        repository.batches.vouch(at)
    model = repository.reopened(name, at, unstable=unstable)
    found = model.element(oid)
    model.gather([found._neo])
    return found
