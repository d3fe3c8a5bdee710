"""What tasks tell of how far they are, and somebody who is told it now and then."""

import threading
from collections.abc import Callable
from typing import Any

from pyspark import AccumulatorParam

_POLLED = 0.5  # seconds between looks at what tasks have told


class Merged(AccumulatorParam[dict[Any, Any]]):
    """What parts of the work tell, each by its own key: one that was done twice counts once."""

    def zero(self, value: dict[Any, Any]) -> dict[Any, Any]:  # noqa: ARG002
        return {}

    def addInPlace(self, value1: dict[Any, Any], value2: dict[Any, Any]) -> dict[Any, Any]:  # noqa: N802  Spark's name
        value1.update(value2)
        return value1


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
