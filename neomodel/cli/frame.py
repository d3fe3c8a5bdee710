"""What all commands share: how they are declared, where `--store` comes from, how they end early."""

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from neomodel.cli import INTERRUPTED
from neomodel.errors import NeomodelError

DEFAULT_STORE = "lmdb:neomodel.db"


class Refused(Exception):
    """Ends a command with its exit status and this sentence."""

    status = 2


class Interrupted(Refused):
    """Ends a command that can say what it has left, as somebody has interrupted it."""

    status = INTERRUPTED


def say(sentence: str) -> None:
    """One line on stderr. Control characters are shown, not obeyed: some of the text came from outside."""
    print(f"neomodel: {visible(' '.join(sentence.split()))}", file=sys.stderr)


def visible(text: str) -> str:
    """The text with control characters, and others that can't be seen, escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def _store_url(context: typer.Context, given: str) -> str:
    before_the_command: str = context.find_root().params.get("store", "")
    found = given or before_the_command or os.environ.get("NEOMODEL_STORE", DEFAULT_STORE)
    if not found:
        raise Refused("$NEOMODEL_STORE is empty; have it name a store, such as lmdb:models.db, or unset it")
    return found


def _given(context: typer.Context, store: str) -> str:
    """Refuses an empty `--store`, as "$(neomodel cluster url)" is where no HBase runs: the default is not meant."""
    source = context.get_parameter_source("store")
    if not store and source is not None and source.name == "COMMANDLINE":
        raise Refused("--store is empty; name a store, such as lmdb:models.db, or leave it out")
    return store


def _given_or_default(context: typer.Context, store: str) -> str:
    return _store_url(context, _given(context, store))


_STORE_HELP = f"Which store: lmdb:FOLDER or hbase://HOST:PORT,...; otherwise $NEOMODEL_STORE, else {DEFAULT_STORE}."

StoreBefore = Annotated[
    str, typer.Option("--store", metavar="URL", help=_STORE_HELP, show_default=False, callback=_given)
]
"""`--store` before the command."""

StoreUrl = Annotated[
    str, typer.Option("--store", metavar="URL", help=_STORE_HELP, show_default=False, callback=_given_or_default)
]
"""`--store` of a command: what is given there, else before the command, else the default. Never empty."""


def model_names(context: typer.Context, incomplete: str) -> list[str]:
    """For a shell that completes a name: the models there are; none where there is no store that answers."""
    from neomodel.repository import connect

    try:
        with connect(_store_url(context, context.params.get("store") or ""), create=False) as repository:
            return [name for name in repository.models() if name.startswith(incomplete)]
    except (Refused, NeomodelError):
        return []


ModelName = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The model's name.", show_default=False, autocompletion=model_names),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="T",
        help="As it was at that time: 2024-05-01T12:00:00+02:00, microseconds since the epoch, or stable.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def as_usual(command: Any) -> None:
    """Let a command, and those below it, take `-h` for `--help`, an option that Typer makes when options are asked for
    the first time: here. And let its help name flags alone: Typer writes `<bool>` beside them."""
    for parameter in command.get_params(typer.Context(command, help_option_names=["-h", "--help"])):
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    for below in getattr(command, "commands", {}).values():
        as_usual(below)


class Commands:
    """Declares commands on a Typer app, each with its examples."""

    def __init__(self, app: typer.Typer) -> None:
        self._app = app

    def add(
        self,
        function: Callable[..., None],
        *examples: str,
        name: str | None = None,
        panel: str | None = None,
    ) -> None:
        """The command `name` (the function's own, if None)."""
        name = name or function.__name__
        epilog = "\n".join(["Example:" if len(examples) == 1 else "Examples:", *(f"$ {line}" for line in examples)])
        self._app.command(name, rich_help_panel=panel, epilog=epilog)(function)
