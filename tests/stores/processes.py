"""Other processes that work on a store, opened there by its URL.

Always started fresh, never forked: what is tested is what separate programs do to one another.
"""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from neomodel.stores import Store, open_store

SPAWN = multiprocessing.get_context("spawn")

P = ParamSpec("P")
R = TypeVar("R")


def run(work: Callable[Concatenate[Store, P], R], url: str, *args: P.args, **kwargs: P.kwargs) -> R:
    """What `work` returns, or raises, in a process of its own with a store of its own."""
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        return pool.submit(_work, work, url, *args, **kwargs).result(120)


def run_each(works: list[tuple[Callable[..., R], tuple[object, ...]]], url: str) -> list[R]:
    """The same for several at once, each in its own process."""
    with ProcessPoolExecutor(len(works), mp_context=SPAWN) as pool:
        futures = [pool.submit(_work, work, url, *args) for work, args in works]
        return [future.result(120) for future in futures]


def _work(work: Callable[..., R], url: str, *args: object, **kwargs: object) -> R:
    with open_store(url) as store:
        return work(store, *args, **kwargs)
