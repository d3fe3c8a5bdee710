"""The events of one file of XMI, made into rows: what an import waits for.

An element gets its id when it starts, so that what it contains can name it, and its row when it ends. Rows that can't
be complete yet, because they refer to something or others may refer to them, are put aside; so are those of roots,
which come last. Elements that are no ordinary objects are in `oddities`.
"""

from typing import Any

from neomodel import codecs, ids, layout, trees
from neomodel.errors import InvalidFile, near
from neomodel.stores import VERSION, successor
from neomodel.xmi.classes import TYPES, Classes, said_class
from neomodel.xmi.frames import Frame, Work
from neomodel.xmi.links import Naming
from neomodel.xmi.oddities import Capture, LinkElement, ValueElement, proxy
from neomodel.xmi.shapes import Role, Shape, Slot, is_xmi, read_value, special
from neomodel.xmi.source import XMI, XSI, Source, split
from neomodel.xmi.spellings import TEXT

_NIL = f"{XSI} nil"
_IDREF = f"{XMI} idref"
_TELLING = frozenset({*TYPES, _NIL, "href", _IDREF})
"""Attributes that say what an element is."""
_VALUE, _LINK, _CHILD = Role.VALUE, Role.LINK, Role.CHILD
_TRUE = ("true", "1")


class Reading:
    """Reads one file. A handler of `Source`."""

    def __init__(self, work: Work, source: Source, number: int) -> None:
        self.work = work
        self.source = source
        self.number = number
        self.naming = Naming(
            work.files,
            number,
            tell=self.notice,
            namespace=source.namespace,
            earlier=work.earlier.prefix if work.earlier else None,
        )
        self.classes = Classes(work.shapes, source, self.notice)
        self.odd: Any = None
        """What is told of events in place of this, while an element is open that is no ordinary object."""
        self.frame: Frame | None = None
        """The object whose element is open."""
        self._above: list[Frame | None] = []
        self._roots = 0
        self._in_cdata = False

    # events

    def start(self, name: str, attributes: list[str]) -> None:
        if self.odd is not None:
            self.odd.start(name, attributes)
            return
        frame = self.frame
        if frame is None:
            self._root(name, attributes)
            return
        slot = frame.shape.elements.get(name)
        if slot is None:
            slot = self._unknown_element(frame, name, attributes)
        if slot is None:
            return
        if slot.role is _CHILD:
            self._child(frame, slot, name, attributes)
        else:
            self._no_child(frame, slot, attributes)

    def end(self, name: str) -> None:
        if self.odd is not None:
            self.odd.end(name)
        elif self.frame is not None:
            frame = self.frame
            self.frame = self._above.pop()
            self._finish(frame)

    def text(self, data: str) -> None:
        if self.odd is not None:
            self.odd.text(data)
        elif not data.isspace() or (self.frame is not None and self.frame.shape.mixed is not None):
            self._stray(data)

    def comment(self, data: str) -> None:
        if self.odd is None and self.frame is not None and self.frame.shape.mixed is not None:
            self.value(self.frame, self.frame.shape.mixed, f"#comment:{data}")

    def cdata(self, begins: bool) -> None:
        self._in_cdata = begins

    # objects

    def _child(self, frame: Frame, slot: Slot, name: str, attributes: list[str]) -> None:
        """An element for what an object contains."""
        names = attributes[::2]
        if _TELLING.isdisjoint(names):
            shape: Shape | None = slot.usual or self._usual(frame, slot, name, attributes)
        else:
            shape = self._telling(frame, slot, name, attributes)
        if shape is None:
            return
        held = frame.children.get(slot)
        number = 0 if held is None else len(held)
        near = self.work.shards.beside
        oid = self.classes.keyed(shape, attributes) if shape.key else ids.oid_in(near(frame.shard))
        self.hold(frame, slot, oid)
        path = f"{frame.path}/@{slot.name}.{number}" if slot.many else f"{frame.path}/@{slot.name}"
        cells = {
            layout.CONTAINER: frame.oid.encode(),
            layout.FEATURE: slot.feature.tag,
            **shape.cells,
            VERSION: successor(None),
        }
        self._open(Frame(shape, oid, path, self.source.line, cells), names, attributes[1::2])

    def _root(self, name: str, attributes: list[str]) -> None:
        """An element that no object contains."""
        uri, local = split(name)
        if is_xmi(uri):
            if local != "XMI":
                self._keep_element(None, name, attributes, f"xmi:{local} is kept as it is")
            return
        said = said_class(attributes)
        shape = self.classes.named(said) if said else self.classes.of(uri, local, local)
        if shape is None:
            missing = self.classes.missing(said) if said else self.classes.missing(local, uri)
            self.unknown(None, missing, name, attributes)
            return
        work, number, prefix = self.work, self._roots, self.naming.prefix
        path = f"{prefix}/{number}" if number else f"{prefix}/"
        if shape.key:
            oid = self.classes.keyed(shape, attributes)
        elif work.reserved:
            oid = self._reserved(path, attributes)
        else:
            oid = ids.oid_in(work.shards.fresh())
        self._roots += 1
        cells = {**layout.placed(ids.ROOT, layout.ROOT_CONTENTS), **shape.cells, VERSION: successor(None)}
        self._open(Frame(shape, oid, path, self.source.line, cells), attributes[::2], attributes[1::2])

    def _reserved(self, path: str, attributes: list[str]) -> str:
        """The id of a root that another file may have contained already: then it got its id there."""
        work, names = self.work, [path]
        for name, value in zip(attributes[::2], attributes[1::2], strict=True):
            if special(name) is Role.ID:
                names.append(f"{self.naming.prefix}#{value}")
        found = next((work.reserved.pop(name) for name in names if name in work.reserved), None)
        return found or ids.oid_in(work.shards.fresh())

    def _telling(self, frame: Frame, slot: Slot, name: str, attributes: list[str]) -> Shape | None:
        """The class of a child that says something of itself; None if it is none, or lies elsewhere."""
        said = said_class(attributes)
        shape = self.classes.named(said) if said else None
        told = dict(zip(attributes[::2], attributes[1::2], strict=True))
        elsewhere = told.get("href") or told.get(_IDREF)
        if elsewhere is not None and not ("#" not in elsewhere and shape and "href" in shape.attributes):
            said_here = [split(one)[1] for one in told if one not in _TELLING]
            proxy(self, frame, slot, elsewhere if "href" in told else f"#{elsewhere}", said, said_here)
            return None
        if told.get(_NIL, "").strip() in _TRUE:
            self.odd = Capture(self, None)
            return None
        if said is None:
            return self._usual(frame, slot, name, attributes)
        if shape is None:
            self.unknown(frame, self.classes.missing(said), name, attributes)
        elif not slot.takes(shape.kind):
            raise self.source.fault(f"{slot.feature} holds objects of {slot.feature.eType}, and this is one of {shape}")
        return shape

    def _usual(self, frame: Frame, slot: Slot, name: str, attributes: list[str]) -> Shape | None:
        try:
            return self.classes.usual(slot)
        except InvalidFile as exc:
            self.unknown(frame, exc, name, attributes)
            return None

    def _open(self, frame: Frame, names: list[str], values: list[str]) -> None:
        """Begin with an object: it can be referred to from now on, and has what its attributes say."""
        work, shape = self.work, frame.shape
        target = shape.mark + frame.oid
        work.elements += 1
        work.targets.define(frame.path, target)
        if shape.key:
            if not work.targets.define(f"!{frame.oid}", target):
                raise self.source.fault(f"another object of {shape} has the same key")
            if work.earlier is not None:
                fault = self.source.fault(f"an object of {shape} with the same key is in the model already")
                work.writing.claim(frame.oid, fault)
        slots, cells = shape.attributes, frame.cells
        for name, value in zip(names, values, strict=True):
            slot = slots.get(name)
            if slot is None:
                slot = shape.unusual(name)
            role = slot.role
            if role is _VALUE and not slot.many:
                try:
                    cell = slot.cell(value)
                except ValueError as exc:
                    self.bad(frame, slot, value, exc)
                    continue
                if cell is not None:
                    cells[slot.column] = cell
                if slot.id:
                    self.identify(frame, slot, value)
            elif role is _LINK:
                self.refer(frame, slot, self.naming.texts(value, many=slot.many))
            elif role is not Role.PASSED:
                self._rare(frame, slot, name, value)
        self._above.append(self.frame)
        self.frame = frame

    def _rare(self, frame: Frame, slot: Slot, name: str, value: str) -> None:
        """What an attribute says that is neither a value nor a reference."""
        if slot.role is Role.ID:
            frame.id = f"{self.naming.prefix}#{value}"
            frame.cells[layout.XMI_ID] = value.encode()
            if not self.work.targets.define(frame.id, frame.shape.mark + frame.oid):
                self.unsound(f"the xmi:id {value!r} is that of another object, too")
        elif slot.role is _VALUE:
            for one in value.split():
                self.value(frame, slot, one)
        elif slot.role is Role.UP:
            self.check_up(frame, slot, self.naming.texts(value), self.frame)
        elif slot.role is Role.UNKEPT:
            self.notice(f"{slot.feature} is not stored: {value!r} is left out")
        elif slot.role is Role.UNKNOWN:
            reason = f"{frame.shape} has no feature {split(name)[1]!r}{near(split(name)[1], frame.shape.kind.features)}"
            self.unsound(reason)
            uri, local = split(name)
            frame.keep({"attribute": f"{{{uri}}}{local}" if uri else local, "value": value})
        else:
            raise self.source.fault(f"{slot.feature or name} can't be given by an attribute")

    def _finish(self, frame: Frame) -> None:
        """End with an object: its row is written, or put aside."""
        cells, work = frame.cells, self.work
        for slot, held in frame.children.items():
            cells[slot.column] = codecs.encode_refs(held) if type(held) is list else held.root()
        if frame.values:
            for values in frame.values.values():
                cells.update(values.cells())
        if frame.kept:
            cells[layout.ASIDE] = layout.aside(frame.kept)
        if frame.links:
            frame.note(len(self.naming.prefix))
        is_root = self.frame is None
        if is_root or frame.links or frame.shape.waits:
            record = (frame.oid, frame.shape.number, frame.path, self.number, frame.line, cells, frame.links)
            weight = 1 + sum(len(texts) for _, texts in frame.links) // 100
            (work.roots if is_root else work.rows).add(record, weight)
        else:
            work.writing.put(frame.oid, cells)

    # what objects hold

    def hold(self, frame: Frame, slot: Slot, token: str) -> None:
        """Let an object contain what a token refers to."""
        held = frame.children.get(slot)
        if held is None:
            frame.children[slot] = [token]
        elif not slot.many:
            raise self.source.fault(f"{slot.feature} holds one object, and this is another")
        else:
            if len(held) == trees.LIMITS.inline and type(held) is list:
                held = frame.children[slot] = self.work.writing.growing(frame.oid, slot.feature, held)
            held.append(token)
        if slot.group is not None:
            self.value(frame, slot.group, slot.name)

    def refer(self, frame: Frame, slot: Slot, texts: list[str]) -> None:
        """Let an object refer to what texts name."""
        if len(texts) > 1 and not slot.many:
            raise self.source.fault(f"{slot.feature} refers to one object, and here are {len(texts)}")
        if texts:
            frame.links.append((slot.number, texts))

    def value(self, frame: Frame, slot: Slot, text: str) -> None:
        """Put a value at the end of a many-valued attribute, or an entry at that of a feature map."""
        try:
            raw = text if slot.role is Role.MAP else read_value(slot.feature, text)
        except ValueError as exc:
            self.bad(frame, slot, text, exc)
        else:
            frame.collect(slot, raw, self.work.writing, self.notice)

    def identify(self, frame: Frame, slot: Slot, value: str) -> None:
        """Let an object be known by an attribute that is its id."""
        frame.id = frame.id or f"{self.naming.prefix}#{value}"
        if not self.work.targets.define(f"{self.naming.prefix}#={value}", frame.shape.mark + frame.oid):
            self.notice(f"{slot.feature} is {value!r}, as that of another object; references lead to the first one")

    def check_up(self, frame: Frame, slot: Slot, texts: list[str], holder: Frame | None) -> None:
        """What a child says of its container has to be so: what can't be told yet is looked at when all is read."""
        if texts and not (holder is not None and texts[0] in (holder.path, holder.id)):
            self.refer(frame, slot, texts)

    # what is odd

    def _no_child(self, frame: Frame, slot: Slot, attributes: list[str]) -> None:
        """An element for a feature that contains no objects."""
        told = dict(zip(attributes[::2], attributes[1::2], strict=True))
        if slot.role is Role.VALUE:
            self.odd = ValueElement(self, frame, slot, nil=told.get(_NIL, "").strip() in _TRUE)
        elif slot.role in (Role.LINK, Role.UP):
            uri = told.get("href", f"#{told[_IDREF]}" if _IDREF in told else None)
            nil = told.get(_NIL, "").strip() in _TRUE
            self.odd = LinkElement(self, frame, slot, uri, said_class(attributes), nil=nil)
        elif slot.role is Role.UNKEPT:
            self.notice(f"{slot.feature} is not stored: what is in this element is left out")
            self.odd = Capture(self, None)
        else:
            raise self.source.fault(f"{slot.feature} can't be given by an element")

    def _unknown_element(self, frame: Frame, name: str, attributes: list[str]) -> Slot | None:
        uri, local = split(name)
        if is_xmi(uri):
            self._keep_element(frame, name, attributes, f"xmi:{local} is kept as it is")
            return None
        slot = (frame.shape.elements.get(local) if uri else None) or frame.shape.alias(local)
        if slot is not None:
            frame.shape.elements[name] = slot
            return slot
        wild = frame.shape.wild
        if wild is not None and uri and uri != frame.shape.kind.ePackage.nsURI:
            self.odd = Capture(self, lambda kept: self.value(frame, wild, f"#element:{kept['element']}"))
            self.odd.start(name, attributes)
            return None
        missing = self.source.fault(f"{frame.shape} has no feature {local!r}{near(local, frame.shape.kind.features)}")
        self.unknown(frame, missing, name, attributes)
        return None

    def top(self) -> str:
        """The id of the root in which the element is that is open."""
        top = self._above[1] if len(self._above) > 1 else self.frame
        assert top is not None
        return top.oid

    def above(self) -> Frame | None:
        """What contains the object whose element is open."""
        return self._above[-1]

    def unknown(self, frame: Frame | None, missing: InvalidFile, name: str, attributes: list[str]) -> None:
        """Refuse what the metamodel does not know, or keep it aside."""
        if not self.work.lenient:
            raise missing
        self._keep_element(frame, name, attributes, f"{missing.reason}; the element is kept aside")

    def _keep_element(self, frame: Frame | None, name: str, attributes: list[str], notice: str) -> None:
        self.notice(notice)
        self.odd = Capture(self, frame.keep if frame is not None else self.work.kept.append)
        self.odd.start(name, attributes)

    def _stray(self, data: str) -> None:
        """Text between the elements of an object, or outside of all."""
        frame = self.frame
        if frame is not None and frame.shape.mixed is not None:
            self.value(frame, frame.shape.mixed, f"#cdata:{data}" if self._in_cdata else f"#text:{data}")
            return
        if frame is not None and frame.shape.simple is not None:
            frame.shape.simple.form = TEXT
            self.odd_text(frame, frame.shape.simple, data)
            return
        where = f"{frame.shape} has no place" if frame is not None else "there is no place"
        self.unsound(f"{where} for the text {data.strip()[:40]!r}")
        if frame is not None:
            frame.keep({"attribute": "#text", "value": data})

    def odd_text(self, frame: Frame, slot: Slot, text: str) -> None:
        """A value that is given by text, and not by an attribute."""
        if slot.many or slot.role is Role.MAP:
            self.value(frame, slot, text)
            return
        try:
            cell = slot.cell(text)
        except ValueError as exc:
            self.bad(frame, slot, text, exc)
            return
        if cell is not None:
            frame.cells[slot.column] = cell
        if slot.id:
            self.identify(frame, slot, text)

    def bad(self, frame: Frame, slot: Slot, text: str, exc: ValueError) -> None:
        """Refuse a value that is none, or keep it aside."""
        self.unsound(f"{slot.feature} can't be {text[:60]!r}: {exc}; expected {slot.feature.codec.expected}")
        frame.keep({"attribute": slot.name, "value": text})

    def unsound(self, reason: str) -> None:
        """Refuse the file, unless what is wrong is to be kept aside."""
        if not self.work.lenient:
            raise self.source.fault(reason)
        self.notice(f"{reason}; it is kept aside")

    def notice(self, text: str) -> None:
        self.work.notices.add(self.source.file, self.source.line, text)
