"""What a backup will be of: decided once, and put down, so that who goes on after an interruption does the same."""

import json
import secrets
import time as clock
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs

from neomodel.backups.chain import PLAN, Chain
from neomodel.backups.erasures import erasures, horizon
from neomodel.backups.files import write_text
from neomodel.backups.manifest import Copied, Manifest
from neomodel.errors import DamagedBackup, InvalidValue, NotStable
from neomodel.repository import Repository
from neomodel.stores.clock import wall
from neomodel.times import STABLE, Time, micros, told

LAST = "last"
_PAUSE = 0.05  # seconds between looks at the stable time


@attrs.frozen
class Subject:
    """A model that is to be copied: in which parts, by the keys, in hexadecimal, at which they begin; `known` are the
    erasures whose effect needs no telling."""

    name: str
    created: int | None
    families: str
    since: int | None
    cuts: tuple[str, ...]
    known: tuple[str, ...]


@attrs.frozen
class Plan:
    id: str
    number: int
    parent: str | None
    time: int
    since: int | None
    heads: tuple[str, ...]
    models: tuple[Subject, ...]
    began: int

    def save(self, place: Path) -> None:
        place.mkdir(exist_ok=True)
        write_text(place / PLAN, json.dumps(attrs.asdict(self)))


def saved(place: Path) -> Plan | None:
    """The plan of a backup that is not complete, if there is one."""
    try:
        found = json.loads((place / PLAN).read_bytes())
        models = tuple(Subject(**_tuples(model)) for model in found.pop("models"))
        return Plan(**_tuples(found), models=models)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as exc:
        reason = f"it is no plan of a backup ({exc})"
        raise DamagedBackup(str(place / PLAN), reason, f"remove {place}, and back up again") from exc


def _tuples(found: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def made(
    repository: Repository, chain: Chain, names: list[str], since: Time | str | None, as_of: Time | str, *, wait: bool
) -> Plan | Manifest:
    """The plan of the next backup in a folder; or the last one that is there, if nothing is stable that came later.

    Some reads for each model."""
    before = chain.load()
    last = before[-1] if before else None
    if since is None and last is not None:
        raise InvalidValue("the folder of a full backup", str(chain.folder), "an empty one; this has backups already")
    if since is not None and last is None:
        raise InvalidValue("the folder of an increment", str(chain.folder), "one with a complete backup to begin from")
    heads = tuple(names) if names or last is None else last.heads
    if last is not None and set(heads) != set(last.heads):
        raise InvalidValue("what to back up since then", list(heads), f"what the folder has: {shown(last.heads)}")
    models = _models(repository, heads)
    if not models:
        raise InvalidValue("what to back up", repository.store.url, "a store with models; this has none")
    at = _moment(repository, models, as_of, wait=wait)
    start = None if last is None else last.time if since == LAST else micros("since", since)
    if last is not None and start is not None:
        if start > last.time:
            gap = f"one up to {told(last.time)}, which the backup before has, or 'last'"
            raise InvalidValue("the time since which to back up", start, gap)
        if at <= last.time:
            return last
    subjects = [_subject(repository, name, at, start, last) for name in models]
    subjects = [one for one in subjects if one.created is None or one.created <= at]
    missing = [head for head in heads if head not in [one.name for one in subjects]]
    if missing:
        remedy = "wait a little, or let the command do that"
        raise NotStable(f"model {missing[0]!r} of {repository.store.url}", "its creation", told(at), remedy)
    if not subjects:
        raise InvalidValue("the time to back up as of", told(at), "one at which there was a model")
    number, parent = (1, None) if last is None else (last.number + 1, chain.digest(last.number))
    return Plan(secrets.token_hex(8), number, parent, at, start, heads, tuple(subjects), wall())


def shown(heads: Iterable[str]) -> str:
    """The models that were asked for, in a sentence."""
    return ", ".join(heads) or "all models"


def _models(repository: Repository, heads: tuple[str, ...]) -> list[str]:
    """Those that are named, and those that belong to them, as systems do to an ELSA: named so, a dot, and more."""
    there = repository.models()
    for head in heads:
        repository.open(head)  # or it is said why not
    return [name for name in there if not heads or any(name == head or name.startswith(f"{head}.") for head in heads)]


def _moment(repository: Repository, models: list[str], as_of: Time | str, *, wait: bool) -> int:
    """The time of the backup, which is stable."""
    name = models[0]
    now = max(repository.store.table(model).now() for model in models)
    while (stable := repository.stable(name)) < now and wait:
        clock.sleep(_PAUSE)
    if as_of == STABLE:
        return stable
    at = micros("the time to back up as of, if not 'stable',", as_of)
    if at > stable:
        raise NotStable(repository.store.url, told(at), told(stable), "wait, or back up as of a stable time")
    return at


def _subject(repository: Repository, name: str, at: int, since: int | None, last: Manifest | None) -> Subject:
    table = repository.store.table(name)
    created = repository.catalogue.created(name)
    before: Copied | None = None if last is None else last.model(name)
    if before is not None and before.created != created:
        before = None  # another one, under the same name
    start = since if before is not None else None
    check_horizon(repository, name, start, at)
    known = before.erased if before is not None else complete(repository, name)
    cuts = tuple(region.start.hex() for region in table.regions())
    return Subject(name, created, "".join(sorted(table.families())), start, cuts, known)


def complete(repository: Repository, name: str) -> tuple[str, ...]:
    """The records of those erasures of a model that are complete. One scan."""
    return tuple(record for record, one in sorted(erasures(repository.store, name).items()) if one.complete)


def check_horizon(repository: Repository, name: str, since: int | None, until: int) -> int:
    """Up to when a model was purged; `InvalidValue` if that is later than what is to be read of it."""
    found = horizon(repository.store.table(name))
    where = f"the time up to which model {name!r} of {repository.store.url} was purged"
    if since is not None and found > since:
        told_since = f"one up to that of the last backup, {told(since)}, since nobody knows what went; begin anew with"
        raise InvalidValue(where, told(found), f"{told_since} a full backup, in another folder")
    if found > until:
        raise InvalidValue(where, told(found), f"one up to that of the backup, {told(until)}; begin it anew")
    return found
