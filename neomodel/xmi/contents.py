"""What is in an element: values, references that no attribute can hold, children, text between them."""

from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

from neomodel import codecs
from neomodel.document_order import Page, long_list, pages_of
from neomodel.errors import NotWritable
from neomodel.kinds import EFeature
from neomodel.long_cells import is_long
from neomodel.stores import Row
from neomodel.xmi import escaping
from neomodel.xmi.aside import Aside, kept
from neomodel.xmi.forms import Form, Part, Prefixes, Sort
from neomodel.xmi.spellings import Spellings

if TYPE_CHECKING:
    from neomodel.model import Model

PIECES = 2000
"""How many pieces of text wait to be written at once."""

Late = list[tuple[Part, bytes]]
"""Features that become elements, with their cells."""

_NOTHING: Iterator[bytes | Page] = iter(())
_TEXTS: dict[str, Callable[[str], bytes]] = {
    "#text": lambda given: escaping.text(given.encode()),
    "#cdata": escaping.cdata,
    "#comment": escaping.comment,
    "#element": escaping.element,
}
"""What a feature map holds beside names of features."""


class Writing:
    """Text on its way to a file."""

    def __init__(self, body: IO[bytes], told: Callable[[], None]) -> None:
        self.out: list[bytes] = []
        self._body = body
        self._told = told

    def flush(self) -> None:
        self._body.write(b"".join(self.out))
        self.out.clear()
        self._told()

    def add(self, piece: bytes) -> None:
        self.out.append(piece)
        if len(self.out) > PIECES:
            self.flush()


