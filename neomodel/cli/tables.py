"""Commands that work on tables of rows: which there are, how large, what is in them, away with one."""

import difflib
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from neomodel.cli.frame import AsJson, ModelName, Refused, StoreUrl, say
from neomodel.cli.text import key_of, name_text, plain, value_text
from neomodel.stores import Region, Row, Store, Table, open_store


def models(store: StoreUrl = "", as_json: AsJson = False) -> None:
    """List the models there are, one name a line."""
    with open_store(store, create=False) as opened:
        names = opened.tables()
    if as_json:
        print(json.dumps(names))
    else:
        print(*names, sep="\n", end="\n" if names else "")


def stats(name: ModelName, store: StoreUrl = "", as_json: AsJson = False) -> None:
    """Count a model's rows, cells and bytes, by region. Reads all of it.

    Bytes are those of keys, columns and current values, without history.
    """
    with open_store(store, create=False) as opened, _counter(f"reading {name}") as advance:
        table = _existing(opened, name)
        sizes = [(region, _size(table, region, advance)) for region in table.regions()]
    total = {unit: sum(size[unit] for _, size in sizes) for unit in ("rows", "cells", "bytes")}
    if as_json:
        regions = [_region_as_json(region) | size for region, size in sizes]
        print(json.dumps({"model": name, "regions": regions, **total}))
    else:
        _print_sizes(sizes, total)


def show(
    name: ModelName,
    oid: Annotated[
        str | None, typer.Argument(metavar="ID", help="One row: its key, as text or 0x and hex digits.")
    ] = None,
    store: StoreUrl = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Show at most N rows.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Print a model's rows: each key, then its columns and values.

    Text is printed as text, other bytes as 0x and hex digits; long values are cut.
    With --json each row is one line, and values are whole.
    """
    with open_store(store, create=False) as opened:
        table = _existing(opened, name)
        rows = table.scan() if oid is None else iter([_row(table, oid, store)])
        for number, (key, row) in enumerate(itertools.islice(rows, limit)):
            if as_json:
                print(json.dumps(_row_as_json(key, row)))
            else:
                _print_row(key, row, first=number == 0)
        if next(rows, None):
            say(f"only the first {limit} rows are shown; --limit N shows more")


def drop(
    name: ModelName,
    store: StoreUrl = "",
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Remove a model and all its history. Asks first."""
    with open_store(store, create=False) as opened:
        table = _existing(opened, name)
        if not yes and not (sys.stdin and sys.stdin.isatty()):
            raise Refused(f"`drop {name}` would ask first, but stdin is no terminal; say --yes if you are sure")
        if not yes and not _confirmed(f"Drop {name!r} and all its history from {store}?"):
            say("nothing was dropped")
            raise typer.Exit(1)
        table.drop()


def _confirmed(question: str) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = ""
    try:
        answer = sys.stdin.readline()
    finally:
        if not answer.endswith("\n"):  # Ctrl-C or Ctrl-D: what is said next begins on a line of its own
            print(file=sys.stderr)
    return answer.strip().lower() in ("y", "yes")


# finding


def _existing(store: Store, name: str) -> Table:
    names = store.tables()
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        remedy = f"did you mean {near[0]!r}?" if near else "`neomodel models` lists those there are"
        raise Refused(f"there is no model {name!r} in {store.url}; {remedy}")
    return store.table(name)


def _row(table: Table, oid: str, url: str) -> tuple[bytes, Row]:
    key = key_of(oid)
    row = table.get(key)
    if row is None:
        raise Refused(f"there is no row {oid!r} in model {table.name!r} of {url}; `show {table.name}` lists some")
    return key, row


# counting

_Size = dict[str, int]


def _size(table: Table, region: Region, advance: Callable[[int], None]) -> _Size:
    rows = cells = size = 0
    for key, row in table.scan(region.start, region.stop):
        rows += 1
        cells += len(row)
        size += len(key) + sum(len(column) + len(value) for column, value in row.items())
        if rows % 1000 == 0:
            advance(1000)
    return {"rows": rows, "cells": cells, "bytes": size}


@contextmanager
def _counter(what: str) -> Iterator[Callable[[int], None]]:
    """Shows on a terminal, and there only, how many rows have been read so far."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}: {task.completed:,} rows"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(what, total=None)
        yield lambda rows: progress.advance(task, rows)


# printing


def _print_sizes(sizes: list[tuple[Region, _Size]], total: _Size) -> None:
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, pad_edge=False)
    for title in ("from", "to", "served by"):
        grid.add_column(title, no_wrap=True)
    for unit in total:
        grid.add_column(unit, justify="right", no_wrap=True)
    for region, size in sizes:
        served_by = f"{region.host}:{region.port}" if region.host else "-"
        bounds = [name_text(bound) if bound else "-" for bound in (region.start, region.stop)]
        grid.add_row(*map(Text, bounds), served_by, *(f"{number:,}" for number in size.values()))
    grid.add_row("total", "", "", *(f"{number:,}" for number in total.values()))
    Console(width=None if sys.stdout.isatty() else 1000).print(grid)


def _region_as_json(region: Region) -> dict[str, Any]:
    stop = None if region.stop is None else plain(region.stop)
    return {"start": plain(region.start), "stop": stop, "host": region.host, "port": region.port}


def _print_row(key: bytes, row: Row, *, first: bool) -> None:
    print("" if first else "\n", name_text(key), sep="")
    for column, value in row.items():
        print(f"  {name_text(column)} = {value_text(value)}")


def _row_as_json(key: bytes, row: Row) -> dict[str, Any]:
    cells = [{"column": plain(column), "value": plain(value)} for column, value in row.items()]
    return {"key": plain(key), "cells": cells}
