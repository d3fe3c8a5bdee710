"""Runs on record: numbered, claimed by one, carried on by another, and seen step by step."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from metamodels import anna
from metamodels.anna import runs as module
from metamodels.anna.runs import Runs
from neomodel.stores import open_store
from neomodel.stores.wrappers import Counting
from tests.metamodels.finished_runs import arguments, begun, finished, step


@pytest.fixture
def repo(request: pytest.FixtureRequest) -> nm.Repository:
    return nm.connect(f"memory:{request.node.name}")


def test_runs_of_a_process_are_numbered_and_those_of_1_are_not_those_of_10(repo: nm.Repository) -> None:
    for _ in range(11):
        finished(repo, "a")
    finished(repo, "ab")

    found = Runs(repo)

    assert [run.number for run in found.of("a")] == list(range(1, 12))
    assert [run.number for run in found.of("ab")] == [1]
    assert found.of("b") == []
    assert found.get("a", 1).number == 1
    assert found.get("a", 1).steps[0].number == 1
    with pytest.raises(nm.InvalidValue, match="such as the latest: 7, 8, 9, 10, 11"):
        found.get("a", 12)


def test_of_many_who_begin_at_once_each_has_a_run_of_his_own(tmp_path: Path) -> None:
    url = f"lmdb:{tmp_path}/db"
    given = arguments(nm.connect(url))
    numbers: list[int] = []

    def begin() -> None:
        with nm.connect(url) as own:
            numbers.append(Runs(own).begin("a", given, "f").run.number)

    together(begin, 8)

    assert sorted(numbers) == list(range(1, 9))


def test_of_many_who_start_one_run_one_wins_and_all_others_are_told(tmp_path: Path) -> None:
    url = f"lmdb:{tmp_path}/db"
    given = arguments(nm.connect(url))
    results: list[str] = []

    def start() -> None:
        with nm.connect(url) as own:
            try:
                Runs(own).start("a", 5, given, "f")
                results.append("won")
            except nm.RunTaken as taken:
                results.append(str(taken).partition(", whose")[0])

    together(start, 8)

    assert sorted(results) == [
        f"run 5 of 'a' is being computed by process {os.getpid()} on {os.uname().nodename}"
    ] * 7 + ["won"]


def test_who_has_lost_his_claim_writes_nothing_more(repo: nm.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    first = begun(repo, lease=0.0)
    second = Runs(repo).start("report", 1, arguments_of(first), "products")

    for attempt in (lambda: first.commit(step(first)), lambda: first.end(anna.State.DONE)):
        with pytest.raises(nm.RunTaken):
            attempt()
    second.commit(step(second))
    second.end(anna.State.DONE)
    assert [one.step for one in Runs(repo).get("report", 1).steps] == ["boss"]


def test_a_claim_is_renewed_while_its_process_works(repo: nm.Repository) -> None:
    claim = begun(repo, lease=0.2)
    with claim.working():
        time.sleep(0.5)
        with pytest.raises(nm.RunTaken):
            Runs(repo).start("report", 1, arguments_of(claim), "products")
        claim.end(anna.State.DONE)
    with pytest.raises(nm.InvalidValue, match="is 'done', expected one that is not"):
        Runs(repo).start("report", 1, arguments_of(claim), "products")


def test_a_claim_is_renewed_though_the_store_did_not_answer_at_first(
    repo: nm.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = begun(repo, lease=0.6)
    connect, times = nm.connect, []

    def slow(url: str, **options: Any) -> nm.Repository:
        times.append(url)
        if len(times) == 1:
            raise nm.StoreUnavailable("connecting", url, "no answer")
        return connect(url, **options)

    monkeypatch.setattr(nm, "connect", slow)
    with claim.working():
        time.sleep(1.5)
        with pytest.raises(nm.RunTaken):
            Runs(repo).start("report", 1, arguments_of(claim), "products")
        claim.end(anna.State.DONE)
    assert len(times) > 1


def test_a_run_whose_process_was_killed_is_taken_over_at_once(tmp_path: Path) -> None:
    url = f"lmdb:{tmp_path}/db"
    script = (
        "import sys, time, neomodel as nm\n"
        "from tests.metamodels.finished_runs import begun, step\n"
        f"claim = begun(nm.connect({url!r}), lease=3600)\n"
        "claim.commit(step(claim))\n"
        "print('claimed', flush=True)\n"
        "time.sleep(3600)\n"
    )
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        repo = nm.connect(url)
        run = Runs(repo).get("report", 1)
        with pytest.raises(nm.RunTaken, match=f"process {process.pid} on"):
            Runs(repo).start("report", 1, module.Arguments.of(run), "products")
        process.send_signal(signal.SIGKILL)
        process.wait()

    claim = Runs(repo).start("report", 1, module.Arguments.of(run), "products")

    assert [one.step for one in claim.run.steps] == ["boss"]


def test_a_run_is_carried_on_with_what_it_was_begun_with_or_not_at_all(repo: nm.Repository) -> None:
    claim = begun(repo, lease=0.0)
    other = module.attrs.evolve(arguments_of(claim), event=7)

    with pytest.raises(nm.InvalidValue, match="expected the same; or start another run"):
        Runs(repo).start("report", 1, other, "products")


def test_work_that_fails_is_on_record_as_failed(repo: nm.Repository) -> None:
    claim = begun(repo)
    with pytest.raises(ZeroDivisionError), claim.working():
        raise ZeroDivisionError("by zero")

    run = Runs(repo).get("report", 1)
    assert (run.state, run.reason) == (anna.State.FAILED, "ZeroDivisionError: by zero")
    Runs(repo).start("report", 1, arguments_of(claim), "products")


def test_outcomes_add_up(repo: nm.Repository) -> None:
    run = finished(repo, actions={f"a{n}": ["applied", "error", "superseded"][n % 3] for n in range(10)})

    assert run.counts() == {"applied": 4, "error": 3, "superseded": 3}
    assert len({one.action for one in run.outcomes()}) == 10


def test_a_step_with_many_outcomes_is_stored_in_few_calls(tmp_path: Path) -> None:
    counting = Counting(open_store(f"lmdb:{tmp_path}/db"))
    repo = nm.Repository(counting)
    calls = []
    for count in (10, 2000):
        claim = begun(repo)
        made = step(claim, actions={f"a{n:05}": "applied" for n in range(count)})
        before = sum(counting.calls.values())
        claim.commit(made)
        calls.append(sum(counting.calls.values()) - before)

    assert calls[1] <= calls[0] + 5
    assert calls[0] <= 8


# how


def arguments_of(claim: Any) -> Any:
    return module.Arguments.of(claim.run)


def together(work: Any, count: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_failing_cell_is_what_was_found(repo: nm.Repository) -> None:
    run = finished(repo, failing=3)

    assert [(name, check.name, cell.row, cell.column) for name, check, cell in anna.failing(run)] == [
        ("boss", "income is enough", str(n), "income") for n in range(3)
    ]
    assert json.loads(run.libraries) == {"pyspark": "4.3"}
    assert not run.sound
