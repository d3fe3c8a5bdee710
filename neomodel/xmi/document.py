"""The elements of a document, written as rows are read. References are left open: places are known in the end only.

What is left open stands between control characters, which no document has. ``01 name 02 tokens 03`` is an attribute
with references; without a name, some of those of one. ``01 04 number 05 space 02 token 03`` is an element of its own,
where `number` tells the feature. ``01 07 name 02 tokens 03`` is an attribute as Ecore's own objects have it. ``06`` is
where the namespaces of the first root go.
"""

from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING

from neomodel import ids, layout
from neomodel.document_order import Frame, Page, Walk, pages_of
from neomodel.errors import CorruptRow, NeomodelError, NotWritable
from neomodel.kinds import EClass, EFeature
from neomodel.roots import ROOT_KIND, ROOTS
from neomodel.stores import Row
from neomodel.xmi import escaping
from neomodel.xmi.aside import Aside, kept
from neomodel.xmi.contents import PIECES, Contents, Late, Writing
from neomodel.xmi.forms import Form, Part, Prefixes, Sort
from neomodel.xmi.fragments import Fragments
from neomodel.xmi.source import DEPTH
from neomodel.xmi.spellings import Spellings

if TYPE_CHECKING:
    from neomodel.model import Model

_NOTHING: Iterator[Page] = iter(())
_NO_ASIDE = Aside({})
_UNUSUAL = b"\0@\xff"  # what cells begin with that hold no reference, one to elsewhere, or a long list
_NO_LIST = b"\0\xff"
_INDENTED = 50  # levels; beyond, the space would be more than the text
_SPACES = [b"\n" + b"  " * depth for depth in range(_INDENTED)]


class Element(Frame):
    """An object whose tag is open."""

    __slots__ = ("depth", "end", "inner", "names", "outer", "path")

    def __init__(self, key: bytes, pages: Iterator[Page], path: bytes, depth: int) -> None:
        super().__init__(key, pages)
        self.path = path
        self.names: set[bytes] = set()
        """Those by which paths lead to what it contains."""
        self.depth = depth
        self.inner = _SPACES[depth] if depth < _INDENTED else _SPACES[-1]
        """What comes before each element in it."""
        self.outer = b""
        """What comes before its end."""
        self.end = b""


