"""What a lenient import kept of an object, or of a whole file, that the metamodel has no place for: written again."""

import json
from collections import Counter
from typing import Any

from neomodel import layout
from neomodel.kinds import EClass
from neomodel.stores import Row
from neomodel.xmi import escaping

_TEXT, _ELEMENT, _VALUE, _FEATURE = "#text", "element", "value", "feature"


class Aside:
    """What was kept, sorted by where it goes. ValueError if it can't be what an import wrote."""

    def __init__(self, row: Row, kind: EClass | None = None) -> None:
        self.attributes: list[tuple[str, str, str]] = []
        """Namespace, name, value."""
        self.contents: list[tuple[str, str, str]] = []
        """For `kept`."""
        self.outdated = 0
        """How many values are not written, since their features have others by now."""
        self.spellings: list[dict[str, str]] = []
        """How features are written, of a whole file."""
        entries = _entries(row)
        often = Counter(entry["attribute"] for entry in entries if "attribute" in entry)
        for entry in entries:
            if _FEATURE in entry:
                self.spellings.append(entry)
                continue
            if _ELEMENT in entry:
                self.contents.append((_ELEMENT, "", entry[_ELEMENT]))
                continue
            uri, _, name = entry["attribute"].rpartition("}")
            feature = kind.features.get(name) if kind is not None and not uri else None
            if name == _TEXT:
                self.contents.append((_TEXT, "", entry[_VALUE]))
            elif feature is not None and (feature.many or often[name] > 1):
                self.contents.append((_VALUE, name, entry[_VALUE]))
            elif feature is not None and feature.column in row:
                self.outdated += 1
            else:
                self.attributes.append((uri[1:], name, entry[_VALUE]))


def kept(sort: str, name: str, value: str, inner: bytes) -> bytes:
    """One of `Aside.contents`."""
    if sort == _TEXT:
        return escaping.text(value.encode())
    if sort == _ELEMENT:
        return inner + escaping.element(value)
    tag = escaping.name(name)
    return b"%b<%b>%b</%b>" % (inner, tag, escaping.text(value.encode()), tag)


def _entries(row: Row) -> list[dict[str, str]]:
    found: Any = json.loads(row.get(layout.ASIDE, b"[]"))
    if not isinstance(found, list) or not all(map(_is_entry, found)):
        raise ValueError("it is no list of attributes and elements")
    return found


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not all(isinstance(one, str) for one in entry.values()):
        return False
    return _ELEMENT in entry or _FEATURE in entry or {"attribute", _VALUE} <= entry.keys()
