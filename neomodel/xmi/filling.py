"""What the elements of a document left open, filled in: references to objects whose places are known by now."""

import re
from collections.abc import Iterator
from typing import IO

from neomodel.kinds import EClass, EFeature
from neomodel.xmi import escaping
from neomodel.xmi.contents import Contents
from neomodel.xmi.forms import Prefixes
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

    def __init__(self, places: Places, prefixes: Prefixes, contents: Contents) -> None:
        self.references = 0
        self.lost = 0
        self.example = b""
        """One of those that lead to nothing."""
        self._places = places
        self._contents = contents
        self._prefixes = prefixes
        self._known: dict[bytes, bytes] = {}

    def declare(self, body: IO[bytes]) -> None:
        """Know the namespaces of all that will be filled in. Costs nothing unless classes may be told."""
        for piece in pieces(body) if self._contents.open or self._contents.encoded else ():
            self._look_up(piece)
            for head, tokens in _OPEN.findall(piece):
                if head[:1] == b"\4":
                    self._element(head, tokens)
                elif head[:1] == b"\7":
                    for token in tokens.split(b","):
                        self._encoded(token)

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
            elif head[:1] == b"\7" and b"@" in found:
                typed.update(found.split(b","))
        self._places.look_up(tokens, typed)
        self._known = {token: escaping.attribute(found) for token, found in self._places.known.items()}

    def _fill(self, found: re.Match[bytes]) -> bytes:
        head, tokens = found.groups()
        if head[:1] == b"\4":
            filled = self._element(head, tokens)
            self._count(tokens, 1 if filled else 0, 1)
            return filled
        known = self._known
        if head[:1] == b"\7" or b"," in tokens:
            asked = tokens.split(b",")
            if head[:1] == b"\7":
                head = head[1:]
                there = [self._encoded(token) for token in asked if token in known]
            else:
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
        feature = self._contents.open[int(number)]
        if token not in self._known:
            return b""
        told = self._class(token)
        kind = _stand_in(feature) if token[:2] == ELSEWHERE else self._places.kinds.get(token)
        expected = feature.eType
        if told is None and kind is not None and kind is not expected and getattr(expected, "abstract", False):
            told = self._prefixes.class_name(kind)
        if told is not None:
            self._prefixes.instances = True
            told = b' xsi:type="%b"' % told
        return b'%b<%b%b href="%b"/>' % (inner, self._name(feature), told or b"", self._href(token))

    def _encoded(self, token: bytes) -> bytes:
        """What an attribute of Ecore's own objects has for an object; of one in another file, its class, too."""
        if token not in self._known:
            return b""
        kind = self._places.kinds.get(token) if token[:1] == b"@" else None
        told = self._class(token) if kind is None else self._prefixes.class_name(kind)
        href = self._href(token).replace(b" ", b"%20")
        return href if told is None else b"%b %b" % (told, href)

    def _name(self, feature: EFeature) -> bytes:
        return escaping.name(self._contents.spellings.name(feature))

    def _href(self, token: bytes) -> bytes:
        return b"%b#%b" % (escaping.quoted(self._places.file(token)), self._known[token])

    def _class(self, token: bytes) -> bytes | None:
        """The name of the class that an object of another file is of, if it is known."""
        said = self._places.said(token) if token[:2] == ELSEWHERE else None
        if said is None:
            return None
        ns_uri, prefix, name = said
        return self._prefixes.of(ns_uri, prefix) + b":" + escaping.name(name)


def _stand_in(feature: EFeature) -> EClass | None:
    """A class that objects of another file may be of, whatever they are: readers want one that is not abstract."""
    expected = feature.eType
    if not isinstance(expected, EClass) or not expected.abstract:
        return None
    kinds = (kind for kind in expected.ePackage.eClassifiers if isinstance(kind, EClass) and not kind.abstract)
    return next((kind for kind in kinds if expected.type_name in kind.names), None)
