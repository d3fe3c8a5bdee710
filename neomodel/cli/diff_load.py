"""The command for systems that only have state: two exports compared."""

import time
from pathlib import Path
from typing import Annotated

import typer

from metamodels.elsa.intake import LEASE
from neomodel.cli.elsa import Name
from neomodel.cli.frame import Refused, StoreUrl
from neomodel.cli.sync import Lease
from neomodel.times import STABLE, parsed


def diff_load(
    system: Annotated[str, typer.Option("--system", metavar="SYSTEM", help="The system's name.", show_default=False)],
    after: Annotated[str, typer.Argument(metavar="EXPORT", help="The export to load.", show_default=False)],
    key: Annotated[
        str, typer.Option("--key", metavar="COLUMNS", help="The columns of the key, with commas.", show_default=False)
    ],
    event: Annotated[
        str,
        typer.Option("--event", metavar="T", help="When it was exported: 2024-05-01T00:00:00Z.", show_default=False),
    ],
    before: Annotated[
        str | None,
        typer.Option("--before", metavar="EXPORT", help="The one before; without, all is new.", show_default=False),
    ] = None,
    lease: Lease = LEASE,
    name: Name = "elsa",
    store: StoreUrl = "",
) -> None:
    """Compare two exports of a system that only has state, and bring in what changed.

    An export is CSV with a line of titles, or Parquet: a file, or a folder whose name ends
    in .csv or .parquet. A record's value is a JSON object of its columns, without those
    that are null. What is new or differs is inserted, what is gone is deleted, at the time
    of the later export. Done again, nothing changes.
    """
    given = parsed(event)
    if isinstance(given, str):
        raise Refused(f"--event {STABLE} makes no sense; give the time of the export")
    columns = [column.strip() for column in key.split(",") if column.strip()]
    if not columns:
        raise Refused("--key names no column; write those of the key with commas, such as country,number")
    for path in filter(None, (before, after)):
        if not Path(path).exists():
            raise Refused(f"there is no export {path}; --before and EXPORT name files, or folders of files")
    import spark
    from spark.exports import diff_load as load
    from spark.exports import read_export
    from spark.synchronizing import Target

    session = spark.session(f"neomodel elsa diff-load {system}")
    session.sparkContext.setLogLevel("OFF")
    began = time.monotonic()
    earlier = None if before is None else read_export(session, before)
    done = load(earlier, read_export(session, after), columns, given, Target(store, system, name, lease=lease))
    seconds = time.monotonic() - began
    print(
        f"{system}: {done.messages:,} changes, {done.written:,} written, {done.doubled:,} there before, {seconds:.1f} s"
    )
    if done.dead:
        print(f"{done.dead:,} could not be applied; see `neomodel elsa dead-letters {system}`")
        raise typer.Exit(1)
