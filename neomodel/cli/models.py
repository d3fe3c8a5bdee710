"""Commands on whole models and metamodels: which there are, away with one."""

import datetime
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from neomodel.cli.frame import AsJson, ModelName, Refused, StoreUrl, say
from neomodel.cli.grid import print_grid
from neomodel.errors import InvalidStore, near
from neomodel.metamodel import Class, Package
from neomodel.repository import Repository, connect


def models(store: StoreUrl = "", as_json: AsJson = False) -> None:
    """List the models there are, one name a line. With --json: a list of names.

    Unfinished imports are told on stderr.
    """
    with connect(store, create=False) as repository:
        names = repository.models()
        unfinished = repository.imports.names()
    for name in unfinished:
        say(f"{name} is an unfinished import; import it again, or drop it")
    if as_json:
        print(json.dumps(names))
    else:
        print(*names, sep="\n", end="\n" if names else "")


def register(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE.ecore", help="The metamodels to read.", show_default=False)
    ],
    store: StoreUrl = "",
    strict: Annotated[bool, typer.Option("--strict", help="Refuse files that there is something odd about.")] = False,
) -> None:
    """Store metamodels, or a new version of them, beside the models.

    Files may refer to one another if they are given together, and to metamodels
    that are registered already. What is odd about a file is told on stderr, with
    its line, and with what was made of it.
    """
    notices: list[str] = []
    with opened_for(files, store, strict=strict) as repository:
        found = repository.register(*files, strict=strict, on_notice=lambda notice: notices.append(str(notice)))
    for notice in notices:
        say(notice)
    for package in found if isinstance(found, list) else [found]:
        print(f"{package.nsURI}: {_counted(package.value)}")


def opened_for(files: list[Path], store: str, *, strict: bool) -> Repository:
    """The repository, made if it is not there; but not for metamodels that make no sense."""
    try:
        return connect(store, create=False)
    except InvalidStore:
        from neomodel.xmi.ecore_reading import read_ecore

        read_ecore(*files, strict=strict)
        return connect(store)


def metamodels(store: StoreUrl = "", as_json: AsJson = False) -> None:
    """List the metamodels that are registered: the newest version of each, and since when it is there.

    With --json a list of objects is printed; each has ns_uri, name, classes
    (how many), version (a number) and registered (a time).
    """
    with connect(store, create=False) as repository:
        found = [_described(*repository.registry.versions(ns_uri)[-1]) for ns_uri in repository.metamodels()]
    if as_json:
        print(json.dumps(found))
    elif found:
        lines = [[str(value) for value in line.values()] for line in found]
        print_grid(list(found[0]), lines, numbers=("classes", "version"))


def _classes(package: Package) -> int:
    return sum(isinstance(kind, Class) for part in package.with_subpackages() for kind in part.classifiers)


def _counted(package: Package) -> str:
    count = _classes(package)
    return f"{count} class{'' if count == 1 else 'es'}"


def _described(version: int, time: int, package: Package) -> dict[str, Any]:
    since = datetime.datetime.fromtimestamp(time // 1_000_000, datetime.UTC)
    return {
        "ns_uri": package.ns_uri,
        "name": package.name,
        "classes": _classes(package),
        "version": version,
        "registered": since.isoformat().replace("+00:00", "Z"),
    }


def drop(
    name: ModelName,
    store: StoreUrl = "",
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Remove a model and all its history. Asks first."""
    with connect(store, create=False) as repository:
        check_there(repository, name)
        if not yes and not (sys.stdin and sys.stdin.isatty()):
            raise Refused(f"`drop {name}` would ask first, but stdin is no terminal; say --yes if you are sure")
        if not yes and not _confirmed(f"Drop {name!r} and all its history from {store}?"):
            say("nothing was dropped")
            raise typer.Exit(1)
        repository.drop(name)


def check_there(
    repository: Repository, name: str, *, otherwise: str = "`neomodel models` lists those there are"
) -> None:
    """Return if there is a model of that name, else refuse with the nearest that is, or what to do otherwise."""
    names = repository.models()
    if name not in names and name not in repository.imports.names():
        hint = near(name, names) or f"; {otherwise}"
        raise Refused(f"there is no model {name!r} in {repository.store.url}{hint}")


def _confirmed(question: str) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = ""
    try:
        answer = sys.stdin.readline()
    finally:
        if not answer.endswith("\n"):  # Ctrl-C or Ctrl-D: what is said next begins on a line of its own
            print(file=sys.stderr)
    return answer.strip().lower() in ("y", "yes")
