"""Commands on runs of processes: compute, resume, repeat, compare, report."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import attrs
import typer

from metamodels import anna, elsa
from metamodels.anna.differences import Diff
from metamodels.anna.report import Table, facts, headline, tables
from metamodels.anna.report_html import page
from metamodels.anna.runs import MODEL
from neomodel.cli.frame import AsJson, Refused, StoreUrl, say, visible
from neomodel.cli.grid import print_grid
from neomodel.cli.loading import loaded
from neomodel.repository import Repository, connect
from neomodel.times import STABLE, Time, instant, parsed
from neomodel.xmi import output

Named = Annotated[
    str,
    typer.Argument(
        metavar="MODULE:PROCESS", help="A process, and the module it is in: a.b:report.", show_default=False
    ),
]
Number = Annotated[int, typer.Argument(metavar="RUN", help="The number of a run.", show_default=False)]
Folder = Annotated[
    Path, typer.Option("--folder", metavar="FOLDER", help="Where files are written; all executors must see it.")
]
ActionEvent = Annotated[
    str | None,
    typer.Option("--actions-event", metavar="T", help="Which actions count: up to then.", show_default=False),
]
ActionIngest = Annotated[
    str | None,
    typer.Option("--actions-ingest", metavar="T", help="As known then; otherwise stable.", show_default=False),
]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page instead.", show_default=False)]
Most = Annotated[int, typer.Option("--most", metavar="N", min=1, help="Rows that are listed of each kind.")]
_PRODUCTS = Path("products")


def run(
    process: Named,
    token: Annotated[
        str | None,
        typer.Option("--token", metavar="TOKEN", help="Of ELSA; otherwise the stable time.", show_default=False),
    ] = None,
    actions_event: ActionEvent = None,
    actions_ingest: ActionIngest = None,
    number: Annotated[
        int | None,
        typer.Option("--run", metavar="N", help="The number of the run, to start or resume.", show_default=False),
    ] = None,
    folder: Folder = _PRODUCTS,
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """Compute a process: each step, the actions that apply, its checks.

    With --run, the run of that number is started, or carried on with if it has died:
    what it is computed from stays what it was. If somebody else is at it, that is told.

    Modules are looked for where Python does, and in the current folder. The exit
    status is 1 if a check of severity error fails.
    """
    times = _times(actions_event, actions_ingest)
    given = None if token is None else elsa.Token.parse(token)
    with _pipeline(process, store, folder) as (pipeline, progress):
        there = number is not None and any(one.number == number for one in pipeline.runs.of(pipeline.process.name))
        if there:
            if given is not None or times != (None, None):
                raise Refused(f"run {number} has its token and times already; leave --token and --actions-… out")
            done = pipeline.resume(number, progress=progress)
        else:
            done = pipeline.run(token=given, actions=times, number=number, progress=progress)
        _tell(done, as_json)


def recompute(
    process: Named,
    number: Number,
    ingest: Annotated[
        list[str] | None,
        typer.Option(
            "--ingest", metavar="SYSTEM=T", help="Take in what is known of a system then.", show_default=False
        ),
    ] = None,
    actions_event: ActionEvent = None,
    actions_ingest: ActionIngest = None,
    folder: Folder = _PRODUCTS,
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """Repeat a past run, and tell whether it gives the same, byte for byte, or else why it may not.

    With --ingest sales=stable, what is known by now of that system is taken in, and all
    others are as they were. If nothing was to change and something did, the exit status is 1.
    """
    wanted = dict(map(_pair, ingest or []))
    event, known = _times(actions_event, actions_ingest)
    with _pipeline(process, store, folder, number) as (pipeline, progress):
        past = pipeline.taken(number)
        changes = {name: pipeline.stable() if isinstance(at, str) else at for name, at in wanted.items()}
        times: Any = None
        if actions_event is not None or actions_ingest is not None:
            times = (past.actions_event if event is None else event), known
        again = pipeline.recompute(past, ingest=changes, actions=times, progress=progress)
        if as_json:
            steps = [attrs.asdict(step) for step in again.steps]
            print(json.dumps({"run": again.run.number, "first": again.first, "same": again.same, "steps": steps}))
        else:
            print(visible(str(again)))
    if not again.same and not changes and times is None:
        raise typer.Exit(1)


def diff(
    process: Named,
    first: Annotated[int, typer.Argument(metavar="RUN1", help="The number of a run.", show_default=False)],
    second: Annotated[int, typer.Argument(metavar="RUN2", help="That of another.", show_default=False)],
    html: Html = None,
    most: Most = 100,
    folder: Folder = _PRODUCTS,
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """Compare two runs by row, and tell the cause of each change: a record, an action, code.

    With --html a page is written: the report of the second run, with the differences.
    """
    if html is not None:
        output.check(html)
    with _pipeline(process, store, folder, first, second) as (pipeline, _):
        found: Diff = pipeline.diff(first, second)
        if html is not None:
            _write(html, page(pipeline.taken(second), found, most=most))
        elif as_json:
            print(json.dumps(attrs.asdict(found), default=str))
        elif found.same:
            print(f"runs {first} and {second} of {visible(pipeline.process.name)} are the same")
        else:
            _print(list(tables(pipeline.taken(second), found, most=most))[-2:])


def report(
    process: Annotated[str, typer.Argument(metavar="PROCESS", help="The name of the process.", show_default=False)],
    number: Annotated[int | None, typer.Argument(metavar="[RUN]", help="The last one, if not given.")] = None,
    html: Html = None,
    most: Most = 100,
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """Tell what a run gave: steps, checks with the rows that fail, what became of actions.

    Reads the store only. With --html a page is written that needs nothing else.
    """
    if html is not None:
        output.check(html)
    with connect(store, create=False) as repository:
        runs = anna.Runs(repository, create=False)
        if number is None:
            there = runs.of(process)
            if not there:
                known = ", ".join(sorted({run.process for run in runs.all()})) or "none"
                raise Refused(f"there is no run of {process!r}; processes with runs: {known}")
            number = there[-1].number
        found = runs.get(process, number)
        if html is not None:
            _write(html, page(found, most=most))
        elif as_json:
            print(json.dumps(_plain(found)))
        else:
            print(visible(headline(found)[0]))
            for name, value in facts(found):
                print(f"  {name}: {visible(value)}")
            _print(list(tables(found, most=most)))


def runs(
    process: Annotated[str | None, typer.Argument(metavar="[PROCESS]", help="Of all, if not given.")] = None,
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """List runs: when, in which state, how many steps, failing checks and actions."""
    with connect(store, create=False) as repository:
        lines = [_line(one) for one in _found(repository, process)]
    if as_json:
        print(json.dumps(lines))
    elif lines:
        titles = list(lines[0])
        numbers = {"run", "steps", "failing checks", "actions"}
        print_grid(titles, [[str(line[title]) for title in titles] for line in lines], numbers=numbers)
    else:
        say(f"there are no runs{'' if process is None else f' of {process}'}")


# how


def _found(repository: Repository, process: str | None) -> list[anna.Run]:
    """The runs of a process, or of all; none where nothing was run yet."""
    if MODEL not in repository.models():
        return []
    known = anna.Runs(repository, create=False)
    return known.all() if process is None else known.of(process)


@contextmanager
def _pipeline(name: str, store: str, folder: Path, *past: int) -> Iterator[tuple[Any, Callable[[str, int, int], None]]]:
    """The process of that name, at work; and who tells how far it is. A past run that is not there is refused before a
    Spark is started."""
    found = loaded(name, anna.Process, "process", "MODULE:PROCESS, such as package.module:report")
    with connect(store, create=False) as repository:
        for number in past:
            anna.Runs(repository, create=False).get(found.name, number)
        import spark
        from neomodel.cli.progress import steps

        session = spark.session(f"neomodel anna {found.name}")
        with steps(found.name) as progress:
            yield spark.Pipeline(found, repository, folder, session=session), progress


def _times(event: str | None, ingest: str | None) -> tuple[Time | None, Time | None]:
    return _time("--actions-event", event), _time("--actions-ingest", ingest)


def _time(option: str, text: str | None) -> Time | None:
    found = STABLE if text is None else parsed(text)
    if isinstance(found, str):
        if text is not None and option == "--actions-event":
            raise Refused("--actions-event stable makes no sense; stable is an ingest time")
        return None
    return found


def _pair(text: str) -> tuple[str, Time | str]:
    name, equal, at = text.partition("=")
    if not (name and equal and at):
        raise Refused(f"--ingest {text} names no system and time; write it as SYSTEM=T, such as crm=stable")
    return name, parsed(at)


def _write(path: Path, text: str) -> None:
    with output.opened(path) as stream:
        stream.write(text.encode())


def _tell(run: anna.Run, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_plain(run)))
    else:
        print(visible(headline(run)[0]))
        _print(list(tables(run, most=10))[:4])
    if not run.sound:
        raise typer.Exit(1)


def _print(found: list[Table]) -> None:
    for table in found:
        if table.rows:
            print(f"\n{table.title}")
            print_grid(table.columns, table.rows, numbers=table.numbers)
            if table.more:
                print(f"and {table.more:,} more")


def _line(run: anna.Run) -> dict[str, Any]:
    checks = [check for step in run.steps for check in step.checks]
    return {
        "process": run.process,
        "run": run.number,
        "state": run.state.name.lower(),
        "began": instant(run.began).isoformat(timespec="seconds"),
        "steps": len(run.steps),
        "failing checks": sum(1 for check in checks if check.failed),
        "actions": sum(run.counts().values()),
    }


def _plain(run: anna.Run) -> dict[str, Any]:
    """All of a run, for programs."""
    steps = [
        {
            **{name: getattr(step, name) for name in ("step", "rows", "content", "code", "seconds")},
            "files": step.written,
            "checks": [
                {
                    **{name: getattr(check, name) for name in ("name", "severity", "failed", "detail")},
                    "cells": [attrs.asdict(cell) for cell in check.cells],
                }
                for check in step.checks
            ],
        }
        for step in run.steps
    ]
    outcomes = [
        {name: getattr(one, name) for name in ("step", "row", "column", "action", "outcome", "reason")}
        for one in run.outcomes()
    ]
    told = {
        name: getattr(run, name) for name in ("process", "number", "token", "of", "began", "ended", "reason", "folder")
    }
    times = {"actions_event": run.actions_event, "actions_ingest": run.actions_ingest, "state": run.state.name.lower()}
    return {**told, **times, "sound": run.sound, "steps": steps, "outcomes": outcomes}
