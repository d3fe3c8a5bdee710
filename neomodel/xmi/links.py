"""What files write to refer to objects: read into texts by which the objects are known here, whatever the dialect.

====================  ================================================================================
text                  names
====================  ================================================================================
``2//@a.0/@b``        by its path an object of file number 2; the first root is ``2/``, the next ``2/1``
``2#_x7``             by its id an object of file number 2
``?other.xmi#//@a``   an object of a file that is not read here
``~1//@a``            one of a file that was read earlier, and is in the model: see `earlier`
====================  ================================================================================

Where one file alone is read, the number is left out.
"""

import os
from collections.abc import Callable, Iterable
from urllib.parse import unquote

from neomodel import ids

MISSING = "?"


class Files:
    """The files that are read together, by the URIs that they call one another by. Looks at names only."""

    def __init__(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        self.paths = [os.path.abspath(path) for path in paths]
        self._numbers = {path: number for number, path in enumerate(self.paths)}

    def prefix(self, number: int) -> str:
        """What the texts for objects of that file begin with."""
        return str(number) if len(self.paths) > 1 else ""

    def fragment(self, text: str) -> str:
        """What a text names in its file, as files write it."""
        return (text.lstrip("0123456789") if len(self.paths) > 1 else text).removeprefix("#")

    def find(self, uri: str, base: str) -> tuple[int | None, bool]:
        """The number of the file that a URI means where a file at `base` says it; and whether only its name fits, since
        it names a place that files have since left."""
        scheme, mark, rest = uri.partition(":")
        if not mark or "/" in scheme or len(scheme) == 1:  # a letter of a drive is no scheme
            place = os.path.join(os.path.dirname(base), unquote(uri))
            return self._numbers.get(os.path.normpath(place)), False
        path = os.path.normpath(unquote(rest if not rest.startswith("//") else rest[2:]))
        if scheme == "file" and path in self._numbers:
            return self._numbers[path], False
        name = os.path.basename(path)
        same = [number for number, known in enumerate(self.paths) if os.path.basename(known) == name]
        return (same[0], True) if len(same) == 1 else (None, False)


class Naming:
    """How one file names objects."""

    def __init__(
        self, files: Files, number: int, tell: Callable[[str], None], earlier: Callable[[str, str], str | None] | None
    ) -> None:
        """`tell` is called with what was odd; `earlier` tells what texts for objects of a file begin with that was
        read before, by its URI."""
        self.prefix = files.prefix(number)
        self._files = files
        self._base = files.paths[number]
        self._tell = tell
        self._earlier = earlier
        self._prefixes: dict[str, str | None] = {"": self.prefix}

    def texts(self, value: str) -> list[str]:
        """What a value of a reference names, in order."""
        found = value.split()
        if "#" in value or "%" in value or (":" in value and len(found) > 1):
            return [self.text(one) for one in _without_types(found)]
        prefix = self.prefix
        if len(found) == 1:
            return [prefix + plain_path(found[0]) if found[0][0] == "/" else f"{prefix}#{found[0]}"]
        return [prefix + plain_path(one) if one[0] == "/" else f"{prefix}#{one}" for one in found]

    def text(self, one: str) -> str:
        """What a URI, or the fragment of one, names."""
        uri, mark, fragment = one.rpartition("#")
        if not mark and ("://" in one or one.endswith((".xmi", ".ecore", ".xml"))):
            uri, fragment = one, ""
        if uri not in self._prefixes:
            self._prefixes[uri] = self._prefix(uri)
        prefix = self._prefixes[uri]
        if prefix is None:
            return f"{MISSING}{uri}#{fragment}"
        fragment = unquote(fragment) if "%" in fragment else fragment
        return prefix + plain_path(fragment) if fragment[:1] in ("/", "") else f"{prefix}#{fragment}"

    def _prefix(self, uri: str) -> str | None:
        number, moved = self._files.find(uri, self._base)
        earlier = self._earlier(uri, self._base) if self._earlier is not None and (number is None or moved) else None
        if earlier is not None:
            return earlier
        if moved:
            self._tell(f"{uri} is taken for {os.path.basename(self._files.paths[number or 0])}, which was given")
        elif number is None:
            self._tell(f"{uri} was not given: what refers to it waits until it is imported, too")
        return None if number is None else self._files.prefix(number)


def token(text: str) -> str:
    """What a row holds to refer to an object of a file that was not read."""
    uri, _, fragment = text[1:].rpartition("#")
    return ids.elsewhere(uri, fragment)


def plain_path(fragment: str) -> str:
    """The one form of a path: that of the first root is ``/``."""
    if not fragment:
        return "/"
    return "/" + fragment[2:] if fragment[1:3] in ("0", "0/") else fragment


def _without_types(found: list[str]) -> list[str]:
    """The URIs of a value; each may have the name of a class before it."""
    return [
        one
        for one, following in zip(found, [*found[1:], ""], strict=True)
        if "#" in one or ":" not in one or one[0] == "/" or "#" not in following
    ]
