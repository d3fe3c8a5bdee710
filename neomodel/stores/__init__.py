"""Where rows are kept: the contract, the stores that fulfil it, and `open_store` to get one by URL."""

from importlib import import_module
from os import PathLike
from typing import Any

from neomodel.errors import InvalidStore
from neomodel.stores.base import (
    ALWAYS_FITS,
    VERSION,
    Cell,
    Cells,
    Mutation,
    Region,
    Row,
    Store,
    Table,
    Version,
    ensured,
)
from neomodel.stores.versions import is_by, signed, successor

__all__ = [
    "ALWAYS_FITS",
    "VERSION",
    "Cell",
    "Cells",
    "Mutation",
    "Region",
    "Row",
    "Store",
    "Table",
    "Version",
    "ensured",
    "is_by",
    "open_store",
    "signed",
    "successor",
]

_MODULES = {
    "lmdb": "neomodel.stores.lmdb",
    "hbase": "neomodel.stores.hbase",
    "memory": "neomodel.stores.memory",
}


def open_store(url: str, *, create: bool = True) -> Store:
    """The store at `url`: ``lmdb:FOLDER`` or ``memory:``, made if it is not there unless `create` is false, or
    ``hbase://HOST:PORT...`` (see `neomodel.stores.hbase_url`).

    Imports the driver of that store and no other. Raises `InvalidStore` if the URL names no store.
    """
    scheme, colon, rest = _text(url).partition(":")
    if not colon or scheme not in _MODULES:
        from neomodel.stores.hbase_url import hidden

        meant = "" if colon or not url else f"; for a folder write lmdb:{hidden(url)}"
        raise InvalidStore(
            hidden(url), f"the URL must start with {' or '.join(f'{name}:' for name in _MODULES)}{meant}"
        )
    store: Store = import_module(_MODULES[scheme]).open_url(url, rest, create=create)
    return store


def _text(url: Any) -> str:
    if isinstance(url, str):
        return url
    named = f"lmdb:{url}" if isinstance(url, PathLike) else "lmdb:my.db"
    raise InvalidStore(str(url), f"the URL must be text such as {named!r}, and not a {type(url).__name__}")
