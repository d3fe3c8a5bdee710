"""Where a file is written: it is there whole, or not at all."""

import os
import secrets
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from neomodel.errors import InvalidValue

ZIPPED = {".zxmi", ".zip"}
_MEMBER = "ResourceContents"  # as EMF calls it
_TIME = (1980, 1, 1, 0, 0, 0)  # the same model gives the same archive

Target = str | os.PathLike[str] | IO[bytes]
"""A file's name, or a stream that is open for bytes."""


def folder_of(target: Target) -> str | None:
    """Where there is room for what a file needs while it is made: beside it, or where the system has it."""
    if not isinstance(target, str | os.PathLike):
        return None
    path = Path(target).resolve()
    return str(path.parent) if path.is_file() or not path.exists() else None


def check(target: Target) -> None:
    """Raise `InvalidValue` if no file of that name can be written, before anything else is done."""
    if isinstance(target, str | os.PathLike):
        path = Path(target)
        if path.is_dir() or not path.name:
            raise InvalidValue("the file to write", os.fspath(target), "a file; this is a folder")
        if not path.resolve().parent.is_dir():
            raise InvalidValue("the file to write", os.fspath(target), "a name in a folder that is there")


@contextmanager
def opened(target: Target) -> Iterator[IO[bytes]]:
    """A stream to write to. What is written takes the place of a file of that name in the end, if all goes well; an
    archive if its name says so. What is no ordinary file, and a stream, is written to as it is."""
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    path = Path(target).resolve()
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        with open(descriptor, "wb") as stream, _packed(stream, path) as inside:
            yield inside
        if path.exists():
            os.chmod(aside, stat.S_IMODE(path.stat().st_mode))
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


@contextmanager
def _packed(stream: IO[bytes], path: Path) -> Iterator[IO[Any]]:
    if path.suffix.lower() not in ZIPPED:
        yield stream
        return
    member = zipfile.ZipInfo(_MEMBER, _TIME)
    member.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(stream, "w") as archive, archive.open(member, "w", force_zip64=True) as inside:
        yield inside
