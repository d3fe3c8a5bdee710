"""Models made of others by the rules of a transformation."""

import enum
import json
from collections.abc import Callable
from typing import Annotated, Any

import attrs
import typer

import neomodel as nm
from neomodel.cli.frame import AsJson, Refused, StoreUrl, model_names
from neomodel.cli.grid import print_grid
from neomodel.cli.loading import loaded
from neomodel.cli.models import check_there
from neomodel.cli.progress import shares
from neomodel.declare import DECLARED
from neomodel.repository import connect


class Engine(enum.StrEnum):
    """Who applies the rules."""

    local = "local"
    spark = "spark"


def transform(
    transformation: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:NAME", help="A transformation, and the module it is in: a.b:rules.", show_default=False
        ),
    ],
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="The model to read.", show_default=False, autocompletion=model_names),
    ],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The model to make.", show_default=False)],
    engine: Annotated[Engine, typer.Option("--engine", help="In this process, or in the tasks of a Spark.")] = (
        Engine.local
    ),
    incremental: Annotated[
        bool, typer.Option("--incremental", help="Bring a model up to date that an earlier run has made.")
    ] = False,
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """Make a model of another one by the rules of a transformation. If it fails, nothing of the model is left.

    Modules are looked for where Python does, and in the current folder. Metamodels that are declared in Python with the
    rules are registered. Every region of the source is a part of the work.

    With --json one object is printed:
    - token, target, engine, began, seconds: which run it was.
    - elements: objects of the source; results: those made of them, roots among them.
    - applications: how many, by rule.
    - remote_share: of the rows that rules read, those outside of their own part (null where nobody counts).
    - parts: each has start, stop, host, elements, results, applications, local and remote reads, seconds.
    """
    if incremental and engine is Engine.spark:
        raise Refused("what has changed is done again in this process; leave --engine spark or --incremental out")
    rules = loaded(transformation, nm.Transformation, "transformation", "MODULE:NAME, such as package.module:rules")
    with connect(store, create=False) as repository:
        check_there(repository, source)
        if incremental:
            check_there(repository, target, otherwise="leave --incremental out to make it")
        _register(rules, repository)
        do = _runner(rules, repository.open(source), target, engine, incremental)
        regions = len(repository.store.table(source).regions())
        with shares(f"transforming {source}", "objects", regions) as progress:
            run = do(progress)
    if as_json:
        print(json.dumps({**attrs.asdict(run), "remote_share": _share(run)}))
    elif incremental and not (run.elements or run.results):
        print(f"{run.target}: nothing has changed in {source} since the last run")
    else:
        _print(run, source)


def _runner(
    rules: nm.Transformation, source: nm.Model, target: str, engine: Engine, incremental: bool
) -> Callable[[Callable[[int, float], None]], nm.Run]:
    """What does the run that is asked for, and tells how far it is. A Spark has been started, and has said what it has
    to say."""
    if incremental:
        return lambda _: nm.retransform(rules, source, target)
    if engine is Engine.local:
        return lambda progress: nm.transform(rules, source, target, progress=progress)
    import spark

    session = spark.session(f"neomodel transform {rules.name}")
    return lambda progress: spark.transform(session, rules, source, target, progress=progress)


def _register(rules: nm.Transformation, repository: nm.Repository) -> None:
    """Register the metamodels that the rules name by classes of Python, if they are not."""
    kinds = {kind for rule in rules.rules.values() for kind in (rule.source, *(one.kind for one in rule.outputs))}
    named = {kind.rpartition("#")[0] for kind in kinds}
    missing = named & DECLARED.keys() - set(repository.metamodels())
    if missing:
        repository.register(*(DECLARED[ns_uri] for ns_uri in sorted(missing)))


# telling


def _share(run: nm.Run) -> float | None:
    return run.remote_share if run.local_reads + run.remote_reads else None


def _print(run: nm.Run, source: str) -> None:
    lines: list[list[Any]] = [[rule, f"{count:,}"] for rule, count in run.applications.items()]
    print_grid(["rule", "applications"], lines, numbers=["applications"])
    share = _share(run)
    if share is not None:
        print(f"{share:.1%} of {run.local_reads + run.remote_reads:,} reads were remote")
    rate = run.elements / max(run.seconds, 0.001)
    print(
        f"{run.target}: {run.results:,} objects of {run.elements:,} in {source}, "
        f"{run.seconds:.1f} s, {rate:,.0f} objects/s"
    )
