"""Stable time with writers that go on, stand still and die: what a stable snapshot answered once it answers always."""

import hashlib
import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import neomodel as nm
from neomodel.stores import Table
from tests.objects import rounds as program
from tests.objects.library import library
from tests.objects.round_writers import Pace, Writer, changed, place_of, rounds, started, told_of
from tests.objects.rounds import NAME


@pytest.fixture(params=["lmdb", "hbase"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Pace]]:
    with place_of(request, tmp_path) as found:
        yield found


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.soak)])
def test_what_a_stable_snapshot_answered_once_it_answers_always(
    place: tuple[str, Pace], count: int, figures: Callable[[str], None]
) -> None:
    url, pace = place
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    answers: dict[int, dict[str, str]] = {}
    seen = 0
    with nm.connect(url) as repo:
        repo.register(library)
        repo.create(NAME)
        with closing(rounds(count, pace, dice, lambda: started(program.write, url, pace.lease))) as played:
            for number, writers in played:
                snapshot = nm.Repository(repo.store).open(NAME, as_of="stable")
                at = snapshot.as_of
                assert at is not None
                answers[at] = _digest(repo.store.table(NAME), at)
                seen += sum(_check(snapshot, at, writer) for writer in writers)
                for again in dice.sample(list(answers), min(3, len(answers))):
                    now = _digest(repo.store.table(NAME), again)
                    assert not changed(answers[again], now, writers), f"{again}, asked in round {number}"
        time.sleep(pace.lease + repo.store.settling / 1e6)
        assert repo.stable(NAME) >= max(answers), "nobody is waited for any more"
        for again, answer in answers.items():
            assert not changed(answer, _digest(repo.store.table(NAME), again), writers), again
    figures(
        f"stable time on {url.partition(':')[0]}: {count} rounds, {len(writers)} writers, {len(answers)} times, "
        f"{seen} acknowledged writes found in them, {told_of(writers)}"
    )
    assert seen > 0


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
