"""What this installation consists of, whether it works, and what to do where it does not."""

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import attrs
import typer

from neomodel.cli.cluster import Folder
from neomodel.cli.frame import AsJson, StoreUrl
from neomodel.cli.grid import print_grid
from neomodel.cli.text import counted
from neomodel.errors import ClusterFailed, InvalidStore, NeomodelError
from neomodel.repository import Repository, connect

FINE, NOTE, WRONG = "fine", "note", "wrong"
SOMETHING_WRONG = 1

_DISTRIBUTION, _NAMESAKE = "neomodel-hbase", "neomodel"
_AFTER_NAME = re.compile(r"[^A-Za-z0-9._-]")
_LITTLE_SPACE = 2**30
_LATE = 600.0  # seconds that the stable time may lie behind what the store itself asks for


@attrs.frozen
class Finding:
    """What was looked at, how it is, what was found, and what to do about it, if anything."""

    what: str
    state: str
    found: str
    remedy: str = ""


def doctor(store: StoreUrl = "", folder: Folder = "", as_json: AsJson = False) -> None:
    """Say what is installed, which Java, whether the store answers, how large it is, what is wrong and what to do.

    With --json a list of objects is printed; each has what, state (fine, note or
    wrong), found and remedy.

    Exit status: 1 if anything is wrong, else 0.
    """
    findings = [*_installation(), *_java(), *_spark(), *_store(store), *_cluster(folder)]
    if as_json:
        print(json.dumps([attrs.asdict(finding) for finding in findings]))
    else:
        _print(findings)
    if any(finding.state == WRONG for finding in findings):
        raise typer.Exit(SOMETHING_WRONG)


def _print(findings: list[Finding]) -> None:
    marks = {FINE: "✓", NOTE: "·", WRONG: "✗"}
    lines = []
    for one in findings:
        lines.append([f"{marks[one.state]} {one.what}", one.found])
        if one.remedy:
            lines.append(["", f"→ {one.remedy}"])
    print_grid(["  part", "found"], lines)
    wrong = sum(finding.state == WRONG for finding in findings)
    print(f"\n{'Nothing is wrong.' if not wrong else f'{wrong} wrong: see →.'}")


# what is looked at


def _installation() -> Iterator[Finding]:
    yield Finding("Python", FINE, f"{sys.version.split()[0]}, {sys.executable}")
    try:
        installed = metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        where = Path(__file__).parents[2]
        yield Finding("neomodel", NOTE, f"used from {where}, not installed", f"pip install --editable {where}")
        return
    yield Finding("neomodel", FINE, f"{installed}, {Path(__file__).parents[1]}")
    yield from _packages()
    if _version(_NAMESAKE) is not None:
        yield Finding(
            "namesake",
            WRONG,
            f"the distribution {_NAMESAKE} (an object mapper for Neo4j) has the same import package",
            f"pip uninstall {_NAMESAKE}, then pip install --force-reinstall --no-deps {_DISTRIBUTION}",
        )


def _packages() -> Iterator[Finding]:
    versions: dict[str, str | None] = {}
    for requirement in metadata.requires(_DISTRIBUTION) or ():
        if "extra ==" not in requirement:
            name = _AFTER_NAME.split(requirement)[0]
            versions[name] = _version(name)
    missing = [name for name, version in versions.items() if version is None]
    told = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    if missing:
        yield Finding(
            "packages", WRONG, f"missing: {', '.join(missing)}; there are {told}", f"pip install {' '.join(missing)}"
        )
    else:
        yield Finding("packages", FINE, told)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _java() -> Iterator[Finding]:
    from neomodel.cluster.java import find_java, version_of

    try:
        java = find_java()
    except ClusterFailed as exc:
        yield Finding("Java", WRONG, f"{exc.where}: {exc.reason}", f"{exc.remedy}; Spark and the local HBase need it")
    else:
        yield Finding("Java", FINE, f"{version_of(java)[0].splitlines()[0]}, {java}")


