"""The frame of the command line: help, errors, streams. What the commands do is tested in files of their own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel import __version__
from neomodel.cli import main, models
from neomodel.cli.app import command
from neomodel.errors import StoreUnavailable

ROOT = Path(__file__).parent.parent
ALONE = [
    *("import", "export", "transform", "backup", "restore", "verify"),
    *("models", "metamodels", "register", "stats", "show", "check", "drop", "doctor"),
]
GROUPS = {
    "cluster": ("up", "down", "status", "url"),
    "elsa": ("get", "history", "load", "stats", "timeline", "sync", "dead-letters", "diff-load"),
    "anna": ("run", "recompute", "diff", "report", "runs", "fix", "act", "load", "actions", "retract"),
}


def neomodel(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as a shell starts it."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    run = [sys.executable, "-m", "neomodel", *arguments]
    return subprocess.run(run, text=True, check=False, **streams | {"timeout": 60} | options)


def assert_ends_silently_when_nobody_reads(*arguments: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        run = neomodel(*arguments, stdout=writing)
    finally:
        os.close(writing)

    assert (run.returncode, run.stderr) == (141, "")


def assert_one_sentence(stderr: str) -> None:
    assert re.fullmatch(r"neomodel: [^\n]+\n", stderr), stderr


def commands(group: Any = command, path: str = "") -> Iterator[str]:
    for name, inner in group.commands.items():
        yield f"{path} {name}".strip()
        if hasattr(inner, "commands"):
            yield from commands(inner, name)


# help


def test_the_commands_are_those_of_the_design() -> None:
    grouped = [f"{group} {name}" for group, names in GROUPS.items() for name in names]

    assert sorted(commands()) == sorted([*ALONE, *GROUPS, *grouped])


@pytest.mark.parametrize("path", list(commands()))
def test_the_help_of_every_command_has_an_example_of_it(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*path.split(), "--help"]) == 0

    assert re.search(rf"Examples?: *\n *\$ neomodel {path}\b", capsys.readouterr().out)


@pytest.mark.parametrize("path", ["", "import", "cluster up"])
def test_help_asks_for_no_value_where_none_is_taken(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*path.split(), "--help"]) == 0

    assert "<bool>" not in capsys.readouterr().out


@pytest.mark.parametrize("path", ["", *commands()])
def test_h_is_short_for_help(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*path.split(), "-h"]) == 0
    short = capsys.readouterr().out

    assert main([*path.split(), "--help"]) == 0
    assert capsys.readouterr().out == short


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_every_command_under_a_heading(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0

    out = capsys.readouterr().out
    headings = [out.index(f"─ {heading} ─") for heading in ("Models: in and out", "Metamodels", "Cluster")]
    assert headings == sorted(headings)
    for path in commands():
        assert path.split()[0] in GROUPS or re.search(rf"^│ {path} ", out, re.MULTILINE), path


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("neomodel sh", "show\n"),
        ("neomodel elsa ti", "timeline\n"),
        ("neomodel show c", "city\n"),
        ("neomodel transform a:b c", "city\n"),
    ],
)
def test_a_shell_is_told_which_words_may_follow(typed: str, offered: str, tmp_path: Path) -> None:
    store = f"lmdb:{tmp_path}/db"
    with nm.connect(store) as repository:
        repository.create("city")
        repository.create("town")
    asked = {"_NEOMODEL_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}

    run = neomodel(env={**os.environ, "NEOMODEL_STORE": store, **asked})

    assert (run.returncode, run.stdout, run.stderr) == (0, offered, "")


def test_version_is_printed() -> None:
    assert neomodel("--version").stdout == f"neomodel {__version__}\n"


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["show", "--help"], ["import"]])
def test_no_driver_is_loaded_without_need(arguments: list[str]) -> None:
    drivers = {"lmdb", "happybase", "thriftpy2", "pyspark", "lxml", "pyarrow", "networkx"}
    script = f"import sys; from neomodel.cli import main; main({arguments}); print(*sys.modules, file=sys.stderr)"

    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)

    assert drivers.isdisjoint(run.stderr.split())


# errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mdels"], "no such command 'mdels' (did you mean 'models'"),
        (["--nope"], "no such option: --nope"),
        (["models", "--nope"], "no such option: --nope"),
        (["models", "a", "b"], "unexpected extra argument"),
        (["models", "--store"], "'--store' requires an argument"),
        (["show"], "missing argument 'NAME'; see `neomodel show --help`"),
        (["show", "m", "--limit", "many"], "invalid value for '--limit'"),
        (["show", "m", "--limit", "0"], "invalid value for '--limit'"),
        (["show", "m", "--depth", "-1"], "invalid value for '--depth'"),
        (["cluster"], "missing command; see `neomodel cluster --help`"),
        (["cluster", "sideways"], "no such command 'sideways'"),
        (["import", "a.xmi"], "missing option '--model'"),
        (["models", "--store", "nonsense"], "cannot open store 'nonsense'"),
        (["models", "--store", "models.db"], "or memory:; for a folder write lmdb:models.db"),
        (["models", "--store", "hbase://localhost:1"], "no port of a Thrift2 gateway is named; it must look like"),
        (["models", "--store", ""], "--store is empty; name a store"),
        (["--store", "", "models"], "--store is empty; name a store"),
        (["transform", "./rules.py:persons", "a", "b"], "'./rules.py' names a file; name its module"),
        (["models", "--store", "tape:x"], "the URL must start with lmdb:"),
        (["models", "--store", "memory:"], "cannot open store 'memory:'"),
        (["models\x1b[31m\nred"], r"no such command 'models\x1b[31m\nred'"),
        (["models", "--store", "lmdb\udcff:x"], "cannot open store"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_status_2(arguments: list[str], said: str) -> None:
    run = neomodel(*arguments)

    assert (run.returncode, run.stdout) == (2, "")
    assert_one_sentence(run.stderr)
    assert said in run.stderr


@pytest.mark.parametrize("arguments", [["models"], ["import", "a.xmi", "--model", "m"]])
def test_an_empty_variable_is_not_taken_for_the_default_store(arguments: list[str], tmp_path: Path) -> None:
    run = neomodel(*arguments, env=os.environ | {"NEOMODEL_STORE": "", "PYTHONPATH": str(ROOT)}, cwd=tmp_path)

    assert (run.returncode, run.stdout) == (2, "")
    assert_one_sentence(run.stderr)
    assert "$NEOMODEL_STORE is empty; have it name a store" in run.stderr
    assert list(tmp_path.iterdir()) == []


def failing(error: BaseException) -> Any:
    def connect(*_: object, **__: object) -> None:
        raise error

    return connect


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (
            StoreUnavailable("tables", "hbase://h", "no route"),
            2,
            "tables on hbase://h failed and wrote nothing: no route; `neomodel doctor` with the same store looks",
        ),
        (PermissionError(13, "Permission denied", "x.db"), 2, "cannot use 'x.db': Permission denied"),
        (FileNotFoundError(2, "No such file or directory", b"x\xff"), 2, r"cannot use 'x\udcff': No such file"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("two\nlines"), 70, f"a bug in neomodel {__version__} (ZeroDivisionError: two lines)"),
    ],
)
def test_every_failure_has_its_exit_status_and_one_sentence(
    error: BaseException,
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(models, "connect", failing(error))

    assert main(["models"]) == status

    captured = capsys.readouterr()
    assert captured.out == ""
    assert_one_sentence(captured.err)
    assert said in captured.err


@pytest.mark.parametrize("start", ["from neomodel.cli import main; sys.exit(main())", "import neomodel.__main__"])
def test_who_interrupts_a_command_that_is_still_being_loaded_sees_no_traceback(start: str, tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import signal; signal.raise_signal(signal.SIGINT)")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {start}"

    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)

    assert (run.returncode, run.stdout, run.stderr) == (130, "", "neomodel: interrupted\n")


@pytest.mark.parametrize(("error", "shown"), [(ZeroDivisionError("x"), True), (StoreUnavailable("a", "b", "c"), False)])
def test_only_a_bug_shows_a_traceback_and_only_if_asked(
    error: Exception, shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(models, "connect", failing(error))
    monkeypatch.setenv("NEOMODEL_DEBUG", "1")

    main(["models"])

    err = capsys.readouterr().err
    assert ("Traceback" in err) == shown
    assert err.splitlines()[-1].startswith("neomodel: ")


# streams


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_a_closed_pipe_ends_the_command_silently(arguments: list[str]) -> None:
    assert_ends_silently_when_nobody_reads(*arguments)


def test_a_full_disk_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        run = neomodel("--version", stdout=full)

    assert run.returncode == 2
    assert_one_sentence(run.stderr)
    assert "the output: No space left on device" in run.stderr


def test_a_process_without_streams_still_has_an_exit_status() -> None:
    run = subprocess.run(
        ["sh", "-c", '"$0" -m neomodel --version <&- >&- 2>&-', sys.executable], timeout=60, check=False
    )

    assert run.returncode == 0
