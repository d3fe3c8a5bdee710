"""Commands whose engine is not there yet: what they will take and do. `app.py` says what each is waiting for."""

from pathlib import Path
from typing import Annotated

import typer

from neomodel.cli.frame import ModelName, StoreUrl


def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.xmi", help="What to read.", show_default=False)],
    metamodel: Annotated[
        list[Path],
        typer.Option("--metamodel", metavar="FILE.ecore", help="Its metamodel; may be repeated.", show_default=False),
    ],
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="The new model's name.", show_default=False)],
    store: StoreUrl = "",
) -> None:
    """Read .xmi files into a new model, in constant memory."""


def export(
    name: ModelName,
    out: Annotated[Path, typer.Argument(metavar="OUT.xmi", help="The file to write.", show_default=False)],
    store: StoreUrl = "",
) -> None:
    """Write a model to one .xmi file, without loss and in constant memory."""
