"""A Spark whose driver is killed in the midst of a backup or restore: ``python -m tests.spark.killing_backups``.

Arguments: backup or restore, the store, the folder of the backup, and a folder for the mark that it was killed. The
task for the second part kills it, when the first one is done.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import neomodel as nm
import spark
from spark.backups import SparkParts
from tests.spark.killing import kill, own_session

CELLS = 4000
"""In a file."""


class Deadly:
    """A part that is the end of the driver."""

    def __init__(self, marks: str, driver: int) -> None:
        self._marks, self._driver = marks, driver

    def run(self, _store: object) -> None:
        deadline = time.monotonic() + 60
        while not (Path(self._marks) / "part").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        kill("driver", self._marks, self._driver)


class Noted:
    """A part that leaves a mark when it is done."""

    def __init__(self, part: Any, marks: str) -> None:
        self._part, self._marks = part, marks

    def run(self, store: Any) -> Any:
        found = self._part.run(store)
        (Path(self._marks) / "part").touch()
        return found


def main(what: str, url: str, folder: str, marks: str) -> None:
    repository, does = nm.connect(url), SparkParts.__call__

    def deadly(self: Any, store: Any, parts: Any, progress: Any = None) -> Any:
        if any(hasattr(part, "until") or hasattr(part, "label") for part in parts):
            parts = [Noted(parts[0], marks), Deadly(marks, os.getpid())]
        return does(self, store, parts, progress)

    SparkParts.__call__ = deadly  # type: ignore[method-assign]
    session = own_session("local[2]")
    if what == "backup":
        spark.backup(session, repository, folder, "elsa", file_cells=CELLS)
    else:
        spark.restore(session, repository, folder)
    (Path(marks) / "finished").touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
