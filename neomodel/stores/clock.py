"""Clocks, in microseconds: the one of this process, for stores whose writers stamp, and watches to take time with."""

import os
import threading
import time

import attrs

LANES = 256
"""Where clients stamp: times that are a multiple of it are those of swaps, and the others are shared out to batches."""

_RUNNING = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # the first goes on while the machine sleeps


def wall() -> int:
    """What the clock of this machine says."""
    return time.time_ns() // 1000


@attrs.frozen
class Watch:
    """When something began, to tell how long ago that was, also in a process that stood still meanwhile."""

    running: float = attrs.field(factory=lambda: time.clock_gettime(_RUNNING))
    wall: int = attrs.field(factory=lambda: wall())

    def age(self) -> int:
        """Microseconds since then: those that passed, or those that the clock was set forward by if these are more."""
        passed = int((time.clock_gettime(_RUNNING) - self.running) * 1_000_000)
        return max(passed, wall() - self.wall)


class Clock:
    """Gives out no time twice, and never goes backwards."""

    def __init__(self) -> None:
        self._last = 0
        self._unlock()
        os.register_at_fork(after_in_child=self._unlock)

    def _unlock(self) -> None:
        """Also for a forked child: the thread that held the lock is not there to let go of it."""
        self._lock = threading.Lock()

    def tick(self, count: int = 1, *, after: int = 0, every: int = 1) -> int:
        """The first of `count` times in a row, later than all given out before and than `after`; a multiple of
        `every`."""
        with self._lock:
            first = max(wall(), self._last + 1, after + 1)
            first += -first % every
            self._last = first + count - 1
            return first
