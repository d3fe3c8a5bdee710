"""Rows that were put aside, completed: what their references lead to is known once all files have been read."""

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any
from urllib.parse import quote

from neomodel import ids, layout
from neomodel.always import known
from neomodel.errors import InvalidFile
from neomodel.stores import Cells
from neomodel.xmi.frames import Work
from neomodel.xmi.links import MARK, MISSING, token
from neomodel.xmi.searching import search
from neomodel.xmi.shapes import Role, Slot
from neomodel.xmi.source import Source

Amend = Callable[[str, Slot, list[str]], Iterator[str]]
"""What a reference of an object holds, once its other ends are counted in; given what the file says of it."""


class Completing:
    """Finds what texts name, and completes rows."""

    def __init__(self, work: Work, sources: list[Source]) -> None:
        self._work = work
        self._sources = sources
        self._found: dict[str, str] | None = None
        """What texts name that are found by searching only; None as long as there was no need to."""
        self.asked: set[str] = set()
        """Texts that are looked for besides those in rows, if they are known before the first one is."""
        self.late: list[tuple[str, str, str, str]] = []
        """Roots whose container is told by themselves alone: their ids, those of the containers, the features by which
        they lie there, and where that is told."""

    def target(self, text: str) -> str | None:
        """The object that a text names: its id, after the mark of its class."""
        find = self._work.targets.find
        if text[:1] == MARK:
            return self._work.earlier.find(text) if self._work.earlier is not None else None
        found = find(text)
        if found is None and "#" in text:
            found = find(text.replace("#", "#=", 1))
        if found is None and text[:1] != MISSING:
            if self._found is None:
                self._found = self._search()
            found = find(self._found[text]) if text in self._found else None
        return found

    def tokens(self, record: Any, *, told: bool = True) -> Iterator[tuple[Slot, list[str]]]:
        """What each reference of a row holds, in the order of the file. What is odd is told, unless it is elsewhere."""
        oid, shape, _, file, line, cells, links = record
        merged: dict[int, list[str]] = {}
        for number, texts in links:
            merged[number] = merged[number] + texts if number in merged else texts
        slots = self._work.shapes.all[shape].slots
        for number, texts in merged.items():
            slot = slots[number]
            if slot.role is Role.UP:
                if told:
                    self._check_container(slot, oid, texts, cells, file, line)
                continue
            found = [self._token(slot, text, file, line, told=told) for text in texts]
            if told:
                self._note(oid, slot, texts, found)
            if len(found) > 1 and not slot.many:
                raise self._fault(file, line, f"{slot.feature} refers to one object, and here are {len(found)}")
            yield slot, found

    def completed(self, record: Any, amend: Amend | None) -> Cells:
        """The cells of a row, with its references."""
        oid, shape, _, file, line, cells, links = record
        found = dict(self.tokens(record)) if links else {}
        if amend is not None:
            for slot in self._work.shapes.all[shape].slots:
                if slot.pair is not None and not slot.pair.even:
                    found[slot] = list(amend(oid, slot, found.get(slot, [])))
        for slot, tokens in found.items():
            if not slot.many:
                if tokens:
                    cells[slot.column] = tokens[-1].encode()
                    self._work.links += 1
                continue
            if slot.unique and len(set(tokens)) < len(tokens):
                self._tell_twice(slot, tokens, file, line)
                tokens = list(dict.fromkeys(tokens))
            self._work.links += len(tokens)
            if tokens:
                cells |= self._work.writing.held(oid, slot.feature, tokens)
        return cells  # type: ignore[no-any-return]

    def _note(self, oid: str, slot: Slot, texts: list[str], tokens: list[str]) -> None:
        """Note what has to be looked after when the row is written."""
        if any(token.startswith(ids.ELSEWHERE) and known(token) is None for token in tokens):
            self._work.wait(oid)
        if slot.pair is not None and self._work.earlier is not None:
            for text, found in zip(texts, tokens, strict=True):
                if text[:1] == MARK:
                    self._work.outward.append((oid, slot.name, found))

    def _token(self, slot: Slot, text: str, file: int, line: int, *, told: bool) -> str:
        found = self.target(text)
        if found is not None:
            kind = self._work.shapes.marked(found).kind
            if not slot.takes(kind):
                wrong = f"{self._work.files.fragment(text)!r} is one of {kind}"
                reason = f"{slot.feature} refers to objects of {slot.feature.eType}; {wrong}"
                raise self._fault(file, line, reason)
            return found[1:]
        if text[:1] == MISSING:
            return token(text, slot.feature.eType.type_name)
        fragment = self._work.files.fragment(text)
        reason = f"{slot.feature} refers to {fragment!r}, which is not there"
        if not self._work.lenient:
            raise self._fault(file, line, reason)
        if told:
            self._work.notices.add(self._sources[file].file, line, f"{reason}; the reference is kept as it is")
        return token(f"{MISSING}{self._uri(text, file)}#{fragment}", slot.feature.eType.type_name)

    def _uri(self, text: str, file: int) -> str:
        """How a file calls the one in which a text names something."""
        paths = self._work.files.paths
        if text[:1] == MARK and self._work.earlier is not None:
            path = self._work.earlier.path(text)
        else:
            path = paths[int(re.match("[0-9]*", text)[0] or 0)] if len(paths) > 1 else paths[0]  # type: ignore[index]
        return quote(os.path.relpath(path, os.path.dirname(paths[file])))

    def _check_container(self, slot: Slot, oid: str, texts: list[str], cells: Cells, file: int, line: int) -> None:
        """What a child says of its container has to be so."""
        found = self.target(texts[0])
        fragment = self._work.files.fragment(texts[0])
        place = cells[layout.CONTAINER]
        if found is None and texts[0][:1] != MISSING:
            raise self._fault(file, line, f"{slot.feature} is {fragment!r}, which is not there")
        if place == ids.ROOT.encode() and oid not in self._work.adopted:
            if found is not None:
                kind = self._work.shapes.marked(found).kind
                if not slot.takes(kind):
                    raise self._fault(file, line, f"{slot.feature} is {fragment!r}, which is one of {kind}")
                self.late.append((oid, found[1:], slot.feature.eOpposite.name, f"{self._sources[file].file}:{line}"))
            return
        if found is None or found[1:].encode() != place:
            raise self._fault(file, line, f"{slot.feature} is {fragment!r}, which is not where this object lies")

    def _tell_twice(self, slot: Slot, tokens: list[str], file: int, line: int) -> None:
        number = len(tokens) - len(set(tokens))
        reason = f"{slot.feature} refers to {number} objects more than once, which it can't; once is kept"
        self._work.notices.add(self._sources[file].file, line, reason)

    def _fault(self, file: int, line: int, reason: str) -> InvalidFile:
        return InvalidFile(f"{self._sources[file].file}:{line}", reason)

    def _is_place(self, prefix: str, path: str) -> bool:
        return self._work.targets.find(prefix + path) is not None

    def _search(self) -> dict[str, str]:
        """Look once for all that is not found by its text."""
        missing: dict[int, dict[str, str]] = {}
        find = self._work.targets.find
        records = chain(self._work.rows, self._work.roots)
        for text in chain(self.asked, (text for record in records for _, texts in record[-1] for text in texts)):
            if text[:1] not in (MISSING, MARK) and "#" not in text and find(text) is None:
                prefix, slash, rest = text.partition("/")
                missing.setdefault(int(prefix or 0), {})[slash + rest] = text
        found: dict[str, str] = {}
        for number, paths in missing.items():
            prefix = self._work.files.prefix(number)
            there = search(self._sources[number], paths, partial(self._is_place, prefix))
            found |= {paths[path]: prefix + place for path, place in there.items()}
        return found
