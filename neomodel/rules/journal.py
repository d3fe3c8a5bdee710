"""Writes that are to be done as a whole: put down before the first of them, so that who finds them can finish them."""

import base64
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from neomodel.errors import TableNotFound
from neomodel.model import Model
from neomodel.rules.runs import FAMILIES, TABLE
from neomodel.stores import VERSION, Mutation, ensured, successor

_PAGE = 500  # mutations in a cell
_HEAD, _WRITES = b"p:head", b"p:writes"


class Journal:
    """The writes to one model that are under way."""

    def __init__(self, target: Model) -> None:
        self._target = target
        self._table = target.repository.store.table(TABLE)
        self._prefix = f"~{target.name}#"

    def put(self, head: dict[str, Any], mutations: Iterable[Mutation]) -> None:
        """Put down what is to be written; from then on it counts. `head` says what else is to be done."""
        remaining = iter(mutations)
        number = 0
        while page := list(islice(remaining, _PAGE)):
            cells = {_WRITES: json.dumps([_stored(one) for one in page]).encode(), VERSION: successor(None)}
            self._write([Mutation(self._key(number), cells)])
            number += 1
        about = json.dumps({**head, "pages": number}).encode()
        self._write([Mutation(f"{self._prefix}".encode(), {_HEAD: about, VERSION: successor(None)})])

    def head(self) -> dict[str, Any] | None:
        """What is to be done, if anything is. One read."""
        try:
            row = self._table.get(self._prefix.encode()) or {}
        except TableNotFound:
            return None
        return json.loads(row[_HEAD]) if _HEAD in row else None

    def replay(self) -> None:
        """Write all that was put down. Done twice, it is as done once."""
        head = self.head()
        for number in range(head["pages"] if head else 0):
            self._target.put(list(self._page(number)))

    def erase(self) -> None:
        """It is all done."""
        head = self.head()
        if head is not None:
            self._write([Mutation(self._prefix.encode(), {_HEAD: None, VERSION: None})])
            pages = range(head["pages"])
            self._write([Mutation(self._key(number), {_WRITES: None, VERSION: None}) for number in pages])

    def _page(self, number: int) -> Iterator[Mutation]:
        row = self._table.get(self._key(number)) or {}
        yield from (_loaded(one) for one in json.loads(row[_WRITES]))

    def _key(self, number: int) -> bytes:
        return f"{self._prefix}{number:08}".encode()

    def _write(self, mutations: list[Mutation]) -> None:
        try:
            self._table.put_many(mutations)
        except TableNotFound:
            ensured(self._table, FAMILIES)
            self._table.put_many(mutations)


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


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
