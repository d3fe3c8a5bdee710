"""Somebody who is told now and then how far tasks are."""

import threading
from collections.abc import Callable

_POLLED = 0.5  # seconds between looks at what tasks have told


class Telling:
    """Calls something every half second while the block runs, and once more at its end; nothing, if that is None."""

    def __init__(self, tell: Callable[[], None] | None) -> None:
        self._tell = tell
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="neomodel-progress", daemon=True)

    def __enter__(self) -> None:
        if self._tell is not None:
            self._thread.start()

    def __exit__(self, *exc: object) -> None:
        self._ended.set()
        if self._tell is not None:
            self._thread.join()
            self._tell()

    def _watch(self) -> None:
        while not self._ended.wait(_POLLED):
            assert self._tell is not None
            self._tell()
