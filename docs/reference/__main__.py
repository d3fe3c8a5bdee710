"""`make reference`: writes the reference of the command line and of the Python API, from the code itself."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from neomodel.cli.app import command

FOLDER = Path(__file__).parent
PACKAGES = ("neomodel", "neomodel.stores", "spark", "metamodels.elsa", "metamodels.anna")
_HEAD = "# {}\n\nMade from the code by `make reference`; a test holds the two against each other.\n"


def documents() -> dict[str, str]:
    """The files by their names, as they should be."""
    return {
        "cli.md": _HEAD.format("The command line") + "\n".join(_commands(command, "neomodel")),
        "python.md": _HEAD.format("The Python API") + "\n".join(_packages()),
    }


# commands


def _commands(group: Any, path: str) -> Iterator[str]:
    for name, inner in group.commands.items():
        if hasattr(inner, "commands"):
            yield f"\n## {path} {name}\n\n{_prose(inner.help)}"
            yield from _commands(inner, f"{path} {name}")
        else:
            yield f"\n{'##' if path == 'neomodel' else '###'} {path} {name}\n\n{_prose(inner.help)}\n"
            yield from _parameters(inner)
            yield f"\n```\n{_examples(inner.epilog)}\n```"


def _parameters(inner: Any) -> Iterator[str]:
    yield "| | |\n|---|---|"
    for parameter in inner.params:
        flag = parameter.param_type_name == "option"
        metavar = parameter.metavar or ""
        names = ", ".join([*parameter.opts, *parameter.secondary_opts]) if flag else metavar
        shown = f"{names} {metavar}".strip() if flag and metavar else names
        needed = "" if not parameter.required else " Needed."
        yield f"| `{shown}` | {_cell(parameter.help or '')}{needed} |"


def _examples(epilog: str) -> str:
    return "\n".join(line.removeprefix("$ ") for line in epilog.splitlines()[1:])


# Python


def _packages() -> Iterator[str]:
    for name in PACKAGES:
        module = import_module(name)
        yield f"\n## {name}\n\n{_prose(module.__doc__)}\n"
        for public in sorted(module.__all__, key=str.lower):
            yield from _described(module, public)


def _described(module: ModuleType, name: str) -> Iterator[str]:
    found = getattr(module, name)
    kind = "class" if inspect.isclass(found) else "function" if callable(found) else "value"
    if kind == "value":
        yield f"### {name}\n\n`{type(found).__name__}`\n"
        return
    yield f"### {name}\n\n{kind} `{_signature(name, found)}`\n\n{_prose(inspect.getdoc(found))}\n"
    if kind == "class":
        methods = [line for member, value in vars(found).items() for line in _member(member, value)]
        if methods:
            yield "| | |\n|---|---|\n" + "\n".join(methods) + "\n"


def _member(name: str, value: Any) -> Iterator[str]:
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    if name.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
        return
    shown = name if isinstance(value, property) else _signature(name, function)
    yield f"| `{_cell(shown)}` | {_cell(inspect.getdoc(function) or '')} |"


def _signature(name: str, found: Any) -> str:
    try:
        signature = inspect.signature(found)
    except ValueError:  # of an exception that has the builtin's own
        return name
    parameters = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    words, starred = [], False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not starred:
            words.append("*")
        starred = starred or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        words.append(f"{star}{one.name}" + ("" if one.default is one.empty else f"={_default(one.default)}"))
    return f"{name}({', '.join(words)})"


def _default(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float | bool | tuple | None) else "…"


def _prose(text: str | None) -> str:
    return inspect.cleandoc(text or "").strip()


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("|", "\\|")).strip()


def main() -> None:
    """Write what differs, and say so."""
    for name, text in documents().items():
        if _text(FOLDER / name) != text:
            (FOLDER / name).write_text(text, encoding="utf-8")
            print(f"docs/reference/{name}")


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    main()
