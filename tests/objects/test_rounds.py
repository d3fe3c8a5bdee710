"""Stable time with writers that go on, stand still and die: what a stable snapshot answered once it answers always."""

import hashlib
import os
import random
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import attrs
import pytest

import neomodel as nm
from neomodel.stores import Table
from tests.objects import rounds as program
from tests.objects.library import library
from tests.objects.rounds import NAME
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


@pytest.fixture(params=["lmdb", "hbase"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Pace]]:
    if request.param == "lmdb":
        yield f"lmdb:{tmp_path / 'store'}", Pace(0.3, (0.02, 0.1, 0.6), 0.1)
        return
    prefix = f"rounds{uuid.uuid4().hex[:8]}_"
    url = f"{request.getfixturevalue('hbase').url}&prefix={prefix}&settling=8"
    yield url, Pace(2.0, (0.5, 3.0, 12.0), 1.5)
    with nm.connect(url) as repo:
        for name in repo.store.tables():
            repo.store.table(name).drop()


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.soak)])
def test_what_a_stable_snapshot_answered_once_it_answers_always(
    place: tuple[str, Pace], count: int, figures: Callable[[str], None]
) -> None:
    url, pace = place
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    with nm.connect(url) as repo:
        repo.register(library)
        repo.create(NAME)
        writers = [_started(url, pace) for _ in range(WRITERS)]
        all_writers, answers, seen = list(writers), {}, 0
        try:
            for number in range(count):
                if number % 4 == 3:
                    writers.pop(dice.randrange(WRITERS)).kill()
                    writers.append(_started(url, pace))
                    all_writers.append(writers[-1])
                going = [writer for writer in writers if not writer.stopped]
                if going and number % 4 != 3:
                    dice.choice(going).pause(dice.choice(pace.pauses))
                time.sleep(dice.uniform(0, 2 * pace.round))
                for writer in all_writers:
                    writer.listen()
                snapshot = nm.Repository(repo.store).open(NAME, as_of="stable")
                at = snapshot.as_of
                assert at is not None
                answers[at] = _digest(repo.store.table(NAME), at)
                seen += sum(_check(snapshot, at, writer) for writer in all_writers)
                for again in dice.sample(list(answers), min(3, len(answers))):
                    now = _digest(repo.store.table(NAME), again)
                    assert not changed(answers[again], now, all_writers), f"{again}, asked in round {number}"
        finally:
            for writer in all_writers:
                writer.kill()
        time.sleep(pace.lease + repo.store.settling / 1e6)
        assert repo.stable(NAME) >= max(answers), "nobody is waited for any more"
        for again, answer in answers.items():
            assert not changed(answer, _digest(repo.store.table(NAME), again), all_writers), again
    broken = [kind for writer in all_writers for kind in writer.broken]
    figures(
        f"stable time on {url.partition(':')[0]}: {count} rounds, {len(all_writers)} writers, {len(answers)} times, "
        f"{seen} acknowledged writes found in them, {sum(len(writer.late) for writer in all_writers)} late, "
        f"{len(broken)} batches broken off ({', '.join(sorted(set(broken)))})"
    )
    assert seen > 0


def _started(url: str, pace: Pace) -> Writer:
    reports, theirs = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=program.write, args=(url, pace.lease, theirs), daemon=True)
    process.start()
    theirs.close()
    assert reports.poll(START)
    return Writer(process, reports, reports.recv())


def _digest(table: Table, at: int) -> dict[str, str]:
    """By the id of each row."""
    return {
        key.decode(): hashlib.sha256(repr(sorted(row.items())).encode()).hexdigest() for key, row in table.scan(at=at)
    }


def _check(snapshot: nm.Model, at: int, writer: Writer) -> int:
    """All that was acknowledged before that time is there; how many writes those were."""
    before = [[number for number, when in told if when <= at] for told in (writer.alone, writer.whole)]
    if not before[0] or not before[1]:
        return 0
    alone, *whole = (snapshot[oid].pages for oid in writer.oids)
    assert alone >= max(before[0])
    assert min(whole) >= max(before[1])
    return len(before[0]) + len(before[1])
