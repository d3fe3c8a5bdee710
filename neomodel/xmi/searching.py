"""Objects that references name by other than their place or id: by their names, or by values of some features.

Nothing is kept for that while a file is read. Files in which something is so named are read once more, for what is
looked for alone.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from neomodel.xmi.links import by_name, by_source
from neomodel.xmi.source import Source, split

_KEYS = re.compile(r"@([^\[\]]+)\[(.*)\]")
_KEY = re.compile(r"""\s*([^=,\s]+)\s*=\s*(?:'([^']*)'|"([^"]*)")\s*(?:,|$)""")
_PLACE = re.compile(r"@(.+?)(?:\.([0-9]+))?")


def search(source: Source, paths: Iterable[str], known: Callable[[str], bool]) -> dict[str, str]:
    """The places of what these paths lead to, as far as there is something; `known` tells which places there are."""
    searching = _Searching(paths, known)
    source.parse(searching)
    return searching.found


class _Open:
    __slots__ = ("counts", "labels", "nodes", "path")

    def __init__(self, path: str, nodes: "list[_Node]") -> None:
        self.path = path
        self.nodes = nodes
        self.counts: dict[str, int] = {}
        self.labels: dict[str, int] = {}


class _Node:
    """A step of the paths that are looked for: those after it, and the path that ends here."""

    def __init__(self) -> None:
        self.after: dict[str, _Node] = {}
        self.path: str | None = None


class _Searching:
    """A handler of `Source`. Below what no path leads through, elements are passed over."""

    def __init__(self, paths: Iterable[str], known: Callable[[str], bool]) -> None:
        self._known = known
        self._top = _Node()
        self.found: dict[str, str] = {}
        for path in paths:
            node = self._top
            for step in path.split("/")[1:]:
                node = node.after.setdefault(step, _Node())
            node.path = path
        self._open: list[_Open | None] = []
        self._roots = 0

    def start(self, name: str, attributes: list[str]) -> None:
        uri, local = split(name)
        if not self._open and local == "XMI" and uri.partition("//")[2].partition("/")[0].endswith("omg.org"):
            self._open.append(_Open("", []))
            return
        above = self._open[-1] if self._open else None
        if above is None and self._open:
            self._open.append(None)
        elif above is None or (above.path == "" and len(self._open) == 1):
            self._root(attributes)
        else:
            self._inner(above, local, attributes)

    def end(self, name: str) -> None:  # noqa: ARG002  as all handlers have it
        self._open.pop()

    def text(self, data: str) -> None: ...

    def _root(self, attributes: list[str]) -> None:
        number = self._roots
        self._roots += 1
        told = dict(zip(attributes[::2], attributes[1::2], strict=True))
        steps = {str(number), told.get("name")} | ({""} if number == 0 else set())
        nodes = [node for step, node in self._top.after.items() if step in steps]
        self._enter(f"/{number}" if number else "/", nodes)

    def _inner(self, above: _Open, local: str, attributes: list[str]) -> None:
        number = above.counts.get(local, 0)
        above.counts[local] = number + 1
        nodes = []
        if above.nodes:
            told = dict(zip(attributes[::2], attributes[1::2], strict=True))
            labels = _labels(told, above.labels)
            nodes = [
                after
                for node in above.nodes
                for step, after in node.after.items()
                if step in labels or _fits(step, local, number, told)
            ]
        if not nodes:
            self._open.append(None)
            return
        numbered, plain = f"{above.path}/@{local}.{number}", f"{above.path}/@{local}"
        self._enter(numbered if self._known(numbered) else plain, nodes)

    def _enter(self, path: str, nodes: list[_Node]) -> None:
        for node in nodes:
            if node.path is not None:
                self.found.setdefault(node.path, path)
        self._open.append(_Open(path, nodes))


def _labels(told: dict[str, str], before: dict[str, int]) -> list[str]:
    """What an element is called in a path: by its name, or the source of an annotation; and those after the first of
    all siblings so called by a number, too."""
    name, source = told.get("name"), told.get("source")
    label = by_name(name) if name else by_source(source) if source else ""
    number = before[label] = before.get(label, -1) + 1
    return [] if not label else [label] if number == 0 else [label, f"{label}.{number}"]


def _fits(step: str, local: str, number: int, told: dict[str, Any]) -> bool:
    """Whether a step by a feature leads to an element with that name and number, of which this is told."""
    if keyed := _KEYS.fullmatch(step):
        keys = [(key, one or other) for key, one, other in _KEY.findall(keyed[2])]
        return keyed[1] == local and bool(keys) and all(told.get(key) == value for key, value in keys)
    placed = _PLACE.fullmatch(step)
    return placed is not None and placed[1] == local and int(placed[2] or 0) == number
