"""A model as a file of XMI, as EMF writes it.

The model is read once, in document order, and its elements are written to a temporary file with references left open;
then they are filled in, on the way to the file itself. So memory does not grow with the model, and all is of one moment
where the store can tell. n objects cost about n / 500 calls.
"""

import os
import tempfile
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

import attrs

from neomodel.xmi import output
from neomodel.xmi.document import Document
from neomodel.xmi.escaping import quoted
from neomodel.xmi.filling import Resolver, pieces
from neomodel.xmi.forms import Prefixes
from neomodel.xmi.fragments import Fragments
from neomodel.xmi.places import Directory, Places
from neomodel.xmi.source import XMI, XSI

if TYPE_CHECKING:
    from neomodel.model import Model

_ROOM = 8 << 20  # bytes of elements in memory


@attrs.frozen
class Export:
    """What was written, and what was not."""

    model: str
    file: str
    elements: int
    references: int
    seconds: float
    notices: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """Elements per second."""
        return self.elements / max(self.seconds, 1e-9)


def export_xmi(
    model: "Model",
    target: output.Target,
    *,
    own_ids: bool = False,
    timelines: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Export:
    """Write a model to a file, or to a stream of bytes; see `Model.export_xmi`."""
    began = time.perf_counter()
    output.check(target)
    prefixes, fragments = Prefixes(), Fragments()
    with tempfile.SpooledTemporaryFile(_ROOM, dir=output.folder_of(target)) as body:
        document = Document(
            model,
            body,
            fragments=fragments,
            prefixes=prefixes,
            own_ids=own_ids,
            timelines=timelines,
            progress=progress or _unseen,
        )
        directory = Directory(fragments, alone=False)
        places = Places(document.model, directory, suffix=".xmi", own_ids=own_ids)
        resolver = Resolver(places, prefixes, document.contents)
        try:
            document.write()
            directory.alone = document.roots == 1
            resolver.declare(body)
            with output.opened(target) as stream:
                _write(stream, body, document, resolver, prefixes)
        finally:
            places.close()
    told = notices("XMI", timelines=document.contents.without, lost=resolver.lost, example=resolver.example)
    if document.outdated:
        told += (f"{document.outdated:,} values that were kept aside were left out: their features have others by now",)
    return Export(
        model.name,
        os.fspath(target) if isinstance(target, str | os.PathLike) else "-",
        document.elements,
        resolver.references,
        time.perf_counter() - began,
        told,
    )


def _write(stream: IO[bytes], body: IO[bytes], document: Document, resolver: Resolver, prefixes: Prefixes) -> None:
    declarations = _declarations(prefixes)
    stream.write(b'<?xml version="1.0" encoding="UTF-8"?>')
    if document.wrapped:
        stream.write(b"\n<xmi:XMI%b>" % declarations)
    for piece in pieces(body):
        text = resolver.filled(piece)
        if b"\6" in text:
            text = text.replace(b"\6", b"" if document.wrapped else declarations)
        stream.write(text)
    stream.write(b"\n</xmi:XMI>\n" if document.wrapped else b"\n")


def _declarations(prefixes: Prefixes) -> bytes:
    """The attributes of the outermost element that are of no object."""
    found = [b' xmi:version="2.0" xmlns:xmi="%b"' % XMI.encode()]
    if prefixes.instances:
        found.append(b' xmlns:xsi="%b"' % XSI.encode())
    found += [b' xmlns:%b="%b"' % (prefix, quoted(uri)) for uri, prefix in prefixes.declared.items()]
    return b"".join(found)


def notices(form: str, *, timelines: int, lost: int, example: bytes) -> tuple[str, ...]:
    """What is said of what was left out."""
    found = []
    if timelines:
        found.append(f"{timelines:,} timelines were left out: {form} has no place for them")
    if lost:
        found.append(
            f"{lost:,} references were left out, since what they lead to is not there "
            f"({example.decode()}, for one); `neomodel check` lists them"
        )
    return tuple(found)


def _unseen(_elements: int) -> None:
    """For who does not ask for progress."""
