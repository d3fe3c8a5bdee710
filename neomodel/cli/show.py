"""`neomodel show`: a model as a tree of objects, or as rows where it holds none that can be read."""

import itertools
import json
from typing import Annotated

import typer

from neomodel import ids, layout
from neomodel.cli import tree_json, tree_text
from neomodel.cli.frame import AsJson, AsOf, ModelName, Refused, StoreUrl, say
from neomodel.cli.models import check_there
from neomodel.cli.rows import row_as_json, row_lines
from neomodel.cli.text import key_of, plain
from neomodel.cli.tree import DEEPEST, Branch, grown, paged
from neomodel.errors import CorruptRow, InvalidValue
from neomodel.model import Model
from neomodel.repository import Repository, connect
from neomodel.stores import Row
from neomodel.stores.base import ORDERED
from neomodel.times import parsed


def show(
    name: ModelName,
    oid: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Show this object and what is in it; a row's key may be 0x and hex digits."),
    ] = None,
    store: StoreUrl = "",
    depth: Annotated[
        int,
        typer.Option("--depth", metavar="N", min=0, max=DEEPEST, help="Go N levels down from the top."),
    ] = DEEPEST,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Show at most N objects.")] = 20,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Print a model's objects as a tree: each with its attributes, its references, then what it contains.

    Of large collections the first ones are shown, and how many more there are.
    Text is in quotes, long values are cut.
    What is no object of a registered metamodel is shown as the row it is.

    With --json one object is printed, with values whole:
    - model: the name.
    - objects: each has class, ns_uri, id, the names of timelines that have
      entries, and by name its attributes, references and children (objects
      again); left_out has how many children
      of which features are not shown. A reference has class, ns_uri and id;
      model, if it leads to another; missing, if it leads nowhere.
      An object that is shown as its row has why and cells instead.
    - rows: what is no object; each has key and cells.
      What is no text is {"hex": ...}.
    """
    with connect(store, create=False) as repository:
        check_there(repository, name)
        model = _opened(repository, name, as_of)
        if oid is None:
            _show_model(model, limit=limit, depth=depth, as_json=as_json)
        else:
            _show_one(model, oid, limit=limit, depth=depth, as_json=as_json)


def _opened(repository: Repository, name: str, as_of: str | None) -> Model:
    if as_of is not None:
        return repository.open(name, as_of=parsed(as_of))
    # As of one moment, where times tell what happened before it; else the newest rows could seem to lie ahead.
    if ORDERED in repository.store.capabilities:
        return repository.open(name, as_of=repository.store.table(name).now(), unstable=True)
    return repository.open(name)


def _show_model(model: Model, *, limit: int, depth: int, as_json: bool) -> None:
    root = model.table.get(ids.ROOT.encode(), at=model.as_of, columns=_narrow(model))
    if root is not None:
        try:
            total = len(model.roots)
        except (CorruptRow, InvalidValue):
            say(f"the row {ids.ROOT} of {model.name!r} does not list the roots of a model, so rows are shown")
        else:
            _show_tree(model, grown(paged(model.roots), total, limit=limit, depth=depth), as_json=as_json)
            return
    rows = list(itertools.islice(model.table.scan(at=model.as_of, columns=_narrow(model)), limit + 1))
    if not rows:
        say(f"model {model.name!r} has no objects")
    elif root is None:
        say(f"{model.name!r} has no roots: it was not written as a model, so its rows are shown")
    _show_rows(model, rows[:limit], as_json=as_json)
    if len(rows) > limit:
        say(f"only the first {limit} rows are shown; --limit N shows more")


def _narrow(model: Model) -> tuple[bytes, ...]:
    """The columns of a row that is not too wide to be shown: all but extents."""
    return tuple(sorted(f"{family}:".encode() for family in model.table.families() if family != layout.EXTENT))


def _show_one(model: Model, oid: str, *, limit: int, depth: int, as_json: bool) -> None:
    key = key_of(oid)
    row = model.table.get(key, at=model.as_of, columns=_narrow(model))
    if row is None:
        raise Refused(
            f"there is no object {oid!r} in model {model.name!r} of {model.repository.store.url}; "
            f"`neomodel show {model.name}` shows some"
        )
    text = plain(key)
    if isinstance(text, str) and text != ids.ROOT and layout.ECLASS in row:
        _show_tree(model, grown([model[text]], 1, limit=limit, depth=depth), as_json=as_json)
    else:
        say(f"{oid!r} is no object of a model, so the row is shown")
        _show_rows(model, [(key, row)], as_json=as_json)


def _show_tree(model: Model, trunk: Branch, *, as_json: bool) -> None:
    if as_json:
        objects = tree_json.objects(model, trunk)
        print(json.dumps({"model": model.name, "objects": objects, "rows": []}))
    else:
        for line in tree_text.lines(model, trunk):
            print(line)
    if not trunk.shown:
        say(f"model {model.name!r} has no objects")
    nodes = list(trunk.nodes())
    for why in dict.fromkeys(node.why for node in nodes if node.why):
        say(f"some objects are shown as rows: {why}")
    branches = [trunk, *(branch for node in nodes for branch in node.branches)]
    if any(len(branch.shown) < branch.total for branch in branches):
        say(f"objects shown: {len(nodes)}; --limit N shows more, `neomodel show {model.name} ID` what is in one")


def _show_rows(model: Model, rows: list[tuple[bytes, Row]], *, as_json: bool) -> None:
    if as_json:
        found = [row_as_json(key, row) for key, row in rows]
        print(json.dumps({"model": model.name, "objects": [], "rows": found}))
    elif rows:
        print("\n\n".join("\n".join(row_lines(key, row)) for key, row in rows))