class Document(Walk):
    """Writes all elements of a model to `body`, and enters each object into `fragments`."""

    def __init__(
        self,
        model: "Model",
        body: IO[bytes],
        *,
        fragments: Fragments,
        prefixes: Prefixes,
        own_ids: bool,
        timelines: bool,
        progress: Callable[[int], None],
    ) -> None:
        super().__init__(model)
        self.elements = 0
        self.roots = 0
        self.outdated = 0
        """How many values were kept aside, and their features have others by now."""
        self.wrapped = False
        """Whether all of it lies in an element of its own, as several roots do."""
        self._own_ids = own_ids
        self._fragments = fragments
        self._prefixes = prefixes
        self._progress = progress
        self._forms: dict[tuple[bytes, bytes], Form] = {}
        self._segments: dict[EFeature, bytes] = {}
        self.writing = Writing(body, self._tell)
        self.out = self.writing.out
        self.contents = Contents(model, self.writing, prefixes, timelines=timelines)

    def write(self) -> None:
        """Write everything."""
        key = ids.ROOT.encode()
        row = self.rows.get(key)
        aside = self._aside(key, row, None)
        self.contents.spellings = Spellings(aside.spellings)
        self.wrapped = bool(aside.contents) or sum(len(page) for page in pages_of(self.model, key, row, ROOTS)) != 1
        self.walk(Element(key, self.children(key, row, ROOT_KIND), b"", int(self.wrapped)))
        self.wrapped = bool(aside.contents) or self.roots != 1
        for sort, name, value in aside.contents:
            self.out.append(kept(sort, name, value, _SPACES[1]))
        self.writing.flush()

    def _tell(self) -> None:
        self._fragments.settle()
        self._progress(self.elements)

    def entered(  # type: ignore[override]  # all frames here are elements
        self, parent: Element, feature: EFeature, key: bytes, row: Row
    ) -> Frame | None:
        name = row[layout.NSURI], row[layout.ECLASS]
        form = self._forms.get(name) or self._formed(name, row)
        out = self.out
        out.append(parent.inner)
        if parent.path:
            segment = self._segments.get(feature) or self._segment(feature)
            path = b"%b%b%d" % (parent.path, segment, parent.number) if feature.many else parent.path + segment
            if form.of_ecore and (step := form.step(row, parent.names)) is not None:
                path = parent.path + step
            out.append(form.starts.get(feature) or form.start(feature))
        else:
            path = b"/%d" % parent.number
            out.append(b"<%b\6" % form.root())
            self.roots += 1
        self.elements += 1
        if len(out) > PIECES:
            self.writing.flush()
        mapped = form.maps and any(part.column in row for part in form.maps)
        parts = self.contents.mapped_parts(form, key, row) if mapped else form.parts
        late = self._attributes(form, parts, key, row, path)
        aside = self._aside(key, row, form.kind) if layout.ASIDE in row else _NO_ASIDE
        if not late and not aside.contents:
            out.append(b"/>")
            return None
        if parent.depth >= DEPTH - 1:
            raise self._unwritable(f"what is in object {self._where(key)}", f"it lies more than {DEPTH} levels deep")
        out.append(b">")
        element = Element(key, _NOTHING, path, parent.depth + 1)
        element.end = b"</%b>" % (form.tag(feature) if parent.path else form.root())
        if mapped or form.text:
            element.inner = b""  # space would be text
        else:
            element.outer = parent.inner
        element.pages = self._pages(key, row, late, aside, element.inner)
        return element

    def _pages(self, key: bytes, row: Row, late: Late, aside: Aside, inner: bytes) -> Iterator[Page]:
        found = []
        for part, cell in late:
            if part[1] != Sort.CHILDREN or cell[:1] in _UNUSUAL:
                break
            found.append((part[5], cell.split(b",")))
        if len(found) == len(late) and aside is _NO_ASIDE:
            return iter(found)  # as nearly always
        return self._checked(key, row, self.contents.pages(key, row, late, aside, inner))

    def _aside(self, key: bytes, row: Row, kind: EClass | None) -> Aside:
        """What was kept aside of an object; its attributes are written, unless it is the whole file's."""
        try:
            aside = Aside(row, kind)
            self.outdated += aside.outdated
            if kind is not None:
                self.contents.aside_attributes(aside)
        except (ValueError, KeyError) as exc:
            raise self._fault(key, None, b"", ValueError(str(exc))) from exc
        return aside

    def left(self, frame: Element) -> None:  # type: ignore[override]
        self.out.append(frame.outer)
        self.out.append(frame.end)

    def outside(self, parent: Element, feature: EFeature, token: bytes) -> None:  # type: ignore[override]
        self.out.append(self.contents.opened(feature, parent.inner, token))

    def _formed(self, name: tuple[bytes, bytes], row: Row) -> Form:
        form = self._forms[name] = Form(self.model.kind_of(row), self._prefixes, self.contents.spellings)
        return form

    def _segment(self, feature: EFeature) -> bytes:
        found = self._segments[feature] = b"/@" + feature.tag + (b"." if feature.many else b"")
        return found

    def _attributes(self, form: Form, parts: list[Part], key: bytes, row: Row, path: bytes) -> Late:
        """Write what goes into the tag; returns the rest."""
        out, get, attribute = self.out, row.get, escaping.attribute
        late: Late = []
        odd = False
        name = key if self._own_ids else get(layout.XMI_ID)
        if name is not None:
            name = self._identity(key, name)
        elif form.identity is not None:
            try:
                name = form.called(row)
            except ValueError as exc:
                raise self._fault(key, form.identity.feature, get(form.identity.column, b""), exc) from exc
        if name is None:
            self._fragments.paths[key] = path
        else:
            self._fragments.add(key, path, name)
        for part in parts:
            cell = get(part[0])
            if cell is None:
                continue
            _, sort, tag, opening, raw, feature = part
            if not opening:
                late.append((part, cell))
            elif sort == 0 or sort == 6:  # a value
                try:
                    value = raw(cell)
                    if value is None or (sort and value.strip()):  # text that is none would not be read
                        late.append((part, cell))
                    else:
                        out.append(opening)
                        out.append(attribute(value))
                        out.append(b'"')
                except ValueError as exc:
                    raise self._fault(key, feature, cell, exc) from exc
            elif sort == 1 and form.of_ecore and cell[:1] not in _NO_LIST:
                self.contents.encoded = True
                out.append(b"\1\7%b\2%b\3" % (tag, cell))
            elif sort == 1 and cell[:1] not in _UNUSUAL and b",@" not in cell:  # references
                out.append(b"\1%b\2%b\3" % (tag, cell))
            else:
                late.append((part, cell))
                odd = odd or sort == 1
        if odd:
            late = self.contents.long_attributes(key, row, late)
        return late

    def _identity(self, key: bytes, name: bytes) -> bytes:
        try:
            self.out.append(b' xmi:id="%b"' % escaping.attribute(name))
        except escaping.NoXMLError as exc:
            raise self._unwritable(f"the xmi:id of object {self._where(key)}", str(exc)) from exc
        return name

    def _checked(self, key: bytes, row: Row, pages: Iterator[Page]) -> Iterator[Page]:
        try:
            yield from pages
        except ValueError as exc:
            feature = self.contents.feature
            cell = row.get(feature.column, b"") if feature else b""
            raise self._fault(key, feature, cell, exc) from exc

    def _fault(self, key: bytes, feature: EFeature | None, cell: bytes, exc: ValueError) -> Exception:
        """What is wrong with a value that can't be written."""
        if isinstance(exc, NeomodelError):
            return exc
        if feature is None:
            return self._unwritable(f"what was kept aside of object {self._where(key)}", str(exc))
        if isinstance(exc, escaping.NoXMLError):
            return self._unwritable(f"{feature} of object {self._where(key)}", str(exc))
        expected = "a reference" if feature.reference else feature.codec.expected
        return CorruptRow(self._where(key), str(feature), cell, expected)

    def _unwritable(self, what: str, reason: str) -> NotWritable:
        return NotWritable(what, "XMI", reason, "change that in the model")

    def _where(self, key: bytes) -> str:
        return f"{self.model.name}/{key.decode()}"
