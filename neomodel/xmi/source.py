"""XML files as streams of events, read safely. The only module that parses files of XML.

Nothing but the file itself is ever read: a document type that points elsewhere, and every declared entity, is refused,
so a file from a stranger can neither read another file nor grow while it is read. Depth and length of a single value
are bounded. Whatever is wrong is `InvalidFile`: one sentence with file and line.
"""

import codecs
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Protocol
from xml.parsers import expat

from neomodel.errors import InvalidFile

DEPTH = 1000
"""How deep elements may lie in one another."""

LONGEST = 1 << 28
"""Bytes of the longest tag with its attributes."""

XMI = "http://www.omg.org/XMI"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
XML = "http://www.w3.org/XML/1998/namespace"

_CHUNK = 1 << 16
_TOLD = 1 << 20  # bytes between two signs of progress
_DECLARED = re.compile(rb"""<\?xml[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_MARKS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"))  # before those of UTF-16, which begin alike
_NATIVE_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_NATIVE = {"utf-8": "utf-8", "iso8859-1": "iso-8859-1", "ascii": "us-ascii"}
_NO_ENCODING = {"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined"}
_ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class Handler(Protocol):
    """What is told of a file. Names are ``namespace local``, or ``local`` without one; attributes are name, value, …

    Text comes in pieces. A handler may also have `comment(data)`, and `cdata(begins)` for the ends of CDATA sections.
    """

    def start(self, name: str, attributes: list[str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, data: str) -> None: ...


def split(name: str) -> tuple[str, str]:
    """Namespace, empty for none, and local name."""
    uri, _, local = name.rpartition(" ")
    return uri, local


def check_files(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise `InvalidFile` unless each file is there, and is given once, however its path is spelled. Costs nothing."""
    given: dict[str, str] = {}
    for source in map(Source, paths):
        source.check_there()
        place = os.path.realpath(source.path)
        if place in given:
            raise InvalidFile(source.file, f"this file is given twice, first as {given[place]}; give it once")
        given[place] = source.file


class Source:
    """One file: XML in any encoding that Python knows, or a zip archive of one such file, as `.zxmi` is."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.file = os.fspath(path)
        """Its name in messages."""
        self.size = 0
        """Bytes of XML, known from the start of `parse` on."""
        self.position = 0
        """How many of those have been read."""
        self.generation = 0
        """A number that changes when prefixes may mean something else."""
        self._parser: Any = None
        self._prefixes: dict[str, list[str]] = {}

    def check_there(self) -> None:
        """Raise `InvalidFile` if there is no file of that name. Costs nothing."""
        if not self.path.is_file():
            raise InvalidFile(self.file, self._instead())

    def _instead(self) -> str:
        """What is there, where there is no file."""
        if self.path.is_dir():
            return "it is a folder; name a file"
        return "it is no plain file; name one" if self.path.exists() else "there is no such file"

    @property
    def line(self) -> int:
        """Where the event begins that is being told."""
        return int(self._parser.CurrentLineNumber) if self._parser else 1

    def namespace(self, prefix: str) -> str | None:
        """What a prefix stands for at this place, None for nothing; the empty one for the default namespace."""
        found = self._prefixes.get(prefix)
        return (found[-1] or None) if found else None

    def prefixes(self) -> dict[str, str]:
        """All that are in force at this place."""
        return {prefix: uris[-1] for prefix, uris in self._prefixes.items() if uris and uris[-1]}

    def fault(self, reason: str, line: int | None = None) -> InvalidFile:
        """The error that says so of this place, or of another line."""
        return InvalidFile(f"{self.file}:{line or self.line}", reason)

    def parse(self, handler: Handler, read: Callable[[], None] = lambda: None) -> None:
        """Tell a handler all that is in the file, in order, in memory that does not grow with it. `read` is called now
        and then."""
        with ExitStack() as open_until:
            stream = self._opened(open_until)
            head = self._read(stream, _CHUNK)
            name, decoder = self._encoding(head)
            self._parser = self._prepared(handler, name)
            try:
                self._feed(head, stream, decoder, read)
            except expat.ExpatError as exc:
                reason = f"the XML is broken: {expat.ErrorString(exc.code)}, at column {exc.offset + 1}"
                raise self.fault(reason, exc.lineno) from exc
            except UnicodeDecodeError as exc:
                raise self.fault(f"this is not in the encoding {exc.encoding} that the file declares") from exc

    def _feed(
        self, piece: bytes, stream: IO[bytes], decoder: codecs.IncrementalDecoder | None, read: Callable[[], None]
    ) -> None:
        parse, begun, size = self._parser.Parse, 0, _CHUNK
        while piece:
            self.position += len(piece)
            parse(decoder.decode(piece) if decoder else piece)
            if self.position // _TOLD > (self.position - len(piece)) // _TOLD:
                read()
            before, begun = begun, self._parser.CurrentByteIndex
            if begun != before:
                size = _CHUNK
            elif size >= LONGEST:
                raise self.fault(f"a tag takes more than {LONGEST} bytes")
            else:
                size *= 2  # a tag is parsed again from its start with each piece: so it is done a few times only
            piece = self._read(stream, size)
        parse(decoder.decode(b"", True) if decoder else b"", True)

    def _read(self, stream: IO[bytes], size: int) -> bytes:
        try:
            return stream.read(size)
        except (OSError, *_ZIP_FAULTS) as exc:
            raise self.fault(f"the file can't be read any further: {exc}") from exc

    def _opened(self, open_until: ExitStack) -> IO[bytes]:
        self.position, self._prefixes, self._parser = 0, {}, None
        self.check_there()
        try:
            stream = open_until.enter_context(self.path.open("rb"))
            packed = stream.read(4) == b"PK\3\4"
            stream.seek(0)
            if packed:
                return self._unpacked(stream, open_until)
            self.size = os.fstat(stream.fileno()).st_size
        except (OSError, *_ZIP_FAULTS) as exc:
            raise InvalidFile(self.file, f"the file can't be read: {exc}") from exc
        return stream

    def _unpacked(self, stream: IO[bytes], open_until: ExitStack) -> IO[bytes]:
        archive = open_until.enter_context(zipfile.ZipFile(stream))
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) != 1:
            raise InvalidFile(self.file, f"it is an archive of {len(members)} files, expected one")
        self.size = members[0].file_size
        return open_until.enter_context(archive.open(members[0]))

    def _encoding(self, head: bytes) -> tuple[str | None, codecs.IncrementalDecoder | None]:
        """What the parser should take the bytes for, None for what they say themselves; or what decodes them for it."""
        for mark, name in _MARKS:
            if head.startswith(mark):
                return None, codecs.getincrementaldecoder(name)()
        for mark, name in _NATIVE_MARKS:
            if head.startswith(mark):
                return name, None
        declared = _DECLARED.match(head)
        if declared is None:
            return None, None
        name = declared[1].decode()
        try:
            known = codecs.lookup(name)
            if known.name in _NO_ENCODING:
                raise self.fault(f"{name} is no encoding of XML")
            b"    ".decode(name, "replace")  # refuses those that are no encodings of text
        except LookupError:
            raise self.fault(f"nothing is known of the encoding {name}") from None
        if known.name in _NATIVE:
            return _NATIVE[known.name], None
        if known.name.startswith(("utf-16", "utf-32")):
            raise self.fault(f"it says that its encoding is {name}, which it is not")
        return None, known.incrementaldecoder() if known.incrementaldecoder else None

    def _prepared(self, handler: Handler, encoding: str | None) -> Any:
        parser: Any = expat.ParserCreate(encoding, " ")
        parser.buffer_text = True
        parser.ordered_attributes = True
        parser.specified_attributes = True
        start, end, depth = handler.start, handler.end, 0

        def deeper(name: str, attributes: list[str]) -> None:
            nonlocal depth
            depth += 1
            if depth > DEPTH:
                raise self.fault(f"elements lie more than {DEPTH} deep in one another")
            start(name, attributes)

        def back(name: str) -> None:
            nonlocal depth
            depth -= 1
            end(name)

        parser.StartElementHandler = deeper
        parser.EndElementHandler = back
        parser.CharacterDataHandler = handler.text
        parser.StartNamespaceDeclHandler = self._declared
        parser.EndNamespaceDeclHandler = self._undeclared
        if comment := getattr(handler, "comment", None):
            parser.CommentHandler = comment
        if cdata := getattr(handler, "cdata", None):
            parser.StartCdataSectionHandler = lambda: cdata(True)
            parser.EndCdataSectionHandler = lambda: cdata(False)
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._skipped
        return parser

    def _declared(self, prefix: str | None, uri: str | None) -> None:
        self.generation += 1
        self._prefixes.setdefault(prefix or "", []).append(uri or "")

    def _undeclared(self, prefix: str | None) -> None:
        self.generation += 1
        self._prefixes[prefix or ""].pop()

    def _doctype(self, _name: str, system: str | None, public: str | None, _internal: int) -> None:
        if system or public:
            raise self.fault(
                f"its document type is in another file, {system or public}, which is not read; take it out"
            )

    def _entity(self, name: str, *_rest: object) -> None:
        raise self.fault(f"it declares the entity {name}; entities are not expanded, write what it stands for")

    def _skipped(self, name: str, _parameter: int) -> None:
        raise self.fault(f"nothing is known of the entity {name}; write what it stands for")
