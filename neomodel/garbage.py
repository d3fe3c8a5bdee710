"""How often Python looks for garbage while many objects are made of which hardly any is garbage."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = (100_000, 50, 1000)
"""Objects that were made and are still there, until the newest are looked at; how often that, until the older are."""

_lock = threading.Lock()
_working = 0
_usual = gc.get_threshold()


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
