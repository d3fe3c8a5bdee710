"""Elements that are no ordinary objects: values, references, objects of other files, and what is kept as it is.

While one is open its handler here gets the events, in place of `Reading`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from neomodel import codecs, ids
from neomodel.checks import or_default
from neomodel.unstored import UNSET
from neomodel.xmi.frames import Frame
from neomodel.xmi.links import MARK, MISSING, token
from neomodel.xmi.shapes import Role, Slot
from neomodel.xmi.source import XML, split
from neomodel.xmi.spellings import ELEMENT

if TYPE_CHECKING:
    from neomodel.xmi.reading import Reading

_KEPT = {"\r": "&#13;"}  # else readers take it for the end of a line


class ValueElement:
    """A value of an attribute, as text."""

    def __init__(self, reading: "Reading", frame: Frame, slot: Slot, *, nil: bool) -> None:
        self._reading = reading
        self._frame = frame
        self._slot = slot
        self._nil = nil
        self._pieces: list[str] = []

    def start(self, name: str, attributes: list[str]) -> None:  # noqa: ARG002  as all handlers have it
        raise self._reading.source.fault(f"{self._slot.feature} holds values, not elements like {split(name)[1]!r}")

    def text(self, data: str) -> None:
        self._pieces.append(data)

    def end(self, name: str) -> None:  # noqa: ARG002  as all handlers have it
        reading, frame, slot = self._reading, self._frame, self._slot
        reading.odd = None
        if self._nil:
            self._none()
        elif not slot.many and slot.column in frame.cells and slot.group is None:
            raise reading.source.fault(f"{slot.feature} holds one value, and this is another")
        else:
            slot.form = slot.form or ELEMENT
            reading.odd_text(frame, slot, "".join(self._pieces))
            if slot.group is not None:
                reading.value(frame, slot.group, slot.name)

    def _none(self) -> None:
        reading, slot = self._reading, self._slot
        if slot.feature.codec.primitive:
            reading.notice(f"{slot.feature} can't be nil; it is left as it is by default")
        elif slot.many:
            self._frame.collect(slot, None, reading.work.writing, reading.notice)
        elif or_default(slot.feature, None) is not UNSET:
            self._frame.cells[slot.column] = codecs.NULL


class LinkElement:
    """A reference: to what its href or idref names, or its text."""

    def __init__(
        self, reading: "Reading", frame: Frame, slot: Slot, uri: str | None, said: str | None, *, nil: bool
    ) -> None:
        self._reading = reading
        self._frame = frame
        self._slot = slot
        self._uri = uri
        self._said = said
        self._nil = nil
        self._pieces: list[str] = []
        self._depth = 0

    def start(self, name: str, attributes: list[str]) -> None:  # noqa: ARG002  as all handlers have it
        if self._uri is None:
            raise self._reading.source.fault(
                f"{self._slot.feature} refers to objects that lie elsewhere; {split(name)[1]!r} can't be in it"
            )
        self._depth += 1

    def text(self, data: str) -> None:
        self._pieces.append(data)

    def end(self, name: str) -> None:
        if self._depth:
            self._depth -= 1
            return
        reading, frame, slot = self._reading, self._frame, self._slot
        reading.odd = None
        if self._nil:
            if slot.feature.unsettable and not slot.many:
                frame.cells[slot.column] = codecs.NULL
            return
        naming = reading.naming
        texts = [naming.text(self._uri, self._said)] if self._uri is not None else naming.texts("".join(self._pieces))
        if not texts:
            raise reading.source.fault(f"{split(name)[1]!r} does not say what {slot.feature} refers to")
        if slot.role is Role.UP:
            reading.check_up(frame, slot, texts, reading.above())
            if texts[0].startswith(MISSING):  # nothing of ours says so until that file is added
                frame.keep({"element": f"<{slot.name} href={quoteattr(self._uri or '')}/>"})
            return
        reading.refer(frame, slot, texts)
        if slot.group is not None:
            for _ in texts:
                reading.value(frame, slot.group, slot.name)


def proxy(reading: "Reading", frame: Frame, slot: Slot, uri: str, said: str | None, said_here: list[str]) -> None:
    """An object of another file that an object of this one contains, and of which class it is said to be. What else is
    said of it here is a copy of what is said there; if that file is not given, it is told that it is left out."""
    work, text = reading.work, reading.naming.text(uri, said)
    reading.odd = Capture(reading, None)
    if text.startswith(MISSING):
        if said_here:
            reading.notice(f"{', '.join(said_here)} of {uri} is left out: it is for the file that this object is in")
        if text in work.absent:
            raise reading.source.fault(f"{uri} is contained in another object already")
        work.absent.add(text)
        reading.hold(frame, slot, token(text, slot.feature.eType.type_name))
        work.wait(frame.oid)
        return
    if text.startswith(MARK):
        _take(reading, frame, slot, uri, text)
        return
    found = work.targets.find(text) or work.targets.find(text.replace("#", "#=", 1))
    if found is not None:
        oid = found[1:]
    else:
        oid = work.reserved.get(text) or ids.oid_in(work.shards.beside(frame.shard))
        work.reserved[text] = oid
    if oid in work.adopted:
        raise reading.source.fault(f"{uri} is contained in another object already")
    work.tops[oid] = reading.top()
    work.adopted[oid] = frame.oid, frame.shape.number, slot.number, f"{reading.source.file}:{reading.source.line}"
    reading.hold(frame, slot, oid)


def _take(reading: "Reading", frame: Frame, slot: Slot, uri: str, text: str) -> None:
    """An object that is in the model already, and comes into one of this file."""
    work = reading.work
    found = work.earlier.find(text) if work.earlier is not None else None
    if found is None:
        raise reading.source.fault(f"it contains {uri}, which is not there")
    kind = work.shapes.marked(found).kind
    if found[1:] in work.taken or not work.earlier_root(found[1:]):
        raise reading.source.fault(f"{uri} is contained in another object already")
    if not slot.takes(kind):
        raise reading.source.fault(f"{slot.feature} holds objects of {slot.feature.eType}, and {uri} is one of {kind}")
    work.tops[found[1:]] = reading.top()
    work.taken[found[1:]] = frame.oid, slot.name
    reading.hold(frame, slot, found[1:])


class Capture:
    """Takes an element as it is, and keeps it as text of XML; or passes it over."""

    def __init__(self, reading: "Reading", keep: Callable[[dict[str, str]], None] | None) -> None:
        self._reading = reading
        self._keep = keep
        self._pieces: list[str] = []
        self._in_force: dict[str, str] = {}
        self._prefixes: dict[str, str] = {}
        self._depth = 0 if keep is not None else 1

    def start(self, name: str, attributes: list[str]) -> None:
        self._depth += 1
        if self._keep is None:
            return
        self._in_force = {**self._reading.source.prefixes(), **self._in_force}
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        said = "".join(f" {self._named(one)}={quoteattr(value)}" for one, value in pairs)
        self._pieces.append(f"<{self._named(name)}{said}")
        if self._depth == 1:
            self._pieces.append("")  # where namespaces are declared
        self._pieces.append(">")

    def text(self, data: str) -> None:
        if self._keep is not None:
            self._pieces.append(escape(data, _KEPT))

    def end(self, name: str) -> None:
        self._depth -= 1
        if self._keep is not None:
            self._pieces.append(f"</{self._named(name)}>")
        if self._depth == 0:
            self._reading.odd = None
            if self._keep is not None:
                self._pieces[1] = self._declared("".join(self._pieces))
                self._keep({"element": "".join(self._pieces)})

    def _named(self, name: str) -> str:
        uri, local = split(name)
        if not uri:
            return local
        if uri == XML:
            return f"xml:{local}"
        if uri not in self._prefixes:
            known = [prefix for prefix, other in self._in_force.items() if other == uri and prefix]
            free = known or [f"ns{len(self._prefixes)}_"]
            self._prefixes[uri] = free[0]
        return f"{self._prefixes[uri]}:{local}"

    def _declared(self, text: str) -> str:
        """The namespaces of names, and of prefixes that values may have."""
        used = {prefix: uri for prefix, uri in self._in_force.items() if prefix and f"{prefix}:" in text}
        prefixes = {**used, **{prefix: uri for uri, prefix in self._prefixes.items()}}
        return "".join(f" xmlns:{prefix}={quoteattr(uri)}" for prefix, uri in prefixes.items())
