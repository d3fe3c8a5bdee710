"""Text and names as XML has them, in UTF-8; `NoXMLError` for what XML 1.0 can't hold."""

import re
from functools import lru_cache
from xml.parsers import expat

_WORK = re.compile(rb"[^ !#-%\'-;=-~]")  # all but plain ASCII without & < "
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME = re.compile(r"[A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
                   r"\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff]"
                   r"[-.\w\u00b7\u0300-\u036f\u203f\u2040]*")  # fmt: skip

# C1 controls and the line separators of XML 1.1 go as numbers, so that no reader takes them for line ends
_ALWAYS = {code: f"&#x{code:X};" for code in (0xD, *range(0x7F, 0xA0), 0x2028, 0x2029)}
_IN_TEXT = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", **_ALWAYS}
_IN_ATTRIBUTE = {ord("&"): "&amp;", ord("<"): "&lt;", ord('"'): "&quot;", 9: "&#x9;", 10: "&#xA;", **_ALWAYS}


class NoXMLError(ValueError):
    """Something that a file of XML can't hold."""


def attribute(value: bytes) -> bytes:
    """The value of an attribute, within double quotes."""
    if _WORK.search(value) is None:
        return value
    return _checked(value).translate(_IN_ATTRIBUTE).encode()


def text(value: bytes) -> bytes:
    """The content of an element."""
    if _WORK.search(value) is None and b">" not in value:
        return value
    return _checked(value).translate(_IN_TEXT).encode()


def quoted(value: str) -> bytes:
    """As `attribute`."""
    return attribute(value.encode())


def name(given: str) -> bytes:
    """A name without a colon, for an element or an attribute."""
    if not _NAME.fullmatch(given) or not (given.isascii() or _is_read(given)):
        raise NoXMLError(f"{given!r} is no name in XML")
    return given.encode()


@lru_cache(1000)
def _is_read(given: str) -> bool:
    """Whether readers take it for a name: which letters they know depends on the edition of XML 1.0, most know few."""
    try:
        expat.ParserCreate().Parse(f"<{given}/>", True)
    except expat.ExpatError:
        return False
    return True


def element(given: str) -> bytes:
    """An element that is XML already, if it is one."""
    parser = expat.ParserCreate()
    try:
        parser.Parse(carried(given), True)
    except expat.ExpatError as exc:
        raise NoXMLError(f"what was kept as XML is none: {exc}") from exc
    if not given.startswith("<") or given.startswith(("<!", "<?")):
        raise NoXMLError("what was kept as XML is no element")
    return given.encode()


def cdata(given: str) -> bytes:
    if "]]>" in given:
        raise NoXMLError("a CDATA section can't hold ]]>")
    return b"<![CDATA[%b]]>" % carried(given).encode()


def comment(given: str) -> bytes:
    if "--" in given or given.endswith("-"):
        raise NoXMLError("a comment can't hold --, nor end in -")
    return b"<!--%b-->" % carried(given).encode()


def carried(value: str) -> str:
    """The text itself, if XML can carry it as it is."""
    found = _NO_XML.search(value)
    if found:
        raise NoXMLError(f"XML 1.0 has no character U+{ord(found[0]):04X}")
    return value


def _checked(value: bytes) -> str:
    return carried(value.decode())
