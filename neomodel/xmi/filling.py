"""What the elements of a document left open, filled in: references to objects whose places are known by now."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote

from neomodel import ids, layout
from neomodel.document_order import Frame, Walk
from neomodel.errors import InvalidValue, ModelNotFound
from neomodel.kinds import EClass, EFeature
from neomodel.row_access import PAGE
from neomodel.stores import Row
from neomodel.xmi import escaping
from neomodel.xmi.forms import Form, Prefixes
from neomodel.xmi.fragments import Fragments, Place

if TYPE_CHECKING:
    from neomodel.model import Model

_CHUNK = 1 << 20
_OPEN = re.compile(b"\1([^\2]*)\2([^\3]*)\3")


def pieces(body: IO[bytes]) -> Iterator[bytes]:
    """The text of a file from its start, some of it at a time, never cut where something is left open."""
    body.seek(0)
    rest = b""
    while chunk := body.read(_CHUNK):
        chunk = rest + chunk
        cut = chunk.rfind(b"\1")
        cut = cut if cut >= 0 and chunk.find(b"\3", cut) < 0 else len(chunk)
        yield chunk[:cut]
        rest = chunk[cut:]
    if rest:
        yield rest


class Survey(Walk):
    """Enters the objects of a model into `fragments`, as a document of it would have them."""

    def __init__(self, model: "Model", fragments: Fragments, *, own_ids: bool) -> None:
        super().__init__(model)
        self.roots = 0
        self._fragments = fragments
        self._own_ids = own_ids
        self._forms: dict[EClass, Form] = {}

    def entered(self, parent: Frame, feature: EFeature, key: bytes, row: Row) -> Frame | None:
        kind, number = self.model.kind_of(row), b"%d" % parent.number
        if parent.note is None:
            path = b"/" + number
            self.roots += 1
        else:
            path = parent.note + b"/@" + feature.tag + (b"." + number if feature.many else b"")
        form = self._forms.get(kind)
        if form is None:
            form = self._forms[kind] = Form(kind, Prefixes())
        self._fragments.add(key, path, key if self._own_ids else form.called(row))
        self._fragments.settle()
        return Frame(key, self.children(key, row, kind), path)


class Directory:
    """The fragments of one document."""

    def __init__(self, fragments: Fragments, *, alone: bool) -> None:
        self.fragments = fragments
        self.alone = alone
        """Whether there is one root only."""

    def find(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """What references to these objects say, escaped."""
        return {key: self._fragment(place) for key, place in self.fragments.find(keys).items()}

    def _fragment(self, place: Place) -> bytes:
        path, name = place
        if name is not None and self.fragments.unique(name):
            return escaping.attribute(name)
        return b"/" + path[2:] if self.alone else path


class Resolver:
    """Fills in what a document left open. What leads to nothing is left out, and counted."""

    def __init__(
        self, model: "Model", own: Directory, prefixes: Prefixes, features: list[EFeature], *, own_ids: bool
    ) -> None:
        self.references = 0
        self.lost = 0
        self.example = b""
        """One of those that lead to nothing."""
        self._model = model
        self._features = features
        self._prefixes = prefixes
        self._own_ids = own_ids
        self._directories: dict[str, Directory | None] = {model.name: own}
        self._forms: dict[EClass, Form] = {}
        self._known: dict[bytes, bytes] = {}
        self._kinds: dict[bytes, EClass] = {}

    def declare(self, body: IO[bytes]) -> None:
        """Know the namespaces of all that will be filled in. Costs nothing unless elements were left open."""
        for piece in pieces(body) if self._features else ():
            self._look_up(piece)
            for found in _OPEN.finditer(piece):
                if found[1][:1] == b"\4":
                    self._element(found[1], found[2])

    def filled(self, piece: bytes) -> bytes:
        """The text with everything filled in."""
        self._look_up(piece)
        return _OPEN.sub(self._fill, piece)

    def close(self) -> None:
        for directory in self._directories.values():
            if directory is not None:
                directory.fragments.close()

    def _look_up(self, piece: bytes) -> None:
        """Know all that is referred to in a piece of text."""
        tokens: set[bytes] = set()
        typed: set[bytes] = set()
        for head, found in _OPEN.findall(piece):
            tokens.update(found.split(b","))
            if head[:1] == b"\4":
                typed.add(found)
        self._known, self._kinds = {}, {}
        by_model: defaultdict[str, dict[bytes, bytes]] = defaultdict(dict)
        for token in tokens:
            if token[:1] != b"@":
                by_model[self._model.name][token] = token
            elif token[:2] != b"@?":
                name, oid = ids.split_ref(token.decode())
                by_model[name or ""][oid.encode()] = token
        for name, keys in by_model.items():
            directory = self._directory(name)
            if directory is not None:
                self._known |= {keys[key]: found for key, found in directory.find(keys).items()}
                self._look_up_kinds(name, {key: token for key, token in keys.items() if token in typed})

    def _look_up_kinds(self, name: str, keys: dict[bytes, bytes]) -> None:
        model = self._home(name)
        asked = list(keys)
        for start in range(0, len(asked), PAGE):
            rows = model.table.get_many(asked[start : start + PAGE], at=model.as_of, columns=layout.TYPE)
            self._kinds |= {keys[key]: model.kind_of(row) for key, row in rows.items() if layout.ECLASS in row}

    def _home(self, name: str) -> "Model":
        return self._model if name == self._model.name else self._model.repository.opened(name, self._model)

    def _directory(self, name: str) -> Directory | None:
        """The fragments of a model; None if it is not there. One that is met for the first time is walked through."""
        if name not in self._directories:
            self._directories[name] = None
            try:
                fragments = Fragments()
                survey = Survey(self._home(name), fragments, own_ids=self._own_ids)
                survey.run()
                self._directories[name] = Directory(fragments, alone=survey.roots == 1)
            except (ModelNotFound, InvalidValue):
                return None
        return self._directories[name]

    def _fill(self, found: re.Match[bytes]) -> bytes:
        head, tokens = found.groups()
        if head[:1] == b"\4":
            filled = self._element(head, tokens)
            self._count(tokens, 1 if filled else 0, 1)
            return filled
        known = self._known
        if b"," in tokens:
            asked = tokens.split(b",")
            there = [known[token] for token in asked if token in known]
            self._count(tokens, len(there), len(asked))
            text = b" ".join(there)
        else:
            text = known.get(tokens, b"")
            self._count(tokens, 1 if text else 0, 1)
        return b' %b="%b"' % (head, text) if head and text else text

    def _count(self, tokens: bytes, there: int, asked: int) -> None:
        self.references += there
        if there < asked:
            self.lost += asked - there
            self.example = next(token for token in tokens.split(b",") if token not in self._known)

    def _element(self, head: bytes, token: bytes) -> bytes:
        """An element that leads to an object, here or elsewhere; nothing if there is none."""
        number, _, inner = head[1:].partition(b"\5")
        feature = self._features[int(number)]
        kind = self._kinds.get(token)
        if token[:2] == b"@?":
            file, _, fragment = token[2:].decode().partition("/")
            href = escaping.quoted(f"{unquote(file)}#{unquote(fragment)}")
            kind = _stand_in(feature)
        elif token not in self._known:
            return b""
        else:
            name, _ = ids.split_ref(token.decode())
            href = b"%b#%b" % (escaping.quoted(f"{name}.xmi") if name else b"", self._known[token])
        expected = feature.eType
        told = b""
        if kind is not None and kind.type_name != expected.type_name and getattr(expected, "abstract", False):
            told = self._form(kind).type()
        return b'%b<%b%b href="%b"/>' % (inner, escaping.name(feature.name), told, href)

    def _form(self, kind: EClass) -> Form:
        form = self._forms.get(kind)
        if form is None:
            form = self._forms[kind] = Form(kind, self._prefixes)
        return form


def _stand_in(feature: EFeature) -> EClass | None:
    """A class that objects of another file may be of, whatever they are: readers want one that is not abstract."""
    expected = feature.eType
    if not isinstance(expected, EClass) or not expected.abstract:
        return None
    kinds = (kind for kind in expected.ePackage.eClassifiers if isinstance(kind, EClass) and not kind.abstract)
    return next((kind for kind in kinds if expected.type_name in kind.names), None)
