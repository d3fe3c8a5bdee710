"""The commands on the local HBase, and those on models in it, as a shell runs them."""

import errno
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from neomodel import cluster
from neomodel.cli.cluster import sparingly
from neomodel.cluster import Cluster
from neomodel.stores import Mutation, open_store
from tests.test_cli import assert_one_sentence, neomodel

COMMANDS = ["up", "down", "status", "url"]


def environment(**changed: object) -> dict[str, str]:
    """This process's environment, in which nothing says where a cluster or a store is but what is given here."""
    names = ("NEOMODEL_CLUSTER", "NEOMODEL_STORE", "XDG_DATA_HOME")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return kept | {name: str(value) for name, value in changed.items()}


def states(run: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {line["process"]: line["state"] for line in json.loads(run.stdout)}


# a life


def test_a_cluster_comes_up_with_its_url_alone_on_stdout_and_goes_down(tmp_path: Path) -> None:
    folder = tmp_path / "neomodel" / "cluster"
    env = environment(XDG_DATA_HOME=tmp_path)
    try:
        up = neomodel("cluster", "up", "--tls", env=env, timeout=300)

        assert (up.returncode, up.stdout) == (0, f"{cluster.url(folder)}\n"), up.stderr
        *_, progress, runs, export = up.stderr.splitlines()
        assert progress.startswith("neomodel: starting HBase: ")
        assert runs == f"neomodel: HBase runs in {folder}; to work on it:"
        taken = subprocess.run(
            ["sh", "-c", f'{export}; echo "$NEOMODEL_STORE"'], env=env, capture_output=True, text=True
        )
        assert taken.stdout == up.stdout
        assert "&tls=1&ca=" in up.stdout
        assert neomodel("models", env=env | {"NEOMODEL_STORE": up.stdout.strip()}).returncode == 0

        other = neomodel("cluster", "up", "--servers", "2", env=env)
        assert (other.returncode, other.stdout) == (2, "")
        assert_one_sentence(other.stderr)
        assert "it runs already, with 1 servers" in other.stderr

        (gateway,) = (process.pid for process in cluster.status(folder) if process.name == "gateway1")
        assert gateway
        os.kill(gateway, signal.SIGKILL)
        partly = neomodel("cluster", "status", "--json", env=env)
        assert (partly.returncode, states(partly)) == (1, {"server1": "running", "gateway1": "stopped"})

        down = neomodel("cluster", "down", env=env, timeout=120)
        assert (down.returncode, down.stdout) == (0, "")
        assert down.stderr == f"neomodel: stopped server1; the data stays in {folder}\n"
        after = neomodel("cluster", "status", "--json", env=env)
        assert (after.returncode, states(after)) == (1, {"server1": "stopped", "gateway1": "stopped"})
    finally:
        cluster.down(folder)


def test_an_interrupted_start_leaves_nothing_running(tmp_path: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", "neomodel", "cluster", "up", "--folder", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert run.stderr is not None
        while not (line := run.stderr.readline()).startswith("neomodel: starting HBase"):
            assert line
        assert any(process.alive for process in cluster.status(tmp_path))
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=120)

        assert (run.returncode, out, err) == (130, "", "neomodel: interrupted\n")
        assert not any(process.alive for process in cluster.status(tmp_path))
    finally:
        run.kill()
        run.wait()
        cluster.down(tmp_path)


# one that runs


def test_status_has_a_line_for_each_role(hbase: Cluster) -> None:
    pids = {process.name: str(process.pid) for process in cluster.status(hbase.folder)}
    roles = [(name, role) for name in ("server1", "gateway1") for role in hbase.plan.process(name).roles.items()]

    run = neomodel("cluster", "status", "--folder", str(hbase.folder))

    assert (run.returncode, run.stderr) == (0, "")
    head, *lines = [line.split() for line in run.stdout.splitlines()]
    assert head == ["process", "role", "pid", "address", "state"]
    assert lines == [[name, role, pids[name], f"127.0.0.1:{port}", "running"] for name, (role, port) in roles]
    told = json.loads(neomodel("cluster", "status", "--json", "--folder", str(hbase.folder)).stdout)
    assert [list(map(str, line.values())) for line in told] == lines


def test_url_prints_the_url_and_nothing_else(hbase: Cluster) -> None:
    run = neomodel("cluster", "url", env=environment(NEOMODEL_CLUSTER=hbase.folder))

    assert (run.returncode, run.stdout, run.stderr) == (0, f"{hbase.url}\n", "")


def test_a_terminal_gets_a_line_of_progress_that_is_gone_at_the_end(hbase: Cluster) -> None:
    status, out, shown = on_a_terminal("cluster", "up", "--folder", str(hbase.folder))

    assert (status, out) == (0, f"{hbase.url}\n")
    assert "starting HBase: 1 of 1 region servers" in shown
    assert "neomodel: starting HBase" not in shown
    *_, runs, export = shown.splitlines()
    assert runs.endswith(f"\x1b[2Kneomodel: HBase runs in {hbase.folder}; to work on it:")  # the line was erased before
    assert export == f"export NEOMODEL_STORE='{hbase.url}'"


def on_a_terminal(*arguments: str) -> tuple[int, str, str]:
    """A command whose stderr is a terminal: its exit status, its stdout, and what the terminal got."""
    terminal, stderr = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "neomodel", *arguments],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env=environment(TERM="xterm", COLUMNS="200"),
    )
    os.close(stderr)
    limit = threading.Timer(120, run.kill)
    limit.start()
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError as exc:
        assert exc.errno == errno.EIO  # noqa: PT017  how Linux tells that nobody has the terminal open any more
    finally:
        out, _ = run.communicate()
        limit.cancel()
        os.close(terminal)
    return run.returncode, out, shown.decode()


