"""Backups and restores in the tasks of a Spark: a task for each region to copy, and for each file to write."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

import attrs
from pyspark.sql import SparkSession

from neomodel.backups.making import backup as back_up
from neomodel.backups.manifest import Manifest
from neomodel.backups.restoring import Restored
from neomodel.backups.restoring import restore as restore_by
from neomodel.backups.work import Part, Progress
from neomodel.errors import NeomodelError
from neomodel.garbage import settled
from neomodel.repository import Repository
from neomodel.sharing import shared
from neomodel.stores import Store
from spark.snapshots import reached
from spark.telling import Merged, Telling


def backup(
    session: SparkSession, repository: Repository, folder: str | PathLike[str], *names: str, **options: Any
) -> Manifest:
    """As `neomodel.backup`, region by region in the tasks of a Spark. The folder is one that all of them reach."""
    return back_up(repository, folder, *names, engine=SparkParts(session), **options)


def restore(session: SparkSession, repository: Repository, folder: str | PathLike[str], **options: Any) -> Restored:
    """As `neomodel.restore`, file by file in the tasks of a Spark."""
    return restore_by(repository, folder, engine=SparkParts(session), **options)


@attrs.frozen
class _Failed:
    """What a part has raised: it is for the driver to raise it."""

    error: Exception
    cells: int = 0


class SparkParts:
    """The engine that does parts in tasks (`backups.work`)."""

    def __init__(self, session: SparkSession) -> None:
        self._context = session.sparkContext

    def __call__(self, store: Store, parts: Sequence[Part], progress: Progress | None = None) -> list[Any]:
        url = reached(store.url)
        if not parts:
            return []
        done = self._context.accumulator({}, Merged())

        def run(numbered: tuple[Part, int]) -> tuple[int, Any]:
            part, number = numbered
            try:
                found = part.run(shared(url).store)
            except (NeomodelError, OSError) as exc:
                found = _Failed(exc)
            settled()
            done.add({number: found.cells})
            return number, found

        def tell() -> None:
            if progress is not None:
                progress(sum(done.value.values()), len(done.value) / len(parts))

        spread = self._context.parallelize([(part, number) for number, part in enumerate(parts)], len(parts))
        with Telling(tell if progress is not None else None):
            found = dict(spread.map(run).collect())
        for result in found.values():
            if isinstance(result, _Failed):
                raise result.error
        return [found[number] for number in range(len(parts))]
