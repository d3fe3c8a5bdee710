"""`make demo`, small: it says what it should, and the page that it leaves needs nothing else."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest


class Reader(HTMLParser):
    """What a page is made of, and what it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href", "data") and value]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What it says, and its page."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "spark.demo", "--elements", "2000", "--out", str(folder / "demo.html")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "demo.html"


def test_the_demo_tells_each_of_its_steps(demo: tuple[str, Path]) -> None:
    said = demo[0]

    for sentence in (
        r"…  imported it.*\n.* done",
        r"opened it",
        r"is an A\w+",
        r"in \d calls to the store",
        r"column \w+ comes from \w+ \w+, by rule",
        r"a quality check fails: income is 1000 or more, row 100",
        r"all checks hold; actions: 1 applied",
        r"all checks hold; actions: 1 precondition not met",
        r"run 4 of 'income report' is run 1 again, byte for byte",
        r"demo\.html\n\nTo go on: (?s:.*)source \.venv/bin/activate\n  neomodel --help",
    ):
        assert re.search(sentence, said), f"{sentence!r} is not in\n{said}"


def test_the_page_has_its_pictures_and_loads_nothing(demo: tuple[str, Path]) -> None:
    reader = Reader()
    reader.feed(text := demo[1].read_text(encoding="utf-8"))

    assert reader.tags.count("figure") == 5
    assert all(reference.startswith("#") for reference in reader.loaded)
    assert not {"script", "link", "iframe", "img"} & set(reader.tags)
    assert not re.search(r"url\(http|@import", text)
    assert "prefers-color-scheme: dark" in text


def test_who_interrupts_it_while_spark_works_gets_one_sentence_and_nothing_stays(tmp_path: Path) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    command = [sys.executable, "-m", "spark.demo", "--elements", "2000", "--out", "demo.html"]
    given = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent), "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    ) as running:
        assert running.stdout
        assert any("made tables" in line for line in running.stdout)
        time.sleep(1)  # what is done there takes several
        os.killpg(running.pid, signal.SIGINT)
        out, said = running.communicate(timeout=120)

    assert running.returncode == 130
    assert "done" not in out
    assert [line for line in said.splitlines() if not line.startswith("WARNING: Using incubator modules")] == [
        "neomodel: interrupted; nothing of it was kept"
    ]
    assert not list(temporary.glob("neomodel-demo-*"))
    assert not (tmp_path / "demo.html").exists()


def _browse(page: Path, *options: str, profile: Path) -> str:
    """What a headless browser prints of a page. It can reach no host, and looks for none of its own accord."""
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    alone = ["--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
    command = ["chromium", *alone, *quiet, f"--user-data-dir={profile}", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.skipif(not shutil.which("chromium"), reason="there is no chromium; apt-get install chromium")
def test_a_browser_shows_the_page_in_the_light_and_in_the_dark(demo: tuple[str, Path], tmp_path: Path) -> None:
    shown = _browse(demo[1], "--dump-dom", profile=tmp_path)
    pictures = {tone: tmp_path / f"{tone}.png" for tone in ("dark", "light")}
    for number, picture in enumerate(pictures.values()):  # as Blink numbers preferences of the user
        tone = f"--blink-settings=preferredColorScheme={number}"
        _browse(demo[1], tone, "--window-size=1200,3000", f"--screenshot={picture}", profile=tmp_path)

    assert shown.count("<svg") == 5
    assert "is run 1 again, byte for byte" in shown
    assert all(picture.stat().st_size > 50_000 for picture in pictures.values())  # a blank one has some thousand bytes
    assert pictures["dark"].read_bytes() != pictures["light"].read_bytes()
