"""Writes that are to be done as a whole: put down before the first of them, so that who finds them can finish them."""

import base64
import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

import attrs

from neomodel.errors import Conflict
from neomodel.model import Model
from neomodel.rules.runs import TABLE
from neomodel.stores import VERSION, Mutation, successor

_PAGE = 500  # mutations in a cell
_HEAD, _WRITES = b"p:head", b"p:writes"


@attrs.frozen
class Entry:
    """What was put down last: a number of pages of writes, and what else is to be done; or that all is done."""

    version: bytes | None
    pages: int = 0
    about: dict[str, Any] | None = None


class Journal:
    """The writes to one model that are under way: at most one entry at a time."""

    def __init__(self, target: Model) -> None:
        self._target = target
        self._table = target.repository.store.table(TABLE)
        created = target.repository.catalogue.created(target.name)  # another one may get its name
        self._key = f"~{target.name}#{created or 0}#".encode()

    def entry(self) -> Entry:
        """What is to be done, if anything is. One read."""
        row = self._table.get(self._key) or {}
        head = json.loads(row[_HEAD]) if _HEAD in row else {}
        return Entry(row.get(VERSION), **head)

    def put(self, since: Entry, about: dict[str, Any], mutations: Iterable[Mutation]) -> None:
        """Put down what is to be written, when all that was before is done; from then on it counts. `Conflict`, and
        nothing is put down, if there was another entry since: what that wrote is not known in these."""
        assert since.about is None
        version = successor(since.version)
        remaining = iter(mutations)
        pages = 0
        while page := list(islice(remaining, _PAGE)):
            cells = {_WRITES: json.dumps([_stored(one) for one in page]).encode(), VERSION: successor(None)}
            self._table.put_many([Mutation(self._page_key(version, pages), cells)])
            pages += 1
        head = json.dumps({"pages": pages, "about": about}).encode()
        if not self._table.swap(self._key, since.version, {_HEAD: head, VERSION: version}):
            self._forget(version, pages)
            found = self.entry().version
            raise Conflict(f"what is made in {self._target.name}", _told(since.version), _told(found))

    def replay(self, entry: Entry) -> bool:
        """Write all that was put down. Done twice, it is as done once. Once somebody else has done it all no more is
        written, and the answer is False; but for a page of who looked before that, and writes it only after another
        entry was done: nothing keeps it from being written over that. Two reads and a write for 500 writes."""
        for number in range(entry.pages):
            row = self._table.get(self._page_key(entry.version, number)) or {}
            if self.entry() != entry:
                return False
            self._target.put([_loaded(one) for one in json.loads(row[_WRITES])])
        return self.entry() == entry

    def erase(self, entry: Entry) -> None:
        """It is all done."""
        if self._table.swap(self._key, entry.version, {_HEAD: None, VERSION: successor(entry.version)}):
            self._forget(entry.version, entry.pages)

    def _forget(self, version: bytes | None, pages: int) -> None:
        gone: dict[bytes, bytes | None] = {_WRITES: None, VERSION: None}
        self._table.put_many(Mutation(self._page_key(version, number), gone) for number in range(pages))

    def _page_key(self, version: bytes | None, number: int) -> bytes:
        return b"%s%s#%08d" % (self._key, version or b"", number)


def _stored(mutation: Mutation) -> list[Any]:
    return [
        _text(mutation.key),
        {_text(column): None if value is None else _text(value) for column, value in mutation.cells.items()},
    ]


def _loaded(stored: list[Any]) -> Mutation:
    key, cells = stored
    return Mutation(
        _bytes(key), {_bytes(column): None if value is None else _bytes(value) for column, value in cells.items()}
    )


def _told(version: bytes | None) -> str:
    return "none" if version is None else version.decode()


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
