"""The program of a writer for the rounds of stable time: it writes, alone and in batches, until it is killed.

Each one has books of its own, whose pages are a number that grows: one book gets its numbers by single writes, the
others get each number in one batch.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import neomodel as nm
from tests.objects.library import library, stocked

NAME = "rounds"
BOOKS = ("alone", "whole1", "whole2", "whole3")


def write(url: str, lease: float, reports: Connection) -> None:
    """Send the ids of the books, then after each write its number and the wall's time, ``(kind, number, time)``."""
    with nm.connect(url) as repo:
        repo.register(library)
        _, alone, *whole = stocked(repo.open(NAME), **{name: {"pages": 0} for name in BOOKS})
        reports.send([nm.oid(book) for book in (alone, *whole)])
        number = 0
        while True:
            number += 1
            with telling(reports, "alone", number):
                alone.pages = number
            _write_batch(repo, whole, number, lease, reports)


@contextmanager
def telling(reports: Connection, kind: str, number: int) -> Iterator[None]:
    """Send that a single write was acknowledged, or that it is `late`: it may come, or have come, when its time was
    taken for settled."""
    try:
        yield
        reports.send((kind, number, now()))
    except nm.StoreUnavailable:
        return
    except nm.OutcomeUnknown:
        reports.send(("late", number, now()))


def _write_batch(repo: nm.Repository, whole: list[Any], number: int, lease: float, reports: Connection) -> None:
    try:
        with nm.batch(repo, lease=lease):
            for book in whole:
                book.pages = number
        reports.send(("whole", number, now()))
    except nm.NeomodelError as exc:
        reports.send((f"broken: {type(exc).__name__}", number, now()))


def now() -> int:
    return time.time_ns() // 1000
