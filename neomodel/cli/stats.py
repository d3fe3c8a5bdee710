"""How large a model is: objects by class, rows and bytes by region. One pass over the table."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs

from neomodel import ids, layout
from neomodel.cli.frame import AsJson, AsOf, ModelName, StoreUrl
from neomodel.cli.grid import print_grid
from neomodel.cli.models import check_there
from neomodel.cli.text import name_text, plain
from neomodel.repository import connect
from neomodel.stores import Region, Table
from neomodel.times import parsed

UNITS = ("rows", "cells", "bytes")


def stats(name: ModelName, store: StoreUrl = "", as_of: AsOf = None, as_json: AsJson = False) -> None:
    """Count a model's objects by class, and its rows, cells and bytes by region. Reads all of it.

    Bytes are those of keys, columns and current values, without history.
    Beside a row for each object there is one that lists the roots.

    With --json one object is printed:
    - model: the name; objects, rows, cells, bytes: the totals.
    - classes: each has ns_uri, class and objects.
    - regions: each has start, stop, host, port, rows, cells and bytes.
    """
    with connect(store, create=False) as repository:
        check_there(repository, name)
        at = None if as_of is None else repository.open(name, as_of=parsed(as_of)).as_of
        with _counter(f"reading {name}") as advance:
            counted = _count(repository.store.table(name), at, advance)
    if as_json:
        print(json.dumps({"model": name, **_as_json(counted)}))
    else:
        _print(counted)


# counting


@attrs.frozen
class _Counted:
    regions: list[tuple[Region, dict[str, int]]]
    """Each with its figures, by unit."""
    classes: "Counter[tuple[bytes, bytes]]"
    """Objects, by the namespace and name of their class."""

    @property
    def total(self) -> dict[str, int]:
        return {unit: sum(size[unit] for _, size in self.regions) for unit in UNITS}


def _count(table: Table, at: int | None, advance: Callable[[int], None]) -> _Counted:
    counted = _Counted([], Counter())
    root = ids.ROOT.encode()
    for region in table.regions():
        rows = cells = size = 0
        for key, row in table.scan(region.start, region.stop, at=at):
            rows += 1
            cells += len(row)
            size += len(key) + sum(len(column) + len(value) for column, value in row.items())
            if layout.ECLASS in row and key != root:
                counted.classes[row.get(layout.NSURI, b""), row[layout.ECLASS]] += 1
            if rows % 1000 == 0:
                advance(1000)
        counted.regions.append((region, dict(zip(UNITS, (rows, cells, size), strict=True))))
    return counted


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


def _print(counted: _Counted) -> None:
    classes = [
        [name_text(kind), name_text(ns_uri) if ns_uri else "-", f"{n:,}"] for (ns_uri, kind), n in _by_number(counted)
    ]
    total = [["total", "", f"{counted.classes.total():,}"]]
    print_grid(["class", "metamodel", "objects"], classes + total, numbers=["objects"])
    print()
    lines = []
    for region, size in counted.regions:
        served_by = f"{region.host}:{region.port}" if region.host else "-"
        bounds = [name_text(bound) if bound else "-" for bound in (region.start, region.stop)]
        lines.append([*bounds, served_by, *(f"{number:,}" for number in size.values())])
    lines.append(["total", "", "", *(f"{number:,}" for number in counted.total.values())])
    print_grid(["from", "to", "served by", *UNITS], lines, numbers=UNITS)


def _as_json(counted: _Counted) -> dict[str, Any]:
    classes = [
        {"ns_uri": plain(ns_uri), "class": plain(kind), "objects": number}
        for (ns_uri, kind), number in _by_number(counted)
    ]
    regions = [_region_as_json(region) | size for region, size in counted.regions]
    return {"objects": counted.classes.total(), "classes": classes, "regions": regions, **counted.total}


def _by_number(counted: _Counted) -> list[tuple[tuple[bytes, bytes], int]]:
    """The classes with the most objects first."""
    return sorted(counted.classes.items(), key=lambda item: (-item[1], item[0]))


def _region_as_json(region: Region) -> dict[str, Any]:
    stop = None if region.stop is None else plain(region.stop)
    return {"start": plain(region.start), "stop": stop, "host": region.host, "port": region.port}
