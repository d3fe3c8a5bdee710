"""A folder with a chain of backups: a full one, and increments, each of what came since the one before.

    00001/manifest.json       the full backup: what it is of, and its files with their checksums
    00001/manifest.sha256     the checksum of that; when it is there the backup is complete
    00001/MODEL/….parquet     cells (`files`)
    00001/_records/….parquet  rows of the store's own tables that belong to the models
    00002/…                   an increment: its manifest has the checksum of that of 00001

While a backup is not complete, ``plan.json`` says what it will be of, and ``journal/`` which files are.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neomodel.backups.files import on_disk, write_text
from neomodel.backups.manifest import CHECKSUM, FILE, REMEDY, Manifest, checksum_line, loaded, sha256
from neomodel.errors import DamagedBackup, InvalidValue

PLAN = "plan.json"
_NAME = re.compile(r"\d{5}")
_LOCK = ".lock"


class Chain:
    """The backups in a folder. Making the object asks nothing."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(os.path.abspath(folder))

    def __repr__(self) -> str:
        return f"<backups in {self.folder}>"

    def place(self, number: int) -> Path:
        """The folder of one of them."""
        return self.folder / f"{number:05}"

    def numbers(self) -> list[int]:
        """Those that there are, also if they are not complete."""
        if not self.folder.is_dir():
            return []
        return sorted(int(path.name) for path in self.folder.iterdir() if path.is_dir() and _NAME.fullmatch(path.name))

    def is_unfinished(self, number: int) -> bool:
        """Whether a backup has not been completed: it has a plan still, or nothing at all."""
        place = self.place(number)
        if (place / CHECKSUM).exists():
            return False
        return (place / PLAN).exists() or all(path.name.startswith(".") for path in place.iterdir())

    def load(self, *, last: int | None = None) -> list[Manifest]:
        """The manifests of the backups that are complete, in order, up to the one of that number. `DamagedBackup` if
        one is not what was written, is missing, or does not follow the one before."""
        numbers = [number for number in self.numbers() if not self.is_unfinished(number)]
        wanted = [number for number in numbers if last is None or number <= last]
        if last is not None and last not in numbers:
            raise InvalidValue(f"the number of a backup in {self.folder}", last, f"one of {numbers or 'none'}")
        found: list[Manifest] = []
        before: str | None = None
        for expected, number in enumerate(wanted, 1):
            place = self.place(number)
            if number != expected:
                raise DamagedBackup(str(self.place(expected)), f"it is missing, and {place.name} is there", REMEDY)
            manifest, digest = self._manifest(number)
            if manifest.number != number or manifest.parent != before:
                reason = f"it does not follow {self.place(number - 1).name}: it is another backup, in the place of this"
                raise DamagedBackup(str(place), reason if before else "it is no full backup", REMEDY)
            found.append(manifest)
            before = digest
        return found

    def _manifest(self, number: int) -> tuple[Manifest, str]:
        place = self.place(number)
        try:
            text = (place / FILE).read_bytes()
            line = (place / CHECKSUM).read_bytes()
        except FileNotFoundError as exc:
            raise DamagedBackup(str(exc.filename), "it is missing", REMEDY) from exc
        if line != checksum_line(text).encode():
            raise DamagedBackup(str(place / FILE), f"its checksum is not that in {CHECKSUM}", REMEDY)
        return loaded(text, str(place / FILE)), sha256(text)

    def digest(self, number: int) -> str:
        """The checksum of a manifest, by which the next one names it."""
        return self._manifest(number)[1]

    def complete(self, manifest: Manifest) -> None:
        """Put down a manifest: from then on the backup is there."""
        place = self.place(manifest.number)
        for folder in {place, *((place / file.path).parent for file in manifest.files)}:
            on_disk(folder)
        text = manifest.text()
        write_text(place / FILE, text)
        write_text(place / CHECKSUM, checksum_line(text.encode()))
        on_disk(place)
        on_disk(self.folder)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One process at a time adds to a folder: `InvalidValue` if another one is at it. It lets go when it dies."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            number = os.open(self.folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o666)
        except (FileExistsError, NotADirectoryError) as exc:
            raise InvalidValue("the folder of a backup", str(self.folder), "a folder; this is a file") from exc
        try:
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as exc:
                busy = "one that no other process is writing a backup to; wait for it"
                raise InvalidValue("the folder of a backup", str(self.folder), busy) from exc
            yield
        finally:
            os.close(number)
