"""The jars of HBase, from Maven Central into the user's cache folder, each verified against a pinned checksum.

The Ivy that PySpark ships does the loading, so nothing but Python and Java is needed. Which jars, and what each must
contain: `jars.txt`. They lie in `$XDG_CACHE_HOME/neomodel/hbase`, or in `~/.cache/neomodel/hbase`. A site with a
Maven mirror of its own names an Ivy settings file in `$NEOMODEL_IVY_SETTINGS`.
"""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

import attrs

from neomodel.errors import ClusterFailed

Progress = Callable[[str], None]

HERE = Path(__file__).parent
LIMIT = 1800  # seconds for 120 MB
TRIES = 2
MAVEN = "http://ant.apache.org/ivy/maven"
NAMES = "[artifact]-[revision](-[classifier]).[ext]"


@attrs.frozen
class Jar:
    """One jar by its Maven coordinates, and the SHA-256 of what it must contain."""

    sha256: str
    organisation: str
    name: str
    revision: str
    classifier: str = ""

    @property
    def file(self) -> str:
        return "-".join(filter(None, [self.name, self.revision, self.classifier])) + ".jar"

    def is_in(self, folder: Path) -> bool:
        """Whether the folder has it, whole."""
        try:
            with (folder / self.file).open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest() == self.sha256
        except FileNotFoundError:
            return False


def pinned(file: Path = HERE / "jars.txt") -> list[Jar]:
    """The jars that a file lists."""
    lines = (line.split() for line in file.read_text().splitlines() if not line.startswith("#"))
    return [Jar(digest, *coordinates.split(":")) for digest, coordinates in lines]


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "neomodel", "hbase")


def fetch(java: str, jars: list[Jar], cache: Path, progress: Progress) -> list[Path]:
    """The paths of these jars, whole and as pinned. Nothing is loaded if they are there already; that costs 0.3 s.

    A jar that is missing or damaged is loaded again. Several processes may ask at once: one of them loads and the
    others wait for it. Raises `ClusterFailed` if a jar can't be had or is not the pinned one; what the cache
    folder held before is then still there.
    """
    folder = cache / "jars"
    if not all(jar.is_in(folder) for jar in jars):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(cache / "lock", lambda: progress("another process is loading HBase, waiting for it")):
            missing = [jar for jar in jars if not jar.is_in(folder)]
            if missing:  # else another process has loaded them meanwhile
                load(java, missing, folder, progress)
    return [folder / jar.file for jar in jars]


def load(java: str, jars: list[Jar], folder: Path, progress: Progress) -> None:
    """Load jars into a folder beside the right one, then put them in place, each whole or not at all."""
    for left in folder.parent.glob("loading-*"):  # by a process that was killed
        shutil.rmtree(left)
    downloads = folder.parent / "ivy"  # stays after a failure, so that the next call goes on from there
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="loading-") as fresh:
        run_ivy(java, jars, downloads, Path(fresh), progress)
        shutil.rmtree(downloads)
        strange = [jar.file for jar in jars if not jar.is_in(Path(fresh))]
        if strange:
            reason = f"{', '.join(strange[:5])} differ from the pinned checksum, or are missing"
            remedy = "try again; if it stays so, the source they come from is not to be trusted"
            raise ClusterFailed("load the jars of HBase into", str(folder), reason, remedy)
        for jar in jars:
            Path(fresh, jar.file).replace(folder / jar.file)


def run_ivy(java: str, jars: list[Jar], downloads: Path, folder: Path, progress: Progress) -> None:
    """Let Ivy load these jars into the folder; what a first try did not get, a second one may."""
    module, log = folder / "ivy.xml", folder / "ivy.log"
    write_module(module, jars)
    settings = os.environ.get("NEOMODEL_IVY_SETTINGS") or str(HERE / "ivysettings.xml")
    where = ["-ivy", str(module), "-settings", settings, "-cache", str(downloads), "-retrieve", str(folder / NAMES)]
    deadline = time.monotonic() + LIMIT
    for _ in range(TRIES):
        with log.open("w") as output:
            process = subprocess.Popen([java, "-jar", str(ivy_jar()), "-warn", *where], stdout=output, stderr=output)
        try:
            while process.poll() is None and time.monotonic() < deadline:
                loaded = sum(1 for _ in downloads.rglob("*.jar"))
                progress(f"loading HBase from Maven Central: {loaded} of {len(jars)} jars")
                time.sleep(0.5)
        finally:
            process.kill()
            process.wait()
        if process.returncode == 0:
            return
    remedy = "see that the network reaches Maven Central, or name your mirror in $NEOMODEL_IVY_SETTINGS"
    raise ClusterFailed("load the jars of HBase into", str(folder.parent), reason(log.read_text()), remedy)


def write_module(file: Path, jars: Iterable[Jar]) -> None:
    """What Ivy is to load, and nothing that these jars say they need: the list is whole."""
    ET.register_namespace("m", MAVEN)
    module = ET.Element("ivy-module", version="2.0")
    ET.SubElement(module, "info", organisation="neomodel", module="cluster")
    dependencies = ET.SubElement(module, "dependencies", defaultconf="default->default")
    modules: dict[tuple[str, str], ET.Element] = {}
    for jar in jars:
        names = {"org": jar.organisation, "name": jar.name, "rev": jar.revision, "transitive": "false"}
        key = (jar.organisation, jar.name)
        if key not in modules:
            modules[key] = ET.SubElement(dependencies, "dependency", names)
        artifact = ET.SubElement(modules[key], "artifact", name=jar.name, type="jar", ext="jar")
        if jar.classifier:
            artifact.set(f"{{{MAVEN}}}classifier", jar.classifier)
    ET.ElementTree(module).write(file, encoding="utf-8", xml_declaration=True)


def reason(log: str) -> str:
    """The most telling line of what Ivy wrote."""
    lines = [line.strip(" \t:") for line in log.splitlines() if line.strip(" \t:.")]
    telling = [line for line in lines if "not found" in line or "FAILED" in line or "Exception" in line]
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
