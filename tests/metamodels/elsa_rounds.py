"""The program of a writer for the rounds of tokens: it tells a system things, alone and in batches, until it is killed.

Each one has keys of its own, whose values are a number that grows: one key gets its numbers by single insertions, late
ones among them, the others get each number in one batch.
"""

import time
from multiprocessing.connection import Connection

import neomodel as nm
from metamodels import elsa
from tests.objects.rounds import now, telling

NAME, SYSTEM = "rounds", "s"


def write(url: str, writer: str, lease: float, rest: float, reports: Connection) -> None:
    """Send what its keys begin with, then after each write its number and the wall's time, ``(kind, number, time)``;
    rest after each number."""
    with nm.connect(url) as repo:
        store = elsa.open(repo, NAME)
        system = store.system(SYSTEM)
        number = 0
        reports.send([writer])
        while True:
            time.sleep(rest)
            number += 1
            with telling(reports, "alone", number):
                system.insert(f"{writer}/alone", 1 + number % 3, number, operation=str(number))
                system.insert(f"{writer}/alone", 10, number)
            try:
                with store.batch(lease=lease):
                    system.ingest([(f"{writer}/whole{at}", 10, "insert", number) for at in range(3)])
                reports.send(("whole", number, now()))
            except nm.NeomodelError as exc:
                reports.send((f"broken: {type(exc).__name__}", number, now()))
