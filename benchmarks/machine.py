"""On what was measured, and whether others used it at the same time."""

import os
import platform
import time
from importlib import metadata
from pathlib import Path

from benchmarks.measure import sized

BUSY = 0.10  # of all cores: beyond that, figures say less
_LOOK = sized(2.0, 0.3)  # seconds


def told() -> str:
    """The machine and what runs on it, in a line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("pyspark", "lmdb", "happybase", "pyecore"))
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, {versions}"
    )


def taken() -> float:
    """The share of the cores that others use while we do nothing for a moment."""
    before = _ticks()
    time.sleep(_LOOK)
    idle, total = (later - sooner for later, sooner in zip(_ticks(), before, strict=True))
    return 1 - idle / total


def _ticks() -> tuple[int, int]:
    """Idle time and all time of all cores, in ticks since the start of the system."""
    numbers = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return numbers[3] + numbers[4], sum(numbers)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
