"""Tokens with writers that go on, stand still and die: what a token answered once it answers always."""

import hashlib
import random
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from metamodels import elsa
from tests.metamodels import elsa_rounds as program
from tests.objects.round_writers import Pace, Writer, changed, place_of, rounds, started, told_of


@pytest.fixture(params=["lmdb", "hbase"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Pace]]:
    with place_of(request, tmp_path, rest=0.1) as found:  # all that was ever written is read in every round
        yield found


@pytest.mark.parametrize("count", [8, pytest.param(200, marks=pytest.mark.soak)])
def test_what_a_token_answered_once_it_answers_always(
    place: tuple[str, Pace], count: int, figures: Callable[[str], None]
) -> None:
    url, pace = place
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    answers: dict[str, dict[str, str]] = {}
    seen = 0
    with nm.connect(url) as repo:
        store = elsa.open(repo, program.NAME)
        store.system(program.SYSTEM).insert("first", 1, "v")
        with closing(rounds(count, pace, dice, lambda: _started(url, pace))) as played:
            for number, writers in played:
                token = store.token()
                answers[str(token)] = _answer(store, str(token))
                seen += sum(_check(store, token, writer) for writer in writers)
                for again in dice.sample(list(answers), min(3, len(answers))):
                    _check_again(store, again, answers[again], writers, f"asked in round {number}")
        time.sleep(pace.lease + repo.store.settling / 1e6)
        assert store.stable() >= max(elsa.Token.parse(text).ingest for text in answers)
    with nm.connect(url) as repo:  # and for somebody else
        for text, answer in answers.items():
            _check_again(elsa.open(repo, program.NAME), text, answer, writers, "asked by somebody else")
    figures(
        f"tokens on {url.partition(':')[0]}: {count} rounds, {len(writers)} writers, {len(answers)} tokens, "
        f"{seen} acknowledged writes found by them, {told_of(writers)}"
    )
    assert seen > 0


def _started(url: str, pace: Pace) -> Writer:
    return started(program.write, url, uuid.uuid4().hex[:8], pace.lease, pace.rest)


def _answer(store: elsa.ElsaStore, token: str) -> dict[str, str]:
    """All that a token answers, as hashes: for every key its value as of it, of an earlier event, and its history."""
    system = store.system(program.SYSTEM)
    ingest = elsa.Token.parse(token).ingest
    values = dict(system.scan(token=token))
    assert system.get_many(values, token=token) == values
    told: dict[str, Any] = {
        **{f"value of {key}": value for key, value in values.items()},
        **{f"earlier value of {key}": value for key, value in system.scan(event=2, ingest=ingest)},
        **{f"history of {key}": system.history(key, token=token) for key in values},
    }
    return {what: hashlib.sha256(repr(answer).encode()).hexdigest() for what, answer in told.items()}


def _check_again(store: elsa.ElsaStore, token: str, before: dict[str, str], writers: list[Writer], when: str) -> None:
    found = changed(before, _answer(store, token), writers)
    ingest = elsa.Token.parse(token).ingest
    last = {
        what: [one.ingest - ingest for one in store.system(program.SYSTEM).history(key, token=token)]
        for what in found
        if (key := what.removeprefix("history of ")) != what
    }
    assert not found, f"{token}, {when}: {found}; microseconds from its time to what is known: {last}"


def _check(store: elsa.ElsaStore, token: elsa.Token, writer: Writer) -> int:
    """All that was acknowledged before that time is there, and batches whole; how many writes those were."""
    before = [[number for number, when in told if when <= token.ingest] for told in (writer.alone, writer.whole)]
    (name,) = writer.oids
    found = store.system(program.SYSTEM).get_many(
        [f"{name}/alone", *(f"{name}/whole{at}" for at in range(3))], token=token
    )
    whole = [found.get(f"{name}/whole{at}", 0) for at in range(3)]
    assert min(whole) >= max(before[1], default=0)
    assert found.get(f"{name}/alone", 0) >= max(before[0], default=0)
    return len(before[0]) + len(before[1])
