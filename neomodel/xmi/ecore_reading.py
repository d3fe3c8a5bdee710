"""Reads metamodels from `.ecore` files."""

import os
from collections.abc import Iterable
from pathlib import Path

from neomodel.metamodel import Package
from neomodel.xmi.ecore_links import Links
from neomodel.xmi.ecore_names import arrange
from neomodel.xmi.ecore_repairs import repaired
from neomodel.xmi.ecore_tree import File, read_tree
from neomodel.xmi.ecore_values import Reader
from neomodel.xmi.notices import Notice, Notices


def read_ecore(
    *paths: str | os.PathLike[str], strict: bool = False, registered: Iterable[Package] = ()
) -> tuple[list[Package], list[Notice]]:
    """The root packages of the files, sound, and what was odd about them, in the order of the files.

    The files may refer to one another, and to packages that are registered; nothing else is opened. What EMF would load
    and use is read, with a notice of what was made of it; what can't mean anything is `InvalidFile`, with file and
    line, and if `strict` so is whatever there would be a notice of.
    """
    notices = Notices(strict=strict)
    files: dict[Path, File] = {}
    for path in paths:
        place = Path(path).resolve()
        if place not in files:  # else it is given twice, by two names maybe
            files[place] = read_tree(path, notices)
    others = tuple(registered)
    links = Links(files.values(), others, notices)
    tops = arrange(files.values(), links, notices)
    reader = Reader(links, notices)
    known = {part.ns_uri: part for root in others for part in root.with_subpackages()}
    made = repaired([reader.package(top) for top in tops], reader, known.get)
    order = {file.name: number for number, file in enumerate(files.values())}
    return made, sorted(notices.found, key=lambda notice: (order[notice.file], notice.line))
