"""Every Python example in the README and in docs/ runs: those of a document as one program, in an empty folder."""

import code
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def program(document: Path) -> str:
    """The examples of a document, on the lines where it has them."""
    examples = re.finditer(r"```python\n(.*?)```", text := document.read_text(), re.DOTALL)
    lines: list[str] = []
    for example in examples:
        lines += [""] * (text.count("\n", 0, example.start(1)) - len(lines)) + example[1].splitlines()
    return "\n".join(lines)


def anchors(document: Path) -> set[str]:
    """What a link may name in a document: its headings, as GitHub spells them there."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


PROGRAMS = {str(document.relative_to(ROOT)): program(document) for document in DOCUMENTS}


def test_the_readme_has_an_example_on_its_first_screen() -> None:
    assert "```python" in "\n".join((ROOT / "README.md").read_text().splitlines()[:20])


def test_the_guide_to_objects_has_an_example_in_every_section() -> None:
    sections = (ROOT / "docs" / "objects.md").read_text().split("\n## ")[1:]

    assert [section.splitlines()[0] for section in sections if "```python" not in section] == ["What is atomic"]


@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program])
def test_the_examples_run(name: str, tmp_path: Path) -> None:
    (tmp_path / "examples.py").write_text(PROGRAMS[name])
    done = subprocess.run(
        [sys.executable, "examples.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )

    assert done.returncode == 0, done.stderr


def test_the_commands_of_the_readme_run_as_they_stand(tmp_path: Path) -> None:
    section = (ROOT / "README.md").read_text().split("## The command line\n")[1]
    activate, *commands = re.findall(r"```\n(.*?)```", section, re.DOTALL)[0].splitlines()
    assert activate == "source .venv/bin/activate"
    assert len(commands) > 8

    given = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command in commands:
        words = shlex.split(command.replace("--elements 100000", "--elements 500"), comments=True)
        words = words[1:] if words[0] == "python" else ["-m", *words]
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=given, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"


def test_the_tutorial_can_be_pasted_into_a_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As far as it needs no Spark."""
    text = (ROOT / "docs" / "tutorial.md").read_text().split("## 7.")[0]
    monkeypatch.chdir(tmp_path)
    prompt = code.InteractiveConsole()
    for example in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        for line in [*example.splitlines(), ""]:
            more = prompt.push(line)
            assert capsys.readouterr().err == "", line
        assert not more


@pytest.mark.parametrize("name", PROGRAMS)
def test_links_lead_to_files_and_headings_that_are_there(name: str) -> None:
    document = ROOT / name
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", document.read_text(), flags=re.DOTALL)
    for path, heading in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", prose):
        target = document.parent / path if path else document
        assert target.exists(), path
        assert not heading or heading in anchors(target), f"{path}#{heading}"


@pytest.mark.parametrize("name", ["cli.md", "python.md"])
def test_the_reference_says_what_the_code_says(name: str) -> None:
    written = runpy.run_path(str(ROOT / "docs" / "reference"))["documents"]()

    assert (ROOT / "docs" / "reference" / name).read_text() == written[name], "`make reference` writes it anew"


def test_the_picture_of_the_architecture_is_what_its_source_draws() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "pictures"))["picture"]()

    assert (ROOT / "docs" / "pictures" / "architecture.svg").read_text() == drawn, "`make reference` draws it anew"


def test_the_figures_of_the_readme_are_those_of_the_last_whole_run_of_the_benchmarks() -> None:
    section = (ROOT / "README.md").read_text().partition("## What it costs")[2].partition("\n## ")[0]
    measured = numbers((ROOT / "benchmarks" / "results" / "README.md").read_text())
    cells = [cell for line in section.splitlines() if line.startswith("| ") for cell in line.split("|")[2:]]
    told = {number for cell in cells for number in numbers(cell)}

    assert len(told) > 20
    assert told <= measured


def numbers(text: str) -> set[str]:
    """The numbers in a text, as they are written; those in names are none."""
    return set(re.findall(r"(?<![\w\[.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w\]])", text))
