"""Rows on their way to the table of a model, many at a time, while the next ones are being made."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import Any

from neomodel import ids, layout, trees
from neomodel.errors import InvalidFile
from neomodel.kinds import EFeature
from neomodel.long_cells import MANY, Growing, in_parts
from neomodel.model import Model
from neomodel.states import encode
from neomodel.stores import Cells, Mutation
from neomodel.xmi.spool import Spool

CELLS = 40_000
"""How many wait to be written at once: a store takes longer for many small batches."""

_ROOT = ids.ROOT.encode()
_CLAIMS = 10_000  # ids that are asked for at once
_SCATTERED = 3  # cells that an extent counts for besides: each lies elsewhere, and takes a page until it is written


class RowWriting:
    """Writes rows nobody else can know yet, one batch at a time in a thread of its own: what goes wrong with one is
    told when the next one is sent. `sent` is called with each batch; `written` gets the ids, of the row of the roots
    with the columns."""

    def __init__(self, model: Model, sent: Callable[[], None], written: Spool | None = None) -> None:
        self._model = model
        self._written = written
        self._sent = sent
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="neomodel-rows")
        self._under_way: Future[None] | None = None
        self._waiting: list[Mutation] = []
        self._claimed: dict[bytes, InvalidFile] = {}
        self._room = CELLS
        self.rows = 0
        """How many were sent."""

    def claim(self, oid: str, fault: InvalidFile) -> None:
        """Raise that before a row of this id is written, if the model has such an object. A read for many of them."""
        self._claimed[oid.encode()] = fault
        if len(self._claimed) >= _CLAIMS:
            self._check_claims()

    def _check_claims(self) -> None:
        if self._claimed:
            claimed, self._claimed = self._claimed, {}
            there = self._model.table.get_many(claimed, columns=layout.TYPE)
            for key, fault in claimed.items():
                if layout.ECLASS in there.get(key, {}):
                    raise fault

    def put(self, oid: str, cells: Cells) -> None:
        self._waiting.append(Mutation(oid.encode(), cells))
        self._room -= len(cells)
        if self._room <= 0:
            self._send()

    def put_parts(self, oid: str, cells: Cells) -> None:
        """Cells of which there may be very many; they don't count alone."""
        for mutation in in_parts(oid.encode(), cells) if len(cells) > MANY else [Mutation(oid.encode(), cells)]:
            self._room -= _SCATTERED * len(mutation.cells)
            self.put(oid, mutation.cells)

    def flush(self) -> None:
        """Have all written."""
        self._send()
        self._arrive()

    def close(self) -> None:
        """Let what is under way arrive, or fail: somebody who knows that it is all over waits for no answer."""
        self._thread.shutdown()
        self._under_way = None

    def _arrive(self) -> None:
        if self._under_way is not None:
            under_way, self._under_way = self._under_way, None
            under_way.result()
            self._model.outdated()

    def _send(self) -> None:
        self._check_claims()
        if self._waiting:
            self._arrive()
            self._model.writable()
            if self._written is not None:
                for key, cells, _ in self._waiting:
                    columns = list(cells) if key == _ROOT else []
                    self._written.add((key.decode(), columns), 1 + len(columns) // 100)
            self._under_way = self._thread.submit(self._model.table.put_many, self._waiting)
            self.rows += len(self._waiting)
            self._waiting = []
            self._room = CELLS
        self._sent()

    def held(self, oid: str, feature: EFeature, raws: Iterable[Any]) -> Cells:
        """The cells of what a collection holds, however much that is; extents are written here."""
        remaining = iter(raws)
        first = list(islice(remaining, trees.LIMITS.inline + 1))
        if len(first) <= trees.LIMITS.inline:
            return encode(feature, first)
        return {feature.column: self.growing(oid, feature, chain(first, remaining)).root()}

    def growing(self, oid: str, feature: EFeature, raws: Iterable[Any]) -> Growing:
        """A collection that is long already, and grows."""
        made = Growing(feature, lambda cells: self.put_parts(oid, cells))
        made.extend(raws)
        return made
