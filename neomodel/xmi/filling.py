"""What the elements of a document left open, filled in: references to objects whose places are known by now."""

import re
from collections.abc import Iterator
from typing import IO

from neomodel.kinds import EClass, EFeature
from neomodel.xmi import escaping
from neomodel.xmi.forms import Form, Prefixes
from neomodel.xmi.places import ELSEWHERE, Places

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


class Resolver:
    """Fills in what a document left open. What leads to nothing is left out, and counted."""

    def __init__(self, places: Places, prefixes: Prefixes, features: list[EFeature]) -> None:
        self.references = 0
        self.lost = 0
        self.example = b""
        """One of those that lead to nothing."""
        self._places = places
        self._features = features
        self._prefixes = prefixes
        self._forms: dict[EClass, Form] = {}
        self._known: dict[bytes, bytes] = {}

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

    def _look_up(self, piece: bytes) -> None:
        """Know all that is referred to in a piece of text."""
        tokens: set[bytes] = set()
        typed: set[bytes] = set()
        for head, found in _OPEN.findall(piece):
            tokens.update(found.split(b","))
            if head[:1] == b"\4":
                typed.add(found)
        self._places.look_up(tokens, typed)
        self._known = {token: escaping.attribute(found) for token, found in self._places.known.items()}

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
        if token not in self._known:
            return b""
        kind = _stand_in(feature) if token[:2] == ELSEWHERE else self._places.kinds.get(token)
        href = b"%b#%b" % (escaping.quoted(self._places.file(token)), self._known[token])
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
