"""Commands on the local HBase. `neomodel.cluster` is imported by those that need it, so that it delays no other."""

import json
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neomodel.cli.frame import AsJson, say
from neomodel.cli.grid import print_grid

if TYPE_CHECKING:
    from neomodel.cluster import Status

NOT_RUNNING = 1
REPEAT = 10.0  # seconds until a line that differs by its numbers only is worth another one where there is no terminal


def _folder(given: str) -> str:
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return given or os.environ.get("NEOMODEL_CLUSTER") or str(Path(data, "neomodel", "cluster"))


Folder = Annotated[
    str,
    typer.Option(
        "--folder",
        metavar="FOLDER",
        help="Where it lives; otherwise $NEOMODEL_CLUSTER, else neomodel/cluster in $XDG_DATA_HOME or ~/.local/share.",
        show_default=False,
        callback=_folder,
    ),
]
"""`--folder` of a command: what is given, else the default. Never empty."""


def up(
    servers: Annotated[
        int | None,
        typer.Option(
            "--servers",
            metavar="N",
            min=1,
            max=16,
            help="How many region servers; otherwise as many as the last time, else 1.",
            show_default=False,
        ),
    ] = None,
    folder: Folder = "",
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="P",
            min=1024,
            max=65535,
            help="The first of its ports, the others follow; otherwise those of the last time, else free ones.",
            show_default=False,
        ),
    ] = None,
    tls: Annotated[
        bool | None,
        typer.Option(
            "--tls/--no-tls",
            help="Whether its gateways speak TLS; otherwise as the last time, else not.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Start it, wait until it answers, and print the URL to give to --store.

    The first time HBase is loaded: 120 MB. Needs a JDK, version 17 to 22. What runs already is left running.
    """
    from neomodel import cluster

    with _progress() as tell:
        started = cluster.up(folder, servers=servers, ports=port, tls=tls, progress=tell)
    say(f"HBase runs in {started.folder}; to work on it:")
    print(f"export NEOMODEL_STORE={shlex.quote(started.url)}", file=sys.stderr)
    print(started.url)


def down(folder: Folder = "") -> None:
    """Stop it. What it has stored stays."""
    from neomodel import cluster

    stopped = cluster.down(folder)
    where = Path(folder).resolve()
    say(f"stopped {', '.join(stopped)}; the data stays in {where}" if stopped else f"no HBase was running in {where}")


def status(folder: Folder = "", as_json: AsJson = False) -> None:
    """List its processes: what each does, on which address, and whether it runs.

    Exit status: 0 if all of them run, 1 if not, or if there is none.
    """
    from neomodel import cluster

    found = cluster.status(folder)
    lines = [line for process in found for line in _lines(process)]
    if as_json:
        print(json.dumps(lines))
    elif lines:
        cells = [["-" if value is None else str(value) for value in line.values()] for line in lines]
        print_grid(list(lines[0]), cells)
    else:
        say(f"there is no HBase in {Path(folder).resolve()}; `neomodel cluster up` starts one")
    if not found or not all(process.alive for process in found):
        raise typer.Exit(NOT_RUNNING)


def url(folder: Folder = "") -> None:
    """Print the URL to give to --store. It must run."""
    from neomodel import cluster

    print(cluster.url(folder))


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Shows what is told: the last of it, and the time, on a terminal; elsewhere what is new as lines of their own."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not sys.stderr.isatty() or console.is_dumb_terminal:
        yield sparingly(say)
        return
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("looking what runs", total=None)
        yield lambda line: progress.update(task, description=line)


def sparingly(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Leaves out a line that differs from the last one by its numbers only, unless that is a while ago."""
    last, due = "", 0.0

    def told(line: str) -> None:
        nonlocal last, due
        words = re.sub(r"\d+", "", line)
        if words != last or time.monotonic() >= due:
            tell(line)
            last, due = words, time.monotonic() + REPEAT

    return told


def _lines(process: "Status") -> list[dict[str, Any]]:
    """A line for each role that a process has."""
    state = "running" if process.alive else "stopped"
    return [
        {
            "process": process.name,
            "role": role,
            "pid": process.pid,
            "address": f"{process.host}:{port}",
            "state": state,
        }
        for role, port in process.roles.items()
    ]
