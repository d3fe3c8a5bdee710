"""Files of XMI for tests, and what is in a model, told in plain terms."""

from pathlib import Path
from typing import Any

import neomodel as nm
from neomodel import ids
from neomodel.long_cells import is_long
from neomodel.stores import VERSION, Row
from neomodel.unstored import Gone
from tests.objects.library import library

XMLNS = (
    'xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:l="http://library"'
)


def written(path: Path, body: str) -> Path:
    """A file whose root element has the usual namespaces in place of ``NS``."""
    path.write_text('<?xml version="1.0" encoding="UTF-8"?>\n' + body.replace("NS", XMLNS, 1))
    return path


def new_repository() -> nm.Repository:
    repository = nm.connect("memory:")
    repository.register(library)
    return repository


def imported(path: Path, *others: Path, **options: Any) -> nm.Model:
    """What is in files of the library, in a repository of its own."""
    repository = new_repository()
    repository.import_xmi(path, *others, model="m", **options)
    assert nm.check(repository.open("m")).findings == ()
    return repository.open("m")


def told(model: nm.Model) -> dict[str, Any]:
    """Each object of a model by its path: its class, and what its features hold, objects as paths."""
    paths = {}
    for number, root in enumerate(model.roots):
        _walk(root, str(number), paths)
    return {path: {"class": obj.eClass.name, **_features(obj, paths)} for path, obj in _objects(model)}


def _objects(model: nm.Model) -> list[tuple[str, Any]]:
    paths: dict[str, str] = {}
    found: list[tuple[str, Any]] = []
    for number, root in enumerate(model.roots):
        _walk(root, str(number), paths, found)
    return found


def _walk(obj: Any, path: str, paths: dict[str, str], found: list[tuple[str, Any]] | None = None) -> None:
    paths[nm.oid(obj)] = path
    if found is not None:
        found.append((path, obj))
    for feature in obj.eClass.containments:
        held = obj.eGet(feature)
        children = list(held) if feature.many else [held] if held is not None else []
        for number, child in enumerate(children):
            _walk(child, f"{path}/{feature.name}.{number}", paths, found)


def _features(obj: Any, paths: dict[str, str]) -> dict[str, Any]:
    told = {}
    for feature in obj.eClass.features.values():
        if feature.timeline or not feature.kept or not obj.eIsSet(feature):
            continue
        value = obj.eGet(feature)
        if feature.reference:
            many = [_place(one, paths) for one in (value if feature.many else [value] if value is not None else [])]
            told[feature.name] = many if feature.many else many[0] if many else None
        else:
            told[feature.name] = list(value) if feature.many else value
    return told


def _place(obj: Any, paths: dict[str, str]) -> str:
    state = obj._neo
    return f"elsewhere: {state.deleted}" if isinstance(state, Gone) else paths[state.oid]


def rows(model: nm.Model) -> dict[str, Any]:
    """Every row of a model, whole, with ids replaced by paths, and what is random by what it is."""
    paths = {ids.ROOT: ids.ROOT}
    for number, root in enumerate(model.roots):
        _walk(root, str(number), paths)
    return {paths[key.decode()]: _plain(row, paths) for key, row in model.table.scan()}


def _plain(row: Row, paths: dict[str, str]) -> dict[bytes, Any]:
    plain: dict[bytes, Any] = {}
    names = {cell[2:8]: column for column, cell in row.items() if is_long(cell) and column.startswith(b"p:")}
    for column, cell in row.items():
        if column == VERSION:
            plain[column] = cell.partition(b"-")[0]
        elif column.startswith(b"x:?"):
            continue  # which files it is from
        elif column.startswith(b"x:"):
            name = next(name for name in names if name in column)
            letter = column.partition(name)[2][:1]
            plain.setdefault(b"x:" + letter, []).append(_node(cell, letter, paths))
        elif is_long(cell):
            plain[column] = ("long", cell[1], (len(cell) - 19) // 22)
        else:
            plain[column] = _named(cell, paths)
    return {column: sorted(map(str, cell)) if column.startswith(b"x:") else cell for column, cell in plain.items()}


def _node(cell: bytes, letter: bytes, paths: dict[str, str]) -> Any:
    if letter != b"n":
        return "hint"
    if is_long(cell):
        return ("inner", (len(cell) - 1) // 22)
    count = int.from_bytes(cell[:2], "big")
    return count, _named(cell[2 + 11 * count :], paths)


def _named(cell: bytes, paths: dict[str, str]) -> list[str]:
    """The texts of a cell, which may be ids."""
    return [paths.get(part, part) for part in cell.decode().split(",")]
