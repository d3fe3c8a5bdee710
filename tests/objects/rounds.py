"""The program of a writer for the rounds of stable time: it writes, alone and in batches, until it is killed.

Each one has books of its own, whose pages are a number that grows: one book gets its numbers by single writes, the
others get each number in one batch.
"""

import time
from contextlib import suppress
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
            with suppress(nm.StoreUnavailable, nm.OutcomeUnknown):
                alone.pages = number
                reports.send(("alone", number, _now()))
            _write_batch(repo, whole, number, lease, reports)


def _write_batch(repo: nm.Repository, whole: list[Any], number: int, lease: float, reports: Connection) -> None:
    try:
        with nm.batch(repo, lease=lease):
            for book in whole:
                book.pages = number
        reports.send(("whole", number, _now()))
    except nm.NeomodelError as exc:
        reports.send((f"broken: {type(exc).__name__}", number, _now()))


def _now() -> int:
    return time.time_ns() // 1000
