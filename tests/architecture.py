"""The rules of the architecture. Each takes the root of a source tree and tells what breaks it, a line each fault.

Modules are read, not imported, except where a rule is about importing.
"""

import ast
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

import attrs

from neomodel.errors import NeomodelError

PACKAGES = ("neomodel", "metamodels", "spark")

# From the bottom up. A module belongs to the longest name that fits; it may import from its own layer and those below.
LAYERS = (
    ("neomodel.errors", "neomodel.times", "neomodel.garbage", "neomodel.bytecode"),
    ("neomodel.stores",),
    ("neomodel.codecs", "neomodel.ids", "neomodel.cluster"),
    (
        "neomodel.metamodel",
        "neomodel.ecore_package",
        "neomodel.xmltype",
        "neomodel.metamodel_json",
        "neomodel.scope",
        "neomodel.soundness",
        "neomodel.evolution",
    ),
    ("neomodel.packed", "neomodel.layout", "neomodel.kinds", "neomodel.packages", "neomodel.registry"),
    ("neomodel.batches", "neomodel.catalogue", "neomodel.unfinished"),
    (
        "neomodel.trees",
        "neomodel.long_cells",
        "neomodel.long_lists",
        "neomodel.amendments",
        "neomodel.cohorts",
        "neomodel.unstored",
        "neomodel.states",
        "neomodel.edits",
        "neomodel.checks",
        "neomodel.mirrors",
        "neomodel.entries",
        "neomodel.live",
        "neomodel.naming",
        "neomodel.newcomers",
        "neomodel.row_access",
    ),
    ("neomodel.changes", "neomodel.subtrees", "neomodel.leaving", "neomodel.storing", "neomodel.collections"),
    ("neomodel.objects", "neomodel.timelines", "neomodel.ecore_classes", "neomodel.declare", "neomodel.editing"),
    (
        "neomodel.always",
        "neomodel.roots",
        "neomodel.model",
        "neomodel.vintages",
        "neomodel.revisions",
        "neomodel.repository",
        "neomodel.sharing",
        "neomodel.prefetching",
        "neomodel.prefilling",
        "neomodel.document_order",
        "neomodel.graphs",
        "neomodel.xmi",
    ),
    (
        "neomodel.findings",
        "neomodel.holdings",
        "neomodel.ancestry",
        "neomodel.inspection",
        "neomodel.repairing",
        "neomodel.checking",
        "neomodel.purging",
        "neomodel.ledgers",
        "neomodel.operations",
        "neomodel.class_names",
        "neomodel.rules",
        "neomodel.backups",
    ),
    ("neomodel",),
    ("metamodels",),
    ("spark",),
    ("neomodel.cli", "neomodel.__main__"),
    ("spark.demo",),
    ("benchmarks", "tests"),
)

HEIGHTS = {part: height for height, layer in enumerate(LAYERS) for part in layer}

# The only files that may import a driver.
HOMES = {
    "lmdb": "neomodel/stores/lmdb*.py",
    "numpy": "neomodel/stores/lmdb*.py",
    "happybase": "neomodel/stores/hbase*.py",
    "thriftpy2": "neomodel/stores/hbase*.py",
    "pyspark": "spark/*.py",
    "lxml": "neomodel/xmi/*.py",
    "typer": "neomodel/cli*.py",
    "rich": "neomodel/cli*.py",
    "sqlglot": "metamodels/anna/conditions/parsing.py",
}

LONGEST_SOURCE = 400
LONGEST_DECISION = 25
MEANINGLESS = {"util", "utils", "helper", "helpers", "manager", "managers", "common"}

