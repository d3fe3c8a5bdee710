"""Cells that failed a check in a run, with their rows: what `neomodel anna fix` walks through.

The stored form is JSON with a version: rows as texts by column, which their types read back.
"""

import json
import time
from collections.abc import Sequence
from typing import Any

import attrs

import neomodel as nm
from metamodels.anna.records import LastRun
from metamodels.anna.types import Type, read, type_of, written
from neomodel.times import LAST

VERSION = 1
MOST = 1000
"""Failing cells that are kept of a run."""


@attrs.frozen
class Failure:
    """A cell that failed `check` in the output of a step: in the row with that key, which has these values."""

    step: str
    row: tuple[str, ...]
    column: str
    check: str
    keys: tuple[str, ...]
    values: dict[str, Any] = attrs.field(hash=False)
    types: dict[str, Type] = attrs.field(hash=False)


class Failures:
    """What failed in the runs of a process; made by `AnnaStore.failures`."""

    def __init__(self, model: nm.Model, process: str) -> None:
        self.process = process
        self._ledger = nm.Ledger(model, LastRun, "failures")

    def record(self, run: str, failures: Sequence[Failure]) -> None:
        """Have it on record what failed in a run, the first thousand of it. A read and a swap."""
        stored = {"version": VERSION, "run": run, "failures": [_stored(one) for one in failures[:MOST]]}
        written_ = json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode()
        self._ledger.write(nm.Fact(self.process, time.time_ns() // 1000, written_))

    def last(self) -> tuple[str, list[Failure]] | None:
        """The run that was recorded last, and what failed in it; None if none was. One seek."""
        found = self._ledger.at(self.process, ingest=LAST)
        if found is None or found.retracted:
            return None
        stored = json.loads(found.value)
        if stored["version"] != VERSION:
            raise nm.InvalidValue("the version of stored failures", stored["version"], f"{VERSION}; update neomodel")
        return stored["run"], [_failure(one) for one in stored["failures"]]


def _stored(failure: Failure) -> dict[str, Any]:
    """Values of types that are only known by name are left out: nobody can compute with them."""
    plain = {name: value for name, value in failure.values.items() if not _opaque(failure.types[name])}
    return {
        "step": failure.step,
        "row": list(failure.row),
        "column": failure.column,
        "check": failure.check,
        "keys": list(failure.keys),
        "values": {name: None if value is None else written(value) for name, value in plain.items()},
        "types": {name: str(kind) for name, kind in failure.types.items()},
    }


def _opaque(kind: Type) -> bool:
    return kind.name.startswith("other ")


def _failure(stored: dict[str, Any]) -> Failure:
    types = {name: type_of(text) for name, text in stored["types"].items()}
    values = {name: None if text is None else _value(types[name], text) for name, text in stored["values"].items()}
    row, keys = tuple(stored["row"]), tuple(stored["keys"])
    return Failure(stored["step"], row, stored["column"], stored["check"], keys, values, types)


def _value(kind: Type, text: str) -> Any:
    return float(text) if kind.name == "double" else read(kind, text)  # which has NaN and infinities, too
