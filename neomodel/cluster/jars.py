"""The jars of HBase, from Maven Central into the user's cache folder, each verified against a pinned checksum.

The Ivy that PySpark ships does the loading, so nothing but Python and Java is needed. Which jars, in which versions:
`ivy.xml`; what each must contain: `jars.sha256`. They lie in `$XDG_CACHE_HOME/neomodel/hbase`, or in
`~/.cache/neomodel/hbase`. A site with a Maven mirror of its own names an Ivy settings file in
`$NEOMODEL_IVY_SETTINGS`.
"""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from neomodel.errors import ClusterFailed

Progress = Callable[[str], None]

HERE = Path(__file__).parent
LIMIT = 1800  # seconds for some 120 MB
NAMES = "[artifact]-[revision](-[classifier]).[ext]"


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "neomodel", "hbase")


def pinned(file: Path = HERE / "jars.sha256") -> dict[str, str]:
    """Jar name to SHA-256, as `sha256sum` writes them."""
    return {name: digest for digest, name in map(str.split, file.read_text().splitlines())}


def fetch(
    java: str,
    progress: Progress,
    *,
    cache: Path,
    ivy_file: Path = HERE / "ivy.xml",
    sums: Mapping[str, str] | None = None,
) -> list[Path]:
    """The jars, whole and as pinned, in the order of their names. Nothing is loaded if they are there already.

    A jar that is missing or damaged is loaded again. Several processes may ask at once: one of them loads and the
    others wait for it. Raises `ClusterFailed` if a jar can't be had or is not the pinned one; what the cache
    folder held before is then still there. Costs 0.3 s when all are there.
    """
    sums = pinned() if sums is None else sums
    folder = cache / "jars"
    if unfit(folder, sums):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(cache / "lock", lambda: progress("another process is loading HBase, waiting for it")):
            wanted = unfit(folder, sums)
            if wanted:
                load(java, wanted, sums, folder, ivy_file, progress)
    return [folder / name for name in sorted(sums)]


def unfit(folder: Path, sums: Mapping[str, str]) -> list[str]:
    """The pinned jars that are missing from the folder, or are not what was pinned."""
    return [name for name, digest in sums.items() if digest_of(folder / name) != digest]


def digest_of(file: Path) -> str | None:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def load(
    java: str, wanted: list[str], sums: Mapping[str, str], folder: Path, ivy_file: Path, progress: Progress
) -> None:
    """Load all into a folder beside the right one, then put those wanted in place, each whole or not at all."""
    downloads = folder.parent / "ivy"  # stays after a failure, so that the next try goes on from there
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="loading-") as fresh:
        run_ivy(java, ivy_file, downloads, Path(fresh), len(sums), progress)
        strange = unfit(Path(fresh), {name: sums[name] for name in wanted})
        if strange:
            shutil.rmtree(downloads)
            reason = f"{', '.join(strange[:5])} differ from the pinned checksum, or are missing"
            remedy = "try again; if it stays so, the source they come from is not to be trusted"
            raise ClusterFailed("load the jars of HBase into", str(folder), reason, remedy)
        for name in wanted:
            Path(fresh, name).replace(folder / name)
    shutil.rmtree(downloads)


def run_ivy(java: str, ivy_file: Path, downloads: Path, target: Path, count: int, progress: Progress) -> None:
    settings = os.environ.get("NEOMODEL_IVY_SETTINGS")
    arguments = ["-warn", "-ivy", str(ivy_file), "-cache", str(downloads), "-retrieve", str(target / NAMES)]
    command = [java, "-jar", str(ivy_jar()), *arguments, *(["-settings", settings] if settings else [])]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + LIMIT
            while process.poll() is None and time.monotonic() < deadline:
                loaded = sum(1 for _ in downloads.rglob("*.jar"))
                progress(f"loading HBase from Maven Central: {min(loaded, count)} of {count} jars")
                time.sleep(0.5)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            log.seek(0)
            remedy = "see that the network reaches Maven Central, or name your mirror in $NEOMODEL_IVY_SETTINGS"
            raise ClusterFailed("load the jars of HBase into", str(target.parent), reason(log.read()), remedy)


def reason(log: str) -> str:
    """The most telling line of what Ivy wrote."""
    lines = [line.strip(" \t:") for line in log.splitlines() if line.strip(" \t:")]
    telling = [line for line in lines if "Exception" in line or "not found" in line or "Server access error" in line]
    return (telling or lines or ["Ivy was cut off by the time limit"])[0]


def ivy_jar() -> Path:
    """Ivy's jar inside PySpark, found without importing it."""
    spec = importlib.util.find_spec("pyspark")
    for folder in spec.submodule_search_locations or [] if spec else []:
        for jar in sorted(Path(folder, "jars").glob("ivy-*.jar")):
            return jar
    raise ClusterFailed("find Ivy", "pyspark/jars", "there is no ivy-*.jar", "install PySpark with pip, jars included")


@contextmanager
def locked(file: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Alone among processes until the end of the block; `waiting` is called if another one is there already."""
    with file.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
