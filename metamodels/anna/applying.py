"""Manual actions applied to rows, in plain Python: what `spark/corrections.py` must do, written to be read.

Preconditions are tested on the rows as they are given, before any action. Those actions on one cell whose precondition
holds are done one after another, in their order; one that sets the cell makes those before it superseded, which then
are not done at all. Every action ends in exactly one outcome.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

import neomodel as nm
from metamodels.anna import conditions
from metamodels.anna.actions import Action, retracted
from metamodels.anna.conditions import FAILED, Condition, Lookup, Node
from metamodels.anna.conditions.evaluating import PARAMETERS, compiled
from metamodels.anna.operations import CELL
from metamodels.anna.types import Type, read

APPLIED = "applied"
NOT_MET = "precondition not met"
NO_TARGET = "target missing"
NO_COLUMN = "column missing or of another type"
ERROR = "error"
SUPERSEDED = "superseded"
RETRACTED = "retracted"
OUTCOMES = (APPLIED, NOT_MET, NO_TARGET, NO_COLUMN, ERROR, SUPERSEDED, RETRACTED)

CONDITION_FAILED = "the precondition can't be computed for this row"
OPERATION_FAILED = "the cell is null, or the operation has no result that fits it"

Row = dict[str, Any]
Key = tuple[Any, ...]


@attrs.frozen
class Outcome:
    """What became of an action, one of `OUTCOMES`, and why if that does not say it."""

    outcome: str
    detail: str | None = None


@attrs.frozen
class Ready:
    """An action that can be tried: its row as values of the key's types, its precondition, None if it has none, as
    `prepared` was told to read it; and its cell's new value, as a tree with parameters."""

    action: Action
    key: Key
    condition: Any
    tree: Node
    values: tuple[Any, ...]

    @property
    def replacing(self) -> bool:
        return self.action.operation is not None and self.action.operation.replacing


def prepared(
    types: Mapping[str, Type], keys: Sequence[str], actions: Iterable[Action], read_: Callable[[str], Any]
) -> tuple[list[Ready], dict[str, Outcome]]:
    """The actions that have to be tried, in order, and the outcomes of all others, which no row has a say in. `read_`
    makes something of the text of a precondition, or raises `InvalidCondition`."""
    ordered = sorted(actions, key=lambda one: one.order)
    gone, known = retracted(ordered), {one.id for one in ordered}
    if len(known) < len(ordered):
        expected = f"as many as there are actions, {len(ordered)}"
        raise nm.InvalidValue("the number of different ids of actions", len(known), expected)
    ready: list[Ready] = []
    settled: dict[str, Outcome] = {}
    for one in ordered:
        found = _settled(one, gone, known) or _prepared(one, types, keys, read_)
        if isinstance(found, Outcome):
            settled[one.id] = found
        else:
            ready.append(found)
    return ready, settled


def _settled(action: Action, gone: set[tuple[str, str]], known: set[str]) -> Outcome | None:
    if action.name in gone:
        return Outcome(RETRACTED)
    if action.retracts is None:
        return None
    return Outcome(APPLIED) if action.retracts in known else Outcome(NO_TARGET, f"there is no action {action.retracts}")


def _prepared(
    action: Action, types: Mapping[str, Type], keys: Sequence[str], read_: Callable[[str], Any]
) -> Ready | Outcome:
    kind = types.get(action.column)
    if kind is None:
        return Outcome(NO_COLUMN, f"there is no column {action.column!r}")
    if action.column in keys:
        return Outcome(NO_COLUMN, f"{action.column!r} is part of the key")
    assert action.operation is not None
    shape = action.operation.shape(kind)
    if shape is None:
        return Outcome(NO_COLUMN, f"{action.operation} can't be done on {kind}")
    try:
        condition = None if action.precondition is None else read_(action.precondition)
    except nm.InvalidCondition as exc:
        return Outcome(ERROR, str(exc))
    key = key_of(action.row, types, keys)
    return Outcome(NO_TARGET) if key is None else Ready(action, key, condition, *shape)


def typed(text: str, types: Mapping[str, Type], keys: Sequence[str]) -> Condition:
    """The condition over these rows; `InvalidCondition` if it is none, or looks up what can't be a row of them."""
    found = conditions.parse(text).typed(types)
    for one in found.lookups:
        if len(one.row) != len(keys):
            raise nm.InvalidCondition(text, f"it looks up {one.row!r}, which is no row: the key is {', '.join(keys)}")
    return found


def key_of(row: Sequence[str], types: Mapping[str, Type], keys: Sequence[str]) -> Key | None:
    """The values that a key of texts has; None if no row can have it."""
    if len(row) != len(keys):
        return None
    try:
        return tuple(read(types[name], text) for name, text in zip(keys, row, strict=True))
    except ValueError:
        return None


def lookup_key(lookup: Lookup, types: Mapping[str, Type], keys: Sequence[str]) -> Key | None:
    return key_of(lookup.row, types, keys)


# trying


def applied(
    rows: Iterable[Row], types: Mapping[str, Type], keys: Sequence[str], actions: Iterable[Action]
) -> tuple[list[Row], dict[str, Outcome]]:
    """The rows, corrected, and the outcome of every action by its id. Keys are unique."""
    given = {tuple(row[name] for name in keys): row for row in rows}
    ready, outcomes = prepared(types, keys, actions, lambda text: typed(text, types, keys))
    cells = _looked_up(given, types, keys, ready)
    by_cell: dict[tuple[Key, str], list[Ready]] = defaultdict(list)
    for one in ready:
        row = given.get(one.key)
        if row is None:
            outcomes[one.action.id] = Outcome(NO_TARGET)
            continue
        found = True if one.condition is None else one.condition.resolved(cells).python(row)
        if found is True:
            by_cell[one.key, one.action.column].append(one)
        else:
            outcomes[one.action.id] = Outcome(ERROR, CONDITION_FAILED) if found is FAILED else Outcome(NOT_MET)
    corrected = {key: dict(row) for key, row in given.items()}
    for (key, column), met in by_cell.items():
        corrected[key][column] = _changed(given[key][column], met, outcomes)
    return list(corrected.values()), outcomes


def _looked_up(
    given: Mapping[Key, Row], types: Mapping[str, Type], keys: Sequence[str], ready: Iterable[Ready]
) -> dict[Lookup, Any]:
    wanted = {lookup for one in ready if one.condition is not None for lookup in one.condition.lookups}
    found: dict[Lookup, Any] = {}
    for lookup in wanted:
        key = lookup_key(lookup, types, keys)
        found[lookup] = None if key is None else given.get(key, {}).get(lookup.column)
    return found


def _changed(value: Any, met: Sequence[Ready], outcomes: dict[str, Outcome]) -> Any:
    """The value of a cell after actions whose preconditions hold."""
    last = max((at for at, one in enumerate(met) if one.replacing), default=0)
    for one in met[:last]:
        outcomes[one.action.id] = Outcome(SUPERSEDED)
    for one in met[last:]:
        found = compiled(one.tree)({CELL: value, PARAMETERS: one.values})
        failed = found is FAILED or (found is None and not one.replacing)
        outcomes[one.action.id] = Outcome(ERROR, OPERATION_FAILED) if failed else Outcome(APPLIED)
        value = value if failed else found
    return value
