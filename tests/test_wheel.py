"""What is built for others to install: whole, usable outside the repository, quick to import."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


def _run(*words: Any, **options: Any) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=900, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what is under version control, or would be."""
    folder = tmp_path_factory.mktemp("wheel")
    files = _run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines()
    for name in files:
        copy = folder / "source" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            copy.write_bytes((ROOT / name).read_bytes())
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder / "built", folder / "source")
    return next((folder / "built").glob("*.whl"))


def test_the_wheel_has_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    kept = _run(
        "git", "ls-files", "--cached", "--others", "--exclude-standard", "neomodel", "metamodels", "spark", cwd=ROOT
    )

    assert packed == {name for name in kept.splitlines() if (ROOT / name).exists()}


def test_the_command_works_outside_the_repository(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    _run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel)

    _uses(sys.executable, tmp_path, {**os.environ, "PYTHONPATH": str(site)}, site)


@pytest.mark.soak
def test_the_wheel_installs_into_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    _run(python, "-m", "pip", "install", "--quiet", wheel)

    _uses(python, tmp_path, {**os.environ, "PYTHONPATH": ""}, tmp_path / "venv")


def _uses(python: Any, folder: Path, environment: dict[str, str], site: Path) -> None:
    """Make a store, and look at it by command, in a folder that has nothing to do with the repository."""
    make = "import neomodel as nm; nm.connect('lmdb:models.db').create('jdt'); print(nm.__file__)"
    where = {"cwd": folder, "env": environment}
    assert _run(python, "-c", make, **where).startswith(str(site))
    assert _run(python, "-m", "neomodel", "models", "--store", "lmdb:models.db", **where) == "jdt\n"
    assert "import" in _run(python, "-m", "neomodel", "--help", **where)
    if (command := Path(python).with_name("neomodel")).is_relative_to(site):
        assert _run(command, "models", "--store", "lmdb:models.db", **where) == "jdt\n"
    _run(python, "-c", "import spark, metamodels.elsa", **where)


def test_importing_neomodel_takes_less_than_three_tenths_of_a_second() -> None:
    timed = "import time; began = time.process_time(); import neomodel; print(time.process_time() - began)"

    assert min(float(_run(sys.executable, "-c", timed)) for _ in range(5)) < 0.3