def _spark() -> Iterator[Finding]:
    """Spark starts Python for its tasks by a name of its own; if that is another Python, tasks fail late."""
    named = os.environ.get("PYSPARK_PYTHON")
    wanted = named or "python3"
    python = shutil.which(wanted)
    ours = os.path.realpath(sys.prefix)
    if python is not None and os.path.realpath(Path(python).parent.parent) == ours:
        yield Finding("Spark's Python", FINE, python)
        return
    found = f"{wanted} is {python}, not the Python this runs on" if python else f"there is no {wanted}"
    yield Finding("Spark's Python", NOTE, found, f"for programs of your own: export PYSPARK_PYTHON={sys.executable}")


def _store(url: str) -> Iterator[Finding]:
    began = time.perf_counter()
    try:
        with connect(url, create=False) as repository:
            models = repository.models()
            took = (time.perf_counter() - began) * 1000
            yield Finding("store", FINE, f"{repository.store.url} answers, after {took:.0f} ms")
            yield from _contents(repository, models)
    except InvalidStore as exc:
        if _absent(url):
            yield Finding(
                "store", NOTE, f"there is none at {url}", "the first `neomodel import` or `register` makes it"
            )
        else:
            yield Finding("store", WRONG, str(exc), _remedy(url))
    except NeomodelError as exc:
        yield Finding("store", WRONG, str(exc), "--store names another one; `neomodel cluster up` starts a local HBase")


def _absent(url: str) -> bool:
    kind, _, folder = url.partition(":")
    return kind == "lmdb" and bool(folder) and not os.path.lexists(folder)


def _remedy(url: str) -> str:
    folder = Path(url.partition(":")[2])
    if folder.is_dir() and not os.access(folder, os.W_OK):
        return "allow this user to write there, since readers of LMDB write its lock file; or --store names another one"
    return "--store names another one"


def _contents(repository: Repository, models: list[str]) -> Iterator[Finding]:
    store = repository.store
    size = store.size()
    if size is None:
        regions = [region for name in store.tables() for region in store.table(name).regions()]
        servers = {(region.host, region.port) for region in regions} - {(None, None)}
        told = f"{len(regions):,} regions on {len(servers)} servers" if servers else "not on this machine's disk"
    else:
        told = f"{size / 1e6:,.1f} MB on disk"
    yield Finding(
        "contents",
        FINE,
        f"{counted(len(models), 'model')}, {counted(len(repository.metamodels()), 'metamodel')}; {told}",
    )
    if size is not None:
        yield from _space(store.url)
    for name in repository.imports.names():
        yield Finding("import", NOTE, f"{name} is unfinished", f"import it again, or `neomodel drop {name}`")
    if models:
        yield from _stability(repository, models[0])


def _space(url: str) -> Iterator[Finding]:
    free = shutil.disk_usage(url.partition(":")[2]).free
    enough = free > _LITTLE_SPACE
    yield Finding(
        "disk",
        FINE if enough else WRONG,
        f"{free / 1e9:,.1f} GB free",
        "" if enough else "make room: LMDB needs some to write",
    )


def _stability(repository: Repository, name: str) -> Iterator[Finding]:
    now = repository.store.table(name).now()
    behind = (now - repository.stable(name)) / 1e6
    settling = repository.store.settling / 1e6
    late = behind > settling + _LATE
    yield Finding(
        "stable time",
        NOTE if late else FINE,
        f"{behind:,.1f} s behind now",
        "a writer keeps a batch open, or died in it; its lease ends by itself" if late else "",
    )


def _cluster(folder: str) -> Iterator[Finding]:
    from neomodel import cluster

    try:
        found = cluster.status(folder)
    except ClusterFailed as exc:
        yield Finding("local HBase", WRONG, f"{exc.where}: {exc.reason}", exc.remedy)
        return
    if not found:
        yield Finding("local HBase", FINE, "none was started")
    elif dead := [process.name for process in found if not process.alive]:
        everything = len(dead) == len(found)
        state = FINE if everything else WRONG
        told = "stopped" if everything else f"not running: {', '.join(dead)}"
        yield Finding("local HBase", state, f"{told}, in {folder}", "" if everything else "neomodel cluster up")
    else:
        yield Finding("local HBase", FINE, f"{len(found)} processes run, in {folder}")
