"""`neomodel export`."""

import io
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel.cli import main
from neomodel.cli.progress import pace
from tests.cli_fixture import library

CLOSING = r"city: 4 elements, 3 references, \d+\.\d s, [\d,]+ elements/s\n"


def test_a_model_is_written_and_the_last_line_says_how_much(city: nm.Model, run: Any, tmp_path: Path) -> None:
    out = run("export", "city", str(tmp_path / "city.xmi"))

    assert re.fullmatch(CLOSING, out)
    text = (tmp_path / "city.xmi").read_text()
    assert '<books title="Dune" pages="412" readers="ann@example.org" sequel="//@books.1">' in text
    assert "<tags>sand</tags>" in text
    assert '<people email="ann@example.org" name="Ann" reads="//@books.0"/>' in text


def test_the_name_says_what_the_file_becomes(city: nm.Model, run: Any, tmp_path: Path) -> None:
    run("export", "city", str(tmp_path / "city.zxmi"))
    run("export", "city", str(tmp_path / "city.json"))

    assert zipfile.is_zipfile(tmp_path / "city.zxmi")
    assert json.loads((tmp_path / "city.json").read_text())["books"][0]["title"] == "Dune"


def test_json_comes_in_again(city: nm.Model, repository: nm.Repository, run: Any, tmp_path: Path) -> None:
    run("export", "city", str(tmp_path / "city.json"))

    out = run("import", str(tmp_path / "city.json"), "--model", "again")

    assert re.fullmatch(CLOSING.replace("city", "again"), out)
    assert [book.title for book in repository.open("again").all(library.Book)] == ["Dune", "Heretics"]


def test_a_dash_is_the_output(city: nm.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)

    assert main(["export", "city", "-"]) == 0

    assert b'name="Town"' in out.buffer.getvalue()  # type: ignore[attr-defined]
    assert re.fullmatch(CLOSING, err.getvalue())


def test_own_ids_and_past_times_can_be_asked_for(city: nm.Model, run: Any, tmp_path: Path) -> None:
    then = city.table.now()
    city.roots[0].name = "City"

    run("export", "city", str(tmp_path / "city.xmi"), "--as-of", str(then), "--ids")

    text = (tmp_path / "city.xmi").read_text()
    assert 'xmi:id="id0" name="Town"' in text
    assert 'sequel="id2"' in text


def test_what_is_left_out_is_told(city: nm.Model, run: Any, tmp_path: Path) -> None:
    nm.delete(city["id2"])

    said = (
        "neomodel: 1 references were left out, since what they lead to is not there (id2, for one); "
        "`neomodel check` lists them\n"
    )
    run("export", "city", str(tmp_path / "city.xmi"), said=said)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["cty", "OUT"], "there is no model 'cty'"),
        (["city", "missing/city.xmi"], "expected a name in a folder that is there"),
        (["city", "."], "this is a folder"),
        (["city", "OUT", "--as-of", "soon"], "a time is 'soon'"),
    ],
)
def test_what_can_not_be_done_is_refused(
    arguments: list[str], told: str, city: nm.Model, refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert told in refused("export", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_text_that_files_can_not_hold_is_refused_by_name(city: nm.Model, refused: Any, tmp_path: Path) -> None:
    city.roots[0].name = "a\0"

    told = refused("export", "city", str(tmp_path / "city.xmi"))

    assert told == (
        "neomodel: library.Library.name of object city/id0 can't be written as XMI: XML 1.0 has no character U+0000; "
        "change that in the model\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_lines_tell_of_the_pace_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([100.0, 101.0, 110.0, 112.0, 120.0])
    monkeypatch.setattr("neomodel.cli.progress.time.monotonic", lambda: next(times))

    with pace("exporting m", "elements") as advance:
        for done in (10, 1000, 2000, 3000):
            advance(done)

    assert capsys.readouterr().err == ("exporting m: 1,000 elements, 100/s\nexporting m: 3,000 elements, 150/s\n")
