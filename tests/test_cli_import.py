"""`neomodel import`, as a shell sees it."""

import re
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from benchmarks import xmi_files
from neomodel.cli import main
from neomodel.xmi.reading import Reading


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    """A metamodel, a model of 901 elements, and the URL of a store."""
    (tmp_path / "code.ecore").write_text(xmi_files.ECORE)
    xmi_files.write(tmp_path / "a.xmi", 900)
    return str(tmp_path / "code.ecore"), str(tmp_path / "a.xmi"), f"lmdb:{tmp_path / 'store'}"


def test_an_import_ends_with_what_it_did(files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    ecore, xmi, url = files

    assert main(["import", xmi, "--metamodel", ecore, "--model", "code", "--store", url]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"code: 901 elements, 1,\d{3} references, \d+\.\d s, [\d,]+ elements/s\n", out)
    assert err == ""
    with nm.connect(url) as repository:
        assert len(repository.open("code").roots[0].types) == 100
        assert repository.metamodels() == ["http://code"]
    assert main(["import", xmi, "--model", "again", "--store", url]) == 0  # the metamodel is there


def test_what_is_odd_is_told_and_with_strict_refused(
    files: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ecore, _, url = files
    path = tmp_path / "odd.xmi"
    path.write_text('<Model name="a"/>')
    arguments = ["import", str(path), "--metamodel", ecore, "--store", url]

    assert main([*arguments, "--model", "m"]) == 0
    assert f"neomodel: {path}:1: Model is taken for code.Model" in capsys.readouterr().err
    assert main([*arguments, "--model", "n", "--strict"]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "strict was asked for" in err


def test_what_is_unknown_is_refused_and_with_lenient_kept(
    files: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ecore, _, url = files
    path = tmp_path / "odd.xmi"
    path.write_text('<c:Model xmlns:c="http://code"\n nmae="a"/>')
    arguments = ["import", str(path), "--metamodel", ecore, "--model", "m", "--store", url]

    assert main(arguments) == 2
    assert capsys.readouterr().err == f"neomodel: {path}:1: code.Model has no feature 'nmae'; did you mean 'name'?\n"
    with nm.connect(url) as repository:
        assert repository.models() == []
    assert main([*arguments, "--lenient"]) == 0
    assert capsys.readouterr().out.startswith("m: 1 elements, 0 references")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no.xmi", "--model", "m"], "no.xmi: there is no such file"),
        (["a.xmi", "--model", "m", "--metamodel", "no.ecore"], "no.ecore: there is no such file"),
        (["a.xmi", "--model", "_m"], "a model's name is '_m'"),
        (["a.xmi", "--model", "a/b"], "a model's name is 'a/b'"),
        (["a.xmi", "--model", ""], "a model's name is ''"),
        (["a.xmi", "--model", "taken"], "model 'taken' already exists"),
        (["a.json", "--model", "taken", "--add"], "--add is for files of XMI"),
        (["a.json", "--model", "m", "--lenient"], "--lenient is for files of XMI"),
    ],
)
def test_bad_arguments_are_one_sentence(
    files: tuple[str, str, str],
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(Path(files[0]).parent)
    with nm.connect(files[2]) as repository:
        repository.create("taken")

    assert main(["import", *arguments, "--store", files[2]]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1
    with nm.connect(files[2]) as repository:
        assert (repository.models(), repository.imports.names()) == (["taken"], [])


@pytest.mark.parametrize(
    ("named", "metamodel", "said"),
    [
        ("no.xmi", "code.ecore", "no.xmi: there is no such file"),
        ("a.xmi", "no.ecore", "no.ecore: there is no such file"),
        (".", "code.ecore", "it is a folder; name a file"),
        ("no.json", "code.ecore", "no.json: there is no such file"),
        ("a.xmi", "a.xmi", "a.xmi:"),
    ],
)
def test_no_store_is_made_for_a_file_that_is_not_there_or_a_metamodel_that_is_none(
    files: tuple[str, str, str], named: str, metamodel: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(files[0]).parent
    arguments = ["import", str(folder / named), "--metamodel", str(folder / metamodel), "--model", "m"]

    assert main([*arguments, "--store", files[2]]) == 2
    assert said in capsys.readouterr().err
    assert not Path(files[2].removeprefix("lmdb:")).exists()


def test_a_taken_name_is_refused_before_a_metamodel_is_registered(
    files: tuple[str, str, str], refused: Any, tmp_path: Path
) -> None:
    ecore, xmi, url = files
    (tmp_path / "a.json").write_text("{}")
    with nm.connect(url) as repository:
        repository.create("taken")

    for named in (xmi, str(tmp_path / "a.json")):
        sentence = refused("import", named, "--metamodel", ecore, "--model", "taken", "--store", url)
        assert "already exists" in sentence
        assert "drop it first or take another name" in sentence
    with nm.connect(url) as repository:
        assert repository.metamodels() == []


def test_a_file_that_is_given_twice_is_refused_before_a_store_is_made(
    files: tuple[str, str, str], refused: Any, tmp_path: Path
) -> None:
    ecore, xmi, url = files
    again = f"{tmp_path}/../{tmp_path.name}/a.xmi"

    sentence = refused("import", xmi, again, "--metamodel", ecore, "--model", "m", "--store", url)
    assert f"{again}: this file is given twice, first as {xmi}; give it once" in sentence
    assert not Path(url.removeprefix("lmdb:")).exists()


def test_adding_to_a_model_that_is_not_there_is_refused_with_what_to_do(
    files: tuple[str, str, str], refused: Any
) -> None:
    ecore, xmi, url = files
    nm.connect(url).close()

    sentence = refused("import", xmi, "--metamodel", ecore, "--model", "new", "--add", "--store", url)
    assert "there is no model 'new'" in sentence
    assert "leave --add out" in sentence
    with nm.connect(url) as repository:
        assert repository.metamodels() == []


def test_who_interrupts_an_import_is_told_that_nothing_is_left(
    files: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ecore, xmi, url = files

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Reading, "end", interrupted)
    assert main(["import", xmi, "--metamodel", ecore, "--model", "m", "--store", url]) == 130
    assert capsys.readouterr() == ("", "neomodel: interrupted; nothing of model 'm' is left\n")
    with nm.connect(url) as repository:
        assert (repository.models(), repository.imports.names()) == ([], [])


def test_what_is_neither_a_file_nor_a_folder_is_told_as_such(refused: Any) -> None:
    assert "/dev/null: it is no plain file" in refused("import", "/dev/null", "--model", "m")
