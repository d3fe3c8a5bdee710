"""Every Python example in the README and in docs/ runs, in an empty folder."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = [
    pytest.param(example, id=f"{document.relative_to(ROOT)}-{number}")
    for document in DOCUMENTS
    for number, example in enumerate(re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL))
]


def test_the_readme_has_an_example_on_its_first_screen() -> None:
    assert "```python" in "\n".join((ROOT / "README.md").read_text().splitlines()[:20])


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(example: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, timeout=120)

    assert done.returncode == 0, done.stderr


def test_the_demo_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "neomodel.demo"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )

    assert done.returncode == 0, done.stderr
    assert "was changed by somebody else" in done.stdout
    assert "now Ada has 4301; then Person 49.1 had 3000" in done.stdout
