"""The Java that runs HBase: where it is, whether it will do, and our own programs compiled for it."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from neomodel.errors import ClusterFailed

OLDEST, NEWEST = 17, 22  # Hadoop 3.3 calls Subject.getSubject, which Java 23 refuses
WANTED = f"install a JDK of version {OLDEST} to {NEWEST} and put it on PATH, or let JAVA_HOME point at it"
SOURCES = sorted((Path(__file__).parent / "java").glob("*.java"))
WEB_FOLDERS = ("webapps/hdfs/", "webapps/datanode/")  # HDFS wants them on the class path, and its jar lacks them


def find_java() -> str:
    """The path of a Java that HBase runs on: `$JAVA_HOME`'s, else the one on the search path. Costs 0.1 s.

    Raises `ClusterFailed` if there is none, or if it is too old or too new.
    """
    java = any_java()
    answer, version = version_of(java)
    if version is None or not OLDEST <= version <= NEWEST:
        found = f"its version is {version}" if version else f"it did not tell its version: {answer[:200]!r}"
        raise ClusterFailed("use Java", java, found, WANTED)
    return java


def any_java() -> str:
    """The path of the Java there is, of whatever version. Raises `ClusterFailed` if there is none."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        where = f"{home}/bin, which JAVA_HOME names" if home else "the folders of PATH"
        raise ClusterFailed("find", "Java", f"there is no java in {where}", WANTED)
    return java


def version_of(java: str) -> tuple[str, int | None]:
    """What a Java says of itself, and the version that it has by that. Costs 0.1 s."""
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr.strip()
    version = re.search(r'version "(?:1\.)?(\d+)', answer)
    return answer, int(version[1]) if version else None


def compile_programs(java: str, jars: Sequence[Path], cache: Path) -> Path:
    """The jar of our own Java programs; compiled once for each state of their sources, in 3 s.

    Raises `ClusterFailed` if this Java has no compiler.
    """
    sources = b"".join(source.read_bytes() for source in SOURCES)
    target = cache / f"launcher-{hashlib.sha256(sources).hexdigest()[:16]}.jar"
    if target.exists():
        return target
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        classes = Path(folder, "classes")
        compiler = [java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", str(OLDEST), "-proc:none"]
        paths = ["-cp", os.pathsep.join(map(str, jars)), "-d", str(classes), *map(str, SOURCES)]
        run = subprocess.run([*compiler, *paths], capture_output=True, text=True, timeout=300)
        if run.returncode:
            reason = (run.stderr or run.stdout).strip().splitlines()[-1:] or [f"exit status {run.returncode}"]
            remedy = f"install a full JDK (not only a runtime) of version {OLDEST} to {NEWEST}"
            raise ClusterFailed("compile the launcher with", java, reason[0], remedy)
        packed = Path(folder, "launcher.jar")
        with zipfile.ZipFile(packed, "w") as jar:
            for name in WEB_FOLDERS:
                jar.writestr(zipfile.ZipInfo(name), b"")
            for path in sorted(classes.rglob("*.class")):
                jar.write(path, path.relative_to(classes))
        packed.replace(target)
    return target
