"""`restore`: a chain of backups into a store of any kind."""

import time as clock
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from typing import NamedTuple

import attrs

from neomodel import ids
from neomodel.backups.belongings import Metamodels, bring
from neomodel.backups.chain import Chain
from neomodel.backups.files import check
from neomodel.backups.manifest import Copied, File, Manifest
from neomodel.backups.work import Engine, Progress, here
from neomodel.backups.writing import Check, Write
from neomodel.batches import LEASE, Batch
from neomodel.errors import BatchExpired, DamagedBackup, InvalidValue, ModelExists
from neomodel.repository import Repository
from neomodel.stores import Store
from neomodel.stores.clock import wall
from neomodel.times import told

_SMALL = 32 << 20
"""Bytes that are checked here sooner than others have begun with it."""


@attrs.frozen
class Restored:
    """What was restored: the models, as of which time, and how many cells; `left` are the metamodels that were not
    brought, since the store has others of their names, and no object needs them."""

    models: list[str]
    time: int
    cells: int
    backups: int
    left: list[str]
    seconds: float


class _Source(NamedTuple):
    """A file with what is to be left out of it."""

    number: int
    file: File
    without: frozenset[bytes]


def restore(
    repository: Repository,
    folder: str | PathLike[str],
    *,
    last: int | None = None,
    engine: Engine = here,
    progress: Progress | None = None,
) -> Restored:
    """Make the models of the backups in a folder anew, with all their versions and times: as of the last one, or the
    one of that number.

    Every file is checked before anything is written. `ModelExists` if there is a model of one of the names; they are
    there when all is written, and not before. A restore that was interrupted is gone on with if the same is asked for
    again. Metamodels that are needed are registered; `IncompatibleMetamodel` if the store has others of their names.
    """
    began = clock.monotonic()
    chain = Chain(folder)
    manifests = chain.load(last=last)
    if not manifests:
        raise InvalidValue("the folder to restore", str(chain.folder), "one with a complete backup; this has none")
    tip = manifests[-1]
    if tip.time > wall():
        raise InvalidValue("the time of the backup", told(tip.time), "a past one; the clock of this machine is behind")
    sources = {model.name: _sources(chain, manifests, model) for model in tip.models}
    _check_free(repository, tip)
    namespaces = {uri for manifest in manifests for model in manifest.models for uri in model.namespaces}
    for file in tip.records.values():
        check(chain.place(tip.number), file)
    metamodels = Metamodels(repository, chain.place(tip.number), tip.records, namespaces)
    metamodels.check()
    checks = [Check(str(chain.place(source.number)), source.file) for some in sources.values() for source in some]
    size = sum(one.file.size for one in checks)
    (engine if size > _SMALL else here)(repository.store, checks, None)
    with _marked(repository, tip) as (batch, models):
        parts = []
        for model in models:
            _ensure(repository.store, model, sources[model.name])
            noted = repository.imports.noted(model.name)
            for number, file, without in sources[model.name]:
                label = f"{number:05}/{file.path}"
                if label not in noted:
                    place = str(chain.place(number))
                    parts.append(Write(place, file, model.name, without, label, batch.token))
        engine(repository.store, parts, progress)
        for model in models:
            if model.horizon:
                repository.store.table(model.name).purge(model.horizon)
        metamodels.bring()
        bring(repository.store, chain.place(tip.number), tip.records)
        _reveal(repository, models, batch)
    cells = sum(source.file.cells for some in sources.values() for source in some)
    names = [model.name for model in tip.models]
    return Restored(names, tip.time, cells, len(manifests), metamodels.left, round(clock.monotonic() - began, 3))


def _sources(chain: Chain, manifests: list[Manifest], model: Copied) -> list[_Source]:
    """The files that a model is made of: those since it was copied as a whole, without rows that were copied anew."""
    found: list[_Source] = []
    replaced: frozenset[bytes] = frozenset()
    for manifest in reversed(manifests):
        copied = manifest.model(model.name)
        if copied is None or copied.created != model.created:
            break
        found += [_Source(manifest.number, file, replaced) for file in copied.replacing]
        replaced |= {bytes.fromhex(key) for key in copied.replaced}
        found += [_Source(manifest.number, file, _within(replaced, file)) for file in copied.files]
        if copied.since is None:
            return found[::-1]
    reason = f"no backup in it has all of model {model.name!r}"
    raise DamagedBackup(str(chain.folder), reason, "restore an earlier one")


def _within(keys: frozenset[bytes], file: File) -> frozenset[bytes]:
    first, last = file.range
    return frozenset(key for key in keys if first <= key <= last)


def _check_free(repository: Repository, tip: Manifest) -> None:
    """Return if no model is in the way: none is there, but for what an interrupted restore of the same has left."""
    there, marked = set(repository.store.tables()), set(repository.imports.names())
    names = [model.name for model in tip.models]
    ours = {name for name in names if name in marked and repository.imports.backup(name) == tip.id}
    for model in tip.models:
        if model.name in marked and model.name not in ours:
            repository.imports.check(model.name)
        if model.name in there and model.name not in marked and not (ours and _is_done(repository, model)):
            raise ModelExists(model.name, repository.store.url)


def _is_done(repository: Repository, model: Copied) -> bool:
    return repository.catalogue.created(model.name) == model.created


@contextmanager
def _marked(repository: Repository, tip: Manifest) -> Iterator[tuple[Batch, list[Copied]]]:
    """Have models marked as being restored in the block, those that are not done; others know by the lease of a batch,
    which nobody waits for, that somebody is at it."""
    batch = repository.batches.open(LEASE, awaited=False)
    try:
        there, marked = repository.store.tables(), repository.imports.names()
        models = [model for model in tip.models if model.name not in there or model.name in marked]
        for model in models:
            repository.imports.begin(model.name, batch, backup=tip.id)
        yield batch, models
    finally:
        with suppress(BatchExpired):
            batch.close()


def _ensure(store: Store, model: Copied, sources: list[_Source]) -> None:
    """Make the table, if it is not there."""
    if model.name in store.tables():
        return
    firsts = sorted({source.file.range[0] for source in sources})
    breadth = max(store.breadth, 1)
    cuts = ids.splits(breadth) if len(firsts) < breadth else _spread(firsts[1:], breadth - 1)
    store.table(model.name).create(model.families, splits=cuts)


def _spread(keys: list[bytes], count: int) -> list[bytes]:
    """So many of the keys, evenly."""
    return sorted({keys[len(keys) * number // count] for number in range(count)}) if keys and count else []


def _reveal(repository: Repository, models: list[Copied], batch: Batch) -> None:
    """Have models be there, those that belong to others first."""
    for model in sorted(models, key=lambda one: one.name, reverse=True):
        repository.imports.still(model.name, batch.token)
        if model.created is not None:
            repository.catalogue.enter(model.name, since=model.created)
        repository.imports.end(model.name)
