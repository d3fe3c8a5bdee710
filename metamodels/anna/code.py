"""Code as a hash: of the text of a function and of what it uses of its own project."""

import hashlib
import importlib.metadata
import inspect
import platform
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

import neomodel as nm
from neomodel import bytecode

LIBRARIES = ("pyspark", "pyarrow")
_OURS = ("neomodel", "metamodels", "spark")  # told by their version
_PLAIN = (str, bytes, int, float, complex, bool, type(None))


def fingerprint(function: Callable[..., Any], *more: str) -> str:
    """A hash of the function's text, of the functions, classes and plain values that it names, if they are neither
    Python's nor an installed library's, and so on from there; and of `more`. What it reaches otherwise is not seen."""
    return hashlib.sha256("\0".join([*sorted(_texts(function)), *more]).encode()).hexdigest()


def libraries() -> dict[str, str]:
    """What else decides what code does: the versions of Python, and of the libraries that compute."""
    found = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"python": platform.python_version(), "neomodel": nm.__version__, **found}


def _texts(function: Callable[..., Any]) -> Iterator[str]:
    root = inspect.unwrap(function)
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        name, found = waiting.pop()
        plain = _plain(found)
        if plain is not None:
            yield f"{name} = {plain}"
        elif _own(found, root) and id(found) not in seen:
            seen.add(id(found))
            yield f"{name} {_source(found)}"
            waiting += _named(found)


def _named(found: Any) -> Iterator[tuple[str, Any]]:
    """What a function, or the functions of a class, find outside of themselves, by name."""
    functions = [found] if isinstance(found, FunctionType) else [f for f in vars(found).values() if _is_function(f)]
    for function in functions:
        names = _names(function.__code__)
        yield from ((name, function.__globals__[name]) for name in sorted(names) if name in function.__globals__)
        yield from inspect.getclosurevars(function).nonlocals.items()
        yield from (("default", value) for value in function.__defaults__ or ())
        yield from (function.__kwdefaults__ or {}).items()


def _is_function(found: Any) -> bool:
    return isinstance(found, FunctionType)


def _names(code: CodeType) -> set[str]:
    inner = (_names(one) for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*inner)


def _plain(value: Any) -> str | None:
    """A value as text that is the same in every process; None if it is not made of plain ones."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, dict):
        parts = [part for pair in value.items() for part in map(_plain, pair)]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = [_plain(one) for one in value]
    else:
        return None
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    inside = sorted(known) if isinstance(value, set | frozenset) else known
    return f"{type(value).__name__}({', '.join(inside)})"


def _own(value: Any, root: Any) -> bool:
    """Whether it is a function or a class of the project that the root is of."""
    if not isinstance(value, FunctionType | type):
        return False
    if value.__module__ == root.__module__:
        return True
    file = getattr(sys.modules.get(value.__module__), "__file__", None)
    installed = file is None or "-packages" in file or file.startswith(f"{sys.base_prefix}/lib")
    return not installed and value.__module__.partition(".")[0] not in _OURS


def _source(found: Any) -> str:
    try:
        return textwrap.dedent(inspect.getsource(found))
    except (OSError, TypeError):  # typed at a prompt
        return bytecode.told(found.__code__) if isinstance(found, FunctionType) else found.__qualname__
