"""Object ids. An id is text; the key of the object's row is its UTF-8, and rows are ordered by it.

Three kinds, which can't be taken for one another as long as given ids keep clear of the other two forms:

- **Random**: ``3fa9`` + 12 + 7 characters of 0-9a-v. A shard, which children inherit, so that a subtree is one key
  range, until there are too many of them: see `shard_for`; what only this process has; a counter, so that objects of
  a shard lie in the order of their making.
- **Natural**: ``shop.Order#b42#first``, made from the values of a key. Ids of one class sort as the tuples of its keys'
  texts do. Characters that would spoil that are escaped by others that sort in their place: all up to the comma as
  ``%2C``, and those from ``~`` to the no-break space as ``~7E``. So no id has white space or control characters of
  Latin-1, or a comma.
- **Given**: what an import found; `check_oid` says what is allowed.
"""

import hashlib
import itertools
import os
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from urllib.parse import quote, unquote

from neomodel.errors import InvalidValue

ROOT = "ROOT"
"""The row that knows the roots of a model; no object's id."""

ELSEWHERE = "@?"
"""What references begin with that lead out of all models: see `elsewhere`. No model's name begins so."""

LIMIT = 160
"""Bytes of the longest id. It leaves a column 80 of those that every store takes."""

EXACT = 96
"""Bytes of a natural id that always count in its place in the order, however long the key is."""

SHARDS = 0x10000
"""How many shards there are: ``0000`` to ``ffff``."""

RANDOM = 23
"""Characters of a random id."""

HEAD = 21
"""Of these, those that are the same in up to 1,024 ids that were made one after another in a shard."""

FANOUT = 500
"""Children of one container that share a shard: as many as are read in one call, which so goes to one region."""

_STEP = 40503  # SHARDS over the golden ratio, and odd: n steps cut the shards evenly, whatever n is, and meet them all
_DIGITS = "0123456789abcdefghijklmnopqrstuv"
PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
_RANDOM = re.compile("[0-9a-f]{4}[0-9a-v]{19}")

_SEPARATOR = "#"  # sorts below every character of an escaped part, as does the mark
_MARK = "$"  # before the hash of a shortened id; in no other natural id
_KEPT = 100  # bytes of a shortened id before the mark; whole characters, so up to 3 fewer
_ESCAPED = re.compile("[\0-,~-\xa0]")
_PLAIN = re.compile("[--}]+")
_WRITTEN = re.compile("[%~](..)")


# random ids


def shard_for(container: str, number: int) -> str:
    """The shard of the child with that number, from 0, of the object with that id, however many others follow.

    The first 500 have the shard of their container. Each further 500, with all they contain, have another one, so
    that no key range takes in all of a container that grows without end. Children of an object whose own id is not
    random have shards of their own from the first one on. Whoever asks gets the same answer, and needs no store for it.
    """
    own, part = shard_of(container), number // FANOUT
    return own if own is not None and part == 0 else spread(container, part)


def spread(text: str, number: int) -> str:
    """One of the shards that belong to a text. Those from 0 up to any number lie evenly among all shards."""
    return f"{(_first(text) + number * _STEP) % SHARDS:04x}"


@lru_cache(maxsize=4096)
def _first(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:2], "big")


