"""Manual actions: kept for ever, read as of two times, and taken back by actions of their own."""

import getpass
import json
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

import neomodel as nm
from metamodels.anna import conditions
from metamodels.anna.operations import Operation, operation
from metamodels.anna.records import ManualAction, compound, parts_of
from metamodels.anna.types import written
from metamodels.elsa.versions import event_time
from neomodel.times import LAST, Time, micros

if TYPE_CHECKING:
    from metamodels.anna.store import AnnaStore

VERSION = 1
_LONGEST = 120
"""Bytes of process, run, step and id of an action together."""


@attrs.frozen
class Action:
    """A change of one cell of the output of a step, done again whenever it is computed; or, with `retracts`, the end of
    another action. `event` and `ingest` are microseconds since the epoch."""

    id: str
    process: str
    run: str
    step: str
    row: tuple[str, ...]
    column: str
    event: int
    ingest: int
    sequence: int
    operation: Operation | None
    precondition: str | None
    who: str
    why: str
    retracts: str | None = None

    @property
    def order(self) -> tuple[int, int, int, str]:
        """Where it comes among others."""
        return self.event, self.ingest, self.sequence, self.id

    @property
    def name(self) -> tuple[str, str]:
        """What tells it from the others of its process: its step and its id."""
        return self.step, self.id


