"""`backup`: models as of a stable time into a folder."""

import hashlib
import shutil
import time as clock
from collections.abc import Iterable
from importlib.metadata import version
from itertools import pairwise
from os import PathLike
from pathlib import Path

import attrs

from neomodel.backups import plan as plans
from neomodel.backups.belongings import collected
from neomodel.backups.chain import PLAN, Chain
from neomodel.backups.erasures import Erasure, erasures
from neomodel.backups.files import CELLS, JOURNAL
from neomodel.backups.manifest import CHECKSUM, FILE, Copied, File, Manifest
from neomodel.backups.plan import Plan, Subject, check_horizon
from neomodel.backups.reading import Put, Range, Rows
from neomodel.backups.work import Engine, Progress, here
from neomodel.errors import InvalidValue, Purged
from neomodel.repository import Repository
from neomodel.times import STABLE, Time

_ATTEMPTS = 5


def backup(
    repository: Repository,
    folder: str | PathLike[str],
    *names: str,
    since: Time | str | None = None,
    as_of: Time | str = STABLE,
    wait: bool = False,
    engine: Engine = here,
    progress: Progress | None = None,
    file_cells: int = CELLS,
) -> Manifest:
    """Copy models, with all their versions and times up to a stable time, into a folder; all models, if none is named.
    With a model those go along whose names are its own, a dot and more, as the systems of an ELSA are.

    Without `since`, all there ever was, into an empty folder. With it, what was written since the last backup in the
    folder (``"last"``), or since a time that lies not after it. `as_of` is a time, by default the latest that is
    stable; with `wait`, all that was written so far is waited for to be so. If nothing has come since, the last backup
    is returned. One that was interrupted is gone on with, as of its own time, if the same is asked for again.
    """
    if file_cells < 1:
        raise InvalidValue("the number of cells in a file", file_cells, "1 or more")
    began = clock.monotonic()
    chain = Chain(folder)
    with chain.alone():
        plan = _unfinished(chain, names, since)
        if plan is None:
            made = plans.made(repository, chain, list(names), since, as_of, wait=wait)
            if isinstance(made, Manifest):
                return made
            plan = made
            plan.save(chain.place(plan.number))
        manifest = _copied(repository, chain.place(plan.number), plan, engine, progress, file_cells)
        manifest = attrs.evolve(manifest, seconds=round(clock.monotonic() - began, 3))
        _tidy(chain.place(plan.number), manifest)
        chain.complete(manifest)
        _forget_plan(chain.place(plan.number))
    return manifest


def _unfinished(chain: Chain, names: Iterable[str], since: Time | str | None) -> Plan | None:
    """The plan of the one that is to be gone on with; `InvalidValue` if it is for something else."""
    numbers = chain.numbers()
    for number in numbers:
        if not chain.is_unfinished(number):
            _forget_plan(chain.place(number))
    if not numbers or not chain.is_unfinished(numbers[-1]):
        return None
    plan = plans.saved(chain.place(numbers[-1]))
    if plan is None:
        return None
    same = set(names) == set(plan.heads) or (not names and plan.since is not None)  # which is of what was before
    if not same or (since is None) != (plan.since is None):
        kind = "full backup" if plan.since is None else "increment"
        expected = f"the {kind} of {plans.shown(plan.heads)} that was begun in {chain.folder}, first"
        raise InvalidValue("what to back up", plans.shown(names), expected)
    return plan


def _copied(
    repository: Repository, place: Path, plan: Plan, engine: Engine, progress: Progress | None, most: int
) -> Manifest:
    store = repository.store
    parts = [part for subject in plan.models for part in _parts(subject, place, plan.time, most)]
    try:
        found = iter(engine(store, parts, progress))
    except Purged:
        for subject in plan.models:
            check_horizon(repository, subject.name, subject.since, plan.time)
        raise
    models = []
    for subject in plan.models:
        put = [next(found) for _ in subject.cuts]
        models.append(_model(repository, place, plan, subject, put, engine))
    return Manifest(
        id=plan.id,
        number=plan.number,
        parent=plan.parent,
        time=plan.time,
        since=plan.since,
        heads=plan.heads,
        models=tuple(models),
        records=collected(store, [model.name for model in models], place, plan.time),
        store=store.url,
        began=plan.began,
        seconds=0.0,
        versions={name: version(name) for name in ("neomodel-hbase", "pyarrow")},
    )


def _parts(subject: Subject, place: Path, until: int, most: int) -> list[Range]:
    bounds = [*(bytes.fromhex(cut) for cut in subject.cuts), None]
    return [
        Range(str(place), subject.name, f"{number:05}", start or b"", stop, subject.since, until, most)
        for number, (start, stop) in enumerate(pairwise(bounds))
    ]


def _model(repository: Repository, place: Path, plan: Plan, subject: Subject, put: list[Put], engine: Engine) -> Copied:
    """A model that was copied, once it is known what was forgotten of it meanwhile."""
    for _ in range(_ATTEMPTS):
        known = erasures(repository.store, subject.name)
        keys = sorted({one.key for record, one in known.items() if record not in subject.known})
        again: list[Put] = []
        if keys:
            rows = Rows(str(place), subject.name, f"replacing-{_digest(known)}", tuple(keys), plan.time)
            again = engine(repository.store, [rows], None)
        purged = check_horizon(repository, subject.name, subject.since, plan.time)
        if erasures(repository.store, subject.name) == known:
            break
    else:
        expected = "one of which nobody erases anything for a while; try again"
        raise InvalidValue("the model to back up", subject.name, expected)
    return Copied(
        name=subject.name,
        created=subject.created,
        families=subject.families,
        since=subject.since,
        horizon=purged,
        namespaces=tuple(sorted({uri for one in (*put, *again) for uri in one.namespaces})),
        erased=tuple(record for record, one in sorted(known.items()) if one.complete),
        replaced=tuple(key.hex() for key in keys),
        files=_files(put),
        replacing=_files(again),
    )


def _files(put: Iterable[Put]) -> tuple[File, ...]:
    return tuple(file for one in put for file in one.files)


def _digest(known: dict[str, Erasure]) -> str:
    return hashlib.sha256(repr(sorted(known.items(), key=lambda one: one[0])).encode()).hexdigest()[:8]


def _tidy(place: Path, manifest: Manifest) -> None:
    """Remove what earlier attempts have left."""
    wanted = {place / file.path for file in manifest.files}
    for path in sorted(place.rglob("*"), reverse=True):
        inside = path.relative_to(place).parts
        if path.is_file() and path not in wanted and inside[0] not in (JOURNAL, PLAN, FILE, CHECKSUM):
            path.unlink()
        elif path.is_dir() and inside[0] != JOURNAL and not any(path.iterdir()):
            path.rmdir()


def _forget_plan(place: Path) -> None:
    shutil.rmtree(place / JOURNAL, ignore_errors=True)
    (place / PLAN).unlink(missing_ok=True)
