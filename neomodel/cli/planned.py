"""Commands whose engine is not there yet: what they will take and do. `app.py` says what each is waiting for."""

from pathlib import Path
from typing import Annotated

import typer

from neomodel.cli.frame import ModelName, StoreUrl


def export(
    name: ModelName,
    out: Annotated[Path, typer.Argument(metavar="OUT.xmi", help="The file to write.", show_default=False)],
    store: StoreUrl = "",
) -> None:
    """Write a model to one .xmi file, without loss and in constant memory."""


def register(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE.ecore", help="The metamodels to read.", show_default=False)
    ],
    store: StoreUrl = "",
) -> None:
    """Store metamodels, or a new version of them, beside the models."""