# What a caller would catch, by the table of errors in the house style.
BUILTINS = {
    "InvalidModel": [ValueError],
    "InvalidCondition": [ValueError],
    "InvalidFile": [ValueError],
    "NotWritable": [ValueError],
    "IncompatibleMetamodel": [ValueError],
    "MetamodelNotFound": [KeyError],
    "InvalidStore": [ValueError],
    "DamagedBackup": [ValueError],
    "InvalidValue": [ValueError, TypeError],
    "ObjectNotFound": [KeyError],
    "ModelExists": [ValueError],
    "ModelNotFound": [KeyError],
    "FeatureNotFound": [AttributeError],
    "JobEnded": [RuntimeError],
    "RuleFailed": [RuntimeError],
    "SyncFailed": [RuntimeError],
    "RunTaken": [RuntimeError],
    "StepFailed": [RuntimeError],
    "UnfinishedImport": [RuntimeError],
    "TableNotFound": [KeyError],
    "TableExists": [ValueError],
    "ReadOnly": [PermissionError],
    "Purged": [ValueError],
    "NotStable": [ValueError],
    "BatchExpired": [TimeoutError],
    "StoreUnavailable": [ConnectionError],
    "OutcomeUnknown": [TimeoutError],
}


class Import(NamedTuple):
    """Module `importer`, in file `path`, line `line`, imports `name`: a module, or something of one."""

    path: str
    line: int
    importer: str
    name: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.name}"


# the rules


def upward_imports(root: Path) -> Iterator[str]:
    """Dependencies point down only, and every module has a layer. What only a type checker sees does not count."""
    for path in sources(root, *PACKAGES):
        module = _module(root, path)
        if _part(module) == "neomodel" != module:
            yield f"{path.relative_to(root)} is in no layer; say in LAYERS where it belongs"
    for found in imports(root):
        part = _part(found.name)
        if part and HEIGHTS[part] > HEIGHTS[_part(found.importer)]:
            yield f"{found}, which is in a layer above"


def drivers_away_from_home(root: Path) -> Iterator[str]:
    """Each driver is imported in one place, wherever in the file, and under whatever name."""
    for found in imports(root):
        home = HOMES.get(found.name.partition(".")[0])
        if home and not fnmatch(found.path, home):
            yield f"{found}, whose one home is {home}"


