"""Where several workers run the tests, what is expensive is started once in all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONFTEST = """
import pytest
from tests.workers import only, pytest_collection_modifyitems, pytest_xdist_make_scheduler

@pytest.fixture(scope="session")
def hbase(tmp_path_factory):
    return only("hbase", tmp_path_factory)

@pytest.fixture(scope="session")
def session(tmp_path_factory):
    return only("spark", tmp_path_factory)
"""
ASKING = """
import pytest

@pytest.mark.parametrize("number", range(6))
def test_by_name(hbase, number): pass

@pytest.mark.parametrize("kind", ["memory", "hbase"])
def test_by_a_parameter(request, kind):
    if kind == "hbase":
        request.getfixturevalue(kind)

@pytest.mark.parametrize("number", range(6))
def test_of_spark(session, number): pass

@pytest.mark.parametrize("number", range(20))
def test_of_nothing(number): pass
"""


def run(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_some.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "--rootdir", str(folder), "-c", "/dev/null", *options, str(folder)]
    apart = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }  # we may be in a worker
    return subprocess.run(command, cwd=ROOT, env=apart, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["alone", "two workers"])
def test_all_who_ask_for_a_thing_run_where_it_is(tmp_path: Path, options: list[str]) -> None:
    ended = run(tmp_path, ASKING, *options)

    assert "34 passed" in ended.stdout, ended.stdout


def test_a_thing_that_is_asked_for_unseen_is_not_started_twice(tmp_path: Path) -> None:
    unseen = "\ndef test_unseen(request): request.getfixturevalue('h' + 'base')\n"
    ended = run(
        tmp_path, "def test_a(hbase): pass\ndef test_b(hbase): pass\ndef test_c(hbase): pass\n" + unseen, "-n", "2"
    )

    assert ended.returncode == 1
    assert "FileExistsError" in ended.stdout


def test_a_test_that_asks_for_things_of_two_workers_is_refused(tmp_path: Path) -> None:
    ended = run(tmp_path, "def test_a(hbase, session): pass\n")

    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "test_a asks for what different workers start: hbase, spark" in ended.stderr
