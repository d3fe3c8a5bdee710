"""The clock of this process, for stores whose writers stamp: microseconds, no time given out twice, never backwards."""

import os
import threading
import time


class Clock:
    def __init__(self) -> None:
        self._last = 0
        self._unlock()
        os.register_at_fork(after_in_child=self._unlock)

    def _unlock(self) -> None:
        """Also for a forked child: the thread that held the lock is not there to let go of it."""
        self._lock = threading.Lock()

    def tick(self, count: int = 1, *, after: int = 0) -> int:
        """The first of `count` times in a row, later than all given out before and than `after`."""
        with self._lock:
            first = max(time.time_ns() // 1000, self._last + 1, after + 1)
            self._last = first + count - 1
            return first