def splits(parts: int) -> list[bytes]:
    """The row keys that cut the shards into so many equal parts.

    Natural and given ids, and the row of the roots, fall in the parts that their first letters fall in: those from
    ``g`` on in the last one.
    """
    return [b"%04x" % (SHARDS * part // parts) for part in range(1, parts)]


def _source() -> tuple[str, Callable[[], str]]:
    """What distinguishes our ids from all others (60 random bits), and the counter, seven digits from 0 up."""
    own = "".join(secrets.choice(PAIRS) for _ in range(6))
    return own, map("".join, itertools.product(_DIGITS, PAIRS, PAIRS, PAIRS)).__next__


_drawn = _source()


def _draw() -> None:
    global _drawn
    _drawn = _source()


os.register_at_fork(after_in_child=_draw)  # or parent and child would count from the same number


def oid_in(shard: str) -> str:
    """A new id in that shard: nobody else has it, and it sorts after all that this process made there before.

    Threads may ask at once. After 2**35 ids a process begins anew; the order holds for those before and those after.
    """
    own, count = _drawn
    try:
        return shard + own + count()  # atomic: the counter is no Python code
    except StopIteration:
        _draw()
        return oid_in(shard)


def numbered(text: str) -> Callable[[str, int], str]:
    """Ids that follow from a text and a number, for who has to make the same ones again: of a shard and a number below
    2**35. They have the form of random ones, and sort in a shard by their numbers."""
    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    own = "".join(PAIRS[drawn >> 10 * at & 1023] for at in range(6))

    def oid(shard: str, number: int) -> str:
        low, middle = PAIRS[number & 1023], PAIRS[number >> 10 & 1023]
        return f"{shard}{own}{_DIGITS[number >> 30 & 31]}{PAIRS[number >> 20 & 1023]}{middle}{low}"

    return oid


def shard_of(oid: str) -> str | None:
    """The shard of a random id; None for one that has not the form of such."""
    return oid[:4] if len(oid) == RANDOM and _RANDOM.fullmatch(oid) else None


# natural ids


def natural(prefix: str, class_name: str, parts: Sequence[str]) -> str:
    """The id of the object of that class with that key; `parts` are texts by `codecs.key_text`.

    Different arguments give different ids. Ids of one class sort as their parts, compared as tuples; where the key
    takes more than 160 bytes the id ends in a hash, and the order is kept only where the first 96 bytes tell.
    """
    full = _full(prefix, class_name, parts)
    if len(full) <= LIMIT // 4:  # no character takes more than four bytes
        return full
    encoded = full.encode()
    if len(encoded) <= LIMIT:
        return full
    return encoded[:_KEPT].decode(errors="ignore") + _MARK + hashlib.sha256(encoded).hexdigest()[:32]


def natural_range(prefix: str, class_name: str, parts: Sequence[str] = ()) -> tuple[bytes, bytes]:
    """The first row key, and the one after the last, of the objects whose keys begin with these parts, each whole.

    All of them lie in the range. Others do only if the beginning takes more than 96 bytes: then compare keys as well.
    """
    full = _full(prefix, class_name, parts).encode()
    if len(full) <= EXACT:
        return full, full + b"%"  # after the separator and the mark; an escape would be more of the last part
    start = full[:EXACT].decode(errors="ignore").encode()
    return start, start + b"\xff"


def beginning(prefix: str, class_name: str, text: str) -> tuple[bytes, bytes]:
    """The range of row keys of the objects whose key begins with this text, where they are whole: see `is_whole`."""
    start = _full(prefix, class_name, [text]).encode()
    return start, start + b"\xff"  # which is in no UTF-8


def is_plain(text: str) -> bool:
    """Whether a text of a key, ASCII that is not empty, is in its id as it is, if that is not too long."""
    return _PLAIN.fullmatch(text) is not None


def is_whole(oid: str) -> bool:
    """Whether a natural id has all of its key in it, so that the key can be told from it."""
    return _MARK not in oid


def natural_parts(oid: str) -> list[str]:
    """The texts of the key that a natural id, which is whole, was made of."""
    return [_WRITTEN.sub(lambda found: chr(int(found[1], 16)), part) for part in oid.split(_SEPARATOR)[1:]]


def _full(prefix: str, class_name: str, parts: Sequence[str]) -> str:
    return _SEPARATOR.join([_head(prefix, class_name), *map(_escape, parts)])


@cache
def _head(prefix: str, class_name: str) -> str:
    package = _escape(prefix)
    if package[:1] == "@":
        package = "%40" + package[1:]
    return f"{package}.{_escape(class_name).replace('.', '%2E')}"


def _escape(part: str) -> str:
    return _ESCAPED.sub(_escaped, part)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"%{code:02X}" if code < 0x7E else f"~{code:02X}"


# references


def ref(oid: str, model: str | None = None) -> str:
    """How an object is referred to: by its id, and from outside its model as ``@model/id``."""
    if model is None:
        return oid
    if not model or "/" in model or "," in model:
        raise InvalidValue("the name of a model", model, "a name without slash and comma")
    return f"@{model}/{oid}"


def local(refs: Iterable[str]) -> list[str]:
    """Those references that are to objects of the same model: their ids."""
    return [ref for ref in refs if not ref.startswith("@")]


def split_ref(text: str) -> tuple[str | None, str]:
    """The model, None for the same one, and the id of what `ref` made."""
    if text[:1] != "@":
        return None, text
    model, _, oid = text[1:].partition("/")
    return model, oid


def elsewhere(uri: str, fragment: str, kind: str = "") -> str:
    """How an object of a file is referred to that is not in any model, by the URI of the file and a fragment; and what
    class it is of, as ``namespace#name``, if somebody has said so."""
    parts = (uri, fragment, kind) if kind else (uri, fragment)
    return ELSEWHERE + "/".join(quote(part, safe="") for part in parts)


def split_elsewhere(text: str) -> tuple[str, str, str]:
    """The URI, the fragment and the class of what `elsewhere` made."""
    uri, fragment, kind = f"{text[len(ELSEWHERE) :]}//".split("/")[:3]
    return unquote(uri), unquote(fragment), unquote(kind)


def check_oid(text: object) -> str:
    """An id that comes from outside, unchanged; `InvalidValue` if no object can have it."""
    if not isinstance(text, str) or not text or text == ROOT or text[0] == "@":
        raise InvalidValue("an object id", text, f"text that is not empty, not {ROOT} and does not begin with @")
    if not text.isprintable() or " " in text or "," in text:
        raise InvalidValue("an object id", text, "printable characters without spaces and commas")
    if len(text.encode()) > LIMIT:
        raise InvalidValue("an object id", text, f"at most {LIMIT} bytes of UTF-8")
    return text
