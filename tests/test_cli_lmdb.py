"""The commands as a shell runs them, on the store that is the default."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import neomodel as nm
from tests.cli_fixture import library
from tests.test_cli import assert_ends_silently_when_nobody_reads, assert_one_sentence, neomodel

COMMANDS = [["models"], ["metamodels"], ["stats", "jdt"], ["show", "jdt"], ["drop", "jdt", "--yes"]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, where there is nothing yet."""
    monkeypatch.delenv("NEOMODEL_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def filled(objects: int = 3) -> None:
    with nm.connect("lmdb:neomodel.db") as repository:
        repository.register(library)
        books = [library.Book(title="größe") for _ in range(objects)]
        for number, book in enumerate(books):
            nm.identify(book, f"{number:06d}")
        repository.create("jdt").roots.extend(books)


def models() -> list[str]:
    with nm.connect("lmdb:neomodel.db", create=False) as repository:
        return repository.models()


def test_the_default_store_is_read_where_it_is_expected(folder: Path) -> None:
    filled()

    assert neomodel("models").stdout == "jdt\n"
    assert neomodel("show", "jdt", "000001").stdout == 'library.Book 000001  title="größe"\n'
    assert neomodel("stats", "jdt").stdout.splitlines()[1].split() == ["Book", "http://library", "3"]
    assert neomodel("metamodels").stdout.splitlines()[1].split()[:4] == ["http://library", "library", "5", "1"]
    assert json.loads(neomodel("stats", "jdt", "--json").stdout)["objects"] == 3
    assert neomodel("drop", "jdt", "--yes").returncode == 0
    assert models() == []


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_store_that_is_not_there_is_refused_and_not_made(arguments: list[str], folder: Path) -> None:
    run = neomodel(*arguments)

    assert (run.returncode, run.stdout) == (2, "")
    assert_one_sentence(run.stderr)
    assert "neomodel.db': there is no store in that folder; --store names another one" in run.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("arguments", COMMANDS)
@pytest.mark.parametrize("damage", [b"", b"no LMDB file" * 10_000])
def test_what_is_no_store_is_refused_in_one_sentence(arguments: list[str], damage: bytes, folder: Path) -> None:
    (folder / "neomodel.db").mkdir()
    (folder / "neomodel.db" / "data.mdb").write_bytes(damage)

    run = neomodel(*arguments)

    assert (run.returncode, run.stdout) == (2, "")
    assert_one_sentence(run.stderr)
    assert "neomodel.db" in run.stderr


def test_a_character_that_the_terminal_lacks_is_escaped(folder: Path) -> None:
    filled()

    run = neomodel("show", "jdt", "000001", env=os.environ | {"PYTHONIOENCODING": "ascii"})

    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == 'library.Book 000001  title="gr\\xf6\\xdfe"\n'


@pytest.mark.parametrize(
    "arguments", [["models"], ["metamodels"], ["stats", "jdt"], ["show", "jdt", "--limit", "9999"]]
)
def test_a_reader_who_leaves_ends_the_command_silently(arguments: list[str], folder: Path) -> None:
    filled(5_000)
    assert_ends_silently_when_nobody_reads(*arguments)


# drop, on a terminal


def answered(act: Callable[[int, int], object]) -> tuple[int, str, str]:
    """`drop jdt` on a terminal; once it has asked, `act` gets the terminal and the process. Status, stdout, stderr."""
    terminal, stdin = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "neomodel", "drop", "jdt"],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    try:
        assert run.stderr is not None
        question = ""
        while not question.endswith("[y/N] "):
            letter = run.stderr.read(1)
            assert letter, question
            question += letter
        assert "Drop 'jdt' and all its history from lmdb:neomodel.db?" in question
        act(terminal, run.pid)
        out, err = run.communicate(timeout=60)
    finally:
        run.kill()
        run.wait()
        os.close(terminal)
        os.close(stdin)
    return run.returncode, out, err


def typed(text: bytes) -> Callable[[int, int], object]:
    return lambda terminal, _process: os.write(terminal, text)


@pytest.mark.parametrize("text", [b"y\n", b"YES\n"])
def test_drop_goes_ahead_when_told_so(folder: Path, text: bytes) -> None:
    filled()

    assert answered(typed(text)) == (0, "", "")
    assert models() == []


@pytest.mark.parametrize("text", [b"\n", b"n\n", b"what?\n", b"\x04"])
def test_drop_does_nothing_unless_told_so(folder: Path, text: bytes) -> None:
    filled()

    said = "\nneomodel: nothing was dropped\n"
    assert answered(typed(text)) == (1, "", said if text == b"\x04" else said.lstrip())
    assert models() == ["jdt"]


def test_an_interrupted_command_says_so_in_one_line(folder: Path) -> None:
    filled()

    status, out, err = answered(lambda _, process: os.kill(process, signal.SIGINT))

    assert (status, out, err.lstrip("\n")) == (130, "", "neomodel: interrupted\n")  # on a line of its own
    assert models() == ["jdt"]
