"""The list of a model's roots, kept in the order in which a whole run lists them."""

from collections.abc import Callable
from typing import Any

from neomodel.long_lists import Splice
from neomodel.model import Model
from neomodel.roots import ROOTS
from neomodel.states import holding


def relist(target: Model, come: list[tuple[str, str]], gone: list[str], order: Callable[[str], str]) -> int:
    """Take these off the list and put those on it, given by order and id; how many there are then. `order` tells that
    of one that is listed. Done twice, it is as done once. Some reads and a swap for each."""
    root = target._root
    for oid in gone:
        with holding(root):
            listed = root._neo.raw(ROOTS)
            if oid in listed:
                _splice(root, listed, listed.index(oid), 1, [])
    for place, oid in sorted(come):
        with holding(root):
            listed = root._neo.raw(ROOTS)
            if oid not in listed:
                _splice(root, listed, _where(listed, (place, oid), order), 0, [oid])
    return len(root._neo.raw(ROOTS))


def _where(listed: Any, wanted: tuple[str, str], order: Callable[[str], str]) -> int:
    """Where something belongs in a list that is in order."""
    low, high = 0, len(listed)
    while low < high:
        middle = (low + high) // 2
        oid = listed[middle]
        if (order(oid), oid) < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def _splice(root: Any, listed: Any, at: int, removed: int, values: list[str]) -> None:
    if isinstance(listed, list):
        root._neo.write({ROOTS: [*listed[:at], *values, *listed[at + removed :]]})
    else:
        listed.apply([Splice(at, removed, values)])