class Contents:
    """Writes what comes between the tags of an object, children aside: for these it says when it is their turn."""

    def __init__(self, model: "Model", writing: Writing, prefixes: Prefixes, *, timelines: bool) -> None:
        self.feature: EFeature | None = None
        """The one that is being written, for messages; None for what was kept aside."""
        self.without = 0
        """How many timelines were left out."""
        self.open: list[EFeature] = []
        """The features whose elements were left open, by their numbers."""
        self.spellings = Spellings()
        self.encoded = False
        """Whether attributes were left open that may refer to other files."""
        self._numbers: dict[EFeature, int] = {}
        self._model = model
        self._add = writing.add
        self._prefixes = prefixes
        self._timelines = timelines

    def pages(self, key: bytes, row: Row, late: Late, aside: Aside, inner: bytes) -> Iterator[Page]:
        """Write it all; yields the children that come between."""
        items = {part.feature.name: self._items(part, cell, key, row, inner) for part, cell in late}
        for part, cell in late:
            if part.sort is Sort.MAP:
                yield from self._mapped(part, cell, key, row, items)
        for part, _ in late:
            self.feature = part.feature
            for item in items[part.feature.name]:
                if isinstance(item, bytes):
                    self._add(item)
                else:
                    yield item
                    self.feature = part.feature
        self.feature = None
        for sort, name, value in aside.contents:
            self._add(kept(sort, name, value, inner))

    def _mapped(
        self, part: Part, cell: bytes, key: bytes, row: Row, items: dict[str, Iterator[bytes | Page]]
    ) -> Iterator[Page]:
        """In the order of a feature map. A name in it stands for the next value of that feature, if there is one."""
        kind = self._model.kind_of(row)
        single = {name: _one_by_one(found) for name, found in items.items()}
        for entry in self._entries(part, cell, key, row):
            self.feature = part.feature
            sort, mark, given = entry.partition(":")
            if sort in _TEXTS and mark:
                self._add(_TEXTS[sort](given))
            elif entry not in kind.features:
                raise escaping.NoXMLError(f"{entry!r} in a feature map is neither a feature nor text")
            elif (item := next(single.get(entry, _NOTHING), None)) is not None:
                if isinstance(item, bytes):
                    self._add(item)
                else:
                    yield item
        items |= single

    def mapped_parts(self, form: Form, key: bytes, row: Row) -> list[Part]:
        """The parts of a class whose members of feature maps are all elements, where such a map is."""
        named: set[str] = set()
        for part in form.maps:
            if part.column in row:
                named.update(self._entries(part, row[part.column], key, row))
        return [part._replace(opening=b"") if part.feature.name in named else part for part in form.parts]

    def long_attributes(self, key: bytes, row: Row, late: Late) -> Late:
        """Write those attributes whose references are many; returns the rest."""
        rest: Late = []
        for part, cell in late:
            if part.sort is not Sort.LINKS or not part.opening or not is_long(cell):
                rest.append((part, cell))
                continue
            entries = long_list(self._model, key, row, part.feature)
            if any(token[0] == "@" for token in entries):
                rest.append((part, cell))
                continue
            self._add(part.opening)
            for number, page in enumerate(pages_of(self._model, key, row, part.feature)):
                self._add(b"%b\1\2%b\3" % (b" " if number else b"", b",".join(page)))
            self._add(b'"')
        return rest

    def aside_attributes(self, aside: Aside) -> None:
        """Write the attributes that a lenient import kept."""
        for uri, name, value in aside.attributes:
            tag = escaping.name(name)
            if uri:
                tag = self._prefixes.of(uri, "ns") + b":" + tag
            self._add(b' %b="%b"' % (tag, escaping.quoted(value)))

    def opened(self, feature: EFeature, inner: bytes, token: bytes) -> bytes:
        """An element that leads to an object wherever it is; left open."""
        number = self._numbers.get(feature)
        if number is None:
            number = self._numbers[feature] = len(self.open)
            self.open.append(feature)
        return b"\1\4%d\5%b\2%b\3" % (number, inner, token)

    def _items(self, part: Part, cell: bytes, key: bytes, row: Row, inner: bytes) -> Iterator[bytes | Page]:
        """What a feature becomes: pieces of text, and children."""
        feature, sort = part.feature, part.sort
        if sort is Sort.TIMELINE:
            self._leave_out(key, feature)
        elif not feature.many and cell == codecs.NULL:
            yield self._nil(inner, part.name)
        elif sort is Sort.CHILDREN:
            for page in pages_of(self._model, key, row, feature):
                yield feature, page
        elif sort is Sort.LINKS:
            for page in pages_of(self._model, key, row, feature):
                for token in page:
                    yield self.opened(feature, inner, token)
        elif sort is Sort.VALUE:
            yield b"%b<%b>%b</%b>" % (inner, part.name, escaping.text(part.raw(cell) or b""), part.name)
        elif sort is Sort.TEXT:
            yield escaping.text(part.raw(cell) or b"")
        elif sort is Sort.VALUES:
            to_text = feature.codec.to_text
            for value in self._entries(part, cell, key, row):
                if value is None:
                    yield self._nil(inner, part.name)
                else:
                    content = escaping.text(to_text(value).encode())
                    yield b"%b<%b>%b</%b>" % (inner, part.name, content, part.name)

    def _entries(self, part: Part, cell: bytes, key: bytes, row: Row) -> Iterator[Any]:
        if is_long(cell):
            yield from long_list(self._model, key, row, part.feature)
        else:
            yield from codecs.decode_many(part.feature.codec, cell)

    def _nil(self, inner: bytes, name: bytes) -> bytes:
        self._prefixes.instances = True
        return b'%b<%b xsi:nil="true"/>' % (inner, name)

    def _leave_out(self, key: bytes, feature: EFeature) -> None:
        if self._timelines:
            what = f"the timeline {feature} of object {self._model.name}/{key.decode()}"
            raise NotWritable(what, "XMI", "there is no place for timelines", "export without them")
        self.without += 1


def _one_by_one(items: Iterator[bytes | Page]) -> Iterator[bytes | Page]:
    for item in items:
        if isinstance(item, bytes):
            yield item
        else:
            feature, page = item
            yield from ((feature, [token]) for token in page)
