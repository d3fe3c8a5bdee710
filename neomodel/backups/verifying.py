"""`verify`: whether the backups in a folder are what was written."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from pathlib import Path

import attrs

from neomodel.backups.chain import PLAN, Chain
from neomodel.backups.files import JOURNAL, check
from neomodel.backups.manifest import CHECKSUM, FILE, File, Manifest
from neomodel.errors import DamagedBackup, InvalidValue

_THREADS = 4


@attrs.frozen
class Verified:
    """What a folder holds: the backups that are whole, and a sentence for each damage."""

    backups: list[Manifest]
    files: int
    bytes: int
    damage: list[str]
    unfinished: list[str]
    """The folders of backups that were not completed: of no harm to the others."""


def verify(folder: str | PathLike[str], *, progress: Callable[[int, float], object] | None = None) -> Verified:
    """Read every byte of the backups in a folder, and tell what is missing, or not what was written. `InvalidValue` if
    it holds no backup. `progress` is told how many bytes are read, and which share."""
    chain = Chain(folder)
    numbers = chain.numbers()
    if not numbers:
        raise InvalidValue("the folder to verify", str(chain.folder), "one with a backup; this has none")
    unfinished = [str(chain.place(number)) for number in numbers if chain.is_unfinished(number)]
    try:
        manifests = chain.load()
    except DamagedBackup as exc:
        return Verified([], 0, 0, [str(exc)], unfinished)
    listed = [(chain.place(manifest.number), file) for manifest in manifests for file in manifest.files]
    total = sum(file.size for _, file in listed) or 1
    damage, done = [], 0
    with ThreadPoolExecutor(_THREADS) as threads:  # hashing lets others run
        for (_, file), said in zip(listed, threads.map(_damage, listed), strict=True):
            damage += said
            done += file.size
            if progress is not None:
                progress(done, done / total)
    for manifest in manifests:
        damage += _strangers(chain.place(manifest.number), manifest)
    return Verified(manifests, len(listed), done, damage, unfinished)


def _damage(listed: tuple[Path, File]) -> list[str]:
    try:
        check(*listed)
    except DamagedBackup as exc:
        return [str(exc)]
    return []


def _strangers(place: Path, manifest: Manifest) -> Iterator[str]:
    """Files that are none of the backup's."""
    known = {place / FILE, place / CHECKSUM, place / PLAN, *(place / file.path for file in manifest.files)}
    for path in sorted(place.rglob("*")):
        if path.is_file() and path not in known and path.relative_to(place).parts[0] != JOURNAL:
            yield f"{path} is in no manifest: it was put there by somebody else, remove it"
