"""What `neomodel` and `spark` offer is imported when it is asked for, and all of it can be."""

import subprocess
import sys
from pathlib import Path

import pytest

import neomodel
import spark


def loaded_by(statement: str) -> set[str]:
    told = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize("package", [neomodel, spark], ids=["neomodel", "spark"])
def test_all_that_is_offered_is_there_and_is_listed(package: object) -> None:
    assert set(package._MODULES) <= set(package.__all__)  # type: ignore[attr-defined]
    for name in package.__all__:  # type: ignore[attr-defined]
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(("package", "meant", "given"), [("neomodel", "connect", "conect"), ("spark", "undo", "undoo")])
def test_all_that_is_offered_is_listed_before_it_was_asked_for_and_comes_to_mind(
    package: str, meant: str, given: str
) -> None:
    told = f"import {package} as p; p.{given}"
    ended = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True)
    assert ended.stderr.splitlines()[-1].endswith(f"has no attribute {given!r}. Did you mean: {meant!r}?")

    told = f"import {package} as p; print(set(p.__all__) <= set(dir(p)), {meant!r} in vars(p))"
    assert subprocess.run([sys.executable, "-c", told], capture_output=True, text=True).stdout == "True False\n"


@pytest.mark.parametrize("package", [neomodel, spark], ids=["neomodel", "spark"])
def test_no_module_takes_the_place_of_something_that_is_offered(package: object) -> None:
    folder = Path(package.__file__).parent  # type: ignore[attr-defined]
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert not modules & set(package._MODULES)  # type: ignore[attr-defined]


def test_what_says_which_messages_come_next_loads_little_of_ours() -> None:
    loaded = {
        name for name in loaded_by("import spark.folder_queue") if name.partition(".")[0] in {"neomodel", "spark"}
    }
    assert {name for name in loaded if name.startswith("neomodel.")} <= {"neomodel.errors", "neomodel.times"}
    assert {name for name in loaded if name.startswith("spark.")} <= {
        f"spark.{name}" for name in ("folder_queue", "options", "queues", "sentences", "session")
    }
