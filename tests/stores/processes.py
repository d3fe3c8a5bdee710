"""Other processes that work on a store, opened there by its URL.

Always started fresh, never forked: what is tested is what separate programs do to one another. None outlives the call
that started it, whatever happens.
"""

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Concatenate, ParamSpec, TypeVar

from neomodel.stores import Store, open_store

SPAWN = multiprocessing.get_context("spawn")
PATIENCE = 300  # seconds

P = ParamSpec("P")
R = TypeVar("R")


def run(work: Callable[Concatenate[Store, P], R], url: str, *args: P.args, **kwargs: P.kwargs) -> R:
    """What `work` returns, or raises, in a process of its own with a store of its own."""
    (result,) = run_each([(work, args, kwargs)], url)
    return result


def run_each(
    works: list[tuple[Callable[..., R], tuple[object, ...], dict[str, object]]], url: str, *, patience: float = PATIENCE
) -> list[R]:
    """The same for several at once, each in its own process, all within so many seconds."""
    pipes = [SPAWN.Pipe(duplex=False) for _ in works]
    processes = [
        SPAWN.Process(target=_work, args=(theirs, url, *work)) for work, (_, theirs) in zip(works, pipes, strict=True)
    ]
    try:
        for process in processes:
            process.start()
        for _, theirs in pipes:
            theirs.close()
        deadline = time.monotonic() + patience
        return [_result(ours, deadline, patience) for ours, _ in pipes]
    finally:
        for process in processes:
            process.kill()
            process.join()


def _result(ours: Connection, deadline: float, patience: float) -> R:
    if not ours.poll(max(0, deadline - time.monotonic())):
        raise TimeoutError(f"no answer after {patience} seconds")
    result, error = ours.recv()
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def _work(theirs: Connection, url: str, work: Callable[..., R], args: list[object], kwargs: dict[str, object]) -> None:
    try:
        with open_store(url) as store:
            answer = work(store, *args, **kwargs), None
    except BaseException as error:
        theirs.send((None, error))
        raise
    theirs.send(answer)
