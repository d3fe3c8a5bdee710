"""PyEcore as the peer: what it loads, told as `files.told` tells what is in a model."""

import enum
import io
from pathlib import Path
from typing import Any

from pyecore import ecore
from pyecore.resources import URI, ResourceSet


def loads(path: Path, metamodels: list[Path]) -> bool:
    """Whether PyEcore reads a file."""
    try:
        load(path, metamodels)
    except Exception:  # noqa: BLE001  it raises whatever comes
        return False
    return True


def load(path: Path, metamodels: list[Path]) -> list[Any]:
    """The roots of a file."""
    resources = ResourceSet()
    for one in metamodels:
        for root in resources.get_resource(URI(str(one))).contents:
            for package in _with_subpackages(root):
                resources.metamodel_registry[package.nsURI] = package
    return list(resources.get_resource(URI(str(path))).contents)


def _stream(uri: Any) -> io.BytesIO:
    """The content of a file: PyEcore leaves files open that it can't read."""
    return io.BytesIO(Path(uri.plain).read_bytes())


URI.create_instream = _stream


def _with_subpackages(package: Any) -> list[Any]:
    return [package, *(found for sub in package.eSubpackages for found in _with_subpackages(sub))]


def told(roots: list[Any]) -> dict[str, Any]:
    """Each object by its path: its class, and what its features hold, objects as paths."""
    paths: dict[int, str] = {}
    found: list[tuple[str, Any]] = []
    for number, root in enumerate(roots):
        _walk(root, str(number), paths, found)
    return {path: {"class": obj.eClass.name, **_features(obj, paths)} for path, obj in found}


def _walk(obj: Any, path: str, paths: dict[int, str], found: list[tuple[str, Any]]) -> None:
    paths[id(obj)] = path
    found.append((path, obj))
    for feature in _references(obj):
        if feature.containment and not (feature.transient or feature.volatile):
            for number, child in enumerate(_held(obj, feature)):
                _walk(child, f"{path}/{feature.name}.{number}", paths, found)


def _references(obj: Any) -> list[Any]:
    return [one for one in obj.eClass.eAllStructuralFeatures() if isinstance(one, ecore.EReference)]


def _held(obj: Any, feature: Any) -> list[Any]:
    value = obj.eGet(feature)
    return list(value) if feature.many else [value] if value is not None else []


def _features(obj: Any, paths: dict[int, str]) -> dict[str, Any]:
    told = {}
    for feature in obj.eClass.eAllStructuralFeatures():
        if feature.transient or feature.volatile:
            continue
        held = _held(obj, feature)
        if isinstance(feature, ecore.EReference):
            held = [_place(one, paths) for one in held]
        else:
            held = [plain(one) for one in held]
        if held and not (not feature.many and held[0] == plain(feature.get_default_value())):
            told[feature.name] = held if feature.many else held[0]
    return told


def _place(obj: Any, paths: dict[int, str]) -> str:
    if isinstance(obj, ecore.EProxy) and not obj.resolved:
        try:
            obj.force_resolve()
        except Exception:  # noqa: BLE001  whatever it raises for what is not there
            return "elsewhere"
    return paths.get(id(getattr(obj, "_wrapped", obj)), "elsewhere")


def plain(value: Any) -> Any:
    """A value that can be compared, whoever read it."""
    if isinstance(value, ecore.EEnumLiteral | enum.Enum):
        return value.name
    if isinstance(value, float) or type(value).__name__ == "Decimal":
        return float(value)
    return value
