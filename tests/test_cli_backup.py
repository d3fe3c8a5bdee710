"""`neomodel backup`, `restore` and `verify`, as a shell sees them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel.cli import main
from tests.backups.shelves import cells

HERE = ("--engine", "local")


def test_a_model_goes_into_a_folder_and_into_another_store(
    repository: nm.Repository, city: nm.Model, run: Any, tmp_path: Path
) -> None:
    folder = str(tmp_path / "b")
    out = run("backup", folder, "city", *HERE)
    assert re.search(r"^city +all +[\d,]+ +[\d,]+$", out, re.MULTILINE)
    assert re.search(r"backup 1: [\d,]+ cells as of .*, [\d.]+ s, [\d,]+ cells/s$", out, re.MULTILINE)
    city.roots[0].name = "Village"
    out = run("backup", folder, "--since", "last", *HERE)
    assert re.search(r"^city +new +2 +[\d,]+$", out, re.MULTILINE)
    assert f"{folder}: nothing was written since backup 2, as of" in run("backup", folder, "--since", "last", *HERE)
    assert run("verify", folder).endswith("all is as it was written\n")

    other = f"lmdb:{tmp_path}/other"
    assert run("restore", folder, "--store", other, *HERE).startswith("city: ")
    with nm.connect(other) as there:
        assert cells(there.store, "city") == cells(repository.store, "city")
    assert run("restore", folder, "--number", "1", "--store", f"lmdb:{tmp_path}/third", *HERE)
    assert "Town" in run("show", "city", "--store", f"lmdb:{tmp_path}/third")


def test_what_was_done_as_json(city: nm.Model, run: Any, tmp_path: Path) -> None:
    folder = str(tmp_path / "b")

    made = json.loads(run("backup", folder, "--json", *HERE))
    found = json.loads(run("verify", folder, "--json"))
    done = json.loads(run("restore", folder, "--json", "--store", f"lmdb:{tmp_path}/other", *HERE))

    assert made["models"][0]["name"] == "city"
    assert json.loads((tmp_path / "b" / "00001" / "manifest.json").read_text()) == made
    assert (found["damage"], found["unfinished"], found["backups"][0]["number"]) == ([], [], 1)
    assert (done["models"], done["backups"], done["left"]) == (["city"], 1, [])
    assert done["cells"] == found["backups"][0]["cells"]


def test_damage_is_told_with_status_1_and_is_not_restored(
    city: nm.Model, run: Any, refused: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("backup", str(tmp_path / "b"), *HERE)
    path = tmp_path / "b" / "00001" / "city" / "00000-0000.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")

    assert main(["verify", str(tmp_path / "b")]) == 1
    said = capsys.readouterr().out
    assert f"{path} is damaged" in said
    assert "1 damaged" in said
    other = f"lmdb:{tmp_path}/other"
    assert f"{path} is damaged" in refused("restore", str(tmp_path / "b"), "--store", other, *HERE)
    assert nm.connect(other).models() == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["backup", "{}/b", "town", *HERE], "there is no model 'town'"),
        (["backup", "{}/b", "--since", "last", *HERE], "one with a complete backup to begin from"),
        (["backup", "{}/b", "--since", "yesterday", *HERE], "a time is 'yesterday'"),
        (["backup", "{}/b", "--as-of", "1", "city", *HERE], "wait a little"),
        (["backup", "{}/b", "city"], "one that other processes reach"),
        (["backup", "{}/file", "city", *HERE], "this is a file"),
        (["backup", "/proc/b", "city", *HERE], "/proc/b"),
        (["restore", "{}/b", *HERE], "there is no complete backup in"),
        (["restore", "{}/b", "--number", "x", *HERE], "--number"),
        (["verify", "{}/b"], "one with a backup; this has none"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    repository: nm.Repository, city: nm.Model, refused: Any, tmp_path: Path, given: list[str], told: str
) -> None:
    (tmp_path / "file").touch()

    assert told in refused(*(one.format(tmp_path) for one in given))
    assert repository.models() == ["city"]
