"""`neomodel doctor`: what it finds fine, and what it names as wrong with what to do."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel.cli import main
from tests.cli_fixture import library


@pytest.fixture
def examined(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs `doctor --json`; returns its exit status, and what it found by what it looked at."""
    monkeypatch.setenv("NEOMODEL_CLUSTER", str(tmp_path / "cluster"))

    def examined(*arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
        status = main(["doctor", "--json", *arguments])
        return status, {one["what"]: one for one in json.loads(capsys.readouterr().out)}

    return examined


def test_a_store_that_answers_is_told_with_its_size(examined: Any, tmp_path: Path) -> None:
    url = f"lmdb:{tmp_path}/db"
    with nm.connect(url) as repository:
        repository.register(library)
        repository.create("city").roots.extend(library.Library(name="x" * 1000) for _ in range(2000))

    status, found = examined("--store", url)

    assert status == 0
    assert found["store"]["state"] == found["contents"]["state"] == found["stable time"]["state"] == "fine"
    assert found["contents"]["found"].startswith("1 model, 1 metamodel; ")
    assert float(found["contents"]["found"].split()[4]) > 2.0  # megabytes: 2,000 names of 1,000 letters
    assert sys.version.split()[0] in found["Python"]["found"]


def test_a_store_that_is_not_there_yet_is_no_fault_and_is_not_made(examined: Any, tmp_path: Path) -> None:
    status, found = examined("--store", f"lmdb:{tmp_path}/none")

    assert (status, found["store"]["state"]) == (0, "note")
    assert "import" in found["store"]["remedy"]
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("url", ["nonsense:x", "hbase://127.0.0.1:1?thrift2=2"])
def test_a_store_that_does_not_answer_is_wrong(examined: Any, url: str) -> None:
    status, found = examined("--store", url)

    assert (status, found["store"]["state"]) == (1, "wrong")
    assert "--store names another one" in found["store"]["remedy"]


def test_a_missing_java_is_wrong_and_the_rest_is_still_told(
    examined: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nm.connect(f"lmdb:{tmp_path}/db").close()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")

    status, found = examined("--store", f"lmdb:{tmp_path}/db")

    assert (status, found["Java"]["state"], found["store"]["state"]) == (1, "wrong", "fine")
    assert "install a JDK" in found["Java"]["remedy"]


def test_a_folder_that_can_not_be_written_is_told_with_what_to_do(
    examined: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)

    status, found = examined("--store", f"lmdb:{tmp_path}")

    assert (status, found["store"]["state"]) == (1, "wrong")
    assert "allow this user to write there" in found["store"]["remedy"]


def test_the_namesake_in_the_same_environment_is_wrong(
    examined: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    namesake = tmp_path / "site" / "neomodel-5.0.dist-info"
    namesake.mkdir(parents=True)
    (namesake / "METADATA").write_text("Metadata-Version: 2.1\nName: neomodel\nVersion: 5.0\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    status, found = examined("--store", f"lmdb:{tmp_path}/db")

    assert (status, found["namesake"]["state"]) == (1, "wrong")
    assert found["namesake"]["remedy"].startswith("pip uninstall neomodel")


def test_what_a_broken_installation_left_behind_is_passed_over(
    examined: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site" / "torn-1.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    status, found = examined("--store", f"lmdb:{tmp_path}/db")

    assert (status, "namesake" in found) == (0, False)


def test_a_damaged_plan_of_the_local_hbase_is_wrong_and_the_rest_is_still_told(examined: Any, tmp_path: Path) -> None:
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "cluster.json").write_text("nonsense")

    status, found = examined("--store", f"lmdb:{tmp_path}/db")

    assert (status, found["local HBase"]["state"], found["Python"]["state"]) == (1, "wrong", "fine")
    assert "cluster.json is damaged" in found["local HBase"]["found"]
    assert "name another folder" in found["local HBase"]["remedy"]


def test_a_python_that_spark_would_not_find_is_named(
    examined: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)

    assert examined("--store", f"lmdb:{tmp_path}/db")[1]["Spark's Python"]["found"] == "there is no python3"


def test_a_person_reads_a_mark_and_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NEOMODEL_CLUSTER", str(tmp_path / "cluster"))

    assert main(["doctor", "--store", "nonsense:x"]) == 1

    lines = capsys.readouterr().out.splitlines()
    wrong = next(number for number, line in enumerate(lines) if line.startswith("✗ store"))
    assert lines[wrong + 1].strip().startswith("→ ")
    assert lines[-1] == "1 wrong: see →."
