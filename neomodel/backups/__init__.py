"""Backups: models with all their versions and times in a folder of Parquet files, and back into a store of any kind.

A folder holds a *chain*: in ``00001`` a full backup, in ``00002`` what came since, and so on; `chain` says what lies
where. A backup is of cells, so nothing in it depends on what kind of store it came from, or on what models are about.
"""

from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neomodel.backups.manifest import Manifest
    from neomodel.backups.restoring import Restored
    from neomodel.backups.verifying import Verified
    from neomodel.repository import Repository

# Arrow takes long to import, so it is not before somebody needs it.


def backup(repository: "Repository", folder: str | PathLike[str], *names: str, **options: Any) -> "Manifest":
    """Copy models, with all their versions and times, into a folder: see `making.backup`."""
    from neomodel.backups import making

    return making.backup(repository, folder, *names, **options)


def restore(repository: "Repository", folder: str | PathLike[str], **options: Any) -> "Restored":
    """Make the models of the backups in a folder anew: see `restoring.restore`."""
    from neomodel.backups import restoring

    return restoring.restore(repository, folder, **options)


def verify(folder: str | PathLike[str], **options: Any) -> "Verified":
    """Tell whether the backups in a folder are what was written: see `verifying.verify`."""
    from neomodel.backups import verifying

    return verifying.verify(folder, **options)
