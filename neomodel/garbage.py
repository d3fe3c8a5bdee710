"""How often Python looks for garbage while many objects are made of which hardly any is garbage."""

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = (100_000, 50, 1000)
"""Objects that were made and are still there, until the newest are looked at; how often that, until the older are."""

_lock = threading.Lock()
_working = 0
_usual = gc.get_threshold()
_settled = 0


def settled() -> None:
    """Leave what is there by now out of every search for garbage to come: modules mostly, which stay for good. For
    tasks of Spark, whose processes look through all there is after each of them: 50 ms, with what pandas and we bring.
    Does nothing if no module has come since it was called last, or each call would keep what has become garbage."""
    global _settled
    if len(sys.modules) != _settled:
        _settled = len(sys.modules)
        gc.collect()
        gc.freeze()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let the garbage collector look seldom, in the whole process, until all who asked for it have done their work: it
    would go through the same objects again and again. What is no cycle is freed as ever."""
    global _working, _usual
    with _lock:
        if not _working:
            _usual = gc.get_threshold()
            gc.set_threshold(*_SELDOM)
        _working += 1
    try:
        yield
    finally:
        with _lock:
            _working -= 1
            if not _working:
                gc.set_threshold(*_usual)