def drivers_loaded_by_import(root: Path) -> Iterator[str]:
    """Importing the library, its stores or its cluster loads no driver, nor does all that they offer."""
    for module in ("neomodel", "neomodel.stores", "neomodel.cluster"):
        script = f"import sys, {module}; from {module} import *; print(neomodel.__file__, *sys.modules, sep='\\n')"
        run = subprocess.run(
            [sys.executable, "-c", script],
            cwd=root,
            env=os.environ | {"PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        file, *loaded = run.stdout.split()
        if not Path(file).is_relative_to(root):
            yield f"`import {module}` in {root} found {file}"
        for driver in sorted(HOMES.keys() & set(loaded)):
            yield f"`import {module}` loads {driver}"


def long_sources(root: Path) -> Iterator[str]:
    """A file that passes 400 lines is two things."""
    yield from _longer_than(LONGEST_SOURCE, root, sources(root, *PACKAGES, "tests", "benchmarks"))


def long_decisions(root: Path) -> Iterator[str]:
    """A decision is told in 25 lines."""
    yield from _longer_than(LONGEST_DECISION, root, sorted((root / "docs" / "decisions").glob("*.md")))


def meaningless_names(root: Path) -> Iterator[str]:
    """A module, or a folder, is named by what it is about."""
    for path in sources(root, *PACKAGES, "tests", "benchmarks"):
        inside = path.relative_to(root)
        if MEANINGLESS & {*inside.parent.parts, inside.stem}:
            yield f"{inside} has a name that says nothing"


def untold_modules(root: Path) -> Iterator[str]:
    """Every module of neomodel is told of in `docs/architecture.md`, where its package is, and no other is."""
    document = root / "docs" / "architecture.md"
    if not document.exists():
        return
    told = set(_told(document.read_text()))
    there = {path.relative_to(root).as_posix() for path in sources(root, "neomodel")}
    for path in sorted(there - told):
        if not path.endswith("/__init__.py"):
            yield f"docs/architecture.md does not tell of {path}"
    for path in sorted(told - there):
        yield f"docs/architecture.md tells of {path}, which is not there"


def _told(text: str) -> Iterator[str]:
    """The modules of neomodel that a text names: by headings of packages, and paragraphs of folders in them."""
    package = inner = ""
    for line in text.splitlines():
        if heading := re.match(r"(##+) ([\w.]+)", line):
            if heading[1] == "##":
                package = heading[2] if heading[2] == "neomodel" else ""
            elif package:
                package = heading[2].replace(".", "/") if heading[2].startswith("neomodel.") else "neomodel"
            inner = ""
        elif line.startswith("- "):
            folder = re.match(r"- `(\w+)/`", line)
            inner = f"{folder[1]}/" if folder else ""
        if package:
            yield from (f"{package}/{inner}{name}" for name in re.findall(r"`(\w+\.py)`", line))


def errors_away_from_home(root: Path) -> Iterator[str]:
    """All errors are in `neomodel/errors.py`, where `faults_of_error` finds them."""
    names = {NeomodelError.__name__, *(error.__name__ for error in all_errors())}
    for path in sources(root, *PACKAGES):
        for node in ast.walk(_parsed(path)):
            if isinstance(node, ast.ClassDef) and path != root / "neomodel" / "errors.py":
                bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                if bases & names:
                    yield f"{path.relative_to(root)}:{node.lineno} defines the error {node.name}"


def faults_of_error(error: type[NeomodelError]) -> Iterator[str]:
    """An error crosses processes unharmed, tells all it knows in one line, and is the builtin a caller would catch."""
    fields = attrs.fields(error)
    values = [_sample(number, field) for number, field in enumerate(fields)]
    raised = error(*values)
    text = str(raised)
    try:
        again = pickle.loads(pickle.dumps(raised))
        if (type(again), str(again)) != (error, text):
            yield f"{error.__name__} pickles to {type(again).__name__}: {again}"
    except (TypeError, AttributeError, pickle.PicklingError) as exc:
        yield f"{error.__name__} does not pickle: {exc}"
    for field, value in zip(fields, values, strict=True):
        if str(value) not in text:
            yield f"{error.__name__} does not tell its {field.name}: {text}"
    if len(error.sentence.splitlines()) != 1:
        yield f"{error.__name__} is not one line: {text}"
    for builtin in BUILTINS.get(error.__name__, []):
        if not issubclass(error, builtin):
            yield f"{error.__name__} is no {builtin.__name__}"


# how


def sources(root: Path, *folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (root / folder).rglob("*.py"))


def all_errors(base: type[NeomodelError] = NeomodelError) -> Iterator[type[NeomodelError]]:
    for error in base.__subclasses__():
        if error.__module__ == "neomodel.errors":
            yield error
            yield from all_errors(error)


def imports(root: Path) -> Iterator[Import]:
    """Every import in the packages, by name: statements, and calls of import_module with a name written out."""
    for path in sources(root, *PACKAGES):
        module = _module(root, path)
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for node in _without_typing(_parsed(path)):
            for name in _imported(node, package):
                yield Import(path.relative_to(root).as_posix(), node.lineno, module, name)


def _imported(node: ast.AST, package: str) -> list[str]:
    match node:
        case ast.Import(names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module, names, level):
            parents = package.split(".")[: -(level - 1) or None] if level else []
            base = ".".join([*parents, *([module] if module else [])])
            return [f"{base}.{alias.name}" for alias in names]
        case ast.Call(ast.Name(called) | ast.Attribute(attr=called), [ast.Constant(str(name)), *_]):
            return [name] if called in ("import_module", "__import__") else []
    return []


def _without_typing(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield from (other, *_without_typing(other))
        else:
            yield from (node, *_without_typing(node))


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def _module(root: Path, path: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _part(name: str) -> str:
    """What a module, or something of one, belongs to in LAYERS; nothing if it is none of ours."""
    return max((part for part in HEIGHTS if f"{name}.".startswith(f"{part}.")), key=len, default="")


def _longer_than(limit: int, root: Path, paths: list[Path]) -> Iterator[str]:
    for path in paths:
        lines = len(path.read_text().splitlines())
        if lines > limit:
            yield f"{path.relative_to(root)} has {lines} lines, {limit} are allowed"


def _sample(number: int, field: "attrs.Attribute[object]") -> object:
    """A value of the field's type that appears in a text only if the field does."""
    return 70_000 + number if field.type is int else f"the-{field.name}"
