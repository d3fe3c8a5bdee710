"""How large a model is: objects by class, rows and bytes by region, and how well it is spread."""

import json
from typing import Any

from neomodel.cli.frame import AsJson, AsOf, ModelName, StoreUrl
from neomodel.cli.grid import print_grid
from neomodel.cli.models import check_there
from neomodel.cli.progress import counter
from neomodel.cli.sizes import UNITS, Sizes, count
from neomodel.cli.text import name_text, plain
from neomodel.repository import connect
from neomodel.stores import Region
from neomodel.times import parsed

BALANCED = ("rows", "bytes")  # what regions shall have alike


def stats(name: ModelName, store: StoreUrl = "", as_of: AsOf = None, as_json: AsJson = False) -> None:
    """Count a model's objects by class, and its rows, cells and bytes by region. Reads all of it.

    Bytes are those of keys, columns and current values, without history.
    Beside a row for each object there is one that lists the roots.
    Containment edges inside one shard lie in one key range, so that what an object contains is near to it.

    With --json one object is printed:
    - model: the name; objects, rows, cells, bytes: the totals.
    - classes: each has ns_uri, class and objects.
    - regions: each has start, stop, host, port, rows, cells and bytes.
    - containments: edges, how many are inside one shard, and their share (null if there are none).
    - largest_over_mean: of the regions, by rows and by bytes (null if all are empty).
    """
    with connect(store, create=False) as repository:
        check_there(repository, name)
        at = None if as_of is None else repository.open(name, as_of=parsed(as_of)).as_of
        with counter(f"reading {name}") as advance:
            counted = count(repository.store.table(name), advance, at=at)
    if as_json:
        print(json.dumps({"model": name, **_as_json(counted)}))
    else:
        _print(counted)


# printing


def _print(counted: Sizes) -> None:
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
    print()
    inside, edges = counted.containments[True], counted.containments.total()
    share = "" if counted.inside is None else f" ({counted.inside:.1%})"
    print(f"containment edges inside one shard: {inside:,} of {edges:,}{share}")
    ratios = ((unit, counted.largest_over_mean(unit)) for unit in BALANCED)
    told = ", ".join(f"{'-' if ratio is None else f'{ratio:.2f}'} by {unit}" for unit, ratio in ratios)
    print(f"largest region over the mean: {told}")


def _as_json(counted: Sizes) -> dict[str, Any]:
    classes = [
        {"ns_uri": plain(ns_uri), "class": plain(kind), "objects": number}
        for (ns_uri, kind), number in _by_number(counted)
    ]
    regions = [_region_as_json(region) | size for region, size in counted.regions]
    edges = {"edges": counted.containments.total(), "inside": counted.containments[True], "share": counted.inside}
    return {
        "objects": counted.classes.total(),
        "classes": classes,
        "regions": regions,
        "containments": edges,
        "largest_over_mean": {unit: counted.largest_over_mean(unit) for unit in BALANCED},
        **counted.total,
    }


def _by_number(counted: Sizes) -> list[tuple[tuple[bytes, bytes], int]]:
    """The classes with the most objects first."""
    return sorted(counted.classes.items(), key=lambda item: (-item[1], item[0]))


def _region_as_json(region: Region) -> dict[str, Any]:
    stop = None if region.stop is None else plain(region.stop)
    return {"start": plain(region.start), "stop": stop, "host": region.host, "port": region.port}
