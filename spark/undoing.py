"""Undoing a job: what it wrote is taken back, row by row, to what was there before it.

Every write of a job to a row is a version of that row that carries the job's token. So the history of the model since
the job began tells which rows it wrote, which of their cells, and what those held before. What somebody else has
written to a row since is left as it is.
"""

from collections.abc import Callable, Iterator
from itertools import groupby, islice

import attrs

from neomodel import ids, layout
from neomodel.mirrors import drop_tokens
from neomodel.model import Model
from neomodel.stores import VERSION, Cells, Mutation, Version, is_by

_PAGE = 500  # rows
_ROOT = ids.ROOT.encode()


@attrs.frozen
class _Touched:
    """A row that the job wrote to, with all that anybody wrote to it since, the newest of each column first."""

    key: bytes
    columns: dict[bytes, list[Version]]
    times: set[int]
    """Those of the job's writes."""

    @property
    def is_overwritten(self) -> bool:
        """Whether somebody else has written to it after the job."""
        return self.columns[VERSION][0].time not in self.times

    def before(self, column: bytes, then: Cells) -> bytes | None:
        """What a cell held before the job wrote to it."""
        first = min(one.time for one in self.columns[column] if one.time in self.times)
        earlier = (one.value for one in self.columns[column] if one.time not in self.times and one.time < first)
        return next(earlier, then.get(column))

    def restoring(self, then: Cells) -> dict[bytes, bytes | None]:
        """The cells that take back what the job wrote."""
        ours = {column for column, found in self.columns.items() if any(one.time in self.times for one in found)}
        if self.key != _ROOT and layout.ECLASS in ours and self.before(layout.ECLASS, then) is None:
            return {column: None for column, found in self.columns.items() if found[0].value is not None}
        last = {column for column in ours if self.columns[column][0].time in self.times}
        if self.is_overwritten:
            last = {column for column in last if not column.startswith(layout.TYPE[0])}
        return {column: self.before(column, then) for column in last}


def undo_rows(
    model: Model, token: str, since: int, *, chosen: Callable[[bytes], bool] = lambda _: True
) -> Iterator[str]:
    """Take back what a job wrote to the rows that are chosen; yields their ids. One pass over the history since then,
    for each 500 rows a read and a write. Doing it again changes nothing."""
    overwritten: list[str] = []
    touched = (row for row in _touched(model, token, since) if chosen(row.key))
    while page := list(islice(touched, _PAGE)):
        columns = {column for row in page for column in row.columns}
        then = model.table.get_many([row.key for row in page], at=since, columns=columns)
        restored = [(row.key, row.restoring(then.get(row.key, {}))) for row in page]
        model.put(Mutation(key, cells) for key, cells in restored if cells)
        overwritten += [row.key.decode() for row in page if row.is_overwritten]
        yield from (row.key.decode() for row in page)
    for oid in overwritten:
        _let_go(model, oid)


def _touched(model: Model, token: str, since: int) -> Iterator[_Touched]:
    for key, versions in groupby(model.table.history(since=since), key=lambda version: version.key):
        columns = {column: list(found) for column, found in groupby(versions, key=lambda version: version.column)}
        times = {one.time for one in columns.get(VERSION, ()) if is_by(one.value, token)}
        if times:
            yield _Touched(key, columns, times)


def _let_go(model: Model, oid: str) -> None:
    """Let an object that somebody else has changed meanwhile list nothing, and refer to nothing that mirrors it, of
    what is not there any more. A read, and a swap for each feature that did."""
    if oid not in model and oid != ids.ROOT:
        return
    obj = model.element(oid)
    state = obj._neo
    for feature in (*state.kind.containments, *state.kind.mirrored):
        raw = state.raw(feature)
        named = list(raw) if feature.many else [raw] if isinstance(raw, str) else []
        held = ids.local(named)
        there = model.table.get_many([one.encode() for one in held], columns=layout.TYPE) if held else {}
        gone = {one for one in held if one.encode() not in there}
        if gone:
            drop_tokens(obj, feature, gone)
