"""Models copied into folders, with all their past, and brought back from them."""

import json
from collections.abc import Callable
from typing import Annotated, Any

import typer

import neomodel as nm
from neomodel.cli.frame import AsJson, AsOf, Refused, StoreUrl, model_names, visible
from neomodel.cli.grid import print_grid
from neomodel.cli.models import check_there
from neomodel.cli.progress import shares
from neomodel.cli.text import counted
from neomodel.cli.transforming import Engine
from neomodel.repository import connect
from neomodel.times import STABLE, instant, parsed

Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="Where the backups are.", show_default=False)]
By = Annotated[Engine, typer.Option("--engine", help="In the tasks of a Spark, or in this process.")]


def backup(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Where to put it.", show_default=False)],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="The models; otherwise all.",
            show_default=False,
            autocompletion=model_names,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="T",
            help="Only what was written since the last backup in the folder (last), or since a time before it.",
            show_default=False,
        ),
    ] = None,
    as_of: AsOf = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until all that was written so far is stable.")] = False,
    engine: By = Engine.spark,
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """Copy models, with all their versions and times, into a folder of Parquet files, as of a stable time.

    With a model those go along whose names are its own, a dot and more: of an ELSA, its systems.
    Without --since the folder is to be empty; with it, an increment is put beside what is there.
    What was interrupted is gone on with by the same command. Every region is a part of the work.

    With --json the manifest is printed.
    """
    from neomodel.backups.chain import Chain

    given = None if since is None else since if since == "last" else parsed(since)
    options: dict[str, Any] = {"since": given, "wait": wait, "as_of": STABLE if as_of is None else parsed(as_of)}
    with connect(store, create=False) as repository:
        for name in names or ():
            check_there(repository, name)
        chain = Chain(folder)
        before = {number for number in chain.numbers() if not chain.is_unfinished(number)}
        make, _ = _by(engine, repository, f"neomodel backup {folder}")
        regions = sum(len(repository.store.table(name).regions()) for name in repository.models() if _is(name, names))
        with shares(f"backing up into {folder}", "cells", regions) as progress:
            made = make(repository, folder, *(names or ()), progress=progress, **options)
    if as_json:
        print(made.text(), end="")
        return
    if made.number in before:
        print(f"{folder}: nothing was written since backup {made.number}, as of {instant(made.time).isoformat()}")
        return
    rows: list[list[Any]] = [
        [one.name, "all" if one.since is None else "new", f"{_cells(one):,}", f"{_bytes(one):,}"] for one in made.models
    ]
    print_grid(["model", "what", "cells", "bytes"], rows, numbers=["cells", "bytes"])
    rate = made.cells / max(made.seconds, 0.001)
    print(
        f"{folder}, backup {made.number}: {made.cells:,} cells as of {instant(made.time).isoformat()}, "
        f"{made.seconds:.1f} s, {rate:,.0f} cells/s"
    )


def restore(
    folder: Folder,
    number: Annotated[
        int | None,
        typer.Option("--number", metavar="N", help="As of that backup; otherwise the last.", show_default=False),
    ] = None,
    engine: By = Engine.spark,
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """Make the models of a backup anew in a store of any kind, with all their versions and times.

    None of them may be there. They are when all is written, and not before; what is damaged is named, and refused
    before anything is written. What was interrupted is gone on with by the same command.

    With --json one object is printed: models, time, cells, backups, left, seconds.
    """
    from neomodel.backups.chain import Chain  # needs Arrow, which takes long to import

    if not Chain(folder).load(last=number):
        raise Refused(f"there is no complete backup in {folder!r}; name the folder that `neomodel backup` was given")
    with connect(store) as repository:
        _, bring = _by(engine, repository, f"neomodel restore {folder}")
        with shares(f"restoring {folder}", "cells") as progress:
            done = bring(repository, folder, last=number, progress=progress)
    if as_json:
        print(json.dumps({name: getattr(done, name) for name in done.__slots__ if not name.startswith("_")}))
        return
    for left in done.left:
        print(visible(f"metamodel {left}: the store has another one, which stays; no object that came needs it"))
    rate = done.cells / max(done.seconds, 0.001)
    print(
        f"{', '.join(done.models)}: {done.cells:,} cells as of {instant(done.time).isoformat()}, "
        f"{done.seconds:.1f} s, {rate:,.0f} cells/s"
    )


def verify(folder: Folder, as_json: AsJson = False) -> None:
    """Read every byte of the backups in a folder, and name each file that is missing, or not what was written.

    Ends with status 0 if all is well, else with 1.

    With --json one object is printed:
    - backups: each has number, time, since, cells and bytes; files, bytes: how many were read.
    - damage: a sentence each; unfinished: the folders of backups that were not completed.
    """
    with shares(f"verifying {folder}", "bytes") as progress:
        found = nm.verify(folder, progress=progress)
    if as_json:
        listed = [
            {"number": one.number, "time": one.time, "since": one.since, "cells": one.cells, "bytes": one.size}
            for one in found.backups
        ]
        counts = {"files": found.files, "bytes": found.bytes}
        print(json.dumps({"backups": listed, **counts, "damage": found.damage, "unfinished": found.unfinished}))
    else:
        for sentence in found.damage:
            print(visible(sentence))
        for place in found.unfinished:
            print(visible(f"{place} is not complete; the command that began it goes on with it"))
        verdict = f"{len(found.damage):,} damaged" if found.damage else "all is as it was written"
        print(
            f"{counted(len(found.backups), 'backup')}, {counted(found.files, 'file')}, {found.bytes:,} bytes: {verdict}"
        )
    if found.damage:
        raise typer.Exit(1)


def _by(engine: Engine, repository: nm.Repository, what: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What makes a backup, and what restores one. A Spark has been started, and has said what it has to say."""
    if engine is Engine.local:
        return nm.backup, nm.restore
    import spark
    from spark.snapshots import reached

    reached(repository.store.url)
    session = spark.session(what)
    return lambda *a, **o: spark.backup(session, *a, **o), lambda *a, **o: spark.restore(session, *a, **o)


def _is(name: str, names: list[str] | None) -> bool:
    return not names or any(name == head or name.startswith(f"{head}.") for head in names)


def _cells(model: Any) -> int:
    return sum(file.cells for file in (*model.files, *model.replacing))


def _bytes(model: Any) -> int:
    return sum(file.size for file in (*model.files, *model.replacing))
