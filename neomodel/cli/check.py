"""Whether a model is whole: what an interrupted change has left in it, and what nothing of ours can have written."""

import json
from typing import Annotated

import attrs
import typer

from neomodel.checking import check as check_model
from neomodel.cli.frame import AsJson, ModelName, StoreUrl, visible
from neomodel.cli.models import check_there
from neomodel.cli.progress import counter
from neomodel.findings import Report
from neomodel.repository import connect


def check(
    name: ModelName,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what an interrupted change has left.")] = False,
    patience: Annotated[
        float | None,
        typer.Option(
            "--patience",
            metavar="SECONDS",
            min=0,
            help="Mend what stays wrong for so long; otherwise 2 s, or as long as the store lets a write take.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="Show at most so many findings.")] = 100,
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """Look for what an interrupted change has left behind in a model, and for damage; mend the former if asked to.

    Reads all of it, once or, with --repair, until there is nothing to mend.
    Safe while others write: what looks wrong is looked at once more before it is told or mended.
    Ends with status 0 if nothing is wrong any more, else with 1.

    With --json one object is printed:
    - model: the name; objects: how many there are; number: how many findings; left: how many are not mended.
    - findings: each has kind, oid, feature (or null), sentence and mended; at most --limit of them.
    """
    with connect(store, create=False) as repository:
        check_there(repository, name)
        with counter(f"checking {name}") as advance:
            report = check_model(repository.open(name), repair=repair, patience=patience, progress=advance)
    if as_json:
        print(json.dumps(_as_json(report, limit)))
    else:
        _print(report, limit, repair=repair)
    if not report.clean:
        raise typer.Exit(1)


def _as_json(report: Report, limit: int) -> dict[str, object]:
    findings = [attrs.asdict(finding) for finding in report.findings[:limit]]
    return {
        "model": report.model,
        "objects": report.objects,
        "number": report.number,
        "left": report.left,
        "findings": findings,
    }


def _print(report: Report, limit: int, *, repair: bool) -> None:
    for finding in report.findings[:limit]:
        print(visible(f"{finding.kind}{' (mended)' if finding.mended else ''}: {finding.sentence}"))
    if report.number > limit:
        print(f"… {report.number - limit:,} more; --limit shows them")
    mended = f", {report.number - report.left:,} mended" if repair else ""
    left = "nothing is wrong" if report.clean else f"{report.left:,} left"
    print(f"{report.objects:,} objects, {report.number:,} findings{mended}: {left}")
