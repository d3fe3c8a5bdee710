"""Runs of transformations: what the store has on record of each, by the model it made.

The table `TABLE` has a row for each run, whose key is the model's name and the time it began; ``!`` + name +
version for each transformation that ever ran, which says by which rules; and ``?`` + model for a run on several hosts
that is under way.
"""

import hashlib
import json
import secrets
from typing import Any

import attrs

from neomodel.errors import InvalidValue, JobEnded, TableNotFound
from neomodel.rules.definition import Transformation
from neomodel.rules.part import Tally
from neomodel.stores import VERSION, Cells, Mutation, Store, Version, ensured, successor

TABLE = "_runs"
FAMILIES = "pt"
APPLYING, SETTLING = "applying", "settling"
_RUN, _RULES, _STATE = b"p:run", b"p:rules", b"p:state"


@attrs.frozen
class Token:
    """What a run is made of: a version of a transformation, a model and a time. The same one always gives the same
    rows. As text it can be kept, and parsed."""

    transformation: str
    version: str
    source: str
    at: int

    def __str__(self) -> str:
        return json.dumps([self.transformation, self.version, self.source, self.at], separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> "Token":
        try:
            transformation, version, source, at = json.loads(text)
        except (ValueError, TypeError) as exc:
            raise InvalidValue("the token of a run", text, "one that a run has told") from exc
        if not isinstance(at, int):
            raise InvalidValue("the token of a run", text, "one that a run has told")
        return cls(transformation, version, source, at)

    @property
    def row_version(self) -> bytes:
        """The version of all rows that it gives."""
        return b"1-" + hashlib.sha256(str(self).encode()).hexdigest()[:12].encode()


@attrs.frozen
class Run:
    """A run that is complete, or the report of one that was not to be, if there are `failures`."""

    token: str
    target: str
    engine: str
    began: int
    seconds: float
    elements: int
    results: int
    roots: int
    settled: int
    """Results to which other parts contributed."""
    applications: dict[str, int]
    parts: list[dict[str, Any]]
    recording: bool
    """Whether it was written down what each application read."""
    constants: dict[str, str]
    failures: list[str] = attrs.field(factory=list)

    @property
    def local_reads(self) -> int:
        return sum(part["local"] for part in self.parts)

    @property
    def remote_reads(self) -> int:
        return sum(part["remote"] for part in self.parts)

    @property
    def remote_share(self) -> float:
        """Of all rows that were read, those of other parts."""
        return self.remote_reads / ((self.local_reads + self.remote_reads) or 1)


def summed(tallies: list[Tally]) -> dict[str, Any]:
    """The figures of all parts together."""
    applications: dict[str, int] = {}
    for tally in tallies:
        for rule, count in tally.applications.items():
            applications[rule] = applications.get(rule, 0) + count
    parts = [attrs.asdict(tally, filter=lambda field, _: field.name != "failures") for tally in tallies]
    return {
        "elements": sum(tally.elements for tally in tallies),
        "results": sum(tally.results for tally in tallies),
        "applications": applications,
        "parts": parts,
        "failures": [str(failure) for tally in tallies for failure in tally.failures],
    }


class Runs:
    """The runs on record in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._table = store.table(TABLE)

    def add(self, run: Run) -> None:
        cells = {_RUN: json.dumps(attrs.asdict(run)).encode(), VERSION: successor(None)}
        self._put(f"{run.target}#{run.began:020}", cells)

    # runs that are under way

    def begin(self, target: str) -> str:
        """Put on record that somebody writes to a model; what tells him from those who did before."""
        attempt = secrets.token_hex(6)
        self._put(f"?{target}", {_STATE: f"{attempt} {APPLYING}".encode(), VERSION: successor(None)})
        return attempt

    def settle(self, target: str, attempt: str) -> None:
        """All parts are written: from now on nobody writes them again."""
        self.state(target, attempt)
        self._put(f"?{target}", {_STATE: f"{attempt} {SETTLING}".encode(), VERSION: successor(None)})

    def state(self, target: str, attempt: str) -> str:
        """What is being done; `JobEnded` if somebody else has begun since, or it is over. One read."""
        row = self._table.get(f"?{target}".encode()) or {}
        found, _, state = row.get(_STATE, b"").decode().partition(" ")
        if found != attempt:
            raise JobEnded(attempt, target, self._store.url, "has ended")
        return state

    def end(self, target: str) -> None:
        self._put(f"?{target}", {_STATE: None, VERSION: None})

    # those that are complete

    def of(self, target: str, since: int | None, until: int | None = None) -> list[Run]:
        """The runs that made a model of that name, the latest last: those on record since a time and, but for the
        first, which has made all of it, until another. One scan."""
        start = f"{target}#".encode()
        try:
            told = list(self._table.history(start, start + b":", columns=[_RUN]))
        except TableNotFound:
            return []
        newest: dict[bytes, Version] = {}
        for one in told:
            if one.value and one.time >= (since or 0):
                newest.setdefault(one.key, one)  # who finishes a run that was cut short may put it on record again
        return [
            Run(**json.loads(one.value or b""))
            for number, one in enumerate(newest.values())
            if number == 0 or until is None or one.time <= until
        ]

    def register(self, transformation: Transformation) -> None:
        """Put a version of a transformation on record; `InvalidValue` if there is another under its name. A read, and a
        write if it is new."""
        key = f"!{transformation.name}#{transformation.version}"
        try:
            row = self._table.get(key.encode()) or {}
        except TableNotFound:
            row = {}
        about = {"digest": transformation.digest, "rules": _described(transformation)}
        if _RULES not in row:
            self._put(key, {_RULES: json.dumps(about).encode(), VERSION: successor(None)})
        elif json.loads(row[_RULES])["digest"] != about["digest"]:
            what = f"version {transformation.version} of transformation {transformation.name}"
            raise InvalidValue(
                what, "not what ran under that name in this store", "another version, since its text differs"
            )

    def registered(self) -> dict[str, dict[str, Any]]:
        """What is on record of transformations, by name and version. One scan."""
        try:
            rows = list(self._table.scan(b"!", b'"'))
        except TableNotFound:
            return {}
        return {key.decode()[1:]: json.loads(row[_RULES]) for key, row in rows if _RULES in row}

    def _put(self, key: str, cells: Cells) -> None:
        mutation = Mutation(key.encode(), cells)
        try:
            self._table.put_many([mutation])
        except TableNotFound:
            ensured(self._table, FAMILIES)
            self._table.put_many([mutation])


def runs(model: Any) -> list[Run]:
    """The runs that made a model, the latest last; not those of one that had its name before. Of a model as of a time,
    those that were on record then. One scan and a read."""
    created = model.repository.catalogue.created(model.name)
    return Runs(model.repository.store).of(model.name, created, model.as_of)


def _described(transformation: Transformation) -> list[dict[str, Any]]:
    return [
        {
            "name": rule.name,
            "mode": rule.mode,
            "source": rule.source,
            "outputs": {output.name: output.kind for output in rule.made},
            "extends": rule.parent.name if rule.parent else None,
        }
        for rule in transformation.rules.values()
    ]
