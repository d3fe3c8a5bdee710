"""Commands whose engine is not there yet: what they will take and do. `app.py` says what each is waiting for."""

from pathlib import Path
from typing import Annotated

import typer

from neomodel.cli.frame import StoreUrl


def register(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE.ecore", help="The metamodels to read.", show_default=False)
    ],
    store: StoreUrl = "",
) -> None:
    """Store metamodels, or a new version of them, beside the models."""
