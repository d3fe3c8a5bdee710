"""Files of XMI into a model."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from neomodel.cli.frame import Interrupted, Refused, StoreUrl, say
from neomodel.cli.models import check_there, opened_for
from neomodel.cli.progress import shares
from neomodel.repository import Repository, connect
from neomodel.xmi.source import check_files


def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.xmi", help="What to read.", show_default=False)],
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="The model's name.", show_default=False)],
    metamodel: Annotated[
        list[Path] | None,
        typer.Option(
            "--metamodel",
            metavar="FILE.ecore",
            help="Its metamodel; may be repeated. Not needed if it is registered.",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse what is odd, instead of telling it.")] = False,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Keep aside what the metamodel has no place for, instead of refusing it.")
    ] = False,
    add: Annotated[
        bool,
        typer.Option("--add", help="Add to a model that is there; what waited for these files finds them."),
    ] = False,
    store: StoreUrl = "",
) -> None:
    """Read .xmi files into a new model, in constant memory. They may refer to one another, in any order.

    What is odd is told on stderr, with file and line. If the import fails, nothing of the model is left;
    the metamodels that were given stay registered, and a store that was made for it stays.
    One .json file, as PyEcore has it, is read the same way, into a new model; for small ones.
    """
    is_json = len(files) == 1 and files[0].suffix.lower() == ".json"
    if is_json and (add or lenient):
        raise Refused(f"--{'add' if add else 'lenient'} is for files of XMI; {files[0]} is read whole, or refused")
    check_files(files)  # before a store is made for it, and metamodels are registered
    check_files(metamodel or ())
    opened = opened_for(metamodel, store, strict=strict) if metamodel and not add else connect(store, create=not add)
    with opened as repository:
        if add:
            check_there(repository, model, otherwise="leave --add out to make it")
        with _undone(repository, model, add=add), shares(f"importing {model}", "elements") as advance:
            if is_json:
                done = repository.import_json(files[0], model=model, metamodel=metamodel or ())
            else:
                done = repository.import_xmi(
                    *files,
                    model=model,
                    metamodel=metamodel or (),
                    strict=strict,
                    lenient=lenient,
                    add=add,
                    progress=advance,
                )
    for notice in done.notices:
        say(str(notice))
    rate = done.elements / max(done.seconds, 0.001)
    print(
        f"{done.model}: {done.elements:,} elements, {done.references:,} references, "
        f"{done.seconds:.1f} s, {rate:,.0f} elements/s"
    )


@contextmanager
def _undone(repository: Repository, model: str, *, add: bool) -> Iterator[None]:
    """Tell who interrupts an import that nothing of it is left, where that is so."""
    try:
        yield
    except KeyboardInterrupt:
        if add or model in repository.store.tables():
            raise
        raise Interrupted(f"interrupted; nothing of model {model!r} is left") from None