class Actions:
    """The manual actions of a process; made by `AnnaStore.actions`. Costs nothing to make."""

    def __init__(self, store: "AnnaStore", process: str) -> None:
        _check_text("the name of a process", process)
        self.process = process
        self._store = store
        self._ledger = nm.Ledger(store.model, ManualAction, "said")

    def __repr__(self) -> str:
        return f"<actions of {self.process!r} in {self._store!r}>"

    # writing

    def add(
        self,
        *,
        run: Any,
        step: str,
        row: Any,
        column: str,
        operation: Any,
        precondition: str | None = None,
        why: str,
        who: str | None = None,
        event: Time | None = None,
        id: str | None = None,  # noqa: A002  what it is called everywhere
    ) -> Action:
        """Keep an action: whenever the step is computed, the cell in that row and column is changed by the operation if
        the precondition holds of the row. `row` has the key of the row, text or a tuple; `event` is when it was
        decided, by default now. An action that may be told twice, after a crash or an `nm.OutcomeUnknown`, carries an
        id, which no other action on the step has: told again it changes nothing. Two look-ups and a write; with an
        id, a scan of the process's actions more."""
        told = {"run": run, "step": step, "row": row, "column": column, "operation": operation}
        told |= {"precondition": precondition, "why": why, "who": who, "event": event, "id": id}
        return self.add_many([told])[0]

    def add_many(self, rows: Iterable[Mapping[str, Any]]) -> list[Action]:
        """Keep many actions, each with what `add` takes, in the order given: all are seen as stable at once. If one is
        wrong none is written. Some calls for some thousand."""
        told = list(rows)
        made = [self._made(number, row) for number, row in enumerate(told)]
        self._check_ids([one for one, row in zip(made, told, strict=True) if row.get("id") is not None])
        return self._written(made)

    def retract(
        self,
        action: str,
        *,
        step: str | None = None,
        why: str,
        who: str | None = None,
        event: Time | None = None,
        id: str | None = None,  # noqa: A002  what it is called everywhere
    ) -> Action:
        """From now on, or from another event time on, the action of that id is not applied any more. That is an action,
        too, which can be retracted itself. If actions on several steps have the id, `step` says which is meant. One
        scan to find it, and a write."""
        named = [one for one in self._known(LAST, LAST) if one.id == action]
        meant = [one for one in named if step is None or one.step == step]
        if len(meant) != 1:
            steps = ", ".join(one.step for one in named)
            listed = f"the id of one; `neomodel anna actions {self.process}` lists them"
            expected = f"one that is meant alone: there is one on {steps}; name its step" if named else listed
            raise nm.InvalidValue(f"an action of {self.process!r}", action, expected)
        (found,) = meant
        told = {**_target(found), "operation": None, "why": why, "who": who, "event": event, "id": id}
        made = attrs.evolve(self._made(0, told), retracts=found.id)
        self._check_ids([made] if id is not None else [])
        return self._written([made])[0]

    def _made(self, sequence: int, told: Mapping[str, Any]) -> Action:
        unknown = set(told) - _FIELDS
        if unknown:
            raise nm.InvalidValue("a field of an action", sorted(unknown)[0], f"one of {', '.join(sorted(_FIELDS))}")
        missing = _NEEDED - set(told)
        if missing:
            raise nm.InvalidValue("an action", dict(told), f"one that also has {', '.join(sorted(missing))}")
        named, event = told.get("id"), told.get("event")
        made = Action(
            secrets.token_hex(8) if named is None else named,
            self.process,
            str(told["run"]) if isinstance(told["run"], int) else told["run"],
            told["step"],
            _row(told["row"]),
            told["column"],
            event_time("an action", time.time_ns() // 1000 if event is None else event),
            0,
            sequence,
            None if told["operation"] is None else operation(told["operation"]),
            told.get("precondition") or None,
            told.get("who") or getpass.getuser(),
            told["why"],
        )
        for name in ("id", "run", "step", "column", "who", "why"):
            _check_text(f"the {name} of an action", getattr(made, name))
        if made.precondition is not None:
            conditions.parse(made.precondition)
        if len(_key(made).encode()) > _LONGEST:
            expected = f"shorter ones: all four of an action are at most {_LONGEST - 4} bytes"
            raise nm.InvalidValue("process, run, step and id", parts_of(_key(made)), expected)
        return made

    def _check_ids(self, named: list[Action]) -> None:
        """Refuse an id that another action on the same step has, of whatever run: outcomes are told by it. One scan, if
        there are any to check."""
        keys = {one.name: _key(one) for one in named}
        for one in self._known(LAST, LAST) if named else ():
            if keys.get(one.name, _key(one)) != _key(one):
                expected = f"another one than that of an action of run {one.run}"
                raise nm.InvalidValue(f"the id of an action on step {one.step!r} of {self.process!r}", one.id, expected)

    def _written(self, made: list[Action]) -> list[Action]:
        """Those that are not there already are written; with the times that they got."""
        keys = {_key(one): one for one in made}
        if len({one.name for one in made}) < len(made):
            raise nm.InvalidValue("the ids of actions", [one.id for one in made][:20], "a different one for each")
        there = self._ledger.at_many(keys, ingest=LAST)
        for key, entry in there.items():
            found = _action(key, entry)
            if _told(found) != {**_told(keys[key]), "sequence": found.sequence}:  # among others it may come elsewhere
                raise nm.InvalidValue(f"an action of {self.process!r} with the id {found.id!r}", _told(keys[key]),
                                      "what was told by this id before; take another id")  # fmt: skip
        new = [nm.Fact(key, one.event, _stored(one)) for key, one in keys.items() if key not in there]
        if len(new) == 1:
            self._ledger.write(new[0])
        elif new:
            self._ledger.write_many(new)
        entries = self._ledger.at_many(keys, ingest=LAST)
        return [_action(key, entries[key]) for key in keys]

    # reading

    def as_of(
        self,
        *,
        event: Time | None = None,
        ingest: Time | None = None,
        run: Any = None,
        step: str | None = None,
        wait: bool | float = False,
    ) -> list[Action]:
        """All actions up to an event time, as known at an ingest time, by default the stable one: those that were
        retracted, and retractions, too. In the order of event time, ingest time, and as they were told. One scan. A
        later ingest time than the stable one raises `NotStable`, or is waited for."""
        until = LAST if event is None else micros("event", event, first=-LAST)
        known = self._store.stable() if ingest is None else micros("ingest", ingest)
        self._store.check_stable(known, wait=wait)
        found = self._known(until, known, *([] if run is None else [str(run)]))
        return [one for one in found if step is None or one.step == step]

    def _known(self, event: int, ingest: int, *run: str) -> list[Action]:
        rows = self._ledger.bounds(compound(self.process, *run))
        found = [_action(key, entry) for key, entry in self._ledger.scan(rows, event=event, ingest=ingest)]
        return sorted(found, key=lambda one: one.order)


_NEEDED = {"run", "step", "row", "column", "operation", "why"}
_FIELDS = _NEEDED | {"precondition", "who", "event", "id"}


def retracted(actions: Iterable[Action]) -> set[tuple[str, str]]:
    """Step and id of those of them that others of them retract which are not retracted themselves: by the latest first,
    since what retracts was told after what it retracts."""
    gone: set[tuple[str, str]] = set()
    for one in sorted(actions, key=lambda one: (one.ingest, one.sequence), reverse=True):
        if one.retracts is not None and one.name not in gone:
            gone.add((one.step, one.retracts))
    return gone


def _row(given: Any) -> tuple[str, ...]:
    parts = tuple(map(written, given if isinstance(given, tuple | list) else (given,)))
    if not parts:
        raise nm.InvalidValue("the key of a row", given, "text, or a tuple with a text for each column of it")
    for part in parts:
        _check_text("a part of the key of a row", part, empty=True)
    return parts


def _check_text(what: str, given: Any, *, empty: bool = False) -> None:
    try:
        if isinstance(given, str) and (given.strip() or empty):
            given.encode()
            return
    except UnicodeEncodeError:
        pass
    raise nm.InvalidValue(what, given, "text" if empty else "text that is not empty")


def _target(action: Action) -> dict[str, Any]:
    return {"run": action.run, "step": action.step, "row": action.row, "column": action.column}


def _key(action: Action) -> str:
    return compound(action.process, action.run, action.step, action.id)


def _told(action: Action) -> dict[str, Any]:
    """What is stored of it beside its key and its times."""
    return {
        "version": VERSION,
        "sequence": action.sequence,
        "row": list(action.row),
        "column": action.column,
        "operation": None if action.operation is None else action.operation.json(),
        "precondition": action.precondition,
        "who": action.who,
        "why": action.why,
        "retracts": action.retracts,
    }


def _stored(action: Action) -> bytes:
    return json.dumps(_told(action), ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def _action(key: str, entry: nm.Entry) -> Action:
    told = json.loads(entry.value)
    if told["version"] != VERSION:
        raise nm.InvalidValue(
            f"the version of the stored action {key!r}", told["version"], f"{VERSION}; update neomodel"
        )
    process, run, step, named = parts_of(key)
    return Action(
        named,
        process,
        run,
        step,
        tuple(told["row"]),
        told["column"],
        entry.event,
        entry.ingest or 0,
        told["sequence"],
        None if told["operation"] is None else Operation.of_json(told["operation"]),
        told["precondition"],
        told["who"],
        told["why"],
        told["retracts"],
    )
