"""Asks a person how to correct failing cells, one after another: `neomodel anna fix`."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import neomodel as nm
from metamodels.anna import Actions, Failure, Operation, applying
from metamodels.anna.actions import Action, retracted
from metamodels.anna.operations import NAMES
from metamodels.anna.suggestions import still
from metamodels.anna.types import written
from neomodel.cli.frame import visible
from neomodel.cli.grid import print_grid

T = TypeVar("T")
_SKIP, _QUIT, _ALWAYS = "skip", "quit", "always"


class _Skipped(Exception):
    """This cell is left as it is."""


class _Ended(Exception):
    """The person has had enough."""


class Fixing:
    """A walk through failing cells of a run. Each answer is checked when it is given, and asked for again if it can't
    be right; an action is stored when the person has seen what comes of it and says so."""

    def __init__(self, actions: Actions, run: str, who: str | None) -> None:
        self._actions = actions
        self._run = run
        self._who = who
        self._stored = 0

    def walk(self, failures: Sequence[Failure]) -> None:
        """Ask about each, until the person quits; says at the end how many actions were stored."""
        there = self._actions.as_of()
        gone = retracted(there)
        try:
            for number, failure in enumerate(failures, 1):
                same = [one for one in there if (one.step, one.row) == (failure.step, failure.row)]
                touched = {one.column for one in same if one.operation is not None and one.name not in gone}
                told = f"step {failure.step}, row {' '.join(failure.row)}: {failure.check}"
                print(f"\n{number} of {len(failures)}: {visible(told)}")
                try:
                    self._fix(failure, touched)
                except _Skipped:
                    continue
        except (_Ended, EOFError):
            print()
        print(f"{self._stored} of {len(failures)} cells corrected; the next run of {self._actions.process} has it")

    def _fix(self, failure: Failure, touched: set[str]) -> None:
        _show(failure)
        operation = self._operation(failure)
        precondition = self._precondition(failure, touched)
        why = _asked("reason", lambda given: given if given.strip() else _wrong("a reason is needed"))
        result = _preview(failure, operation)
        print(f"  {failure.column}: {_text(failure.values.get(failure.column))} -> {result}")
        print(f"  if {precondition or 'always'}")
        if _asked("store it? [yes, no]", _yes):
            self._store(failure, operation, precondition, why)
            self._stored += 1

    def _store(self, failure: Failure, operation: Operation, precondition: str | None, why: str) -> None:
        made = self._actions.add(
            run=self._run, step=failure.step, row=failure.row, column=failure.column, operation=operation,
            precondition=precondition, who=self._who, why=why,
        )  # fmt: skip
        print(f"  stored as {made.id}")

    def _operation(self, failure: Failure) -> Operation:
        """One that the column can have, and that gives this cell a value."""
        kind = failure.types[failure.column]

        def name(given: str) -> str:
            return given if given in NAMES else _wrong(f"there are {', '.join(NAMES)}")

        def value(given: str) -> Operation:
            made = Operation(chosen, given)
            if made.shape(kind) is None:
                _wrong(f"{made} can't be done on {failure.column}, which is {kind}")
            return _possible(failure, made)

        while True:
            chosen = _asked(f"operation [{', '.join(NAMES)}; {_SKIP}, {_QUIT}]", name)
            if chosen == "set-null":
                return Operation(chosen)
            cell = failure.values.get(failure.column)
            if cell is not None or chosen == "set":
                return _asked(f"value ({kind})", value)
            print(f"  {failure.column} is null, so there is nothing to {chosen}; set gives it a value")

    def _precondition(self, failure: Failure, touched: set[str]) -> str | None:
        """One that holds of this row, as far as it can be known: conditions are tested before any action, and what is
        shown is the row after them."""
        suggested: str | None = None
        if failure.column in touched:
            print(f"  {failure.column} was corrected before; preconditions are tested on what was there before that")
        else:
            suggested = still(failure.column, failure.values.get(failure.column), failure.types[failure.column])

        def checked(given: str) -> str | None:
            if given == _ALWAYS or not (given or suggested):
                return None
            text = given or suggested or ""
            typed = applying.typed(text, failure.types, failure.keys)
            columns = {node.value for node in typed.root.walk() if node.op == "column"}
            known = not typed.lookups and not columns & touched and columns <= set(failure.values)
            if known and typed.python(failure.values) is not True:
                _wrong("it does not hold of this row, so the action would never be applied")
            return text

        return _asked(
            f"only if [{suggested or _ALWAYS}]" + (f" ({_ALWAYS}: no matter what)" if suggested else ""), checked
        )


def _show(failure: Failure) -> None:
    """The row, with a mark at the cell."""
    names = [*failure.keys, *(name for name in failure.types if name not in failure.keys)]
    lines = [
        ["->" if name == failure.column else "", name, str(failure.types[name]), _text(failure.values.get(name))]
        for name in names
        if name in failure.values
    ]
    print_grid(["", "column", "type", "value"], lines)


def _text(value: Any) -> str:
    return "null" if value is None else visible(written(value))


def _possible(failure: Failure, operation: Operation) -> Operation:
    if _tried(failure, operation) != applying.APPLIED:
        _wrong(f"{operation} has no result that fits {failure.column}")
    return operation


def _preview(failure: Failure, operation: Operation) -> str:
    rows, _ = _applied(failure, operation)
    return _text(rows[0][failure.column])


def _tried(failure: Failure, operation: Operation) -> str:
    return next(iter(_applied(failure, operation)[1].values())).outcome


def _applied(failure: Failure, operation: Operation) -> tuple[list[dict[str, Any]], dict[str, applying.Outcome]]:
    """What the action does to this row, by the code that all actions are held to."""
    action = Action(
        id="preview", process="", run="", step=failure.step, row=failure.row, column=failure.column, event=0, ingest=0,
        sequence=0, operation=operation, precondition=None, who="", why="",
    )  # fmt: skip
    row = {name: failure.values.get(name) for name in failure.types}
    return applying.applied([row], failure.types, failure.keys, [action])


# asking


class _Wrong(Exception):
    """An answer that can't be right, and why."""


def _wrong(why: str) -> NoReturn:
    raise _Wrong(why)


def _yes(given: str) -> bool:
    answers = {"y": True, "yes": True, "": True, "n": False, "no": False}
    return answers[given.lower()] if given.lower() in answers else _wrong("yes or no")


def _asked(question: str, checked: Callable[[str], T]) -> T:
    """The answer to a question, asked until it is one. `skip` and `quit` are answers to all of them."""
    while True:
        given = input(f"  {question}: ")
        if given == _QUIT:
            raise _Ended
        if given == _SKIP:
            raise _Skipped
        try:
            return checked(given)
        except _Wrong as exc:
            print(f"  {exc}")
        except (nm.InvalidValue, nm.InvalidCondition) as exc:
            print(f"  {visible(str(exc))}")
