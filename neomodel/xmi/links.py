"""What files write to refer to objects: read into texts by which the objects are known here, whatever the dialect.

====================  ================================================================================
text                  names
====================  ================================================================================
``2//@a.0/@b``        by its path an object of file number 2; the first root is ``2/``, the next ``2/1``
``2#_x7``             by its id an object of file number 2
``?other.xmi#//@a``   an object of a file that is not read here; its class may follow, after a zero
``~1//@a``            one of a file that was read earlier, and is in the model: see `earlier`
====================  ================================================================================

Where one file alone is read, the number is left out.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote, unquote

from neomodel import ids
from neomodel.always import always_there
from neomodel.metamodel import TypeName

MISSING = "?"
MARK = "~"
"""What texts begin with that name an object of a file that was read earlier."""

_PATHS = re.compile(r"\s[#/]|\s\S+#")  # of more than one object, or after the name of a class
_SOURCE = re.compile(r"%(.*)%(\.[0-9]+)?")


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
        numbered = len(self.paths) > 1 or text[:1] == MARK
        return (text.removeprefix(MARK).lstrip("0123456789") if numbered else text).removeprefix("#")

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
        self,
        files: Files,
        number: int,
        *,
        tell: Callable[[str], None],
        namespace: Callable[[str], str | None],
        earlier: Callable[[str, str], str | None] | None,
    ) -> None:
        """`tell` is called with what was odd; `namespace` tells what a prefix stands for; `earlier` what texts for
        objects of a file begin with that was read before, by its URI."""
        self.prefix = files.prefix(number)
        self._files = files
        self._base = files.paths[number]
        self._tell = tell
        self._namespace = namespace
        self._earlier = earlier
        self._prefixes: dict[str, str | None] = {"": self.prefix}

    def texts(self, value: str, *, many: bool = True) -> list[str]:
        """What a value of a reference names, in order. Of a single one, a path of names may have spaces in it."""
        found = value.split()
        if len(found) > 1 and not many and "/" in found[0] and not _PATHS.search(value):
            self._tell(f"the reference {value!r} has spaces; it is taken for one, %20 would be written for them")
            return [self.text(value.strip())]
        if "#" in value or "%" in value or (":" in value and len(found) > 1):
            return [self.text(one, said) for said, one in _with_types(found)]
        prefix = self.prefix
        if len(found) == 1:
            return [prefix + plain_path(found[0]) if found[0][0] == "/" else f"{prefix}#{found[0]}"]
        return [prefix + plain_path(one) if one[0] == "/" else f"{prefix}#{one}" for one in found]

    def text(self, one: str, said: str | None = None) -> str:
        """What a URI, or the fragment of one, names; of which class that is said to be counts if it is not read."""
        uri, mark, fragment = one.rpartition("#")
        if not mark and ("://" in one or one.endswith((".xmi", ".ecore", ".xml"))):
            uri, fragment = one, ""
        if uri not in self._prefixes:
            self._prefixes[uri] = self._prefix(uri)
        prefix = self._prefixes[uri]
        if prefix is None:
            return f"{MISSING}{uri}#{fragment}{self._class(said, uri)}"
        return prefix + named(fragment)

    def _class(self, said: str | None, uri: str) -> str:
        """What is kept of the name of a class; nothing where it is known."""
        prefix, _, local = (said or "").strip().rpartition(":")
        namespace = self._namespace(prefix)
        return f"\0{namespace}#{local}" if said and namespace and not always_there(uri) else ""

    def _prefix(self, uri: str) -> str | None:
        number, moved = self._files.find(uri, self._base)
        earlier = self._earlier(uri, self._base) if self._earlier is not None and (number is None or moved) else None
        if earlier is not None:
            return earlier
        if moved:
            self._tell(f"{uri} is taken for {os.path.basename(self._files.paths[number or 0])}, which was given")
        elif number is None and not always_there(uri):
            self._tell(f"{uri} was not given: what refers to it waits until it is imported, too")
        return None if number is None else self._files.prefix(number)


def token(text: str, usual: TypeName) -> str:
    """What a row holds to refer to an object of a file that was not read. Its class is kept if it is not the usual."""
    place, _, kind = text[1:].partition("\0")
    uri, _, fragment = place.rpartition("#")
    return ids.elsewhere(uri, fragment, kind if kind != str(usual) else "")


def named(fragment: str) -> str:
    """What a fragment names, in the text for it: a path, or an id."""
    if fragment[:1] not in ("/", ""):
        return f"#{unquote(fragment)}"
    if "%" in fragment:
        fragment = "/".join(map(_step, fragment.split("/")))
    return plain_path(fragment)


def _step(step: str) -> str:
    """A step of a path: a name, or the source of an annotation between percent signs, which is one as a whole."""
    source = _SOURCE.fullmatch(step)
    return f"{by_source(unquote(source[1]))}{source[2] or ''}" if source else by_name(unquote(step))


def by_name(name: str) -> str:
    """The step to what has that name."""
    return name.replace("/", "%2F")


def by_source(source: str) -> str:
    """The step to the annotation that has that source."""
    return f"%{quote(source, safe='')}%"


def plain_path(fragment: str) -> str:
    """The one form of a path: that of the first root is ``/``."""
    if not fragment:
        return "/"
    return "/" + fragment[2:] if fragment[1:3] in ("0", "0/") else fragment


def _with_types(found: list[str]) -> Iterator[tuple[str | None, str]]:
    """The URIs of a value, each with the name of a class that may stand before it."""
    said = None
    for one, following in zip(found, [*found[1:], ""], strict=True):
        if "#" in one or ":" not in one or one[0] == "/" or "#" not in following:
            yield said, one
            said = None
        else:
            said = one
