"""A store of mirrored systems: which there are, which time is stable, and tokens."""

import hashlib
import re
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import neomodel as nm
from metamodels.elsa.records import System, elsa
from metamodels.elsa.systems import ExternalSystem
from metamodels.elsa.tokens import Token
from metamodels.opening import await_stable, opened
from neomodel.errors import near
from neomodel.times import LAST, Time, micros

NAME = "elsa"
_SYSTEM = re.compile("[A-Za-z0-9_][A-Za-z0-9_-]{0,79}")


def open(repository: nm.Repository, name: str = NAME, *, create: bool = True) -> "ElsaStore":  # noqa: A001  pinned
    """The store of systems of that name in a repository, made if it is not there unless `create` is false."""
    return ElsaStore(repository, name, create=create)


class ElsaStore:
    """The systems that are mirrored, in a model with an object for each. For one thread at a time."""

    def __init__(self, repository: nm.Repository, name: str, *, create: bool) -> None:
        self.repository = repository
        self.name = name
        self.catalogue = opened("ELSA", repository, name, elsa, create=create)
        self._systems: dict[str, ExternalSystem] = {}
        self._stable = -1
        self._mark: int | None = None

    def __repr__(self) -> str:
        return f"<ELSA {self.name!r} in {self.repository.store.url}>"

    @cached_property
    def mark(self) -> str:
        """What tells this store from others, in tokens: when it was created, which no two were alike. One read."""
        created = self.repository.catalogue.created(self.name)
        return hashlib.sha256(f"{self.name} {created}".encode()).hexdigest()[:8]

    # systems

    def system(self, name: str, *, splits: list[str] | None = None) -> ExternalSystem:
        """The system of that name. Costs nothing; it comes into being with its first record, on HBase in regions that
        are split at these keys. Reading one that is not there is refused."""
        if not isinstance(name, str) or not _SYSTEM.fullmatch(name):
            raise nm.InvalidValue("the name of a system", name, "up to 80 letters, digits, _ and -, not first -")
        found = self._systems.get(name)
        if found is None:
            found = self._systems[name] = ExternalSystem(self, name, splits or [])
        return found

    def systems(self) -> list[str]:
        """The names of the systems there are, in order. Two reads, and a scan of the catalogue."""
        there = set(self.repository.models())
        return sorted(one.name for one in self.catalogue.all(System) if f"{self.name}.{one.name}" in there)

    def unknown(self, name: str) -> nm.InvalidValue:
        """What to raise where a system is not there."""
        there = self.systems()
        hint = near(name, there) or f"; there {'are ' + ', '.join(there) if there else 'is none yet'}"
        where = f"ELSA {self.name!r} in {self.repository.store.url}"
        return nm.InvalidValue(f"a system of {where}", name, f"one that has records, or had{hint}")

    # time

    def batch(self, *, lease: float = 60.0) -> AbstractContextManager[nm.Batch]:
        """Have all that is ingested in the block be stable at once, when it ends: see `nm.batch`."""
        return nm.batch(self.repository, lease=lease)

    @property
    def stable_so_far(self) -> int:
        """The latest ingest time that is known to be stable. Costs nothing."""
        return self._stable

    def stable(self) -> int:
        """The latest ingest time that nobody can write under any more. Two reads, or where the store tells without
        one whether anybody wrote, none if nobody has."""
        mark = self.catalogue.table.mark()
        if mark is None or mark != self._mark:
            now = self.catalogue.table.now()
            found = self.repository.stable(self.name)
            self._stable = max(found, self._stable)
            self._mark = mark if found >= now else None  # else a batch holds it, which may end without a write
        return self._stable

    def check_stable(self, ingest: int, *, wait: bool | float = False, where: str = "") -> None:
        """Return once nobody can write under a time any more: at once or, with `wait`, after a while, or so many
        seconds at most. `NotStable` otherwise. Costs nothing if that is known already."""
        if ingest <= self._stable:
            return

        def look() -> int:
            stable = self.stable()
            if stable < ingest:
                self._mark = None  # what holds it may end without a write
            return stable

        await_stable(look, ingest, wait=wait, where=where or repr(self))

    def token(self, *, event: Time | None = None, ingest: Time | None = None, wait: bool | float = False) -> Token:
        """A token for all systems: up to an event time, by default all events, as known at an ingest time, by default
        the stable time. A time that is not stable raises `NotStable`, or is waited for."""
        until = LAST if event is None else micros("the event time of a token", event, first=-LAST)
        known = self.stable() if ingest is None else micros("the ingest time of a token", ingest)
        self.check_stable(known, wait=wait)
        return Token(self.mark, until, known)

    def parsed(self, token: Token | str) -> Token:
        """The token, as this store takes it: its time was stable when it was given, whoever did."""
        found = Token.parse(token)
        if found.store != self.mark:
            raise nm.InvalidValue("a token", str(found), f"one of {self!r}")
        if found.ingest > self._stable:
            self.repository.batches.vouch(found.ingest)
            self.stable()
        return found

    def __reduce__(self) -> Any:
        raise TypeError(f"{self!r} can't be pickled; send the URL of its store and a token")
