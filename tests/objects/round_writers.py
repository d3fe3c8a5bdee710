"""Writers in processes of their own that go on, stand still and die, round after round, and what they have told."""

import os
import random
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import attrs
import pytest

import neomodel as nm
from tests.stores.processes import SPAWN

WRITERS = 3
START = 60  # seconds
TOLD = 20  # seconds, in which a writer hears of its own write


@attrs.frozen
class Pace:
    """How long things take in a round, in seconds: the lease of batches, pauses of writers, the round itself, and how
    long a writer rests after each number."""

    lease: float
    pauses: tuple[float, ...]
    round: float
    rest: float = 0.0


@attrs.define
class Writer:
    process: Any
    reports: Connection
    oids: list[str]
    alone: list[tuple[int, int]] = attrs.field(factory=list)
    """Numbers that were acknowledged, and when; `whole` those of batches that were closed."""
    whole: list[tuple[int, int]] = attrs.field(factory=list)
    late: list[int] = attrs.field(factory=list)
    """Numbers of single writes of which nobody knew in time: what they change, also of a past, is on record here."""
    broken: list[str] = attrs.field(factory=list)
    stopped: bool = False
    alarm: threading.Timer | None = None

    def listen(self) -> None:
        try:
            while self.reports.poll():
                kind, number, when = self.reports.recv()
                if kind.startswith("broken"):
                    self.broken.append(kind)
                elif kind == "late":
                    self.late.append(number)
                else:
                    (self.alone if kind == "alone" else self.whole).append((number, when))
        except EOFError:
            return  # it was killed

    def pause(self, seconds: float) -> None:
        """Have it stand still, wherever it is. Another thread wakes it: we may have to wait for it."""
        self.stopped = True
        os.kill(self.process.pid, signal.SIGSTOP)
        self.alarm = threading.Timer(seconds, self._wake)
        self.alarm.start()

    def _wake(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)
        self.stopped = False

    def kill(self) -> None:
        if self.alarm is not None:
            self.alarm.cancel()
            self.alarm.join()
        self.process.kill()
        self.process.join()


def changed(before: dict[str, str], now: dict[str, str], writers: list[Writer]) -> list[str]:
    """What answers otherwise than before, but for what belongs to a writer that was told of a write that came late: a
    store where clients stamp can't do more, if a machine stands still for longer than its times settle in."""
    found = [what for what in {**before, **now} if before.get(what) != now.get(what)]
    deadline = time.monotonic() + TOLD
    while found:
        for writer in writers:
            writer.listen()
        late = [oid for writer in writers if writer.late for oid in writer.oids]
        found = [what for what in found if not any(oid in what for oid in late)]
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return found


@contextmanager
def place_of(request: pytest.FixtureRequest, tmp_path: Path, *, rest: float = 0.0) -> Iterator[tuple[str, Pace]]:
    """The URL of a store of the kind that is asked for, and the pace there; on HBase writers rest so long."""
    if request.param == "lmdb":
        yield f"lmdb:{tmp_path / 'store'}", Pace(0.3, (0.02, 0.1, 0.6), 0.1)
        return
    url = f"{request.getfixturevalue('hbase').url}&prefix=rounds{uuid.uuid4().hex[:8]}_&settling=8"
    yield url, Pace(2.0, (0.5, 3.0, 12.0), 1.5, rest=rest)
    with nm.connect(url) as repo:
        for name in repo.store.tables():
            repo.store.table(name).drop()


def started(program: Callable[..., None], *arguments: Any) -> Writer:
    """A writer that has begun: what it sent first are its objects."""
    reports, theirs = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=program, args=(*arguments, theirs), daemon=True)
    process.start()
    theirs.close()
    assert reports.poll(START)
    return Writer(process, reports, reports.recv())


def rounds(
    count: int, pace: Pace, dice: random.Random, begin: Callable[[], Writer]
) -> Iterator[tuple[int, list[Writer]]]:
    """So many rounds: the number of each, and all writers there were, who have been heard by then. In every fourth one
    is killed and another begins, in the others one stands still. In the end all are killed."""
    writers = [begin() for _ in range(WRITERS)]
    found = list(writers)
    try:
        for number in range(count):
            if number % 4 == 3:
                writers.pop(dice.randrange(WRITERS)).kill()
                writers.append(begin())
                found.append(writers[-1])
            going = [writer for writer in writers if not writer.stopped]
            if going and number % 4 != 3:
                dice.choice(going).pause(dice.choice(pace.pauses))
            time.sleep(dice.uniform(0, 2 * pace.round))
            for writer in found:
                writer.listen()
            yield number, found
    finally:
        for writer in found:
            writer.kill()


def told_of(writers: list[Writer]) -> str:
    """What became of their writes, for a figure."""
    broken = [kind for writer in writers for kind in writer.broken]
    kinds = f" ({', '.join(sorted(set(broken)))})" if broken else ""
    return f"{sum(len(writer.late) for writer in writers)} late, {len(broken)} batches broken off{kinds}"
