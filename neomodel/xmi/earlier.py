"""What is in a model already, for files that are added to it: which files it came from, and what waits for others.

The row of the roots has that in its extents: ``?file 00 digest`` is the place of a file that was read, the same with
``00`` and a number one of its roots; ``?waits 00 id`` says that the row of that id refers to files that were not read.
"""

import os
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any
from urllib.parse import unquote

from neomodel import codecs, ids, layout
from neomodel.errors import NeomodelError
from neomodel.model import Model
from neomodel.xmi.links import MARK
from neomodel.xmi.shapes import Shapes
from neomodel.xmi.targets import Targets

_FILE = b"?file\0"
_WAITS = b"?waits\0"
_ROOT = re.compile("[0-9]{0,9}")
_STEP = re.compile(r"@(.+?)(?:\.([0-9]{1,9}))?")


def file_cells(path: str, roots: Iterable[tuple[int, str]]) -> Iterator[tuple[bytes, bytes]]:
    """What the row of the roots has of a file: its roots, by their numbers."""
    head = _FILE + blake2b(path.encode(errors="surrogateescape"), digest_size=8).hexdigest().encode()
    yield layout.extent(head), path.encode(errors="surrogateescape")
    for number, oid in roots:
        yield layout.extent(head + b"\0%08d" % number), oid.encode()


def waiting_cell(oid: str) -> bytes:
    """The column that says that a row waits."""
    return layout.extent(_WAITS + oid.encode())


def waiting(model: Model) -> Iterator[str]:
    """The ids of the rows that refer to files which were not read."""
    for cell in model.table.cells(ids.ROOT.encode(), layout.EXTENT, _WAITS, _WAITS + b"\xff"):
        yield cell.qualifier[len(_WAITS) :].decode()


class Earlier:
    """The files that a model was read from, and the objects in them."""

    def __init__(self, model: Model, shapes: Shapes) -> None:
        self._model = model
        self._shapes = shapes
        self._paths: list[str] = []
        self._heads: list[bytes] = []
        self._ids: Targets | None = None
        self._places: dict[str, str | None] = {}
        for cell in model.table.cells(ids.ROOT.encode(), layout.EXTENT, _FILE, _FILE + b"\xff"):
            if cell.qualifier.count(b"\0") == 1:
                self._heads.append(cell.qualifier)
                self._paths.append(cell.value.decode(errors="surrogateescape"))

    def has(self, path: str) -> bool:
        """Whether the file in that place was read."""
        return path in self._paths

    def prefix(self, uri: str, base: str) -> str | None:
        """What texts for objects of the file begin with that a URI means; None if it was not read."""
        found = matching(uri, base, self._paths)
        return None if found is None else f"{MARK}{found}"

    def find(self, text: str) -> str | None:
        """The object that a text names: its id, after the mark of its class."""
        number, sign, rest = re.fullmatch(f"{MARK}([0-9]+)([/#])(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
        if sign == "#":
            known = self._known_ids()
            return known.find(f"#{rest}") or known.find(f"#={rest}")
        if text not in self._places:
            self._places[text] = self._follow(int(number), rest)
        oid = self._places[text]
        return None if oid is None else self._shapes.of(self._model[oid].eClass).mark + oid

    def path(self, text: str) -> str:
        """The place of the file in which a text names something."""
        return self._paths[int(re.split("[/#]", text[1:], maxsplit=1)[0])]

    def is_root(self, oid: str) -> bool:
        """Whether nothing contains an object of the model."""
        return self._model[oid].eContainer() is None

    def close(self) -> None:
        if self._ids is not None:
            self._ids.close()

    def _follow(self, file: int, path: str) -> str | None:
        """The id of what a path leads to, through objects as they are now."""
        first, *steps = path.split("/")
        column = self._heads[file] + b"\0%08d" % int(first or 0) if _ROOT.fullmatch(first) else b""
        cells = self._model.table.cells(ids.ROOT.encode(), layout.EXTENT, column, column + b"\0", limit=1)
        start = next((cell.value.decode() for cell in cells), None) if column else None
        if start is None:
            return None
        obj = self._model[start]
        try:
            for step in steps:
                obj = None if obj is None else _below(obj, step)
            found = None if obj is None or obj.eClass is None else str(obj._neo.oid)
        except (NeomodelError, LookupError):
            return None
        return found

    def _known_ids(self) -> Targets:
        """All ids there are in the model. One scan, when the first one is asked for."""
        if self._ids is None:
            self._ids = Targets()
            for key, row in self._model.table.scan(columns=layout.OBJECT):
                if layout.ECLASS not in row or key == ids.ROOT.encode():
                    continue
                kind = self._model.kind_of(row)
                target = self._shapes.of(kind).mark + key.decode()
                if layout.XMI_ID in row:
                    self._ids.define(f"#{row[layout.XMI_ID].decode()}", target)
                for feature in kind.features.values():
                    if getattr(feature.value, "id", False) and feature.column in row:
                        value = codecs.decode_single(feature.codec, row[feature.column])
                        if value is not None:
                            self._ids.define(f"#={feature.codec.to_text(value)}", target)
        return self._ids


def matching(uri: str, base: str, paths: list[str]) -> int | None:
    """Which of some files a URI means: the one in its place, else the only one whose place ends as it does."""
    rest = unquote(uri.rpartition(":")[2])
    place = os.path.normpath(os.path.join(os.path.dirname(base), rest))
    if place in paths:
        return paths.index(place)
    parts = [part for part in rest.split("/") if part not in ("", ".", "..")]
    tail = parts[-1:] if ":" in uri else parts
    same = [number for number, path in enumerate(paths) if tail and path.split(os.sep)[-len(tail) :] == tail]
    return same[0] if len(same) == 1 else None


def _below(obj: Any, step: str) -> Any:
    """What a step of a path leads to from an object that contains it."""
    placed = _STEP.fullmatch(step)
    if placed is None:
        return next((one for one in obj.eContents if getattr(one, "name", None) == step), None)
    feature = obj.eClass.features[placed[1]]
    if not feature.containment:
        return None
    value = obj.eGet(feature)
    return value[int(placed[2] or 0)] if feature.many else value
