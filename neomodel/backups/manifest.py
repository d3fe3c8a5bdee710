"""What a backup says of itself: ``manifest.json``, written last, and its checksum, in ``manifest.sha256``."""

import hashlib
import json
from typing import Any

import attrs

from neomodel.errors import DamagedBackup

FORMAT = "neomodel backup 1"
FILE, CHECKSUM = "manifest.json", "manifest.sha256"
REMEDY = "take it from another copy of the backup"


@attrs.frozen
class File:
    """A file of cells, by its path in the backup's folder: its size in bytes, how many rows have some, and how many
    versions of cells there are; the first and the last key, in hexadecimal."""

    path: str
    sha256: str
    size: int
    rows: int
    cells: int
    first: str
    last: str

    @property
    def range(self) -> tuple[bytes, bytes]:
        return bytes.fromhex(self.first), bytes.fromhex(self.last)


@attrs.frozen
class Copied:
    """A model as a backup has it: what was written to it after `since` (None: ever), up to the time of the backup."""

    name: str
    created: int | None
    families: str
    since: int | None
    horizon: int
    """Before it the model was purged; 0 if it never was."""
    namespaces: tuple[str, ...]
    """Of the packages whose classes its objects have, in these files."""
    erased: tuple[str, ...]
    """The records of erasures that were complete when files were written."""
    replaced: tuple[str, ...]
    """Keys, in hexadecimal, of rows of which nothing counts but what `replacing` has: erased since others were."""
    files: tuple[File, ...]
    replacing: tuple[File, ...]


@attrs.frozen
class Manifest:
    """A backup. `heads` are the models that were asked for, `models` those and what belongs to them; `records` are the
    files, by table, of what stores keep of models beside their rows."""

    id: str
    number: int
    parent: str | None
    """The checksum of the manifest of the one before; None of a full backup."""
    time: int
    since: int | None
    heads: tuple[str, ...]
    models: tuple[Copied, ...]
    records: dict[str, File]
    store: str
    began: int
    seconds: float
    versions: dict[str, str]

    @property
    def files(self) -> list[File]:
        """All of them."""
        listed = [file for model in self.models for file in (*model.files, *model.replacing)]
        return [*listed, *self.records.values()]

    @property
    def cells(self) -> int:
        return sum(file.cells for model in self.models for file in (*model.files, *model.replacing))

    @property
    def rows(self) -> int:
        return sum(file.rows for model in self.models for file in (*model.files, *model.replacing))

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def model(self, name: str) -> Copied | None:
        return next((model for model in self.models if model.name == name), None)

    def text(self) -> str:
        """As the file has it."""
        about = {"format": FORMAT, **attrs.asdict(self)}
        return json.dumps(about, indent=1, sort_keys=True) + "\n"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def checksum_line(text: bytes) -> str:
    """What `CHECKSUM` holds, as ``sha256sum -c`` reads it."""
    return f"{sha256(text)}  {FILE}\n"


def loaded(text: bytes, where: str) -> Manifest:
    """The manifest that a text is; `DamagedBackup` if it is none."""
    try:
        found = json.loads(text)
        form = found.pop("format")
        if form != FORMAT:
            raise DamagedBackup(where, f"its format is {form!r}, and this version reads {FORMAT!r} only", REMEDY)
        found["models"] = tuple(_copied(model) for model in found["models"])
        found["records"] = {table: File(**file) for table, file in found["records"].items()}
        found["heads"] = tuple(found["heads"])
        return Manifest(**found)
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        if isinstance(exc, DamagedBackup):
            raise
        raise DamagedBackup(where, f"it is no manifest ({exc})", REMEDY) from exc


def _copied(found: dict[str, Any]) -> Copied:
    for name in ("files", "replacing"):
        found[name] = tuple(File(**file) for file in found[name])
    for name in ("namespaces", "erased", "replaced"):
        found[name] = tuple(found[name])
    return Copied(**found)
