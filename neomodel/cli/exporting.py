"""A model out into a file."""

import sys
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from neomodel.cli.frame import AsOf, ModelName, StoreUrl, say
from neomodel.cli.models import check_there
from neomodel.cli.progress import pace
from neomodel.repository import connect
from neomodel.times import parsed

_JSON = ".json"


def export(
    name: ModelName,
    out: Annotated[
        str, typer.Argument(metavar="OUT.xmi", help="The file to write; - for the output.", show_default=False)
    ],
    as_of: AsOf = None,
    ids: Annotated[bool, typer.Option("--ids", help="Give each object its own id as xmi:id.")] = False,
    without_timelines: Annotated[
        bool, typer.Option("--without-timelines", help="Leave timelines out, which files have no place for.")
    ] = False,
    store: StoreUrl = "",
) -> None:
    """Write a model to one .xmi file as Eclipse writes it, without loss and in constant memory.

    The name of the file says what it becomes: .zxmi and .zip are zipped, .json is
    JSON as PyEcore has it, for small models. A file that is there is replaced once
    all is written; if anything fails, it stays as it is.

    What is left out is told on stderr: references that lead to nothing.
    """
    target: str | IO[Any] = sys.stdout.buffer if out == "-" else out
    with connect(store, create=False) as repository:
        check_there(repository, name)
        model = repository.open(name, as_of=None if as_of is None else parsed(as_of))
        if Path(out).suffix.lower() == _JSON:
            done = model.export_json(target, ids=ids, without_timelines=without_timelines)
        else:
            with pace(f"exporting {name}", "elements") as advance:
                done = model.export_xmi(target, advance, ids=ids, without_timelines=without_timelines)
    for notice in done.notices:
        say(notice)
    print(
        f"{done.model}: {done.elements:,} elements, {done.references:,} references, "
        f"{done.seconds:.1f} s, {done.rate:,.0f} elements/s",
        file=sys.stderr if out == "-" else sys.stdout,
    )
