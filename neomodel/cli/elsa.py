"""Commands on ELSA: what external systems were like, and what was known of it."""

import json
import time
from collections import Counter
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

import attrs
import typer

import neomodel as nm
from metamodels import elsa
from metamodels.elsa.files import History
from metamodels.elsa.picture import picture, shown, told
from neomodel.cli.frame import AsJson, Refused, StoreUrl, say
from neomodel.cli.grid import print_grid
from neomodel.cli.progress import counter
from neomodel.repository import connect
from neomodel.times import LAST, STABLE, micros, parsed
from neomodel.xmi import output

System = Annotated[str, typer.Argument(metavar="SYSTEM", help="The system's name.", show_default=False)]
Key = Annotated[str, typer.Argument(metavar="KEY", help="The record's key.", show_default=False)]
_TIMES = "2024-05-01T12:00:00+02:00, or microseconds since the epoch"
Event = Annotated[
    str | None, typer.Option("--event", metavar="T", help=f"What happened up to then: {_TIMES}.", show_default=False)
]
Ingest = Annotated[
    str | None,
    typer.Option(
        "--ingest", metavar="T", help="What was known at that time; otherwise the stable one.", show_default=False
    ),
]
TokenText = Annotated[
    str | None, typer.Option("--token", metavar="TOKEN", help="As of a token, instead of times.", show_default=False)
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for an ingest time that is not stable yet.")]
Name = Annotated[str, typer.Option("--elsa", metavar="NAME", help="Which ELSA of the store.")]

_MOST = 1000  # rows between two signs of progress


def get(
    system: System,
    key: Key,
    event: Event = None,
    ingest: Ingest = None,
    token: TokenText = None,
    wait: Wait = False,
    name: Name = "elsa",
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """Print the value that a record had at a time, as far as it was known at another.

    Text is printed as it is, bytes in hex, everything else as JSON. If there is no
    record at that time the exit status is 1. With --json an object is printed that
    has the times of the version and the token that gives this answer for ever.
    """
    with connect(store, create=False) as repository:
        opened = elsa.open(repository, name, create=False)
        times = _times(opened, event, ingest, token)
        found = opened.system(system).version(key, token=times, wait=wait)
        if as_json:
            print(json.dumps({"token": str(times), "version": None if found is None else _plain(found)}))
        elif found is not None and found.operation != elsa.DELETE:
            print(shown(found))
    if found is None or found.operation == elsa.DELETE:
        if not as_json:
            say(f"there is no record {key!r} in {system} then")
        raise typer.Exit(1)


def history(
    system: System,
    key: Key,
    event: Event = None,
    ingest: Ingest = None,
    token: TokenText = None,
    wait: Wait = False,
    name: Name = "elsa",
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """List all versions of a record, in order of event and then of ingest time."""
    with connect(store, create=False) as repository:
        opened = elsa.open(repository, name, create=False)
        found = opened.system(system).history(key, token=_times(opened, event, ingest, token), wait=wait)
        if as_json:
            print(json.dumps([_plain(version) for version in found]))
            return
        lines = [
            [told(one.event), told(one.ingest), one.operation, "" if one.operation == elsa.DELETE else shown(one)]
            for one in found
        ]
    if not lines:
        raise Refused(
            f"nothing is known of a record {key!r} in {system} then; check its key, and the times if you gave some"
        )
    print_grid(["event", "ingest", "operation", "value"], lines)


def load(
    system: System,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, or JSON Lines.", show_default=False)],
    name: Name = "elsa",
    store: StoreUrl = "",
) -> None:
    """Bring an old history, with its own ingest times, into a new system.

    The file is CSV with a line of titles if its name ends in .csv, else JSON Lines.
    The columns are key, event, ingest, operation (insert or delete) and value. If
    anything is wrong with it, the line is told and nothing of it is left in the store.
    """
    rows = History(file)
    lines = iter(rows)
    with rows.told():
        first = list(islice(lines, 1))  # before a store, and an ELSA, are made for it
    began = time.monotonic()
    with connect(store) as repository, counter(f"loading {file}") as advance, rows.told():
        opened = elsa.open(repository, name)

        def counted() -> Any:
            for number, row in enumerate(chain(first, lines), 1):
                if not number % _MOST:
                    advance(_MOST)
                yield row

        count = opened.system(system).load(counted())
    print(f"{system}: {count:,} versions loaded in {time.monotonic() - began:.1f} s")


def stats(
    system: Annotated[str | None, typer.Argument(metavar="[SYSTEM]", help="Of all, if not given.")] = None,
    name: Name = "elsa",
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """Count keys and versions of systems, as of the stable time; reads all of them."""
    with connect(store, create=False) as repository, counter("counting") as advance:
        opened = elsa.open(repository, name, create=False)
        found = [_counted(opened, one, advance) for one in ([system] if system else opened.systems())]
    if as_json:
        print(json.dumps(found))
    elif found:
        titles = list(found[0])
        lines = [[_cell(title, line[title]) for title in titles] for line in found]
        print_grid(titles, lines, numbers=("keys", "versions", "deletes", "forgotten"))


def timeline(
    system: System,
    key: Key,
    out: Annotated[Path, typer.Option("--out", metavar="FILE.svg", help="The picture to write.", show_default=False)],
    event: Event = None,
    ingest: Ingest = None,
    token: TokenText = None,
    name: Name = "elsa",
    store: StoreUrl = "",
) -> None:
    """Draw the history of a record: event time against ingest time, each version as an area.

    With --event and --ingest, or a token, the question that they ask is drawn into it
    as a point, and its answer is told. The picture shows all that is known now.
    """
    output.check(out)
    with connect(store, create=False) as repository:
        opened = elsa.open(repository, name, create=False)
        versions = opened.system(system).history(key)
        if not versions:
            raise Refused(f"there is no record {key!r} in {system}, so there is nothing to draw")
        query = None
        if event is not None or ingest is not None or token is not None:
            times = _times(opened, event, ingest, token)
            known = times.ingest_of(system)
            query = (min(times.event, max(known, max(version.event for version in versions))), known)
        text = picture(f"{system}: {key}", versions, query)
    with output.opened(out) as stream:
        stream.write(text.encode())


def _times(store: elsa.ElsaStore, event: str | None, ingest: str | None, token: str | None) -> elsa.Token:
    """What is asked, as a token. Whether its ingest time is stable is found when it is used."""
    if token is not None:
        if event is not None or ingest is not None:
            raise Refused("--token has an event and an ingest time already; leave out --event and --ingest")
        return store.parsed(token)
    until: Any = None if event is None else parsed(event)
    if until == STABLE:
        raise Refused("--event stable makes no sense; stable is an ingest time")
    known = STABLE if ingest is None else parsed(ingest)
    base = store.token(event=until)
    return base if isinstance(known, str) else attrs.evolve(base, ingest=micros("--ingest", known))


def _counted(store: elsa.ElsaStore, system: str, advance: Any) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    events, ingests = [LAST, -LAST], [LAST, -LAST]
    last = None
    for key, entry in store.system(system).versions():
        counts["keys"] += key != last
        counts["versions"] += 1
        counts["deletes"] += entry.retracted
        last = key
        events = [min(events[0], entry.event), max(events[1], entry.event)]
        ingests = [min(ingests[0], entry.ingest or 0), max(ingests[1], entry.ingest or 0)]
        if not counts["versions"] % _MOST:
            advance(_MOST)
    there = counts["versions"] > 0
    return {
        "system": system,
        **{what: counts[what] for what in ("keys", "versions", "deletes")},
        "first event": events[0] if there else None,
        "last event": events[1] if there else None,
        "first ingest": ingests[0] if there else None,
        "last ingest": ingests[1] if there else None,
        "forgotten": len(store.system(system).audit()),
    }


def _cell(title: str, value: Any) -> str:
    if value is None:
        return ""
    return told(value) if title.endswith(("event", "ingest")) else f"{value:,}" if isinstance(value, int) else value


def _plain(version: elsa.Version) -> dict[str, Any]:
    return {
        "key": version.key,
        "event": version.event,
        "ingest": version.ingest,
        "operation": version.operation,
        "value": _json(version.value),
    }


def _json(value: Any) -> Any:
    """What JSON has of a value: bytes in hex, an element as the class and the features it was stored with."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    return elsa.described(value) if isinstance(value, nm.Element) else value