def test_the_commands_on_models_work_on_hbase(hbase: Cluster) -> None:
    url = f"{hbase.url}&prefix=cli_"
    with open_store(url) as store:
        store.table("jdt").create("p", splits=[b"b"])
        store.table("jdt").put_many(Mutation(key, {b"p:name": "größe".encode()}) for key in (b"a", b"b", b"c"))

    assert neomodel("models", "--store", url).stdout == "jdt\n"
    assert neomodel("show", "jdt", "b", "--store", url).stdout == "b\n  p:name = größe\n"
    stats = json.loads(neomodel("stats", "jdt", "--json", "--store", url).stdout)
    assert [(region["host"], region["rows"]) for region in stats["regions"]] == [("127.0.0.1", 1), ("127.0.0.1", 2)]
    missing = neomodel("show", "jtd", "--store", url)
    assert missing.returncode == 2
    assert "did you mean 'jdt'?" in missing.stderr
    assert neomodel("drop", "jdt", "--yes", "--store", url).returncode == 0
    assert neomodel("models", "--store", url).stdout == ""


# none, or no good one


def test_where_no_cluster_is_there_is_nothing_to_stop_or_tell_and_none_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    runs = {name: neomodel("cluster", name, "--folder", str(folder)) for name in ("down", "status", "url")}
    as_json = neomodel("cluster", "status", "--json", "--folder", str(folder))

    for run in runs.values():
        assert run.stdout == ""
        assert_one_sentence(run.stderr)
        assert str(folder) in run.stderr
    assert {name: run.returncode for name, run in runs.items()} == {"down": 0, "status": 1, "url": 2}
    assert (as_json.returncode, as_json.stdout, as_json.stderr) == (1, "[]\n", "")
    assert not folder.exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_can_hold_no_cluster_is_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "cluster.json").write_text("{")

    for folder, said in [(tmp_path / "file", "Not a directory"), (tmp_path, "cluster.json is damaged")]:
        run = neomodel("cluster", name, "--folder", str(folder))

        assert (run.returncode, run.stdout) == (2, "")
        assert_one_sentence(run.stderr)
        assert said in run.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--servers", "0"], "invalid value for '--servers'"),
        (["--servers", "17"], "invalid value for '--servers'"),
        (["--port", "80"], "invalid value for '--port'"),
        (["--port", "65535"], "expected the first of 6 ports, 1024 to 65530"),
        (["--folder", "one,two"], "expected a path of ASCII letters"),
        ([], "bin, which JAVA_HOME names; install a JDK"),
    ],
)
def test_what_cannot_be_started_is_one_sentence(arguments: list[str], said: str, tmp_path: Path) -> None:
    env = environment(NEOMODEL_CLUSTER=tmp_path / "cluster", JAVA_HOME=tmp_path)

    run = neomodel("cluster", "up", *arguments, env=env, cwd=tmp_path)

    assert (run.returncode, run.stdout) == (2, "")
    assert_one_sentence(run.stderr)
    assert said in run.stderr


# where


def test_the_folder_is_the_one_given_else_that_of_the_environment_else_in_the_users_data(tmp_path: Path) -> None:
    def looked_in(*arguments: str, **variables: Path) -> str:
        run = neomodel("cluster", "down", *arguments, env=environment(HOME=tmp_path / "home", **variables))
        return run.stderr.removeprefix("neomodel: no HBase was running in ").strip()

    named, data = {"NEOMODEL_CLUSTER": tmp_path / "named"}, {"XDG_DATA_HOME": tmp_path / "data"}

    assert looked_in("--folder", str(tmp_path / "given"), **named, **data) == str(tmp_path / "given")
    assert looked_in(**named, **data) == str(tmp_path / "named")
    assert looked_in(**data) == str(tmp_path / "data" / "neomodel" / "cluster")
    assert looked_in() == str(tmp_path / "home" / ".local" / "share" / "neomodel" / "cluster")


def test_where_there_is_no_terminal_a_count_is_not_told_at_each_step() -> None:
    told: list[str] = []
    tell = sparingly(told.append)

    for line in ("0 of 9 jars", "1 of 9 jars", "9 of 9 jars", "0 of 1 servers", "1 of 1 servers"):
        tell(line)

    assert told == ["0 of 9 jars", "0 of 1 servers"]
