"""Eclipse's own EMF, in a Java process: the reader that our files are written for, and the writer of those we read."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from neomodel.cluster.jars import Jar, cache_folder, fetch
from neomodel.cluster.java import find_java

_EMF = "org.eclipse.emf"
JARS = [
    Jar("4e4d516e2958a28b3dea3ab95bca91a14af3c3cebd11705d6027417a93178fde", _EMF, f"{_EMF}.common", "2.30.0"),
    Jar("bebb33f7683098ab65997e23fc1273c58bd0d39cc9334aaa6110abe240daa3f3", _EMF, f"{_EMF}.ecore", "2.36.0"),
    Jar("86607313d60acf901bee23378c9625a591b1f346a0b9c01c657a47e235d7e805", _EMF, f"{_EMF}.ecore.xmi", "2.37.0"),
]


class Emf:
    """Reads models of metamodels in files, and tells what is in them, or writes them again."""

    def __init__(self, folder: Path) -> None:
        java = find_java()
        jars = fetch(java, JARS, cache_folder().parent / "emf", lambda _: None)
        classes = os.pathsep.join(map(str, [*jars, folder]))
        source = Path(__file__).with_name("Emf.java")
        compiler = [java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-d", str(folder)]
        subprocess.run([*compiler, "-cp", classes, str(source)], check=True, timeout=120)
        self._folder = folder
        self._process = subprocess.Popen(
            [java, "-Xmx1g", "-Duser.timezone=UTC", "-cp", classes, "Emf"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def told(self, model: Path, metamodels: list[Path]) -> list[str]:
        """A line for each object of a file, in the order of the document."""
        self._ask("tell", metamodels, model, self._folder / "told")
        return (self._folder / "told").read_text().splitlines()

    def saved(self, model: Path, metamodels: list[Path], out: Path) -> Path:
        """The file as EMF writes it."""
        self._ask("save", metamodels, model, out)
        return out

    def _ask(self, what: str, metamodels: list[Path], model: Path, out: Path) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\t".join([what, ";".join(map(str, metamodels)), str(model), str(out)]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if answer != "ok":
            raise ValueError(answer or "EMF has ended")

    def close(self) -> None:
        self._process.communicate(timeout=60)


@pytest.fixture(scope="module")
def emf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emf]:
    found = Emf(tmp_path_factory.mktemp("emf"))
    try:
        yield found
    finally:
        found.close()
