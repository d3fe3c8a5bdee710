"""Commands on ANNA: manual corrections of computed data."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from metamodels import anna
from metamodels.anna import conditions, files
from metamodels.anna.actions import Action, retracted
from metamodels.anna.operations import NAMES, Operation
from neomodel.cli.anna_fix import Fixing
from neomodel.cli.frame import AsJson, Refused, StoreUrl, say
from neomodel.cli.grid import print_grid
from neomodel.repository import connect
from neomodel.times import STABLE, instant, parsed

Process = Annotated[str, typer.Argument(metavar="PROCESS", help="The process's name.", show_default=False)]
Who = Annotated[
    str | None, typer.Option("--who", metavar="NAME", help="Who decided it; otherwise the user.", show_default=False)
]
Why = Annotated[
    str, typer.Option("--why", metavar="TEXT", help="The reason, for who reads it later.", show_default=False)
]
Run = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="The run it was found in; otherwise the last one.", show_default=False),
]
Event = Annotated[
    str | None,
    typer.Option("--event", metavar="T", help="When it was decided; otherwise now.", show_default=False),
]
Name = Annotated[str, typer.Option("--anna", metavar="NAME", help="Which ANNA of the store.")]
_FIRST = "0"  # the run of actions on a process that has had none


def act(
    process: Process,
    step: Annotated[str, typer.Option("--step", metavar="STEP", help="The step to correct.", show_default=False)],
    row: Annotated[
        list[str],
        typer.Option("--row", metavar="KEY", help="The key of the row; once for each part.", show_default=False),
    ],
    column: Annotated[str, typer.Option("--column", metavar="COLUMN", help="Its column.", show_default=False)],
    operation: Annotated[
        str, typer.Option("--operation", metavar="NAME", help=f"One of {', '.join(NAMES)}.", show_default=False)
    ],
    why: Why,
    value: Annotated[
        str | None,
        typer.Option("--value", metavar="VALUE", help="Its value, as the column has it.", show_default=False),
    ] = None,
    precondition: Annotated[
        str | None,
        typer.Option("--precondition", metavar="CONDITION", help="Only if this holds of the row.", show_default=False),
    ] = None,
    who: Who = None,
    run: Run = None,
    event: Event = None,
    id_: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="So that it is one if told twice.", show_default=False)
    ] = None,
    name: Name = "anna",
    store: StoreUrl = "",
) -> None:
    """Correct a cell, now and whenever it is computed again; prints the id of the action."""
    told: dict[str, Any] = {
        "step": step,
        "row": tuple(row),
        "column": column,
        "operation": Operation(operation, value),
        "why": why,
    }
    told |= {"precondition": precondition, "who": who, "event": _time("--event", event), "id": id_}
    if precondition is not None:
        conditions.parse(precondition)  # before a store is made for it
    with connect(store) as repository:
        opened = anna.open(repository, name)
        print(opened.actions(process).add(run=run or _last(opened, process), **told).id)


def load(
    process: Process,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, or JSON.", show_default=False)],
    run: Run = None,
    name: Name = "anna",
    store: StoreUrl = "",
) -> None:
    """Take many actions from a file.

    The file is CSV with a line of titles if its name ends in .csv, else a list of
    objects as JSON has it. The columns are id, run, step, row, column, operation, value,
    precondition, who, why and event, of which step, row, column, operation and why
    are needed. Actions with an id are taken once, however often the file is loaded. If
    anything is wrong with it, the place is told and nothing is left in the store.
    """
    rows = files.told(file, "")
    with connect(store) as repository:
        opened = anna.open(repository, name)
        last = run or _last(opened, process)
        made = opened.actions(process).add_many([{**row, "run": row["run"] or last} for row in rows])
    print(f"{process}: {len(made):,} actions loaded")


def actions(
    process: Process,
    event: Annotated[
        str | None, typer.Option("--event", metavar="T", help="What was decided up to then.", show_default=False)
    ] = None,
    ingest: Annotated[
        str | None,
        typer.Option(
            "--ingest", metavar="T", help="What was known then; otherwise at the stable time.", show_default=False
        ),
    ] = None,
    step: Annotated[
        str | None, typer.Option("--step", metavar="STEP", help="Of one step only.", show_default=False)
    ] = None,
    name: Name = "anna",
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """List the manual actions of a process, with those that were retracted, in the order they are applied."""
    with connect(store, create=False) as repository:
        acts = anna.open(repository, name, create=False).actions(process)
        found = acts.as_of(event=_time("--event", event), ingest=_time("--ingest", ingest), step=step)
    gone = retracted(found)
    if as_json:
        print(json.dumps([_plain(one, gone) for one in found]))
    elif found:
        titles = ["id", "event", "step", "row", "column", "action", "if", "who", "why"]
        print_grid(titles, [_line(one, gone) for one in found])
    else:
        say(f"there are no actions of {process}")


def retract(
    process: Process,
    action: Annotated[str, typer.Argument(metavar="ID", help="The action's id.", show_default=False)],
    why: Why,
    step: Annotated[
        str | None,
        typer.Option(
            "--step", metavar="STEP", help="Its step, if others have an action of that id.", show_default=False
        ),
    ] = None,
    who: Who = None,
    event: Event = None,
    name: Name = "anna",
    store: StoreUrl = "",
) -> None:
    """Take an action back: it is not applied any more. Prints the id of the retraction, which is an action itself."""
    with connect(store, create=False) as repository:
        acts = anna.open(repository, name, create=False).actions(process)
        print(acts.retract(action, step=step, why=why, who=who, event=_time("--event", event)).id)


def fix(
    process: Process,
    step: Annotated[
        str | None, typer.Option("--step", metavar="STEP", help="Of one step only.", show_default=False)
    ] = None,
    who: Who = None,
    name: Name = "anna",
    store: StoreUrl = "",
) -> None:
    """Walk through the cells that failed checks in the last run, and correct them.

    Shows each with its row, asks for an operation, its value, a precondition and the
    reason, shows what comes of it and stores it. What was stored stays so whenever the
    walk ends; `neomodel anna retract` takes it back.
    """
    with connect(store, create=False) as repository:
        opened = anna.open(repository, name, create=False)
        found = opened.failures(process).last()
        if found is None:
            raise Refused(f"no run of {process!r} is on record; run it first, then fix what failed")
        run, failures = found
        wanted = [one for one in failures if step is None or one.step == step]
        if not wanted:
            print(f"nothing failed in run {run} of {process}" + (f" in step {step}" if step else ""))
            return
        Fixing(opened.actions(process), run, who).walk(wanted)


def _last(store: anna.AnnaStore, process: str) -> str:
    found = store.failures(process).last()
    return _FIRST if found is None else found[0]


def _time(option: str, given: str | None) -> Any:
    found = None if given is None else parsed(given)
    if found == STABLE:
        if option == "--ingest":
            return None
        raise Refused(f"{option} stable makes no sense; give a time")
    return found


def _line(action: Action, gone: set[tuple[str, str]]) -> list[str]:
    said = f"retract {action.retracts}" if action.operation is None else str(action.operation)
    return [
        action.id,
        instant(action.event).isoformat(timespec="seconds"),
        action.step,
        " ".join(action.row),
        action.column,
        f"{said} (retracted)" if action.name in gone else said,
        action.precondition or "",
        action.who,
        action.why,
    ]


def _plain(action: Action, gone: set[tuple[str, str]]) -> dict[str, Any]:
    fields = ("id", "run", "step", "row", "column", "event", "ingest", "precondition", "who", "why", "retracts")
    operation = None if action.operation is None else action.operation.json()
    return {name: getattr(action, name) for name in fields} | {"operation": operation, "retracted": action.name in gone}
